"""Figure `run_diagnostics`: the health of training runs in eight panels, and what their samples fail by in bars."""

import os
import re
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.patches import Patch
from matplotlib.ticker import MaxNLocator

from workflow_scripts.figures import style
from workflow_scripts.measures import run_files
from workflow_scripts.measures.failure_buckets import BUCKETS, recorded_scores, shares
from workflow_scripts.measures.run_diagnostics import diagnose, summary
from workflow_scripts.measures.run_warnings import warnings
from workflow_scripts.records.errors import UserError
from workflow_scripts.records.files import write_text
from workflow_scripts.records.tables import csv_text


class Panel(NamedTuple):
    """curves: column of measures.run_diagnostics.COLUMNS and its words in the panel, the first one solid. share: runs
    from 0 to 1."""

    title: str
    axis: str
    curves: Mapping[str, str]
    share: bool = False


PANELS = (
    Panel("reward and truth", "mean over samples", {"reward": "reward", "correct": "right"}),
    Panel("groups, by truth", "share of prompts", {"all_right": "all right", "all_wrong": "all wrong"}, True),
    Panel("mixed groups", "share of prompts", {"effective": "by reward", "mixed": "by truth"}, True),
    Panel("entropy", "nats a token", {"entropy": "entropy"}),
    Panel("KL from the reference", "nats a token", {"kl": "KL"}),
    Panel("cut and clipped", "share", {"at_cap": "samples at cap", "clipped": "tokens clipped"}),
    Panel("length", "tokens", {"length": "mean", "length_max": "longest"}),
    Panel("gradient norm", "before clipping", {"grad_norm": "norm"}),
)
_DASHES = ("-", (0, (3, 1.5)))
_NOTHING = "not logged"
_ROOM = 1.12  # of the highest point: the top of an axis
_TINY = 0.05  # of a share: an axis does not end below
_BAR_COLOURS = dict(zip(BUCKETS, (
    "#3d8a4e", "#7db88a", "#b9d9a4", "#c8551b", "#e39a6f", "#7a4fa3", "#b39ac9", "#0b6ea8", "#8fbbd9", "#8c6d1f",
    "#aaaaaa",
), strict=True))  # fmt: skip
"""Passes green, answers that are wrong orange, what breaks violet, what cannot be read blue."""


def data(frame: pd.DataFrame, *, window: int = 10) -> pd.DataFrame:
    """What the figure shows: columns run, measure, step, value, estimate: mean of the last `window` logged
    steps, or a tenth of the run where that is less.

    frame: of measures.run_diagnostics.diagnose. Steps without a value have no row.
    """
    measures = [name for panel in PANELS for name in panel.curves] + ["reward_min", "reward_max", "no_gradient"]
    parts = [
        steps.assign(measure=measure, value=steps[measure], estimate=_smooth(steps[measure], window))
        for _, rows in frame.groupby("run", sort=False)
        for measure in measures
        if len(steps := rows.sort_values("step").dropna(subset=[measure]))
    ]
    columns = ["run", "measure", "step", "value", "estimate"]
    return pd.concat(parts, ignore_index=True)[columns] if parts else pd.DataFrame(columns=columns)


