"""Figure `coverage_curve`: what more samples buy before and after training, in breadth and in problems solved."""

import os
from collections.abc import Iterable, Sequence

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D

from workflow_scripts.figures import style
from workflow_scripts.records.errors import UserError

COVERAGES = {"coverage_formula": "formula", "coverage_paper": "paper"}
"""Measure and equivalence, the first drawn solid and the second dashed."""

_STYLES = ("-", (0, (4, 2)))


def draws(samples: int) -> list[int]:
    """Numbers of samples that the curves are computed at: powers of two, the steps half-way between them on a log
    axis, and `samples` itself."""
    wanted = np.round(2 ** np.arange(0, np.log2(samples) + 0.25, 0.5)).astype(int)
    return sorted({int(n) for n in wanted if n <= samples} | {samples})


def data(curves: pd.DataFrame, points: Sequence[tuple[str, str, str]]) -> pd.DataFrame:
    """What the figure shows: columns line, entry, label, measure, n, estimate, low, high, problems.

    curves: curves.curve_frame of each line, with a column `line`; its entries are base, early and late, which have
    one colour in all lines. points: (line, entry, label) in the order of drawing. Raises UserError where a curve is
    missing.
    """
    parts = []
    for line, entry, label in points:
        for measure in (*COVERAGES, "pass"):
            chosen = curves["line"].eq(line) & curves["entry"].eq(entry) & curves["measure"].eq(measure)
            if not chosen.any():
                raise UserError(f"the coverage curve needs {measure} of {entry} on line {line}")
            parts.append(curves[chosen].sort_values("n").assign(label=label))
    columns = ["line", "entry", "label", "measure", "n", "estimate", "low", "high", "problems"]
    return pd.concat(parts, ignore_index=True)[columns]


def _curve(axes: Axes, points: pd.DataFrame, colour: str, marker: str, dashes: object) -> None:
    style.curve_with_band(axes, points, "n", colour=colour, marker=marker, dashes=dashes, alpha=0.13, every=2)


def _powers(samples: int) -> list[int]:
    """Labelled places of the axis: the number of samples, and powers of four that are not next to it."""
    return [*(4**i for i in range(12) if 1.8 * 4**i <= samples), samples]


def _axis(axes: Axes, *, last: int, top: float, name: str, title: str) -> None:
    places = _powers(last)
    axes.set_xscale("log", base=2)
    axes.set_xticks(places, [str(place) for place in places])
    axes.minorticks_off()
    axes.set_xlim(0.9, 1.12 * last)
    axes.set_ylim(0, min(1.02, 1.08 * top) if top > 0 else 1)
    axes.set_title(title)
    axes.set_ylabel(name)


def draw(frame: pd.DataFrame, *, solution_set: str = "expressible", confidence: float = 0.95) -> Figure:
    """The figure from its data: a row per line, coverage left and pass@k right, a colour per policy."""
    lines = list(frame["line"].unique())
    figure = style.new_figure("text", 0.7 + 2.3 * len(lines))
    rows = figure.subplots(len(lines), 2, sharex=True, squeeze=False)
    shares = "expressible" if solution_set == "expressible" else "all"
    last, tops = int(frame["n"].max()), frame.groupby(frame["measure"] == "pass")["high"].max()
    looks = dict(zip(dict.fromkeys(frame["entry"]), zip(style.COLOURS, style.MARKERS)))
    for (left, right), line in zip(rows, lines, strict=True):
        of_line = frame[frame["line"] == line]
        for entry, points in of_line.groupby("entry", sort=False):
            for measure, dashes in zip(COVERAGES, _STYLES):
                _curve(left, points[points["measure"] == measure], *looks[entry], dashes)
            _curve(right, points[points["measure"] == "pass"], *looks[entry], "-")
        name = f"Cov@n, share of {shares} solutions"
        _axis(left, last=last, top=tops[False], name=name, title=f"{line}: coverage")
        _axis(right, last=last, top=tops[True], name="pass@k, probability", title=f"{line}: problems solved")
        named = of_line[["entry", "label"]].drop_duplicates().itertuples(index=False)
        _legends(left, right, [(label, *looks[entry]) for entry, label in named], confidence)
    rows[-1][0].set_xlabel("samples per problem, n (log scale)")
    rows[-1][1].set_xlabel("samples per problem, k (log scale)")
    return figure


def _legends(left: Axes, right: Axes, policies: Sequence[tuple[str, str, str]], confidence: float) -> None:
    styles = [
        Line2D([], [], color="#333333", linestyle=dashes, label=words)
        for words, dashes in zip(COVERAGES.values(), _STYLES)
    ]
    left.legend(handles=styles, title="equivalence", title_fontsize=7, loc="upper left", handlelength=2.6)
    handles = [
        Line2D([], [], color=colour, marker=marker, markeredgecolor="white", label=label)
        for label, colour, marker in policies
    ]
    title = f"policy (band: {100 * confidence:g} % interval)"
    right.legend(handles=handles, title=title, title_fontsize=7, loc="lower right")


def figure(
    curves: pd.DataFrame,
    points: Sequence[tuple[str, str, str]],
    paths: Iterable[str | os.PathLike],
    *,
    solution_set: str = "expressible",
    confidence: float = 0.95,
) -> None:
    """Draws the figure and writes it to `paths` (.pdf, .png, .svg; .csv holds its data). Arguments as in `data` and
    `draw`."""
    frame = data(curves, points)
    with style.styled():
        style.save(draw(frame, solution_set=solution_set, confidence=confidence), frame, paths)
