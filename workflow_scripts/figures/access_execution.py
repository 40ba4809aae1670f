"""Figure 2: training moves access together and execution up, and which of the two changes what is solved."""

import os
from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import MaxNLocator

from workflow_scripts.figures import legends, style
from workflow_scripts.records.errors import UserError

CURVES = {"menu_entropy": "access", "execution_in_family": "execution"}
"""Measures of access.problem_measures that are drawn along training, and the panel's word for them."""

PARTS = {"shapley_access": "access", "shapley_execution": "execution", "shapley_total": "both"}

_KEPT = ["panel", "line", "step", "measure", "problem_id", "opening", "x", "estimate", "low", "high"]


class Evidence(NamedTuple):
    """What is drawn of one line. points: (step, entry), the base at step 0. families: access_changes.family_changes.
    binned: access_changes.binned_rows. split: shapley.shapley_rows."""

    points: Sequence[tuple[int, str]]
    families: pd.DataFrame
    binned: pd.DataFrame
    split: pd.DataFrame


def data(summary: pd.DataFrame, lines: Mapping[str, Evidence]) -> pd.DataFrame:
    """What the figure shows: columns panel, line, step, measure, problem_id, opening, x, estimate, low, high.

    summary: comparison.summary of access.problem_measures, of every entry of `lines`. Panels: `curve` (estimate at a
    step), `family` (x: change of share, estimate: change of in-family completion), `bin` (the same by bins), `split`.
    Raises UserError where a measure is missing.
    """
    table = summary.set_index(["entry", "measure"])[["estimate", "low", "high"]]
    parts = []
    for name, line in lines.items():
        for measure in CURVES:
            missing = [entry for _, entry in line.points if (entry, measure) not in table.index]
            if missing:
                raise UserError(f"the access figure needs {measure} of {missing[0]}")
            rows = table.loc[[(entry, measure) for _, entry in line.points]].reset_index()
            parts.append(rows.assign(panel="curve", line=name, step=[step for step, _ in line.points]))
        split = line.split[line.split["measure"].isin(PARTS)]
        absent = sorted(set(PARTS) - set(split["measure"]))
        if absent:
            raise UserError(f"the access figure needs {absent[0]} of line {name}")
        families = line.families.sort_values(["policy", "problem_id", "opening"])
        parts.append(
            families[["problem_id", "opening"]].assign(
                panel="family", line=name, x=families["access"], estimate=families["execution"]
            )
        )
        parts.append(line.binned.assign(panel="bin", line=name, x=line.binned["access"]))
        parts.append(split.assign(panel="split", line=name))
    return pd.concat(parts, ignore_index=True).reindex(columns=_KEPT)


def _along(axes: Axes, rows: pd.DataFrame, looks: Mapping[str, tuple[str, str]]) -> None:
    for line, (colour, marker) in looks.items():
        points = rows[rows["line"] == line]
        style.curve_with_band(axes, points, "step", colour=colour, marker=marker, dashes="-", alpha=0.15)
    axes.set_ylim(0, 1.08 * max(float(rows["high"].max()), 1e-3))
    axes.set_xlabel("training step (0: base policy)")
    axes.xaxis.set_major_locator(MaxNLocator(integer=True, steps=[1, 2, 5, 10]))


def _scatter(axes: Axes, frame: pd.DataFrame, looks: Mapping[str, tuple[str, str]]) -> None:
    for line, (colour, _) in looks.items():
        cells = frame[(frame["panel"] == "family") & (frame["line"] == line)]
        axes.scatter(cells["x"], cells["estimate"], s=4, color=colour, alpha=0.18, linewidths=0, rasterized=True)
    for line, (colour, marker) in looks.items():
        means = frame[(frame["panel"] == "bin") & (frame["line"] == line)].sort_values("x")
        bars = np.maximum([means["estimate"] - means["low"], means["high"] - means["estimate"]], 0)
        axes.errorbar(means["x"], means["estimate"], yerr=bars, color=colour, marker=marker, elinewidth=0.8,
                      markeredgecolor="white", markeredgewidth=0.5, zorder=3)  # fmt: skip
    axes.axhline(0, color="#555555", linewidth=0.6)
    axes.axvline(0, color="#555555", linewidth=0.6)
    axes.set_xlim(-1.02, 1.02)
    axes.set_ylim(-1.02, 1.02)
    axes.set_xlabel("change of a family's share of the menu")
    axes.set_ylabel("change of its completion")
    axes.set_title("family by family, early → late")


def _bars(axes: Axes, rows: pd.DataFrame, looks: Mapping[str, tuple[str, str]]) -> None:
    width = 0.8 / len(looks)
    for place, (line, (colour, _)) in enumerate(looks.items()):
        parts = rows[rows["line"] == line].set_index("measure").loc[list(PARTS)]
        x = np.arange(len(PARTS)) + (place - (len(looks) - 1) / 2) * width
        bars = np.maximum([parts["estimate"] - parts["low"], parts["high"] - parts["estimate"]], 0)
        axes.bar(x, parts["estimate"], 0.9 * width, color=colour, hatch="" if place % 2 == 0 else "////",
                 edgecolor="white", linewidth=0.4)  # fmt: skip
        axes.errorbar(x, parts["estimate"], yerr=bars, fmt="none", ecolor="#333333", elinewidth=0.8, capsize=2)
        for at, value, high in zip(x, parts["estimate"], parts["high"]):
            axes.annotate(f"{value:+.3f}".replace("-", "−"), (at, max(high, 0)), xytext=(0, 2),
                          textcoords="offset points", ha="center", fontsize=6.5)  # fmt: skip
    axes.axhline(0, color="#555555", linewidth=0.6)
    axes.margins(y=0.15)
    axes.set_xticks(range(len(PARTS)), list(PARTS.values()))
    axes.grid(visible=False, axis="x")
    axes.set_ylabel("change of solve probability")
    axes.set_title("Shapley split, early → late")


def draw(frame: pd.DataFrame, *, confidence: float = 0.95) -> Figure:
    """The figure from its data: access and execution along training above, family by family and the split below."""
    figure = style.new_figure("text", 4.9)
    (entropy, execution), (scatter, bars) = figure.subplots(2, 2)
    looks = dict(zip(dict.fromkeys(frame["line"]), zip(style.COLOURS, style.MARKERS)))
    curves = frame[frame["panel"] == "curve"]
    for axes, measure in zip((entropy, execution), CURVES):
        _along(axes, curves[curves["measure"] == measure], looks)
    entropy.set_title("access: entropy over the menu")
    entropy.set_ylabel("entropy, nats")
    execution.set_title("execution: completion given the entrance")
    execution.set_ylabel("in-family completion")
    _scatter(scatter, frame, looks)
    _bars(bars, frame[frame["panel"] == "split"], looks)
    legends.above(figure, looks, what="training line", confidence=confidence)
    return figure


def figure(
    summary: pd.DataFrame,
    lines: Mapping[str, Evidence],
    paths: Iterable[str | os.PathLike],
    *,
    confidence: float = 0.95,
) -> None:
    """Draws the figure and writes it to `paths` (.pdf, .png, .svg; .csv holds its data). Arguments as in `data` and
    `draw`."""
    frame = data(summary, lines)
    with style.styled():
        style.save(draw(frame, confidence=confidence), frame, paths)