def _smooth(values: pd.Series, window: int) -> pd.Series:
    return values.rolling(max(1, min(window, len(values) // 10)), min_periods=1).mean()


def draw(frame: pd.DataFrame) -> Figure:
    """The figure from its data: a colour per run, a panel per question; one that no run answers says so.

    Runs whose names differ in the seed alone (NAME-s1, NAME-s2) share a colour. With one run, a band from its lowest to
    its highest reward. Raises UserError for no data.
    """
    if frame.empty:
        raise UserError("there is nothing to draw: these runs logged none of the figure's numbers")
    lines = _lines(frame["run"].unique())
    looks = {
        run: (style.COLOURS[place % 6], style.MARKERS[(place + place // 6) % 6])
        for place, runs in enumerate(lines.values())
        for run in runs
    }
    figure = style.new_figure("text", 4.0 + 0.12 * (len(lines) // 4))
    panels = figure.subplots(2, 4)
    for axes, panel in zip(panels.ravel(), PANELS, strict=True):
        _panel(axes, panel, frame, looks)
    _idle_steps(panels[1, 3], frame, looks)
    for axes in panels[1]:
        axes.set_xlabel("training step")
    handles = []
    for line, runs in lines.items():
        (colour, marker), label = looks[runs[0]], runs[0] if len(runs) == 1 else f"{line}, {len(runs)} seeds"
        handles.append(Line2D([], [], color=colour, marker=marker, markeredgecolor="white", label=label))
    figure.legend(handles=handles, loc="outside upper center", ncols=min(len(lines), 4))
    return figure


def _lines(runs: Iterable[str]) -> dict[str, list[str]]:
    """Runs by their names without a seed, in order."""
    found: dict[str, list[str]] = {}
    for run in runs:
        found.setdefault(re.sub(r"-s\d+$", "", run), []).append(run)
    return found


def _panel(axes: Axes, panel: Panel, frame: pd.DataFrame, looks: Mapping[str, tuple[str, str]]) -> None:
    axes.set_title(panel.title, fontsize=8)
    axes.set_ylabel(panel.axis, fontsize=7)
    shown = frame[frame["measure"].isin(list(panel.curves))]
    axes.set_xlim(frame["step"].min() - 0.5, frame["step"].max() + 0.5)
    axes.xaxis.set_major_locator(MaxNLocator(integer=True, nbins=4))
    if shown.empty:
        axes.text(0.5, 0.5, _NOTHING, transform=axes.transAxes, ha="center", va="center", color="#777777")
        axes.set(xticks=[], yticks=[])
        return
    if "reward" in panel.curves and len(looks) == 1:
        _reach(axes, frame)
    for measure, dashes in zip(panel.curves, _DASHES, strict=False):
        for run, points in shown[shown["measure"] == measure].groupby("run", sort=False):
            _curve(axes, points, looks[run], dashes)
    low, high = shown["estimate"].min(), shown["estimate"].max()
    if panel.share:
        axes.set_ylim(-0.03, 1.03)
    elif low >= 0:
        axes.set_ylim(0, _ROOM * max(high, _TINY if panel.axis == "share" else 0) or 1)
    _explain(axes, panel, shown, looks)


def _curve(axes: Axes, points: pd.DataFrame, look: tuple[str, str], dashes: object) -> None:
    colour, marker = look
    axes.plot(
        points["step"], points["estimate"], color=colour, linestyle=dashes, linewidth=1.1, marker=marker, markersize=3,
        markeredgecolor="white", markeredgewidth=0.4, markevery=max(len(points) // 5, 1),
    )  # fmt: skip


def _reach(axes: Axes, frame: pd.DataFrame) -> None:
    ends = frame[frame["measure"].isin(["reward_min", "reward_max"])].pivot(
        index="step", columns="measure", values="value"
    )
    if ends.shape[1] == 2:
        axes.fill_between(ends.index, ends["reward_min"], ends["reward_max"], color="#dddddd", linewidth=0)


def _explain(axes: Axes, panel: Panel, shown: pd.DataFrame, looks: Mapping[str, tuple[str, str]]) -> None:
    """What the dashes mean, and which run does not say what the solid curve shows."""
    logged = shown.groupby("measure")["run"].nunique()
    if len(panel.curves) > 1:
        handles = [
            Line2D([], [], color="#444444", linestyle=dashes, label=words + ("" if name in logged else f": {_NOTHING}"))
            for (name, words), dashes in zip(panel.curves.items(), _DASHES, strict=True)
        ]
        axes.legend(handles=handles, fontsize=6, handlelength=1.4, borderaxespad=0, labelspacing=0.2)
    silent = len(looks) - shown["run"].nunique()
    if silent:
        axes.set_title(f"{panel.title}\n{silent} of {len(looks)} runs: {_NOTHING}", fontsize=8)


def _idle_steps(axes: Axes, frame: pd.DataFrame, looks: Mapping[str, tuple[str, str]]) -> None:
    """Marks the steps that had no gradient, and counts them."""
    flags = frame[frame["measure"] == "no_gradient"]
    idle = flags[flags["value"] == 1]
    for run, points in idle.groupby("run", sort=False):
        place = 0.97 - min(0.05, 0.9 / len(looks)) * list(looks).index(run)
        axes.plot(
            points["step"], [place] * len(points), "|", color=looks[run][0], markersize=4,
            transform=axes.get_xaxis_transform(),
        )  # fmt: skip
    if len(flags):
        axes.set_title(f"gradient norm\n{len(idle)} of {len(flags)} steps without", fontsize=8)


def figure(frame: pd.DataFrame, paths: Iterable[str | os.PathLike], *, window: int = 10) -> None:
    """Draws the figure and writes it to `paths` (.pdf, .png, .svg; .csv holds its data). Arguments as in `data`."""
    shown = data(frame, window=window)
    with style.styled():
        style.save(draw(shown), shown, paths)


def draw_buckets(frame: pd.DataFrame, by: Sequence[str] = ("policy",)) -> Figure:
    """A bar per group of samples, parted by what they pass or fail by. frame: of measures.failure_buckets.shares."""
    keys = frame[list(by)].astype(str).agg(", ".join, axis=1)
    wide = frame.assign(key=keys).pivot(index="key", columns="bucket", values="share").loc[list(keys.unique())]
    figure = style.new_figure("text", 1.1 + 0.22 * len(wide))
    axes = figure.subplots()
    present = [name for name in BUCKETS if (wide[name] > 0).any()]
    left = pd.Series(0.0, index=wide.index)
    for name in present:
        axes.barh(wide.index, wide[name], left=left, color=_BAR_COLOURS[name], edgecolor="white", linewidth=0.4)
        left += wide[name]
    axes.invert_yaxis()
    axes.set(xlim=(0, 1), xlabel="share of samples")
    axes.grid(visible=False, axis="y")
    figure.legend(
        handles=[Patch(color=_BAR_COLOURS[name], label=name) for name in present], loc="outside upper center", ncols=6
    )
    return figure


def buckets_figure(frame: pd.DataFrame, paths: Iterable[str | os.PathLike], *, by: Sequence[str] = ("policy",)) -> None:
    """Draws the bars and writes them to `paths` as `figure` does. Arguments as in `draw_buckets`."""
    with style.styled():
        style.save(draw_buckets(frame, by), frame, paths)


class Diagnosed(NamedTuple):
    """files: written. summary, warnings: of the measures of these names. buckets: of verl's samples, empty without."""

    files: list[Path]
    summary: pd.DataFrame
    warnings: pd.DataFrame
    buckets: pd.DataFrame


def diagnosed(runs: Iterable[str], folder: str | os.PathLike) -> Diagnosed:
    """Everything about some runs, for the command line: figures and tables into `folder`.

    runs: metric files, logs or state folders of verl, each also as NAME=PATH. Raises UserError as
    measures.run_diagnostics.diagnose.
    """
    given, folder = list(runs), Path(folder)
    frame = diagnose(given)
    ends, told = summary(frame), warnings(frame)
    files = [folder / f"run_diagnostics.{suffix}" for suffix in ("pdf", "png", "svg")]
    figure(frame, files)
    tables = {"run_diagnostics": frame, "run_summary": ends, "run_warnings": told}
    kept = [run_files.named(run) for run in given]
    scores = [recorded_scores(path, name) for name, path in kept if path.is_dir()]
    scores = pd.concat(scores, ignore_index=True) if scores else pd.DataFrame()
    buckets = shares(scores, texts=scores["completion"]) if len(scores) else pd.DataFrame()
    if len(buckets):
        tables["failure_buckets"] = buckets
        drawn = [folder / f"failure_buckets.{suffix}" for suffix in ("pdf", "png", "svg")]
        buckets_figure(buckets, drawn)
        files += drawn
    for name, table in tables.items():
        write_text(folder / f"{name}.csv", csv_text(table))
        files.append(folder / f"{name}.csv")
    return Diagnosed(files, ends, told, buckets)
