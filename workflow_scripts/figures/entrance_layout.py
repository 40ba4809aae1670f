"""Where the parts of an entrance diagram stand: columns, rows and the lines between them, in inches and words."""

from collections.abc import Callable, Mapping, Sequence
from typing import NamedTuple

import pandas as pd

from workflow_scripts.figures.style import WIDTH
from workflow_scripts.records.schemas import OUTSIDE

SMALL, TEXT, CHIP_TEXT, LARGE = 6.5, 7.0, 7.5, 8.5
"""Points."""

BAR, NUMBER, ROW = 0.85, 0.41, 0.138
"""Inches: width of a bar from 0 to 1 and of its number, height of a solution."""
_MARGIN, _CHIP = 0.06, 0.36
_BRANCH, _FAN = (0.35, 0.9), (0.8, 2.0)
_FAMILY_GAP = 0.055

_SIGNS = str.maketrans({"*": "×", "/": "÷", "-": "−"})

Width = Callable[..., float]
"""width(text, size, weight="normal"): inches that a line of text takes."""


class Columns(NamedTuple):
    """Inches from the left. root: middle of the box of numbers. bars: None without policies. page: of the figure."""

    root: float
    root_end: float
    bars: float | None
    chip: float
    chip_end: float
    leaf: float
    bracket: float
    page: float


def pretty(text: str) -> str:
    """An expression or opening with printed signs: `4*` as `4 ×`, `7 - 4 / 2` as `7 − 4 ÷ 2`."""
    if text and text[-1] in "+-*/":
        text = f"{text[:-1]} {text[-1]}"
    return text.translate(_SIGNS)


def share_words(value: float) -> str:
    """A probability in few digits: `0.93`, `0.021`, `<0.001`, `0`."""
    if value == 0:
        return "0"
    if value < 0.001:
        return "<0.001"
    return f"{value:.3f}" if value < 0.0995 else f"{value:.2f}"


def root_lines(numbers: Sequence[int], target: int) -> list[str]:
    """Numbers in braces and the target, the numbers on two lines where they have many digits."""
    words = [str(number) for number in numbers]
    if sum(map(len, words)) + len(words) <= 11:
        return ["{" + ", ".join(words) + "} → " + str(target)]
    half = (len(words) + 1) // 2
    return ["{" + ", ".join(words[:half]) + ("," if words[half:] else ""), ", ".join(words[half:]) + f"}} → {target}"]


def families(leaves: pd.DataFrame) -> list[tuple[str, int]]:
    """(Paper family, its solutions with those not drawn) in drawing order, without the mention of further families."""
    counts = leaves["rest"].where(leaves["rest"] > 0, 1).groupby(leaves["paper_family"], sort=False).sum()
    return [(family, int(count)) for family, count in counts.items() if family]


def family_words(family: str, count: int, total: int) -> str:
    """`4 ×  7 of 11`; the total is left out where it is long."""
    return f"{pretty(family)}   {count}" + (f" of {total}" if total < 100 else "")


def renumbered(leaves: pd.DataFrame) -> pd.DataFrame:
    """The rows with formulas numbered from 1 without gaps, so that those drawn differ in colour or marker."""
    ranks = {formula: rank for rank, formula in enumerate(sorted(leaves["formula"].dropna().unique()), start=1)}
    return leaves.assign(formula=leaves["formula"].map(ranks))


def columns_of(
    root: Sequence[str], openings: Sequence[str], leaves: pd.DataFrame, width: Width, *, bars: bool
) -> Columns:
    """Columns over the text width of a page, spread in the middle of it; over a wider page where long expressions do
    not fit, which print then scales down.

    root: `root_lines`. leaves: branches.shown_solutions.
    """
    total = int(leaves["rest"].where(leaves["rest"] > 0, 1).sum())
    box = max(width(line, LARGE, "bold") for line in root) + 0.16
    text = max(width(pretty(row), TEXT) for row in leaves["rendering"].dropna())
    label = max(width(family_words(*row, total), SMALL, "bold") for row in families(leaves))
    bar = BAR + NUMBER + 0.06 if bars else 0.0
    chip = max(_CHIP, max(width(pretty(opening), CHIP_TEXT, "bold") for opening in openings) + 0.1)
    fixed = 2 * _MARGIN + box + bar + chip + 0.14 + text + 0.22 + label
    page = max(WIDTH["text"], fixed + _BRANCH[0] + _FAN[0])
    fan = min(page - fixed - _BRANCH[0], _FAN[1])
    branch = min(page - fixed - fan, _BRANCH[1])
    left = _MARGIN + (page - fixed - fan - branch) / 2
    start = left + box + branch
    chip_end = start + bar + chip
    leaf = chip_end + fan
    return Columns(
        root=left + box / 2,
        root_end=left + box,
        bars=start if bars else None,
        chip=start + bar,
        chip_end=chip_end,
        leaf=leaf,
        bracket=leaf + 0.14 + text + 0.06,
        page=page,
    )


