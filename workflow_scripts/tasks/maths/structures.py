r"""Answers as structures: what is in brackets, lists, sets, unions, matrices, equations and inequalities.

An answer is read from the outside inwards; what has no structure is a `Leaf`: a formula, a numeral in another base, or
words. Commas separate everywhere but in ``1,234`` outside brackets. ``a \pm b`` is the list of its two values.
"""

import re
from dataclasses import dataclass

from workflow_scripts.tasks.maths import algebra, expressions
from workflow_scripts.tasks.maths.brackets import enclosed, has_relation, split, split_relation
from workflow_scripts.tasks.maths.numbers import times_power_of_ten
from workflow_scripts.tasks.maths.spelling import fingerprint, unwrapped
from workflow_scripts.tasks.maths.units import measured
from workflow_scripts.tasks.maths.verdicts import Rejected, Status

MAX_ITEMS = 64
"""Elements of a list, set, tuple, union or matrix."""


@dataclass(frozen=True, slots=True)
class Leaf:
    """kind: 'value' (read exactly), 'words', 'base' (a numeral with its base), or 'formula' (for the symbolic worker).

    text: tidied, without unit or sign of percent.  value: an exact quotient; of a percentage, already divided by 100.
    words: lower-case letters where the answer is or could be words, else ''.
    """

    kind: str
    text: str
    value: algebra.Quotient | None = None
    words: str = ""
    unit: str = ""
    percent: bool = False


@dataclass(frozen=True, slots=True)
class Group:
    """kind: 'ordered' (tuple, interval, vector), 'list', 'set', 'union', or 'matrix'.  brackets: '(]' and such, of
    ordered ones; of a matrix its number of columns."""

    kind: str
    items: tuple["Node", ...]
    brackets: str = ""


@dataclass(frozen=True, slots=True)
class Relation:
    """sides joined by signs from =, <, <=, !=; a decreasing chain is stored turned round.

    names: of each side, the name that it is (x, f(x), m_{max}), else ''.
    """

    signs: tuple[str, ...]
    sides: tuple["Node", ...]
    names: tuple[str, ...]


Node = Leaf | Group | Relation

_AND = re.compile(r"\s*\\text\s*\{\s*,?\s*(?:and|or)\s*\}\s*|\s*,?\s+(?:and|or)\s+", re.IGNORECASE)
_MEMBER = re.compile(r"^[A-Za-z]\w*\s*\\in(?![A-Za-z])\s*")
_SIGNS = re.compile(r"\\[pm][mp](?![A-Za-z])").findall
_PAIR = re.compile(r"[A-Za-z]{2}(?: [A-Za-z]{2})*").fullmatch
_SHORT_TEXT = "am an as at be by do go he if in is it me my no of on or ox so to up us we"
_SHORT_WORDS = frozenset(_SHORT_TEXT.split())
_TURNED = {"=": "=", "<": "<", "<=": "<=", ">": "<", ">=": "<=", "!=": "!="}
_NAME = re.compile(
    r"(?:[A-Za-z]{1,4}|\\[a-zA-Z]+)(?:_(?:\w|\{[^{}]*\}))?(?:\([A-Za-z](?:,\s*[A-Za-z])*\))?|\\angle [A-Za-z_{}0-9 ]+"
).fullmatch
_MATRIX = re.compile(r"\\begin\s*\{([pbB]?)matrix\}(.*)\\end\s*\{\1matrix\}", re.DOTALL).fullmatch
_BASE = re.compile(
    r"\(?\s*(?:\\text\s*\{\s*)?([0-9A-Fa-f]+)\s*\}?\s*\)?\s*_\s*(?:\{\s*(?:\\text\s*\{\s*)?(\d{1,2})\s*\}{1,2}|(\d))"
).fullmatch
_WORDS = re.compile(r"[^\W\d_][^\W\d_ .,'/&-]*(?:[ .,'/&-]+[^\W\d_]+)*\.?").fullmatch
_CHOICE = re.compile(r"\(?([A-Za-z])\)?").fullmatch
_LONG_WORD = re.compile(r"[^\W\d_]{3,}").search


def read(text: str) -> Node:
    """The structure of a tidied answer.  Raises `Rejected`: EMPTY, TOO_LONG, TOO_DEEP, TOO_LARGE; what cannot be read
    exactly is a leaf of kind 'formula'."""
    if not text:
        raise Rejected(Status.EMPTY)
    return _node(text, 0)


def _node(text: str, depth: int) -> Node:
    if depth > 12:
        raise Rejected(Status.TOO_DEEP, "structures inside one another")
    if not text:
        return Leaf("formula", text)
    if text.isdigit():
        return _leaf(text)
    text = _MEMBER.sub("", text, count=1) if "\\in" in text else text
    if found := _MATRIX(text):
        return _matrix(found[2], depth)
    bare = unwrapped(text)
    if bare != text:
        # Text commands around a whole answer: words, a choice, or a formula that needed none.
        words = _words_of(bare) or _pairs_of(bare)
        return _node(bare, depth + 1) if bare and not words else Leaf("words", bare, words=words)
    if "\\cup" in text and len(parts := split(text, ("\\cup",))) > 1:
        return Group("union", tuple(_node(part, depth + 1) for part in _few(parts)))
    parts = _listed(text)
    if len(parts) > 1:
        return _list(parts, depth)
    if has_relation(text):
        return _relation(text, depth)
    inside = enclosed(text)
    if inside is not None:
        kind, brackets, body = inside
        parts = split(body, (",", ";"))
        if len(parts) > 1:
            nodes = _with_signs([part for part in _few(parts) if part], depth)
            return Group("ordered", nodes, brackets) if kind == "ordered" else Group("set", nodes)
        if kind == "set":
            return Group("set", _with_signs([body], depth) if body else ())
    if text in ("\\emptyset", "\\{\\}"):
        return Group("set", ())
    if _SIGNS(text):
        return Group("list", _with_signs([text], depth))
    return _leaf(text)


