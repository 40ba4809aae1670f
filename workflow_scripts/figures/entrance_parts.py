"""The parts of an entrance diagram, each drawn into axes that are ruled in inches, downwards from the top left."""

from collections.abc import Mapping, Sequence
from functools import partial

import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.font_manager import FontProperties
from matplotlib.lines import Line2D
from matplotlib.patches import FancyBboxPatch, Patch, PathPatch, Rectangle
from matplotlib.path import Path

from workflow_scripts.figures import entrance_layout as layout
from workflow_scripts.figures import style
from workflow_scripts.figures.entrance_layout import Columns
from workflow_scripts.records.schemas import OUTSIDE

HEADER, BAR_PITCH = 0.28, 0.1
"""Inches: of the line of headings, and from bar to bar at one opening."""

_INK, _GREY, _FAINT = "#222222", "#6b6b6b", "#b5b5b5"
_BAR_HEIGHT, _ROOT_LINE, _COUNT_LINE = 0.075, 0.15, 0.115
_MARKERS = (*style.MARKERS, "<", ">", "p", "h")


def _curve(axes: Axes, start: tuple[float, float], end: tuple[float, float], **look: object) -> None:
    middle = (start[0] + end[0]) / 2
    points = [start, (middle, start[1]), (middle, end[1]), end]
    path = Path(points, [Path.MOVETO, Path.CURVE4, Path.CURVE4, Path.CURVE4])
    axes.add_patch(PathPatch(path, facecolor="none", capstyle="butt", **look))


def _box(axes: Axes, left: float, top: float, width: float, height: float, **look: object) -> None:
    pad = 0.03  # the style adds it on each side
    corner, inner = (left + pad, top + pad), (width - 2 * pad, height - 2 * pad)
    axes.add_patch(FancyBboxPatch(corner, *inner, boxstyle=f"round,pad={pad}", facecolor="white", zorder=4, **look))