def row_places(leaves: pd.DataFrame) -> list[float]:
    """Inches of the middle of each row of solutions below the top of the first; a gap between families."""
    places, top, before = [], 0.0, None
    for family in leaves["paper_family"]:
        top += _FAMILY_GAP if before not in (None, family) else 0.0
        places.append(top + ROW / 2)
        top, before = top + ROW, family
    return places


def spread(wanted: Sequence[float], distance: float, low: float, high: float) -> list[float]:
    """Places in the order of `wanted`, at least `distance` apart, within [low, high] (from low on where they do not
    fit), as near to the wanted ones as that allows (least squares, by pooling neighbours).

    Example: spread([1, 1], 2, -9, 9) is [0, 2].
    """
    pools: list[tuple[float, int]] = []  # sum of wanted places less offsets, how many
    for at, place in enumerate(wanted):
        total, count = place - at * distance, 1
        while pools and pools[-1][0] / pools[-1][1] > total / count:
            total, count = total + pools[-1][0], count + pools[-1][1]
            pools.pop()
        pools.append((total, count))
    last = max(low, high - (len(wanted) - 1) * distance)
    starts = [min(max(total / count, low), last) for total, count in pools for _ in range(count)]
    return [start + at * distance for at, start in enumerate(starts)]


def links_of(frame: pd.DataFrame, leaves: pd.DataFrame, openings: Sequence[str]) -> pd.DataFrame:
    """The lines to draw: opening, row (position in `leaves`), leads, formula (0 to a row that stands for several).

    frame: branches.branches. Rows that none of `openings` can begin are linked from the mention of further openings,
    whose name is empty.
    """
    drawn = set(openings)
    row_of = {form: at for at, form in enumerate(leaves["paper_form"]) if isinstance(form, str)}
    formulas = list(leaves["formula"])
    rests = {family: at for at, (family, rest) in enumerate(zip(leaves["paper_family"], leaves["rest"])) if rest}
    found: dict[tuple[str, int], tuple[bool, int]] = {}
    for edge in frame[frame["opening"] != OUTSIDE].itertuples():
        opening = edge.opening if edge.opening in drawn else ""
        if edge.paper_form in row_of:
            row = row_of[edge.paper_form]
            found[opening, row] = bool(edge.leads and opening), int(formulas[row])
        else:
            found[opening, rests[edge.paper_family if edge.paper_family in rests else ""]] = False, 0
    reached = {row for opening, row in found if opening}
    rows = [(*pair, *what) for pair, what in found.items() if pair[0] or pair[1] not in reached]
    return pd.DataFrame(rows, columns=["opening", "row", "leads", "formula"])


def opening_places(
    links: pd.DataFrame, ys: Sequence[float], last: Sequence[str], distance: float, low: float, high: float
) -> Mapping[str, float]:
    """Opening to its height: each near the mean of its solutions, three times the weight to those of its own family,
    and the names in `last` at the bottom. ys: of the rows of solutions."""
    wanted = {}
    for opening, part in links[links["opening"] != ""].groupby("opening"):
        weights = [3.0 if leads else 1.0 for leads in part["leads"]]
        wanted[opening] = sum(ys[row] * weight for row, weight in zip(part["row"], weights)) / sum(weights)
    order = sorted(wanted, key=lambda opening: (wanted[opening], opening))
    heights = spread([*(wanted[name] for name in order), *[high] * len(last)], distance, low, high)
    return dict(zip([*order, *last], heights, strict=True))
