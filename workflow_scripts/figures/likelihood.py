"""Table 2 and figure `likelihood`: at which tokens of solver-built continuations training loses likelihood."""

import os
from collections.abc import Iterable, Sequence

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.patches import Patch

from workflow_scripts.figures import style
from workflow_scripts.figures.tables import Column, Table
from workflow_scripts.records.errors import UserError

EXAMPLE = "try 4 * 7 = 28 , 28 - 9 = 19"
"""What stands at the positions of the first two steps, which all continuations have, from -3 on."""

_SEGMENTS = (
    ("entrance", "entrance (up to and with the operator)"),
    ("execution", "execution (the rest)"),
    ("entrance_bare", "entrance without its operator"),
    ("execution_bare", "execution with that operator"),
)


def table2(
    estimands: pd.DataFrame,
    positions: pd.DataFrame,
    lines: Sequence[str],
    *,
    solution_set: str | None = None,
    confidence: float = 0.95,
    notes: Sequence[str] = (),
) -> Table:
    """Table 2: teacher-forced cost of entrance and execution, early against late.

    estimands, positions: the two frames of measures.likelihood.estimands, of all lines, each with a column `line`.
    solution_set: which solutions menus are made of, `expressible` or `full`; unsaid where None.
    Raises UserError where a line lacks a measure.
    """
    found = estimands.set_index(["line", "measure"])
    cells, rows = [], []
    for line in lines:
        at_operator = positions[(positions["line"] == line) & (positions["position"] == -1)]
        for segment, words in _SEGMENTS:
            ratio = f"nll_ratio{'_bare' if segment.endswith('_bare') else ''}"
            wanted = [(line, f"nll_{segment}"), (line, ratio)]
            missing = [name for name in wanted if name not in found.index]
            if missing or len(at_operator) != 1:
                raise UserError(f"table 2 needs {(missing or [(line, 'position -1')])[0][1]} of line {line}")
            cost, ratio = (found.loc[name] for name in wanted)
            known = {"early": cost["start"], "late": cost["end"], "problems": cost["problems"]}
            known["pairs"] = at_operator["continuations"].iloc[0]
            entry = f"{line} {segment}"
            rows.append((f"{line}: {words}", entry))
            cells += [(entry, name, value, np.nan, np.nan) for name, value in known.items()]
            cells.append((entry, "change", *cost[["estimate", "low", "high"]]))
            shown = ratio[["estimate", "low", "high"]] if segment.startswith("entrance") else [np.nan] * 3
            cells.append((entry, "ratio", *shown))
    columns = (
        Column("early", "early", 2),
        Column("late", "late", 2),
        Column("change", "change", 2),
        Column("ratio", "change / change of execution", 1),
        Column("pairs", "pairs", 0),
        Column("problems", "problems", 0),
    )
    menu = "expressible menu" if solution_set == "expressible" else "menu"
    about = (
        "Negative log-probability of solver-built continuations after the prompt at temperature 1, nats per token; one "
        f"continuation for each opening of a problem's {menu}, the end token included.",
        "Mean over the tokens of a continuation, then over a problem's continuations, then over problems; pairs: "
        f"continuations scored at both ends. In brackets the {100 * confidence:g} % interval of a bootstrap over "
        "problems.",
        "The paper's PPO numbers count the operator to execution, its GRPO numbers to the entrance; here both are "
        "given for each line.",
        *notes,
    )
    cells = pd.DataFrame(cells, columns=["entry", "measure", "estimate", "low", "high"])
    return Table("Table 2. Teacher-forced likelihood, early and late", rows, columns, cells, about, corner="segment")


def data(positions: pd.DataFrame, lines: Sequence[str]) -> pd.DataFrame:
    """What the figure shows: columns line, position, start, end, estimate, low, high, problems, continuations.

    positions: the second frame of measures.likelihood.estimands, of all lines, with a column `line`. Positions that
    not all of a line's problems have are left out. Raises UserError for a line without positions.
    """
    parts = []
    for line in lines:
        rows = positions[positions["line"] == line]
        if rows.empty:
            raise UserError(f"the likelihood figure needs costs by position of line {line}")
        parts.append(rows[rows["problems"] == rows["problems"].max()].sort_values("position"))
    columns = ["line", "position", "start", "end", "estimate", "low", "high", "problems", "continuations"]
    return pd.concat(parts, ignore_index=True)[columns]


def _panel(axes: Axes, rows: pd.DataFrame, colour: str) -> None:
    at, change = rows["position"].to_numpy(), rows["estimate"].to_numpy()
    axes.axvspan(at.min() - 0.5, -0.5, color="#f1ead9", linewidth=0, zorder=0)
    for side, end, alpha in ((-0.2, "start", 0.4), (0.2, "end", 1)):
        axes.bar(at + side, rows[end], width=0.36, color=colour, alpha=alpha, linewidth=0)
    bars = np.maximum([change - rows["low"], rows["high"] - change], 0)
    axes.errorbar(at, change, bars, fmt="D", color="#222222", markersize=3, elinewidth=0.8, capsize=1.5)
    axes.axhline(0, color="#222222", linewidth=0.6)
    axes.set_xlim(at.min() - 0.5, at.max() + 0.5)
    axes.grid(axis="x", visible=False)
    axes.set_ylabel("nats")
    axes.text(at.min() - 0.4, 0.97, "entrance", transform=axes.get_xaxis_transform(), va="top", color="#6b5a2a")


def draw(frame: pd.DataFrame, *, confidence: float = 0.95) -> Figure:
    """The figure from its data: a panel per line, cost of each token early and late, and the change with its
    interval."""
    lines = list(frame["line"].unique())
    figure = style.new_figure("text", 0.9 + 1.7 * len(lines))
    panels = figure.subplots(len(lines), 1, sharex=True, sharey=True, squeeze=False)[:, 0]
    for axes, line, colour in zip(panels, lines, style.COLOURS):
        _panel(axes, frame[frame["line"] == line], colour)
        axes.set_title(line, loc="left")
    known = sorted(frame["position"].unique())
    words = dict(enumerate(EXAMPLE.split(), start=-3))
    panels[-1].set_xticks(known, [f"{at:d}\n{words.get(at, '')}".replace("-", "−") for at in known])
    panels[-1].set_xlabel(f"position of the token from the end of the entrance on, and an example: {EXAMPLE} …")
    change = panels[0].errorbar([], [], [], fmt="D", color="#222222", markersize=3, elinewidth=0.8, capsize=1.5)
    handles = [Patch(color="#777777", alpha=0.4, linewidth=0), Patch(color="#777777", linewidth=0), change]
    figure.legend(
        handles,
        ["cost early", "cost late", f"change, {100 * confidence:g} % interval over problems"],
        loc="outside upper center",
        ncols=3,
    )
    return figure


def figure(
    positions: pd.DataFrame, lines: Sequence[str], paths: Iterable[str | os.PathLike], *, confidence: float = 0.95
) -> None:
    """Draws the figure and writes it to `paths` (.pdf, .png, .svg; .csv holds its data). Arguments as in `data` and
    `draw`."""
    frame = data(positions, lines)
    with style.styled():
        style.save(draw(frame, confidence=confidence), frame, paths)
