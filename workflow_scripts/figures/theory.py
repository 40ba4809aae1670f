"""Figure `theory`: what the gradient at the entrance foretells, against what entrances' probabilities then do."""

import math
import os
from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import MaxNLocator

from workflow_scripts.figures import legends, style

PREDICTORS = {"gradient": "gradient, q (μ − mean μ)", "advantage": "execution, μ − mean μ", "access": "access, q"}


_UNRANKED = {"estimate": math.nan, "low": math.nan, "high": math.nan, "problems": 0}


class Evidence(NamedTuple):
    """What is drawn of one line. points: (step, entry), the base at step 0. rows: theory.theory_rows. bins:
    theory.binned_outcomes."""

    points: Sequence[tuple[int, str]]
    rows: pd.DataFrame
    bins: pd.DataFrame


def data(lines: Mapping[str, Evidence]) -> pd.DataFrame:
    """What the figure shows: columns panel, line, predictor, x, estimate, low, high, problems.

    Panels: `rank` (x: the step at which a segment ends; estimate: Spearman's correlation, mean over problems) and
    `outcome` (x: quantile of the predictor; estimate: centred change of log q, nats). A segment in which no problem has
    entrances to rank is a row without an estimate.
    """
    parts = []
    for name, line in lines.items():
        table = line.rows.set_index(["after", "measure"])
        for predictor in PREDICTORS:
            for step, entry in line.points[1:]:
                known = (entry, f"rank_{predictor}") in table.index
                row = table.loc[(entry, f"rank_{predictor}"), list(_UNRANKED)].to_dict() if known else _UNRANKED
                parts.append({"panel": "rank", "line": name, "predictor": predictor, "x": step} | row)
            for row in line.bins[line.bins["predictor"] == predictor].itertuples(index=False):
                drawn = {field: getattr(row, field) for field in ("estimate", "low", "high", "problems")}
                parts.append({"panel": "outcome", "line": name, "predictor": predictor, "x": row.bin} | drawn)
    return pd.DataFrame(parts)


def _panel(axes: Axes, rows: pd.DataFrame, looks: Mapping[str, tuple[str, str]]) -> None:
    for predictor, (colour, marker) in looks.items():
        points = rows[rows["predictor"] == predictor]
        style.curve_with_band(axes, points, "x", colour=colour, marker=marker, dashes="-", alpha=0.15)
    axes.axhline(0, color="#555555", linewidth=0.7)
    axes.xaxis.set_major_locator(MaxNLocator(integer=True, steps=[1, 2, 5, 10]))


def draw(frame: pd.DataFrame, *, confidence: float = 0.95) -> Figure:
    """The figure from its data: a column per line; above the rank correlation by segment, below outcome by predicted
    quantile."""
    lines = list(frame["line"].unique())
    figure = style.new_figure("text", 4.7)
    rows = figure.subplots(2, len(lines), sharey="row", squeeze=False)
    looks = dict(zip(PREDICTORS.values(), zip(style.COLOURS, style.MARKERS)))
    by_name = dict(zip(PREDICTORS, looks.values()))
    for place, line in enumerate(lines):
        of_line = frame[frame["line"] == line]
        upper, lower = rows[0][place], rows[1][place]
        _panel(upper, of_line[of_line["panel"] == "rank"], by_name)
        _panel(lower, of_line[of_line["panel"] == "outcome"], by_name)
        upper.set_title(line)
        upper.set_xlabel("training step at the segment's end")
        lower.set_xlabel("quantile of the predictor (1: lowest)")
    rows[0][0].set_ylabel("rank correlation\nwithin a menu (chance: 0)")
    rows[1][0].set_ylabel("Δ log q over a segment,\nagainst the menu's mean, nats")
    legends.above(figure, looks, what="predictor", confidence=confidence)
    return figure


def figure(lines: Mapping[str, Evidence], paths: Iterable[str | os.PathLike], *, confidence: float = 0.95) -> None:
    """Draws the figure and writes it to `paths` (.pdf, .png, .svg; .csv holds its data). Arguments as in `data` and
    `draw`."""
    frame = data(lines)
    with style.styled():
        style.save(draw(frame, confidence=confidence), frame, paths)
