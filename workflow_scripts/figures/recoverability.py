"""Figure `recoverability`: how often families that training lost are completed, once their entrance is given."""

import os
from collections.abc import Iterable

import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import MaxNLocator

from workflow_scripts.figures import legends, style
from workflow_scripts.records.errors import UserError

GROUPS = {
    ("evaluation", "kept"): "evaluation, kept",
    ("evaluation", "extinct"): "evaluation, extinct",
    ("tail", "extinct"): "tail, extinct",
    ("tail", "deep"): "tail, deep",
}
"""(pool, group) of families to its words. Extinct: early samples (in the tail pool: decoding) opened so, late ones do
not. Deep: neither."""

_CHANCE = (0, (1, 1.5))


def data(curves: pd.DataFrame) -> pd.DataFrame:
    """What the figure shows: columns line, pool, group, step, entry, measure (in_family, chance), estimate, low, high,
    problems, families.

    curves: recoverability.curves of each line and pool, with columns line and pool. Raises UserError where there is
    nothing to draw.
    """
    wanted = pd.MultiIndex.from_frame(curves[["pool", "group"]]).isin(list(GROUPS))
    rows = curves[wanted & curves["measure"].isin(["in_family", "chance"])]
    if rows.empty:
        raise UserError("no family is extinct, kept or in the tail pool: there is no recoverability to draw")
    place = {group: at for at, group in enumerate(GROUPS)}
    order = [place[group] for group in zip(rows["pool"], rows["group"])]
    line = rows["line"].map({name: at for at, name in enumerate(dict.fromkeys(curves["line"]))})
    rows = rows.assign(order=order, place=line).sort_values(["place", "order", "measure", "step"], ignore_index=True)
    columns = ["line", "pool", "group", "step", "entry", "measure"]
    return rows[[*columns, "estimate", "low", "high", "problems", "families"]]


def _panel(axes: Axes, rows: pd.DataFrame, looks: dict[tuple[str, str], tuple[str, str]]) -> None:
    placed: list[float] = []
    for (pool, group), (colour, marker) in looks.items():
        of_group = rows[(rows["pool"] == pool) & (rows["group"] == group)]
        if of_group.empty:
            continue
        points = of_group[of_group["measure"] == "in_family"]
        style.curve_with_band(axes, points, "step", colour=colour, marker=marker, dashes="-", alpha=0.13)
        chance = of_group[of_group["measure"] == "chance"]
        axes.plot(chance["step"], chance["estimate"], color=colour, linestyle=_CHANCE, linewidth=0.9)
        placed.append(_label(axes, points, colour, placed))
    axes.set_title(rows["line"].iloc[0])
    axes.set_xlabel("training step (0: base policy)")
    axes.xaxis.set_major_locator(MaxNLocator(integer=True, steps=[1, 2, 5, 10]))
    last = int(rows["step"].max())
    axes.set_xlim(-0.02 * last, 1.02 * last)


def _label(axes: Axes, points: pd.DataFrame, colour: str, placed: list[float]) -> float:
    """Number of families beside the end of a curve, moved up where another number stands; returns its height."""
    last = points.sort_values("step").iloc[-1]
    height = float(last["estimate"])
    while any(abs(height - other) < 0.03 for other in placed):
        height += 0.01
    axes.annotate(f"{int(last['families'])}", (last["step"], height), xytext=(5, 0), textcoords="offset points",
                  va="center", fontsize=6.5, color=colour, annotation_clip=False)  # fmt: skip
    return height


def draw(frame: pd.DataFrame, *, confidence: float = 0.95) -> Figure:
    """The figure from its data: a panel per line, a colour per group, dotted its path-enumeration chance."""
    lines = list(frame["line"].unique())
    figure = style.new_figure("text", 2.9)
    panels = figure.subplots(1, len(lines), sharey=True, squeeze=False)[0]
    present = set(zip(frame["pool"], frame["group"]))
    looks = {group: look for group, look in zip(GROUPS, zip(style.COLOURS, style.MARKERS)) if group in present}
    for axes, line in zip(panels, lines, strict=True):
        _panel(axes, frame[frame["line"] == line], looks)
    panels[0].set_ylim(0, 1.08 * max(float(frame["high"].max()), 1e-3))
    panels[0].set_ylabel("in-family completion, entrance given")
    words = {GROUPS[group]: look for group, look in looks.items()}
    what = "families, their number at the curve's end; dotted: chance"
    legends.above(figure, words, what=what, confidence=confidence)
    return figure


def figure(curves: pd.DataFrame, paths: Iterable[str | os.PathLike], *, confidence: float = 0.95) -> None:
    """Draws the figure and writes it to `paths` (.pdf, .png, .svg; .csv holds its data). Arguments as in `data` and
    `draw`."""
    frame = data(curves)
    with style.styled():
        style.save(draw(frame, confidence=confidence), frame, paths)
