"""Figure `breadth`: precision against breadth along a training line."""

import os
from collections.abc import Iterable, Mapping, Sequence

import numpy as np
import pandas as pd
from matplotlib import patheffects
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from workflow_scripts.figures import style
from workflow_scripts.records.errors import UserError

EQUIVALENCES = {"formula": "coverage_formula", "paper": "coverage_paper"}
"""Name and measure, the higher one first."""


def data(summary: pd.DataFrame, lines: Mapping[str, Sequence[tuple[str, str]]]) -> pd.DataFrame:
    """What the figure shows: one row per line, policy and equivalence, with pass@1 and coverage and the ends of their
    intervals.

    summary: comparison.summary. lines: name of the line to its (label, entry) rows in order of training.
    Raises UserError where a measure is missing.
    """
    table = summary.set_index(["entry", "measure"])[["estimate", "low", "high"]]
    rows = []
    for line, points in lines.items():
        for label, entry in points:
            for equivalence, measure in EQUIVALENCES.items():
                try:
                    x, y = table.loc[(entry, "pass@1")], table.loc[(entry, measure)]
                except KeyError as error:
                    raise UserError(f"the breadth figure needs pass@1 and {measure} of {entry}") from error
                rows.append(
                    {"line": line, "label": label, "entry": entry, "equivalence": equivalence}
                    | {f"pass@1{end}": value for end, value in zip(("", "_low", "_high"), x)}
                    | {f"coverage{end}": value for end, value in zip(("", "_low", "_high"), y)}
                )
    return pd.DataFrame(rows)


def _labelled(x: np.ndarray, y: np.ndarray, labels: Sequence[str]) -> list[int]:
    """Which points have room for a label: the first, the last, then any whose text touches none placed before.

    x, y: places as shares of the panel's sides.
    """
    kept: list[int] = []
    for i in dict.fromkeys([0, len(x) - 1, *range(len(x))]):
        # A letter takes about 0.025 of the panel's width, a line of text 0.055 of its height.
        clear = (
            abs(y[i] - y[k]) > 0.055 or abs(x[i] - x[k]) > 0.025 * max(len(labels[i]), len(labels[k])) for k in kept
        )
        if all(clear):
            kept.append(i)
    return kept


def _panel(axes: Axes, frame: pd.DataFrame) -> None:
    for (equivalence, points), colour, marker in zip(
        frame.groupby("equivalence", sort=False), style.COLOURS, style.MARKERS
    ):
        x, y = points["pass@1"].to_numpy(), points["coverage"].to_numpy()
        bars = {
            "xerr": np.maximum([x - points["pass@1_low"], points["pass@1_high"] - x], 0),
            "yerr": np.maximum([y - points["coverage_low"], points["coverage_high"] - y], 0),
        }
        axes.errorbar(x, y, **bars, fmt="none", ecolor=colour, elinewidth=0.6, alpha=0.35)
        axes.plot(x, y, color=colour, marker=marker, markeredgecolor="white", markeredgewidth=0.5, label=equivalence)
        if equivalence != next(iter(EQUIVALENCES)):
            continue
        labels = list(points["label"])
        for i in _labelled(x / axes.get_xlim()[1], y / axes.get_ylim()[1], labels):
            text = axes.annotate(labels[i], (x[i], y[i]), xytext=(3, 4), textcoords="offset points", fontsize=7)
            text.set_path_effects([patheffects.withStroke(linewidth=2, foreground="white")])


def draw(frame: pd.DataFrame, *, samples: int, solution_set: str = "expressible") -> Figure:
    """The figure from its data: a panel per line, both equivalences, bars for the intervals, labels of steps where
    there is room."""
    lines = list(frame["line"].unique())
    figure = style.new_figure("column" if len(lines) == 1 else "text", 2.9)
    panels = figure.subplots(1, len(lines), sharex=True, sharey=True, squeeze=False)[0]
    right = float(frame["pass@1_high"].max())
    for axes, line in zip(panels, lines, strict=True):
        axes.set_title(line)
        axes.set_xlabel("pass@1 (labels: training step)")
        axes.set_xlim(0, right * 1.08)
        axes.set_ylim(0, min(1.0, float(frame["coverage_high"].max()) * 1.08))
        _panel(axes, frame[frame["line"] == line])
    panels[0].set_ylabel(f"Cov@{samples}, {solution_set} solutions")
    panels[0].legend(title="equivalence", title_fontsize=7, loc="lower left")
    return figure


def figure(
    summary: pd.DataFrame,
    lines: Mapping[str, Sequence[tuple[str, str]]],
    paths: Iterable[str | os.PathLike],
    *,
    samples: int,
    solution_set: str = "expressible",
) -> None:
    """Draws the figure and writes it to `paths` (.pdf, .png, .svg; .csv holds its data). Arguments as in `data` and
    `draw`."""
    frame = data(summary, lines)
    with style.styled():
        style.save(draw(frame, samples=samples, solution_set=solution_set), frame, paths)
