"""Answers taken apart at their brackets: separators and signs count outside them alone. Linear in the text."""

import re

_SIGN = re.compile(r"<=|>=|\\le(?![A-Za-z])|\\ge(?![A-Za-z])|\\ne(?![A-Za-z])|[<>=]")
_SIGNS = {"\\le": "<=", "\\ge": ">=", "\\ne": "!="}
_THOUSANDS = re.compile(r"[-+]?\d{1,3}(?:,\d{3})+(?:\.\d+)?(?![\d,])").match
_OPEN, _CLOSE = "([{", ")]}"


def split(text: str, marks: tuple[str, ...], *, thousands: bool = False) -> list[str]:
    """`text` cut at `marks` outside brackets, the parts stripped."""
    parts, start, position, depth, end = [], 0, 0, 0, len(text)
    while position < end:
        character = text[position]
        if character == "\\" and text[position + 1 : position + 2] in ("{", "}"):
            depth += 1 if text[position + 1] == "{" else -1
            position += 2
            continue
        if character in _OPEN:
            depth += 1
        elif character in _CLOSE:
            depth -= 1
        elif not depth and text.startswith(marks, position):
            mark = next(mark for mark in marks if text.startswith(mark, position))
            parts.append(text[start:position].strip())
            position += len(mark)
            start = position
            continue
        elif thousands and not depth and character.isdigit():
            found = _THOUSANDS(text, position)
            position = found.end() if found else _number_end(text, position)
            continue
        position += 1
    parts.append(text[start:].strip())
    return parts


def _number_end(text: str, position: int) -> int:
    while position < len(text) and text[position].isdigit():
        position += 1
    return position


def enclosed(text: str) -> tuple[str, str, str] | None:
    r"""(kind, brackets, body) where one pair of brackets holds the whole text."""
    if text.startswith("\\{") and text.endswith("\\}"):
        return ("set", "", text[2:-2].strip()) if _closes_at_end(text[1:-2] + "}") else None
    if text[0] in _OPEN and text[-1] in _CLOSE and _closes_at_end(text):
        if text[0] == "{":
            return ("set", "", text[1:-1].strip()) if "," in text else None
        return "ordered", text[0] + text[-1], text[1:-1].strip()
    return None


def _closes_at_end(text: str) -> bool:
    """Whether the bracket at the beginning is closed by the last character; intervals may mix ( and [."""
    depth = 0
    for position, character in enumerate(text):
        if character in _OPEN:
            depth += 1
        elif character in _CLOSE:
            depth -= 1
            if depth == 0:
                return position == len(text) - 1
    return False


def has_relation(text: str) -> bool:
    """Whether a sign of relation stands outside brackets."""
    return _SIGN.search(text) is not None and len(split_relation(text)[0]) > 1


def split_relation(text: str) -> tuple[list[str], list[str]]:
    """Sides and signs at the outermost level."""
    sides, signs, start, depth = [], [], 0, 0
    position = 0
    while position < len(text):
        if text[position] in _OPEN:
            depth += 1
        elif text[position] in _CLOSE:
            depth -= 1
        elif not depth and (found := _SIGN.match(text, position)):
            sides.append(text[start:position].strip())
            signs.append(_SIGNS.get(found[0], found[0]))
            position = start = found.end()
            continue
        position += 1
    sides.append(text[start:].strip())
    return sides, signs