def formula_look(formula: int) -> tuple[str, str]:
    """Colour and marker of a formula, 1 or more: pairs differ up to 60, the first 6 in both."""
    at, colours = formula - 1, len(style.COLOURS)
    return style.COLOURS[at % colours], _MARKERS[(at + at // colours) % len(_MARKERS)]


def greys_of(frame: pd.DataFrame) -> dict[str, str]:
    """Label of each policy with masses to its grey, from light to dark: colours stand for formulas."""
    labels = [name.removeprefix("mass ") for name in frame.columns if name.startswith("mass ")]
    steps = max(len(labels) - 1, 1)
    return {label: f"{0.58 - 0.48 * (at if len(labels) > 1 else 1) / steps:.3f}" for at, label in enumerate(labels)}


def width_in(drawn: Figure, text: str, size: float, weight: str = "normal") -> float:
    """Inches that a line of text takes in the font of the style in force."""
    font = FontProperties(size=size, weight=weight)
    return drawn.canvas.get_renderer().get_text_width_height_descent(text, font, False)[0] / drawn.dpi


def draw_headers(axes: Axes, columns: Columns) -> None:
    """A heading over each column."""
    header = partial(axes.text, y=HEADER - 0.13, size=layout.SMALL, color=_GREY, va="center_baseline")
    header(x=columns.chip, s="opening (first step)")
    header(x=columns.leaf + 0.1, s="solution")
    header(x=columns.bracket, s="family")
    if columns.bars is not None:
        header(x=columns.bars, s="mass, 0 to 1")


def root_height(lines: Sequence[str]) -> float:
    """Inches that a column needs for `draw_root`, which puts the box in the middle of it and the counts below."""
    return _ROOT_LINE * len(lines) + 0.13 + 2 * (0.04 + 3 * _COUNT_LINE)


def draw_root(axes: Axes, columns: Columns, y: float, lines: Sequence[str], counts: Mapping[str, int]) -> None:
    """The box of numbers and target at height y. counts: singular noun, ending in a plain plural, to number."""
    half, height = columns.root_end - columns.root, _ROOT_LINE * len(lines) + 0.13
    _box(axes, columns.root - half, y - height / 2, 2 * half, height, edgecolor=_INK, linewidth=0.9)
    words = partial(axes.text, columns.root, ha="center", va="center_baseline", zorder=5)
    for at, line in enumerate(lines):
        words(y + (at + 0.5 - len(lines) / 2) * _ROOT_LINE, line, size=layout.LARGE, weight="bold", color=_INK)
    for at, (noun, count) in enumerate(counts.items()):
        below = y + height / 2 + 0.04 + (at + 0.5) * _COUNT_LINE
        words(below, f"{count} {noun}{'' if count == 1 else 's'}", size=layout.SMALL, color=_GREY)


def _draw_box(axes: Axes, columns: Columns, y: float, words: str, *, solid: bool, wide: float = 0.0) -> None:
    width = columns.chip_end - columns.chip + wide
    ink = _INK if solid else _GREY
    dashes = "-" if solid else (0, (2.5, 1.5))
    _box(axes, columns.chip, y - 0.085, width, 0.17, edgecolor=ink, linewidth=0.8, linestyle=dashes)
    axes.text(
        columns.chip + width / 2,
        y,
        words,
        size=layout.SMALL if wide else layout.CHIP_TEXT,
        weight="bold" if solid else "normal",
        color=ink,
        ha="center",
        va="center_baseline",
        zorder=5,
    )


def _draw_bars(axes: Axes, left: float, y: float, cells: pd.Series, greys: Mapping[str, str]) -> None:
    """A bar from 0 to 1 per policy: filled to the mass, or outlined to it and filled to the valid share."""
    for at, (policy, grey) in enumerate(greys.items()):
        mass, valid = cells[f"mass {policy}"], cells.get(f"valid {policy}")
        top = y + (at - len(greys) / 2) * BAR_PITCH + (BAR_PITCH - _BAR_HEIGHT) / 2
        bar = partial(Rectangle, (left, top), height=_BAR_HEIGHT)
        axes.add_patch(bar(width=layout.BAR, facecolor="#f1f1f1", linewidth=0))
        if mass:
            axes.add_patch(bar(width=layout.BAR * mass, facecolor="white", edgecolor=grey, linewidth=0.7))
        filled = mass if valid is None else valid
        if filled:
            axes.add_patch(bar(width=layout.BAR * filled, facecolor=grey, edgecolor=grey, linewidth=0.7))
        place = left + layout.BAR + layout.NUMBER, top + _BAR_HEIGHT / 2
        axes.text(*place, layout.share_words(mass), size=layout.SMALL, color=_INK, ha="right", va="center_baseline")


def draw_openings(
    axes: Axes,
    columns: Columns,
    frame: pd.DataFrame,
    middles: Mapping[str, float],
    greys: Mapping[str, str],
    others: Sequence[str],
) -> None:
    """The column of openings and, with policies, the bars before it; those left out together."""
    menu = frame.drop_duplicates("opening").set_index("opening")
    for opening, y in middles.items():
        if columns.bars is not None:
            cells = menu.loc[opening] if opening else menu.loc[list(others)].filter(regex="^(mass|valid) ").sum()
            _draw_bars(axes, columns.bars, y, cells, greys)
        if opening == OUTSIDE:
            _draw_box(axes, columns, y, "no solution", solid=False, wide=0.35)
        elif not opening:
            _draw_box(axes, columns, y, f"{len(others)} more", solid=False, wide=0.12)
        else:
            solid = bool(menu.loc[opening, "opening_expressible"])
            _draw_box(axes, columns, y, layout.pretty(opening), solid=solid)


def draw_links(
    axes: Axes,
    columns: Columns,
    links: pd.DataFrame,
    root: float,
    middles: Mapping[str, float],
    ys: Sequence[float],
) -> None:
    """The lines from the numbers to the openings and from these to the solutions; heights in `root`, `middles` (of
    each opening) and `ys` (of each row of solutions)."""
    for y in middles.values():
        end = (columns.chip if columns.bars is None else columns.bars), y
        _curve(axes, (columns.root_end, root), end, edgecolor=_FAINT, linewidth=0.8, zorder=0)
    for link in links.itertuples():
        colour = formula_look(link.formula)[0] if link.formula else _FAINT
        _curve(
            axes,
            (columns.chip_end, middles[link.opening]),
            (columns.leaf - 0.05, ys[link.row]),
            edgecolor=colour,
            linewidth=1.5 if link.leads else 0.7 if link.formula else 0.4,
            alpha=1.0 if link.leads else 0.5,
            zorder=2 if link.leads else 1,
        )


def draw_solutions(axes: Axes, columns: Columns, leaves: pd.DataFrame, ys: Sequence[float]) -> None:
    """Marker and expression of each solution, the number of those left out."""
    for row, y in zip(leaves.itertuples(), ys, strict=True):
        words = partial(axes.text, columns.leaf + 0.1, y, va="center_baseline")
        if row.rest:
            text = f"… {row.rest} more" + ("" if row.paper_family else " in other families")
            words(text, size=layout.SMALL, color=_GREY, style="italic")
            continue
        colour, marker = formula_look(int(row.formula))
        face = colour if row.solution_expressible else "white"
        axes.plot(
            columns.leaf, y, marker=marker, ms=4.6, markerfacecolor=face, markeredgecolor=colour, markeredgewidth=1.0
        )
        words(layout.pretty(row.rendering), size=layout.TEXT, color=_INK if row.solution_expressible else _GREY)


def draw_families(axes: Axes, columns: Columns, leaves: pd.DataFrame, ys: Sequence[float], total: int) -> None:
    """A bracket beside each paper family; the largest in bold. total: solutions of the problem."""
    for at, (family, count) in enumerate(layout.families(leaves)):
        rows = [y for y, name in zip(ys, leaves["paper_family"]) if name == family]
        ends = [min(rows) - layout.ROW * 0.38, max(rows) + layout.ROW * 0.38]
        axes.plot([columns.bracket] * 2, ends, color=_INK, linewidth=1.0, solid_capstyle="butt")
        axes.text(
            columns.bracket + 0.06,
            sum(ends) / 2,
            layout.family_words(family, count, total),
            size=layout.SMALL,
            weight="bold" if at == 0 else "normal",
            color=_INK,
            va="center_baseline",
        )


def key_of(frame: pd.DataFrame, greys: Mapping[str, str], links: pd.DataFrame) -> list[Line2D | Patch]:
    """Legend handles, of the looks that occur only."""
    handles: list[Line2D | Patch] = [Patch(facecolor=grey, edgecolor=grey, label=name) for name, grey in greys.items()]
    if any(name.startswith("valid ") for name in frame.columns):
        handles.append(Patch(facecolor="white", edgecolor=_INK, linewidth=0.7, label="outlined: opens so, not valid"))
    dot = partial(Line2D, [], [], linestyle="none", marker="o", markersize=4.6, color=style.COLOURS[0])
    handles.append(dot(label="same colour and shape: same formula"))
    if not frame[["solution_expressible", "opening_expressible"]].dropna().all(axis=None):
        handles.append(dot(markerfacecolor="white", label="hollow, dashed: some step is not whole or not in 0–100"))
    line = partial(Line2D, [], [], color=style.COLOURS[0])
    if links["leads"].any():
        handles.append(line(linewidth=1.5, label="opening is the solution's family"))
    if not links["leads"].all():
        handles.append(line(linewidth=0.7, alpha=0.5, label="opening of another writing of it"))
    return handles
