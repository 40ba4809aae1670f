r"""Where the final answer of a completion stands. Cost is linear in the text, and small: a megabyte takes milliseconds.

Precedence, first match wins:

1. the **last balanced** ``\boxed{…}`` (or ``\fbox``), braces nested, escaped ``\{`` not counted. An unclosed box (a
   truncated completion) does not count, so that an earlier closed one does; several boxes: the last one, since a policy
   may correct itself. An empty last box is the answer, and empty.
2. the last ``####`` with a number or formula behind it: the rest of that line. A Markdown heading (``#### Step 2``,
   ``#### 2. Area``) is not an answer.
3. the last "answer is", "answer:" or "answer =" ("final" before it or not, any case, Markdown stars around it): up to
   the end of its sentence, or the next line where nothing follows. Prose there is searched for its last number.
4. the last number of the text; digits glued to a letter ("x2", "H2O") are no number.

Only what follows the last ``</think>`` is looked at; where ``<think>`` stands in the text and is never closed, all is
still thought and nothing is extracted. Text after an end mark (``<|im_end|>``, …) does not count; text around the
answer does not matter. `format_ok` holds for 1 and 2 alone: "answer" is an ordinary word.
"""

import re
from typing import NamedTuple

MAX_BOX = 4_000
"""Characters of a box, or of a line with an answer; a box without an end within them is taken for unclosed."""
MAX_TRIES = 64
"""Boxes, and markers, tried from the last one backwards."""
MAX_SEARCH = 1 << 16
"""Characters at the end of a text among which its last number is looked for."""
MAX_NUMBER = 400
"""Characters of a number."""

_BOX = re.compile(r"\\f?box(?:ed)?\s*\{")
_BRACE = re.compile(r"\\.|[{}]", re.DOTALL)
_END_MARKS = ("<|endoftext|>", "<|im_end|>", "<|eot_id|>", "</s>")
_HASH_ANSWER = re.compile(
    r"[ \t]*(?:[-+−±]?[ \t]*(?:\\?\$|[£€])?[ \t]*[-+−]?\.?\d|[\\$(\[{√π]|[A-Za-z] ?[-+*/^=(_])"
).match
_HEADING = re.compile(r"[ \t]*\d+[.):][ \t]+[^\W\d]").match
_MARKER = re.compile(r"\banswer[*_]{0,3}\s{0,4}(?:is\b\s{0,4}[:=]?|[:=：])[*_]{0,3}", re.IGNORECASE).match
_SENTENCE_END = re.compile(r"[.!?。！？](?=\s|$|[*_])|;|,?\s(?:because|since|which|so|as)\b")
_FORMULA_START = re.compile(r"[-+−±\d.$\\(\[{√π£€]|[A-Za-z](?:\([a-z]\))?\s?=").match
_NUMBER = re.compile(
    r"(?<![A-Za-z0-9_\\.])(?:(?<![\d)}])[-+−])?(?:\\?\$\s?)?"
    r"(?:(?:\d{1,3}(?:(?:,(?:\\!)?|\{,\})\d{3})++(?!\d)|\d++)(?:\.\d++)?|\.\d++)"
    r"(?:[eE][-+]?\d{1,9}+)?(?:\s?/\s?\d++(?:\.\d++)?)?(?:\s?\\?%)?(?![A-Za-z0-9_])"
    r"|(?:[-−]\s?)?\d{0,9}+\\[dtc]?frac\s?\{\s?-?\d++\s?\}\s?\{\s?\d++\s?\}"
)


class Extraction(NamedTuple):
    """text: the answer without white space around it, '' where its place is empty, None where there is none.

    source: 'boxed', 'hash', 'marker', 'number', 'answer' where it was given bare, or ''.  detail: what was passed over.
    """

    text: str | None
    source: str = ""
    detail: str = ""

    @property
    def format_ok(self) -> bool:
        """Whether something stood in a closed box or after ``####``, or was given bare."""
        return self.source in ("boxed", "hash", "answer") and bool(self.text)


