"""Figure `calibration`: exact opening probabilities against sampled shares."""

import os
from collections.abc import Iterable, Mapping

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.patches import Patch

from workflow_scripts.figures import style
from workflow_scripts.records.errors import UserError
from workflow_scripts.records.schemas import OUTSIDE

KINDS = {"feasible": "opens a solution", "other": "opens none", OUTSIDE: "no given number and operator"}
"""Kinds of cells and their words in the legend."""

_COLUMNS = ["panel", "policy", "problem_id", "opening", "kind", "exact", "sampled", "count", "low", "high"]


def data(cells: pd.DataFrame, panels: Mapping[str, str]) -> pd.DataFrame:
    """What the figure shows, one row per cell.

    cells: measures.calibration.cells. panels: title to policy, in order. Raises UserError for a policy without cells.
    """
    parts = []
    for panel, policy in panels.items():
        rows = cells[cells["policy"] == policy]
        if rows.empty:
            raise UserError(f"the calibration figure needs opening probabilities of {policy}")
        kind = np.select([rows["opening"] == OUTSIDE, rows["feasible"]], [OUTSIDE, "feasible"], "other")
        parts.append(rows.assign(panel=panel, kind=kind))
    return pd.concat(parts, ignore_index=True)[_COLUMNS]


def _band(axes: Axes, samples: int, confidence: float) -> None:
    from scipy.stats import binom

    exact = np.linspace(0, 1, 401) ** 2
    tail = (1 - confidence) / 2
    ends = [binom.ppf(share, samples, exact).clip(0) / samples for share in (tail, 1 - tail)]
    axes.fill_between(exact, *ends, color="#d9d9d9", linewidth=0)
    axes.plot([0, 1], [0, 1], color="#444444", linewidth=0.7)


def _panel(axes: Axes, rows: pd.DataFrame, samples: int, confidence: float) -> None:
    _band(axes, samples, confidence)
    # A picture inside the pdf: thousands of points as single drawings would make it slow to open.
    look = {"s": 7, "linewidths": 0, "alpha": 0.4, "rasterized": True}
    for kind, colour, marker in zip(KINDS, style.COLOURS, style.MARKERS):
        chosen = rows[rows["kind"] == kind]
        axes.scatter(chosen["exact"], chosen["sampled"], color=colour, marker=marker, **look)
    # Square roots: the band is about as wide everywhere, and small probabilities have room.
    for scale in (axes.set_xscale, axes.set_yscale):
        scale("function", functions=(lambda share: np.sqrt(np.maximum(share, 0)), np.square))
    ticks = [0, 0.02, 0.1, 0.3, 0.6, 1]
    axes.set_xticks(ticks, [f"{tick:g}" for tick in ticks])
    axes.set_yticks(ticks, [f"{tick:g}" for tick in ticks])
    axes.set_xlim(0, 1.02)
    axes.set_ylim(0, 1.02)
    open_ = rows[(rows["exact"] > 0) & (rows["exact"] < 1)]
    inside = open_["count"].between(open_["low"], open_["high"])
    told = f"{inside.mean():.1%} of {len(open_)}\nwithin the band" if len(open_) else "no open cells"
    axes.text(0.04, 0.97, told, transform=axes.transAxes, va="top", fontsize=6.5)


def draw(frame: pd.DataFrame, *, samples: int, confidence: float = 0.95) -> Figure:
    """The figure from its data: a panel per policy, axes by square root, and the band in which an exact binomial of
    the exact probability lies. The share told in a panel is of cells with a probability between 0 and 1."""
    panels = list(frame["panel"].unique())
    across = min(3, len(panels))
    down = -(-len(panels) // across)
    figure = style.new_figure("text", 0.6 + 2.2 * down)
    grid = figure.subplots(down, across, sharex=True, sharey=True, squeeze=False).flatten()
    for axes, panel in zip(grid, panels):
        _panel(axes, frame[frame["panel"] == panel], samples, confidence)
        axes.set_title(panel)
    for place, axes in enumerate(grid):
        if place >= len(panels):
            axes.set_axis_off()
            grid[place - across].tick_params(labelbottom=True)
    figure.supxlabel("exact probability of the opening", fontsize=8)
    figure.supylabel(f"share of {samples} samples", fontsize=8)
    handles = [
        grid[0].scatter([], [], s=16, color=colour, marker=marker, label=words)
        for words, colour, marker in zip(KINDS.values(), style.COLOURS, style.MARKERS)
    ]
    handles.append(Patch(color="#d9d9d9", label=f"{100 * confidence:g} % of binomial samples"))
    figure.legend(handles=handles, loc="outside upper center", ncols=4)
    return figure


def figure(
    cells: pd.DataFrame,
    panels: Mapping[str, str],
    paths: Iterable[str | os.PathLike],
    *,
    samples: int,
    confidence: float = 0.95,
) -> None:
    """Draws the figure and writes it to `paths` (.pdf, .png, .svg; .csv holds its data). Arguments as in `data` and
    `draw`."""
    frame = data(cells, panels)
    with style.styled():
        style.save(draw(frame, samples=samples, confidence=confidence), frame, paths)
