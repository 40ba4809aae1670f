"""Figure `trajectories`: what training does to entrances, breadth and precision, step by step."""

import os
from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.ticker import MaxNLocator

from workflow_scripts.figures import style
from workflow_scripts.records.errors import UserError


class Panel(NamedTuple):
    """title, axis: words on the panel, with {n} for the samples per problem. curves: measure to its words in the
    panel's legend, the first drawn solid and the second dashed."""

    title: str
    axis: str
    curves: Mapping[str, str]


PANELS = (
    Panel("entropy of the entrance", "entropy, nats", {"entropy_think": ""}),
    Panel(
        "coverage",
        "Cov@{n}, share of\n{set} solutions",
        {"coverage_formula": "formula", "coverage_paper": "paper"},
    ),
    Panel("precision", "pass@1, probability", {"pass@1": ""}),
    Panel(
        "entrance mass",
        "share of\na problem's samples",
        {"mass_first": "most used entrance", "mass_others": "all others that open a solution"},
    ),
)

MEASURES = tuple(measure for panel in PANELS for measure in panel.curves)
"""What the figure shows, all from comparison.summary; the masses are those of measures/mass.py."""

_STYLES = ("-", (0, (4, 2)))


def data(summary: pd.DataFrame, lines: Mapping[str, Sequence[tuple[int, str]]]) -> pd.DataFrame:
    """What the figure shows: columns line, step, entry, measure, estimate, low, high.

    summary: comparison.summary with every measure of MEASURES. lines: name of the line to its (step, entry) rows in
    order of training, the base at step 0. Raises UserError where a measure is missing.
    """
    table = summary.set_index(["entry", "measure"])[["estimate", "low", "high"]]
    rows = []
    for line, points in lines.items():
        for measure in MEASURES:
            for step, entry in points:
                if (entry, measure) not in table.index:
                    raise UserError(f"the trajectories figure needs {measure} of {entry}")
                row = {"line": line, "step": step, "entry": entry, "measure": measure}
                rows.append(row | table.loc[(entry, measure)].to_dict())
    return pd.DataFrame(rows)


def _curve(axes: Axes, points: pd.DataFrame, colour: str, marker: str, dashes: object) -> None:
    style.curve_with_band(axes, points, "step", colour=colour, marker=marker, dashes=dashes, alpha=0.15)


def _draw_panel(axes: Axes, panel: Panel, frame: pd.DataFrame, words: Mapping[str, object]) -> None:
    for line, colour, marker in zip(frame["line"].unique(), style.COLOURS, style.MARKERS):
        for measure, dashes in zip(panel.curves, _STYLES):
            _curve(axes, frame[(frame["line"] == line) & (frame["measure"] == measure)], colour, marker, dashes)
    shown = frame[frame["measure"].isin(panel.curves)]
    top = float(shown["high"].max())
    axes.set_ylim(0, 1.08 * top if top > 0 else 1)
    axes.set_title(panel.title)
    axes.set_ylabel(panel.axis.format_map(words))
    if len(panel.curves) > 1:
        handles = [
            Line2D([], [], color="#333333", linestyle=dashes, label=label)
            for label, dashes in zip(panel.curves.values(), _STYLES)
        ]
        axes.legend(handles=handles, loc="best", handlelength=2.6)


def draw(frame: pd.DataFrame, *, samples: int, solution_set: str = "expressible", confidence: float = 0.95) -> Figure:
    """The figure from its data: a panel per quantity, a colour per line, bands for the intervals."""
    lines = list(frame["line"].unique())
    figure = style.new_figure("text", 4.6)
    panels = figure.subplots(2, 2, sharex=True).flatten()
    words = {"n": samples, "set": "expressible" if solution_set == "expressible" else "all"}
    for axes, panel in zip(panels, PANELS, strict=True):
        _draw_panel(axes, panel, frame, words)
    for axes in panels[2:]:
        axes.set_xlabel("training step (0: base policy)")
        axes.xaxis.set_major_locator(MaxNLocator(integer=True))
    handles = [
        Line2D([], [], color=colour, marker=marker, markeredgecolor="white", label=line)
        for line, colour, marker in zip(lines, style.COLOURS, style.MARKERS)
    ]
    figure.legend(
        handles=handles,
        loc="outside upper center",
        ncols=len(lines),
        title=f"training line (band: {100 * confidence:g} % interval over problems)",
        title_fontsize=7,
    )
    return figure


def figure(
    summary: pd.DataFrame,
    lines: Mapping[str, Sequence[tuple[int, str]]],
    paths: Iterable[str | os.PathLike],
    *,
    samples: int,
    solution_set: str = "expressible",
    confidence: float = 0.95,
) -> None:
    """Draws the figure and writes it to `paths` (.pdf, .png, .svg; .csv holds its data). Arguments as in `data` and
    `draw`."""
    frame = data(summary, lines)
    with style.styled():
        drawn = draw(frame, samples=samples, solution_set=solution_set, confidence=confidence)
        style.save(drawn, frame, paths)