def extract(completion: str) -> Extraction:
    """The final answer of a completion by the precedence above. Never raises on a text."""
    text = _spoken(completion)
    if text is None:
        return Extraction(None, detail="the think part is never closed")
    boxed, detail = last_box(text)
    if boxed is not None:
        return Extraction(boxed, "boxed", detail)
    if (hashed := _last_hash(text)) is not None:
        return Extraction(hashed, "hash", detail)
    if (marked := _last_marked(text)) is not None:
        return Extraction(marked, "marker", detail)
    if (number := last_number(text)) is not None:
        return Extraction(number, "number", detail)
    return Extraction(None, detail=detail)


def last_box(text: str) -> tuple[str | None, str]:
    r"""Content of the last balanced ``\boxed{…}``, or None; and what was passed over on the way."""
    detail, end = "", len(text)
    for _ in range(MAX_TRIES):
        start = max(text.rfind("\\boxed", 0, end), text.rfind("\\fbox", 0, end))
        if start < 0:
            return None, detail
        found = _BOX.match(text, start)
        if found:
            stop = _closing(text, found.end())
            if stop >= 0:
                return text[found.end() : stop].strip(), detail
            detail = "an unclosed box"
        end = start
    return None, detail


def _closing(text: str, start: int) -> int:
    """Offset of the brace that closes the one before `start`, or -1."""
    if text.find("}", start, start + MAX_BOX) < 0:
        return -1
    depth = 1
    for found in _BRACE.finditer(text, start, start + MAX_BOX):
        if found[0] == "{":
            depth += 1
        elif found[0] == "}":
            depth -= 1
            if not depth:
                return found.start()
    return -1


def _spoken(completion: str) -> str | None:
    """The completion without its think part and what follows an end mark; None where the think part is never closed."""
    cut = [position for mark in _END_MARKS if (position := completion.find(mark)) >= 0]
    text = completion[: min(cut)] if cut else completion
    thought = text.rfind("</think>")
    if thought >= 0:
        return text[thought + len("</think>") :]
    return None if "<think>" in text else text


def _last_hash(text: str) -> str | None:
    end = len(text)
    for _ in range(MAX_TRIES):
        start = text.rfind("####", 0, end)
        if start < 0:
            return None
        line_end = text.find("\n", start)
        stop = min(len(text) if line_end < 0 else line_end, start + MAX_BOX)
        if _HASH_ANSWER(text, start + 4, stop) and not _HEADING(text, start + 4, stop):
            return text[start + 4 : stop].strip().rstrip("#*").rstrip()
        end = start
    return None


def _last_marked(text: str) -> str | None:
    found, end = None, len(text)
    for _ in range(MAX_TRIES):
        start = max(text.rfind("nswer", 0, end), text.rfind("NSWER", 0, end)) - 1
        if start < 0:
            return None
        if found := _MARKER(text, start):
            break
        end = start + 1
    if not found:
        return None
    tail = text[found.end() : found.end() + MAX_BOX].lstrip(" \t")
    tail = tail.lstrip().partition("\n")[0].strip()
    if not tail:
        return ""
    ended = _SENTENCE_END.search(tail)
    sentence = (tail[: ended.start()] if ended else tail).strip().strip("*_").strip()
    if not sentence or _FORMULA_START(sentence):
        return sentence
    number = last_number(sentence)
    return sentence if number is None else number


def last_number(text: str) -> str | None:
    r"""The last number of a text as written (sign, thousands, decimals, ``a/b``, ``\frac{a}{b}``, percent), or None."""
    limit = max(0, len(text) - MAX_SEARCH)
    end = len(text)
    while (digit := max(text.rfind(mark, limit, end) for mark in "0123456789")) >= 0:
        # A number stands around its last digit, so that only there a pattern need be tried.
        start = max(0, digit - MAX_NUMBER)
        last = None
        for last in _NUMBER.finditer(text, start, min(len(text), digit + 20)):  # noqa: B007
            pass
        if last is not None:
            return last[0].strip()
        end = start
    return None
