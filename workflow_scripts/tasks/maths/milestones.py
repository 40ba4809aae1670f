"""Where a solution commits itself: units of a text, and the end of the one that holds the first calculation (P1).

One rule for every text and every study (reference protocol, sections 6 and 7.4, where the branch label and the boundary
came from two patterns): the calculation is that of first_calculation, and P1 is the end of its unit.

A unit ends, whichever comes first: at a line end; after `.`, `!` or `?` before white space, unless an abbreviation or a
list's number stands there; after a semicolon before white space; before and after a tag (`</think>`); at a comma
between a result and the next calculation (`4 * 3 = 12 , 12 + 5 = 17` has two); after displayed maths that a capital
letter follows. Inside open brackets or displayed maths it goes on, except past an empty line. Its last character is no
white space; what stands between units belongs to neither.
"""

import re
from bisect import bisect_left, bisect_right
from collections.abc import Sequence
from typing import NamedTuple

from workflow_scripts.tasks.maths.first_calculation import first_calculation

_ABBREVIATIONS = ("mr", "mrs", "ms", "dr", "st", "vs", "etc", "e.g", "i.e", "approx", "resp", "cf")
_NUMBERED = ("eq", "fig", "no")
_CUT = re.compile(
    r"(?P<blank>\n[ \t]*\n\s*)|(?P<line>\n)|(?P<stop>[.!?]+[)\"'”’*$\]]{0,3}(?=\s|$))|(?P<pause>;(?=\s|$))"
    r"|(?P<tag></?[a-z]{2,12}>)|(?P<comma>(?<=[0-9])\s?,(?=\s+[-(\[]{0,3}\s?[$]?[0-9][0-9.,]*\s?[-+*/×·÷−]\s?[$(]{0,2}[0-9]))"
    r"|(?P<open>\\\[|\\\(|[(\[{]|\\begin\{)|(?P<close>\\\]|\\\)|[)\]}]|\\end\{)|(?P<display>\$\$)"
)
_LAST_WORD = re.compile(r"[A-Za-z.]{1,12}$")
_LIST_NUMBER = re.compile(r"(?:^|\n)[ \t*#(]*(?:[0-9]{1,3}|[A-Za-z])$")
_PLANS = re.compile(
    r"\b(?:first|need to|let'?s|let us|we can|we will|we'll|to (?:find|determine|solve)|plan|strategy|approach|step)\b",
    re.I,
)
_CONCLUDES = re.compile(r"\b(?:therefore|thus|so|hence|we get|which gives|the answer)\b|\\boxed|####", re.I)
_DIGIT = re.compile(r"\s[0-9]")
_SENTENCE = re.compile(r"\s+[A-Z]")
_SHORTEST_PLAN = 12


class Milestones(NamedTuple):
    """Character offsets, None where the text has no such place.

    p0: end of the first unit before P1's that speaks of a plan. p1: end of the unit that holds the first calculation.
    second: end of the unit of the first calculation that begins after P1. p2: end of the first unit after P1 that draws
    a conclusion. neighbour: the unit end nearest to P1 besides it, the earlier one of two; never the text's last.
    """

    p0: int | None
    p1: int | None
    second: int | None
    p2: int | None
    neighbour: int | None


def units(text: str) -> list[tuple[int, int]]:
    """(start, end) of every unit, in order, in characters; none is empty and none overlaps the next."""
    found: list[tuple[int, int]] = []
    start, depth, display = 0, 0, False
    for cut in _CUT.finditer(text):
        kind = cut.lastgroup
        if kind in ("open", "close", "display"):
            depth = max(0, depth + {"open": 1, "close": -1, "display": 0}[kind])
            display ^= kind == "display"
            ends = cut[0] in (r"\]", "$$") and not depth and not display
            if ends and _SENTENCE.match(text, cut.end()):
                _add(found, text, start, cut.end())
                start = cut.end()
        elif kind in ("blank", "tag"):
            _add(found, text, start, cut.start())
            start, depth, display = cut.end(), 0, False
        elif not depth and not display and not (kind == "stop" and _goes_on(text, cut)):
            _add(found, text, start, cut.end())
            start = cut.end()
    _add(found, text, start, len(text))
    return found


def first_boundary(text: str) -> int | None:
    """P1: the end of the unit that holds the first calculation, in characters; None where there is none."""
    calculation = first_calculation(text)
    return None if calculation is None else _unit_end([end for _, end in units(text)], calculation.end)


def milestones(text: str) -> Milestones:
    """All of a text's places."""
    calculation = first_calculation(text)
    if calculation is None:
        return Milestones(None, None, None, None, None)
    pieces = units(text)
    ends = [end for _, end in pieces]
    p1 = _unit_end(ends, calculation.end)
    at = ends.index(p1)
    later = first_calculation(text, p1)
    plans = (e for s, e in pieces[:at] if e - s >= _SHORTEST_PLAN and _PLANS.search(text, s, e))
    conclusions = (e for s, e in pieces[at + 1 :] if _CONCLUDES.search(text, s, e))
    others = ends[max(at - 1, 0) : at] + ends[at + 1 : -1][:1]
    return Milestones(
        next(plans, None),
        p1,
        None if later is None else _unit_end(ends, later.end),
        next(conclusions, None),
        min(others, key=lambda end: (abs(end - p1), end), default=None),
    )


def tokens_before(offsets: Sequence[tuple[int, int]], boundary: int) -> tuple[int, bool]:
    """(Tokens that begin before a boundary, whether the last of them goes on beyond it).

    offsets: (start, end) of every token of one encoding of the whole text, in characters and in order. A token that the
    boundary falls into counts as before it.
    """
    count = bisect_left(offsets, boundary, key=lambda token: token[0])
    return count, bool(count) and offsets[count - 1][1] > boundary


def _unit_end(ends: Sequence[int], place: int) -> int:
    """The first unit end at or after a place; the last one where a tag cut the place off."""
    return ends[min(bisect_right(ends, place - 1), len(ends) - 1)]


def _add(found: list[tuple[int, int]], text: str, start: int, end: int) -> None:
    while start < end and text[start].isspace():
        start += 1
    while end > start and text[end - 1].isspace():
        end -= 1
    if start < end:
        found.append((start, end))


def _goes_on(text: str, cut: re.Match) -> bool:
    """Whether a full stop belongs to an abbreviation or to a list's number."""
    if cut[0][0] != ".":
        return False
    near = max(0, cut.start() - 12), cut.start()
    word = _LAST_WORD.search(text, *near)
    short = word[0].lower() if word else ""
    if short in _ABBREVIATIONS or (short in _NUMBERED and _DIGIT.match(text, cut.end())):
        return True
    return bool(_LIST_NUMBER.search(text, *near))
