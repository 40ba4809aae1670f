"""Figure `plane`: every road on the plane of precision and breadth, against the training lines."""

import os
from collections.abc import Iterable, Mapping, Sequence

import numpy as np
import pandas as pd
from matplotlib import patheffects
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from workflow_scripts.figures import legends, style
from workflow_scripts.records.errors import UserError

PANELS = {"coverage_paper": "coverage (paper)", "opening_coverage": "openings"}
"""Measure of breadth, and its panel's title."""

LINE_COLOURS = ("#777777", "#b0a08a", "#9aa9b5")
"""Of the training lines, which stay in the background."""


def data(
    plane: pd.DataFrame,
    roads: Mapping[str, Sequence[tuple[str, str]]],
    lines: Mapping[str, Sequence[tuple[str, str]]],
) -> pd.DataFrame:
    """What the figure shows: columns kind (line, road), group, entry, label, measure, precision, precision_low,
    precision_high, breadth, breadth_low, breadth_high.

    plane: measures.roads.plane. roads: group (a colour) to its (label, entry) rows. lines: name of a training line to
    its (label, entry) rows from the base on. Raises UserError where a measure is missing.
    """
    table = plane.set_index(["entry", "measure"])[["estimate", "low", "high"]]
    rows = []
    for kind, groups in (("line", lines), ("road", roads)):
        for group, points in groups.items():
            for label, entry in points:
                for measure in PANELS:
                    try:
                        x, y = table.loc[(entry, "pass@1")], table.loc[(entry, measure)]
                    except KeyError as error:
                        raise UserError(f"the plane needs pass@1 and {measure} of {entry}") from error
                    rows.append(
                        {"kind": kind, "group": group, "entry": entry, "label": label, "measure": measure}
                        | {f"precision{end}": value for end, value in zip(("", "_low", "_high"), x)}
                        | {f"breadth{end}": value for end, value in zip(("", "_low", "_high"), y)}
                    )
    return pd.DataFrame(rows)


_OFFSETS = ((5, 4), (5, -9), (-5, 4), (-5, -9), (0, 9), (0, -14), (9, -2), (-9, -2))
"""Where a label may stand from its point (points right, points up), best first."""


def _place(axes: Axes, points: pd.DataFrame, taken: np.ndarray) -> None:
    """Labels beside their points, each where it covers fewest of the points and labels placed before.

    taken: (things, 4): boxes in points of the page, left, bottom, right, top.
    """
    scale = 72 / axes.figure.dpi
    where = axes.transData.transform(points[["precision", "breadth"]].to_numpy()) * scale
    boxes = [*taken]
    for (x, y), row in zip(where, points.itertuples(), strict=True):
        label = row.label
        # A letter of 6.5 points is about 3.8 points wide
        width, height = 3.8 * len(label), 7.5

        def box(offset: tuple[int, int]) -> np.ndarray:
            left = x + offset[0] - (0 if offset[0] > 0 else width if offset[0] < 0 else width / 2)  # noqa: B023
            return np.array([left, y + offset[1] - 1, left + width, y + offset[1] + height])  # noqa: B023

        def covered(candidate: np.ndarray) -> float:
            known = np.array(boxes)
            wide = np.minimum(known[:, 2], candidate[2]) - np.maximum(known[:, 0], candidate[0])
            high = np.minimum(known[:, 3], candidate[3]) - np.maximum(known[:, 1], candidate[1])
            return float((wide.clip(0) * high.clip(0)).sum())

        best = min(_OFFSETS, key=lambda offset: covered(box(offset)))
        boxes.append(box(best))
        side = "left" if best[0] > 0 else "right" if best[0] < 0 else "center"
        text = axes.annotate(
            label, (row.precision, row.breadth), xytext=best, textcoords="offset points", ha=side, fontsize=6.5
        )
        text.set_path_effects([patheffects.withStroke(linewidth=1.8, foreground="white")])


def _panel(axes: Axes, frame: pd.DataFrame, looks: Mapping[str, tuple[str, str]]) -> None:
    for (kind, group), points in frame.groupby(["kind", "group"], sort=False):
        colour, marker = looks[group]
        x, y = points["precision"].to_numpy(), points["breadth"].to_numpy()
        if kind == "line":
            axes.plot(x, y, color=colour, marker=marker, markersize=2.5, linewidth=1, zorder=1.5)
            continue
        bars = {
            "xerr": np.maximum([x - points["precision_low"], points["precision_high"] - x], 0),
            "yerr": np.maximum([y - points["breadth_low"], points["breadth_high"] - y], 0),
        }
        axes.errorbar(x, y, **bars, fmt="none", ecolor=colour, elinewidth=0.6, alpha=0.4)
        axes.plot(x, y, color=colour, marker=marker, markersize=4.5, markeredgecolor="white", markeredgewidth=0.5,
                  linestyle="none")  # fmt: skip


def draw(frame: pd.DataFrame, *, samples: int, solution_set: str = "expressible", confidence: float = 0.95) -> Figure:
    """The figure from its data: a panel per breadth; lines grey, a colour per group of roads, each road named."""
    figure = style.new_figure("text", 3.6)
    panels = figure.subplots(1, len(PANELS), sharex=True, squeeze=False)[0]
    groups = {kind: list(rows["group"].unique()) for kind, rows in frame.groupby("kind")}
    looks = dict(zip(groups.get("line", []), zip(LINE_COLOURS, style.MARKERS)))
    looks |= dict(zip(groups.get("road", []), zip(style.COLOURS, style.MARKERS)))
    shares = "expressible" if solution_set == "expressible" else "all"
    for axes, (measure, title) in zip(panels, PANELS.items(), strict=True):
        of_panel = frame[frame["measure"] == measure]
        _panel(axes, of_panel, looks)
        axes.set_title(title)
        axes.set_xlabel("pass@1, probability")
        axes.set_xlim(0, 1.06 * float(frame["precision_high"].max()))
        axes.set_ylim(0, min(1.02, 1.06 * float(of_panel["breadth_high"].max())))
        what = "solutions" if measure == "coverage_paper" else "openings"
        axes.set_ylabel(f"share of {shares} {what}, n = {samples}")
    title = "line or road"
    legends.above(figure, looks, what=title, confidence=confidence)
    # Labels go by places on the page, which are known once the layout is
    figure.draw_without_rendering()
    figure.set_layout_engine("none")
    for axes, measure in zip(panels, PANELS, strict=True):
        of_panel = frame[frame["measure"] == measure]
        scale = 72 / figure.dpi
        places = axes.transData.transform(of_panel[["precision", "breadth"]].to_numpy()) * scale
        taken = np.hstack([places - 2.5, places + 2.5])
        _place(axes, of_panel[of_panel["kind"] == "road"], taken)
    return figure


def figure(
    plane: pd.DataFrame,
    roads: Mapping[str, Sequence[tuple[str, str]]],
    lines: Mapping[str, Sequence[tuple[str, str]]],
    paths: Iterable[str | os.PathLike],
    *,
    samples: int,
    solution_set: str = "expressible",
    confidence: float = 0.95,
) -> None:
    """Draws the figure and writes it to `paths` (.pdf, .png, .svg; .csv holds its data). Arguments as in `data` and
    `draw`."""
    frame = data(plane, roads, lines)
    with style.styled():
        style.save(draw(frame, samples=samples, solution_set=solution_set, confidence=confidence), frame, paths)