def _list(parts: list[str], depth: int) -> Node:
    """A bare list; words with commas between are words."""
    return Group("list", _with_signs(_few(parts), depth))


def _with_signs(parts: list[str], depth: int) -> tuple[Node, ...]:
    r"""Nodes of the parts, each ``\pm`` giving two; one sign a part is read."""
    nodes: list[Node] = []
    for part in parts:
        signs = len(_SIGNS(part))
        if signs == 1:
            for sign in "+-":
                nodes.append(_node(re.sub(r"\\(?:pm|mp)(?![A-Za-z])", sign, part).strip(), depth + 1))
        elif signs:
            nodes.append(Leaf("formula", part))
        else:
            nodes.append(_node(part, depth + 1))
    return tuple(nodes)


def _few(parts: list[str]) -> list[str]:
    if len(parts) > MAX_ITEMS:
        raise Rejected(Status.TOO_LONG, f"{len(parts)} elements, at most {MAX_ITEMS}")
    return parts


def _listed(text: str) -> list[str]:
    """The parts of a bare list, split at commas, semicolons, "and", "or" outside brackets; or the text alone."""
    if "," not in text and ";" not in text and " " not in text and "\\text" not in text:
        return [text]
    if _AND.search(text):
        text = _AND.sub(lambda found: " , ", text) if not _words_of(text) else text
    if _words_of(text):
        return [text]
    parts = [part for part in split(text, (",", ";"), thousands=True) if part]
    return parts or [text]


def _relation(text: str, depth: int) -> Node:
    sides, signs = split_relation(text)
    if not all(sides):
        if sides[0] == "" and len(sides) == 2 and signs == ["="]:  # "= 5"
            return _node(sides[1], depth + 1)
        return Leaf("formula", text)
    if len(sides) > 4:
        raise Rejected(Status.TOO_LONG, "a chain of more than three relations")
    if {">", ">="} & set(signs) and not {"<", "<="} & set(signs):
        sides, signs = sides[::-1], [_TURNED[sign] for sign in signs[::-1]]
    names = tuple(name(side) for side in sides)
    return Relation(tuple(signs), tuple(_node(side, depth + 1) for side in sides), names)


def name(text: str) -> str:
    """The side of an equation as a name, '' where it is more than one."""
    text = unwrapped(text.strip())
    return fingerprint(text) if _NAME(text) and text not in ("\\pi", "e", "i") else ""


def _matrix(body: str, depth: int) -> Node:
    rows = [row for row in body.split("\\\\") if row.strip()]
    cells = [[cell.strip() for cell in row.split("&")] for row in rows]
    if not cells or len({len(row) for row in cells}) != 1 or not all(all(row) for row in cells):
        return Leaf("formula", body)
    flat = _few([cell for row in cells for cell in row])
    return Group("matrix", tuple(_node(cell, depth + 1) for cell in flat), str(len(cells[0])))


def _words_of(text: str) -> str:
    """Lower-case words of an answer that is words (one of three letters or more), or of a lone choice letter."""
    if "\\" in text or any(character.isdigit() for character in text):
        return ""
    if _WORDS(text) and _LONG_WORD(text):
        return " ".join(text.casefold().replace(".", " ").split())
    return found[1].casefold() if (found := _CHOICE(text)) else ""


def _pairs_of(text: str) -> str:
    """Lower-case letters of an answer that is runs of two letters and no more, which are words or products."""
    return text.casefold() if _PAIR(text) else ""


def is_words(leaf: Leaf) -> bool:
    """Whether two bare letters are words and no product: capitals both (TS), or a word of a closed list (no, on)."""
    return bool(_PAIR(leaf.text)) and all(
        run.isupper() or run.casefold() in _SHORT_WORDS for run in leaf.text.split(" ")
    )


def _leaf(text: str) -> Leaf:
    if found := _BASE(text):
        digits, base = found[1], int(found[2] or found[3])
        if 2 <= base <= 16 and all(int(digit, 16) < base for digit in digits):
            return Leaf("base", f"{int(digits, base)}_{base}")
    words = _words_of(text)
    if words and len(words) > 1:
        return Leaf("words", text, words=words)
    words = words or _pairs_of(text)
    taken = measured(text)
    try:
        value = expressions.read(taken.text)
        if taken.percent or taken.scale:
            factor = times_power_of_ten(algebra.rational(algebra.constant(1)), -2 if taken.percent else taken.scale)
            value = algebra.multiply(value, algebra.constant(factor))
    except Rejected as fault:
        if fault.status is not Status.UNSUPPORTED:
            raise
        return Leaf("formula", taken.text, words=words, unit=taken.unit, percent=taken.percent)
    return Leaf("value", taken.text, value, words, taken.unit, taken.percent)
