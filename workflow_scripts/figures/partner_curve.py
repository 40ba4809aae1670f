"""Figure `partner_curve`: what a kept early checkpoint brings, by the training step at which it was kept."""

import os
from collections.abc import Iterable, Mapping

import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import MaxNLocator

from workflow_scripts.figures import legends, style
from workflow_scripts.records.errors import UserError

PANELS = {"coverage_paper": "gain in coverage (paper)", "pass@1": "gain in pass@1"}
"""Measure of interventions.OUTCOMES, and the words on its axis."""


def data(curves: pd.DataFrame, interventions: Mapping[str, str]) -> pd.DataFrame:
    """What the figure shows: columns line, intervention, label, step, measure, estimate, low, high, problems.

    curves: measures.interventions.partner_curve of each line, with a column `line`. interventions: name to label, in
    the order of drawing. Raises UserError where a curve is missing.
    """
    parts = []
    for line in dict.fromkeys(curves["line"]):
        for intervention, label in interventions.items():
            for measure in PANELS:
                chosen = curves["line"].eq(line) & curves["intervention"].eq(intervention)
                chosen &= curves["measure"].eq(measure)
                if not chosen.any():
                    raise UserError(f"the partner curve needs {measure} of {intervention} on line {line}")
                parts.append(curves[chosen].sort_values("step").assign(label=label))
    columns = ["line", "intervention", "label", "step", "measure", "estimate", "low", "high", "problems"]
    return pd.concat(parts, ignore_index=True)[columns]


def _panel(axes: Axes, frame: pd.DataFrame, looks: Mapping[str, tuple[str, str]]) -> None:
    for label, points in frame.groupby("label", sort=False):
        colour, marker = looks[label]
        style.curve_with_band(axes, points, "step", colour=colour, marker=marker, dashes="-", alpha=0.15)
    axes.axhline(0, color="#555555", linewidth=0.8, zorder=1.5)
    axes.xaxis.set_major_locator(MaxNLocator(integer=True, nbins=6))


def draw(frame: pd.DataFrame, *, confidence: float = 0.95) -> Figure:
    """The figure from its data: a row per quantity, a panel per line, a colour per intervention."""
    lines = list(frame["line"].unique())
    figure = style.new_figure("text", 4.2)
    grid = figure.subplots(len(PANELS), len(lines), sharex="col", sharey="row", squeeze=False)
    looks = dict(zip(frame["label"].unique(), zip(style.COLOURS, style.MARKERS)))
    for row, (measure, axis) in zip(grid, PANELS.items(), strict=True):
        for axes, line in zip(row, lines, strict=True):
            _panel(axes, frame[(frame["line"] == line) & (frame["measure"] == measure)], looks)
        row[0].set_ylabel(axis)
    for axes, line in zip(grid[0], lines, strict=True):
        axes.set_title(line)
    for axes in grid[-1]:
        axes.set_xlabel("training step of the kept partner")
    legends.above(figure, looks, what="against the late policy alone", confidence=confidence)
    return figure


def figure(
    curves: pd.DataFrame,
    interventions: Mapping[str, str],
    paths: Iterable[str | os.PathLike],
    *,
    confidence: float = 0.95,
) -> None:
    """Draws the figure and writes it to `paths` (.pdf, .png, .svg; .csv holds its data). Arguments as in `data`."""
    frame = data(curves, interventions)
    with style.styled():
        style.save(draw(frame, confidence=confidence), frame, paths)
