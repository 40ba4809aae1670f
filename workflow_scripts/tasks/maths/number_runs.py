"""Runs of numbers, operators and brackets in a text: what the first calculation is looked for in.

A run ends at the first thing that is neither (words, line ends, an equals sign), so that every run is read once and a
text is read in time proportional to its length.
"""

import re
from collections.abc import Iterator
from typing import NamedTuple

NUMBER = r"(?:[0-9]{1,3}(?:(?:,|\{,\}|\\,)[0-9]{3})++(?![0-9])|[0-9]{1,100}+)(?:\.[0-9]{1,100}+)?+|\.[0-9]{1,100}+"
"""Digits with thousands separators (`,`, LaTeX `{,}` and `\\,`) and decimals; without a sign."""

LONGEST_RUN = 2000
"""Characters. A longer run is cut: no calculation is that long."""

LONGEST_TEXT = 100_000
"""Characters. What a text says first does not stand beyond them; degenerate texts must not hold up a run."""

_SIGNS = {
    **dict.fromkeys("*×·⋅∗∙", "*"),
    **dict.fromkeys([r"\times", r"\cdot", r"\ast", "x", "X"], "*"),
    **dict.fromkeys(["/", "÷", r"\div"], "/"),
    **dict.fromkeys("-−–", "-"),
    "+": "+",
}
_TOKEN = re.compile(
    r"(?P<tex_fraction>\\[dt]?frac\s?(?:\{\s?(?P<top>" + NUMBER + r")\s?\}\s?\{\s?(?P<bottom>" + NUMBER + r")\s?\}"
    r"|(?P<digits>[1-9][1-9])(?![0-9])))"
    r"|(?P<fraction>(?P<over>" + NUMBER + r")/(?P<under>" + NUMBER + r"))(?!\s?/|[0-9]|\.[0-9])"
    r"|(?P<number>" + NUMBER + r")"
    r"|(?P<operator>\+|\*(?!\*)|[-−–×·⋅∗∙÷/]|\\(?:times|cdot|ast|div)(?![A-Za-z])|(?<=\s)[xX](?=\s[$]?[0-9(]))"
    r"|(?P<open>(?:\\left\s?|\\[bB]igg?l?)?(?:[(\[{]|\\\{))"
    r"|(?P<close>(?:\\right\s?|\\[bB]igg?r?)?(?:[)\]}]|\\\}))"
    r"|(?P<filler>[ \t\u00a0$€£~&]|\\[,;:! $()\[\]]|<<)"
)
_POWER = re.compile(r"\s?\^\s?(?:([0-9]{1,6})(?![0-9])|\{\s?([-−]?[0-9]{1,6})\s?\})|([²³])")
_PERCENT = re.compile(r"\s?\\?%")
_UNIT = re.compile(
    r"\s?(?:°|\^\s?\{?\\circ\}?|\\(?:text|mathrm|mbox)\s?\{[^{}\n]{0,40}\})"
    r"|(?:[ /][A-Za-z]{2,20}){1,4}(?=\s{0,2}(?:[-+*/×·÷−=≈)]|\\times|\\cdot|\\div|\\approx))"
)
# What makes the number before it a part of a term, a time or a word.
_TERM = re.compile(
    r"[A-Za-z_]|!(?!\s+[A-Z]|\s*$)|:[0-9]|\.[0-9]|\s?\^|\s?\\(?!times|cdot|ast|div|text|mathrm|mbox|left|right|[bB]ig|frac|dfrac|tfrac|approx|simeq"
    r"|quad|qquad|end|boxed|le|ge|ne|to|implies|[Rr]ightarrow|therefore)[A-Za-z]|\s[b-hj-zB-HJ-Z](?![A-Za-z])"
)
_TIMES_LETTER = re.compile(r"\s[xX]\s[$]?[0-9(]")
_START = re.compile(r"[0-9]|\.[0-9]|\\[dt]?frac")
_REST_OF_NUMBER = re.compile(r"[0-9.]*")
_LABELLED = re.compile(
    r"(?:step|case|part|problem|question|exercise|figure|table|equation|chapter|section|example|page)\s?#?$", re.I
)
_NUMERO = re.compile(r"[Nn]o\.\s?$")
_OPERATORS_BEFORE = (
    "-",
    "+",
    "*",
    "/",
    "×",
    "·",
    "⋅",
    "∗",
    "∙",
    "÷",
    "−",
    "^",
    "_",
    r"\times",
    r"\cdot",
    r"\div",
    r"\ast",
)
_BULLET = re.compile(r"(?:^|\n)\s*[-+*]+[\s$]+$")
_SIGN_BEFORE = re.compile(r"(?:^|[(\[{=,:;<>]\s*|\n\s*|\$)[-−]$")


class Operand(NamedTuple):
    """label: normalised, `1234.5`, `-3`, `20%`, `3^2`, `1/2`, `1 1/2`. top, bottom: of a bare fraction, else empty."""

    label: str
    start: int
    end: int
    top: str = ""
    bottom: str = ""


class Operator(NamedTuple):
    """sign: one of + - * /. spaced: white space on both sides. written: as in the text."""

    sign: str
    start: int
    end: int
    spaced: bool
    written: str


class Bracket(NamedTuple):
    opens: bool
    start: int
    end: int


class Run(NamedTuple):
    """items in order. units: words stand between its numbers. dangling: an operand before it is no number."""

    items: list[Operand | Operator | Bracket]
    end: int
    units: bool
    dangling: bool


