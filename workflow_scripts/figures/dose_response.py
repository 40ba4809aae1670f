"""Figure `dose_response`: breadth and precision by the number of demonstrated solutions of a problem."""

import os
from collections.abc import Iterable

import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from workflow_scripts.figures import style
from workflow_scripts.records.errors import UserError

PANELS = {
    "breadth, share found": {
        "coverage_formula": "coverage (formula)",
        "coverage_paper": "coverage (paper)",
        "opening_coverage": "openings",
    },
    "pass@1, probability": {"pass@1": "pass@1"},
}
"""Axis of a panel, and its measures with their words."""

TREND = "coverage_paper"
"""The measure whose trend is written on the figure."""


def data(points: pd.DataFrame) -> pd.DataFrame:
    """What the figure shows: columns choice, k, measure, estimate, low, high, problems.

    points: the first frame of measures.roads.dose_response; where there is a column `choice` (how demonstrations were
    chosen), every choice is a curve of its own. Raises UserError where a measure is missing.
    """
    frame = points if "choice" in points else points.assign(choice="")
    wanted = [measure for curves in PANELS.values() for measure in curves]
    missing = [measure for measure in wanted if measure not in set(frame["measure"])]
    if missing:
        raise UserError(f"the dose–response figure needs {missing[0]}")
    frame = frame[frame["measure"].isin(wanted)]
    frame = frame.sort_values(
        ["choice", "measure", "k"], key=lambda c: c.map(wanted.index) if c.name == "measure" else c, ignore_index=True
    )
    return frame[["choice", "k", "measure", "estimate", "low", "high", "problems"]]


def _panel(axes: Axes, frame: pd.DataFrame, curves: dict[str, str], first: int) -> None:
    choices = list(frame["choice"].unique())
    for place, (measure, words) in enumerate(curves.items(), first):
        for choice, dashes in zip(choices, ("-", (0, (4, 2)), (0, (1, 1.5)))):
            points = frame[(frame["measure"] == measure) & (frame["choice"] == choice)]
            colour, marker = style.COLOURS[place], style.MARKERS[place]
            style.curve_with_band(axes, points, "k", colour=colour, marker=marker, dashes=dashes, alpha=0.12)
            axes.lines[-1].set_label(f"{words}, {choice}" if choice else words)


def draw(frame: pd.DataFrame, *, trend: pd.DataFrame | None = None, confidence: float = 0.95) -> Figure:
    """The figure from its data: breadth left, precision right, k on a log axis.

    trend: the second frame of measures.roads.dose_response; the slope of coverage per doubling is written below.
    """
    figure = style.new_figure("text", 2.9)
    panels = figure.subplots(1, len(PANELS), sharex=True, width_ratios=[3, 2])
    first = 0
    for axes, (axis, curves) in zip(panels, PANELS.items(), strict=True):
        _panel(axes, frame, curves, first)
        first += len(curves)
        axes.set_ylabel(axis)
        shown = frame[frame["measure"].isin(curves)]
        axes.set_ylim(0, min(1.02, 1.1 * float(shown["high"].max())))
    ks = sorted(frame["k"].unique())
    panels[0].set_xscale("log", base=2)
    panels[0].set_xticks(ks, [str(k) for k in ks])
    panels[0].minorticks_off()
    figure.supxlabel("demonstrations per problem, k (log scale)", fontsize=8)
    title = f"share of a problem's solutions or openings (band: {100 * confidence:g} % interval over problems)"
    handles = [line for line in panels[0].get_lines() if not line.get_label().startswith("_")]
    figure.legend(handles=handles, loc="outside upper center", ncols=3, title=title, title_fontsize=7)
    if trend is not None:
        slope = trend[(trend["measure"] == TREND) & (trend["quantity"] == "slope")].iloc[0]
        text = (
            f"coverage (paper) per doubling: {slope['estimate']:+.3f}\n[{slope['low']:+.3f}, {slope['high']:+.3f}]"
        ).replace("-", "−")
        panels[0].text(0.03, 0.03, text, transform=panels[0].transAxes, fontsize=7, va="bottom")
    return figure


def figure(
    points: pd.DataFrame,
    paths: Iterable[str | os.PathLike],
    *,
    trend: pd.DataFrame | None = None,
    confidence: float = 0.95,
) -> None:
    """Draws the figure and writes it to `paths` (.pdf, .png, .svg; .csv holds its data). Arguments as in `data` and
    `draw`."""
    frame = data(points)
    with style.styled():
        style.save(draw(frame, trend=trend, confidence=confidence), frame, paths)
