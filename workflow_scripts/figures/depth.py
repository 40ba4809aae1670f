"""Figure `depth`: completion, access and the shape of the menu, by how much of one solution a policy is given."""

import os
from collections.abc import Iterable, Mapping
from typing import NamedTuple

import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.ticker import MaxNLocator

from workflow_scripts.figures import style
from workflow_scripts.records.errors import UserError


class Panel(NamedTuple):
    """title: above the panel. axis, along: words on its two axes."""

    title: str
    axis: str
    along: str


PANELS: Mapping[str, Panel] = {
    "completion": Panel("completion", "valid completion, share", "operations given"),
    "access_decoded": Panel("access", "mass on openings that\nkeep a solution reachable", "operation to come"),
    "entropy": Panel("spread over the menu", "entropy of this mass,\nnats (temperature 1)", "operation to come"),
}
"""By measure of depth.operations_table."""

ENDS = ("early", "late")

COLUMNS = ("line", "end", "measure", "at", "estimate", "low", "high", "problems")

_DASHES = {"early": (0, (4, 2)), "late": "-"}

_SHIFT = 0.03
"""Between the intervals of neighbouring curves, along the axis, so that they do not hide one another."""


def data(tables: Mapping[str, pd.DataFrame]) -> pd.DataFrame:
    """What the figure shows, columns COLUMNS: the early and late rows of each measure of PANELS, line by line.

    tables: name of a line to its depth.operations_table. Raises UserError where a line lacks a measure at an end.
    """
    parts = []
    for line, table in tables.items():
        for measure in PANELS:
            for end in ENDS:
                rows = table[(table["measure"] == measure) & (table["end"] == end)].sort_values("at")
                if rows.empty:
                    raise UserError(f"the depth figure needs {measure} of {line}, {end}")
                parts.append(rows.assign(line=line))
    return pd.concat(parts, ignore_index=True)[list(COLUMNS)]


def _draw_panel(axes: Axes, measure: str, frame: pd.DataFrame) -> None:
    panel, shown = PANELS[measure], frame[frame["measure"] == measure]
    lines = list(frame["line"].unique())
    curves = [(line, end) for line in lines for end in ENDS]
    for place, (line, end) in enumerate(curves):
        points = shown[(shown["line"] == line) & (shown["end"] == end)].dropna(subset=["estimate"])
        colour = style.COLOURS[lines.index(line) % len(style.COLOURS)]
        axes.errorbar(
            points["at"] + _SHIFT * (place - (len(curves) - 1) / 2),
            points["estimate"],
            yerr=[points["estimate"] - points["low"], points["high"] - points["estimate"]],
            color=colour,
            marker=style.MARKERS[lines.index(line) % len(style.MARKERS)],
            markerfacecolor=colour if end == "late" else "white",
            linestyle=_DASHES[end],
            elinewidth=0.9,
        )
    top = float(shown["high"].max())
    axes.set_ylim(0, 1.08 * top if top > 0 else 1)
    axes.set_title(panel.title)
    axes.set_ylabel(panel.axis)
    axes.set_xlabel(panel.along)
    axes.xaxis.set_major_locator(MaxNLocator(integer=True))


def draw(frame: pd.DataFrame, *, confidence: float = 0.95) -> Figure:
    """The figure from its data: a panel per measure, a colour and marker per line, late solid and early dashed."""
    figure = style.new_figure("text", 2.7)
    for axes, measure in zip(figure.subplots(1, len(PANELS)), PANELS, strict=True):
        _draw_panel(axes, measure, frame)
    lines = list(frame["line"].unique())
    handles = []
    for line, colour, marker in zip(lines, style.COLOURS, style.MARKERS):
        for end in ENDS:
            face = colour if end == "late" else "white"
            look = {"color": colour, "marker": marker, "markerfacecolor": face, "linestyle": _DASHES[end]}
            handles.append(Line2D([], [], label=f"{line}, {end}", **look))
    figure.legend(
        handles=handles,
        loc="outside upper center",
        ncols=len(handles),
        handlelength=2.8,
        title=f"four-number problems, clamped along one solution (bars: {100 * confidence:g} % interval over problems)",
        title_fontsize=7,
    )
    return figure


def figure(tables: Mapping[str, pd.DataFrame], paths: Iterable[str | os.PathLike], *, confidence: float = 0.95) -> None:
    """Draws the figure and writes it to `paths` (.pdf, .png, .svg; .csv holds its data). Arguments as in `data` and
    `draw`."""
    frame = data(tables)
    with style.styled():
        style.save(draw(frame, confidence=confidence), frame, paths)