def plain(number: str) -> str:
    """A number without separators, leading zeros and trailing decimal zeros: `1,050.50` is `1050.5`."""
    digits = re.sub(r"[^0-9.]", "", number)
    whole, _, decimals = digits.partition(".")
    decimals = decimals.rstrip("0")
    return (whole.lstrip("0") or "0") + (f".{decimals}" if decimals else "")


def runs(text: str, start: int = 0) -> Iterator[Run]:
    """Every run of the first LONGEST_TEXT characters of `text` from `start` on, in order."""
    place, last = start, min(len(text), LONGEST_TEXT)
    while found := _START.search(text, place, last):
        at = found.start()
        if at and _inside_something(text, at):
            place = max(_REST_OF_NUMBER.match(text, at).end(), at + 1)
            continue
        run = _run(text, at, start)
        yield run
        place = max(run.end, at + 1)


def _inside_something(text: str, at: int) -> bool:
    """Whether the number at `at` goes on with something before it: a word, a decimal, a time."""
    before = text[at - 1]
    if before in ".:" and at > 1:
        return "0" <= text[at - 2] <= "9"
    return before == "_" or (before.isalnum() and text[at] != "\\")


def _run(text: str, at: int, floor: int) -> Run:
    before = text[max(floor, at - 24) : at]
    if (before.rstrip(" #")[-1:].isalpha() and _LABELLED.search(before)) or _NUMERO.search(before):
        return Run([], _REST_OF_NUMBER.match(text, at).end(), False, False)
    first = at - 1 if before[-1:] in ("-", "−") and _SIGN_BEFORE.search(before) else at
    while first > floor and text[first - 1] in "([{" and not (first - 1 > floor and text[first - 2].isalnum()):
        first -= 1  # brackets that open with the run, unless they are a function's
    dangling = text[max(floor, first - 24) : first].rstrip(" \t\n$&{").endswith(_OPERATORS_BEFORE)
    dangling = dangling and not _BULLET.search(text[max(floor, first - 24) : first])
    items, units, place = [], False, first
    limit = min(len(text), at + LONGEST_RUN)
    while place < limit and (token := _TOKEN.match(text, place, limit)):
        kind, place = token.lastgroup, token.end()
        if kind == "filler":
            continue
        if kind == "operator":
            spaced = token.start() > 0 and text[token.start() - 1].isspace() and text[place : place + 1].isspace()
            items.append(Operator(_SIGNS[token[0]], token.start(), place, spaced, token[0]))
        elif kind in ("open", "close"):
            items.append(Bracket(kind == "open", token.start(), place))
        else:
            if kind == "fraction" and items and isinstance(items[-1], Operator) and items[-1].sign == "/":
                kind, place = "number", token.end("over")  # 24/3/2 is a chain
            operand, place, worded = _operand(text, token, kind, place)
            if operand is None:
                break
            items.append(operand)
            units |= worded
    return Run(_merged(items), place, units, dangling)


def _operand(text: str, token: re.Match, kind: str, end: int) -> tuple[Operand | None, int, bool]:
    """(None where it is part of a term, the place after it and its unit, whether a unit of words follows)."""
    top, bottom = "", ""
    if kind == "number":
        label = plain(token["number"] or token["over"])
    else:
        top, bottom = (token["digits"] or "") or (token["top"] or token["over"], token["bottom"] or token["under"])
        top, bottom = plain(top), plain(bottom)
        label = f"{top}/{bottom}"
    if power := _POWER.match(text, end):
        label += "^" + (power[1] or power[2] or {"²": "2", "³": "3"}[power[3]]).replace("−", "-")
        end, top, bottom = power.end(), "", ""
    if percent := _PERCENT.match(text, end):
        label, end, top, bottom = f"{label}%", percent.end(), "", ""
    stop = end
    if unit := _UNIT.match(text, end):
        return Operand(label, token.start(), end, top, bottom), unit.end(), unit[0][0] in " /"
    if _TERM.match(text, end) and not _TIMES_LETTER.match(text, end):
        return None, stop, False
    return Operand(label, token.start(), end, top, bottom), end, False


def _merged(items: list) -> list:
    """Signs, mixed numbers, scientific notation and single numbers in brackets as one operand each."""
    made: list[Operand | Operator | Bracket] = []
    for item in items:
        if isinstance(item, Operand):
            sign = made[-1] if made and isinstance(made[-1], Operator) and made[-1].sign == "-" else None
            before = made[-2] if len(made) > 1 else None
            first = before is None or isinstance(before, Operator) or (isinstance(before, Bracket) and before.opens)
            if sign and sign.end == item.start and first:
                made.pop()
                item = item._replace(label=f"-{item.label}", start=sign.start, top="", bottom="")
            times = made[-1] if before and isinstance(made[-1], Operator) and made[-1].sign == "*" else None
            if times and item.label.startswith("10^") and isinstance(before, Operand) and before.label[-1].isdigit():
                del made[-2:]
                item = Operand(f"{before.label}e{item.label[3:]}", before.start, item.end)
            whole = made[-1] if made and isinstance(made[-1], Operand) else None
            if whole and item.bottom and whole.label.isdigit() and item.start - whole.end <= 1:
                made.pop()
                item = Operand(f"{whole.label} {item.label}", whole.start, item.end)
        made.append(item)
        closes = isinstance(item, Bracket) and not item.opens and len(made) > 2
        if closes and isinstance(made[-2], Operand) and isinstance(made[-3], Bracket) and made[-3].opens:
            inner = made[-2]._replace(start=made[-3].start, end=item.end)
            del made[-3:]
            # 3(4) is a product without a sign: neither number may pass for an operand of what stands beside it.
            made.append(inner)
            if len(made) > 1 and isinstance(made[-2], Operand):
                made[-2:] = [Bracket(False, made[-2].start, inner.end)]
    return made
