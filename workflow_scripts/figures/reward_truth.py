"""The figure of the study of rewards: what each reward pays, beside the truth, by checkpoint; and its table."""

import math
import os
from collections.abc import Iterable, Mapping
from textwrap import fill

import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.patches import Patch
from matplotlib.ticker import MaxNLocator

from workflow_scripts.figures import style
from workflow_scripts.figures.running import running_means
from workflow_scripts.figures.tables import Column, Table
from workflow_scripts.measures.reward_truth import MARGIN

SETS = {"evaluation": "like training", "shifted": "official-style"}
"""Problem sets and what figures call them."""
ROWS = {
    "like training": (("reward", "evaluation", "reward"), ("pass@1", "evaluation", "right (pass@1)")),
    "official-style": (("reward", "shifted", "reward"), ("pass@1", "shifted", "right (pass@1)")),
    "form": (
        ("runs", "evaluation", "runs"),
        ("format_ok", "evaluation", "handed in as asked"),
        ("tokens", "evaluation", "length, share of the base's"),
    ),
}
"""Rows of panels: (measure, set, words) of each curve. `reward` is the one that the line was trained on."""
TRAINING = {"reward": "reward", "correct": "right (pass@1)"}
"""Columns of SCICODE_TRAINING that the first row shows step by step, and whose colour they have."""
WINDOW = 5
"""Steps of their running mean."""
_DASHES = {"right (pass@1)": (0, (3, 1.5))}  # seen through where it lies on the reward, as it does under a strict one
_ABREAST = 4
"""Lines that have room side by side."""
_GAP = {"color": "#999999", "alpha": 0.13, "linewidth": 0}
_CHANGED = ("reward", "pass@1", "runs", "format_ok", "hacking", "gap", "zero_variance", "tokens")


def data(
    found: pd.DataFrame, training: pd.DataFrame | None = None, largest: Mapping[str, float] | None = None
) -> pd.DataFrame:
    """What the figure shows: line, reward, panel, curve, source, step, estimate, low, high.

    found: reward_truth.by_checkpoint; its curves have the source `checkpoints`. training: SCICODE_TRAINING of every
    line with columns line and seed, running means of which have the source `training` (low, high: of the seeds).
    largest: what each line's reward can pay, 1 where it is left out.
    """
    parts = []
    for (line, reward), rows in found.groupby(["line", "reward"], sort=False):
        for panel, curves in ROWS.items():
            for measure, asked, words in curves:
                name = f"reward:{reward}" if measure == "reward" else measure
                part = rows[(rows["measure"] == name) & (rows["set"] == asked)].sort_values("step")
                part = part[["step", "estimate", "low", "high"]].assign(line=line, reward=reward, curve=words)
                if measure == "tokens":  # on the axis of the shares
                    part[["estimate", "low", "high"]] /= part["estimate"].iloc[0]
                parts.append(part.assign(panel=panel, source="checkpoints"))
    if training is not None:
        rewards = dict(found[["line", "reward"]].drop_duplicates().itertuples(index=False, name=None))
        means = running_means(training, {line: line for line in rewards}, TRAINING, key="line", window=WINDOW)
        most = means["line"].map(largest or {}).fillna(1.0).where(means["measure"] == "reward", 1.0)
        means[["estimate", "low", "high"]] = means[["estimate", "low", "high"]].div(most, axis=0)
        means["reward"], means["curve"] = means["line"].map(rewards), means["measure"].map(TRAINING)
        parts.append(means.assign(panel="like training", source="training"))
    shown = pd.concat(parts, ignore_index=True)
    return shown[["line", "reward", "panel", "curve", "source", "step", "estimate", "low", "high"]]


def draw(frame: pd.DataFrame) -> Figure:
    """Three panels for each line: reward and truth, the same on official-style problems, form and length. A line is a
    column, or a row where there are more than four."""
    lines = list(dict.fromkeys(frame["line"]))
    down = len(lines) > _ABREAST
    figure = style.new_figure("text", 0.8 + 1.3 * len(lines) if down else 5.6)
    shape = (len(lines), len(ROWS)) if down else (len(ROWS), len(lines))
    panels = figure.subplots(*shape, sharex=True, sharey="col" if down else "row", squeeze=False)
    of_line = panels if down else panels.T
    words = list(dict.fromkeys(curve for curves in ROWS.values() for _, _, curve in curves))
    looks = {
        curve: (style.COLOURS[place % len(style.COLOURS)], style.MARKERS[place % len(style.MARKERS)])
        for place, curve in enumerate(words)
    }
    rewards = dict(frame[["line", "reward"]].drop_duplicates().itertuples(index=False, name=None))
    labels = {line: fill(label_of(line, rewards[line]), 20 if down else 24) for line in lines}
    for line, row in zip(lines, of_line, strict=True):
        for axes, panel in zip(row, ROWS, strict=True):
            of_panel = frame[frame["panel"] == panel]
            _panel(axes, of_panel[of_panel["line"] == line], looks)
            axes.set_ylim(-0.03, max(1.05, 1.05 * float(of_panel["high"].max())))  # one axis for all lines
        if not down:
            row[0].set_title(f"trained on: {labels[line]}", fontsize=8)
    for axes, told in zip(of_line[0], ("like training", "official-style", "like training"), strict=True):
        if down:
            axes.set_title(f"{told}, share", fontsize=8)
        else:
            axes.set_ylabel(f"{told},\nshare")
    if down:
        for line, axes in zip(lines, panels[:, 0], strict=True):
            axes.set_ylabel(labels[line], fontsize=7)
    for axes in panels[-1]:
        axes.set_xlabel("RL step")
    handles = [
        Line2D(
            [], [], color=colour, marker=marker, markeredgecolor="white", linestyle=_DASHES.get(curve, "-"), label=curve
        )
        for curve, (colour, marker) in looks.items()
    ]
    handles.append(Patch(**_GAP, label="between reward and right"))
    if "training" in set(frame["source"]):
        label = f"thin: training's own samples, last {WINDOW} steps"
        handles.append(Line2D([], [], color="#555555", linewidth=0.7, label=label))
    figure.legend(handles=handles, loc="outside upper center", ncols=4, columnspacing=1.2, handlelength=1.8)
    return figure


def label_of(line: str, reward: str) -> str:
    """A line by its name, and by its reward where that is called otherwise."""
    return line if line == reward else f"{line} ({reward})"


def _panel(axes: Axes, shown: pd.DataFrame, looks: Mapping[str, tuple[str, str]]) -> None:
    for (curve, source), points in shown.groupby(["curve", "source"], sort=False):
        colour, marker = looks[curve]
        if source == "training":
            axes.plot(points["step"], points["estimate"], color=colour, linewidth=0.7, alpha=0.7)
        else:
            dashes = _DASHES.get(curve, "-")
            style.curve_with_band(axes, points, "step", colour=colour, marker=marker, dashes=dashes, alpha=0.18)
    # Between the two at the checkpoints: what looks good and is not
    kept = shown[shown["source"] == "checkpoints"].pivot(index="step", columns="curve", values="estimate")
    if "reward" in kept:
        axes.fill_between(kept.index, kept["right (pass@1)"], kept["reward"], **_GAP)
    axes.xaxis.set_major_locator(MaxNLocator(integer=True, nbins=4))


def figure(
    found: pd.DataFrame,
    paths: Iterable[str | os.PathLike],
    training: pd.DataFrame | None = None,
    largest: Mapping[str, float] | None = None,
) -> None:
    """Draws the figure and writes it to `paths` (.pdf, .png, .svg; .csv holds its data). Arguments as in `data`."""
    frame = data(found, training, largest)
    with style.styled():
        style.save(draw(frame), frame, paths)


def table(changed: pd.DataFrame, said: pd.DataFrame, *, samples: int, seeds: Mapping[str, int]) -> Table:
    """Before and after by line and set. changed, said: `measures.reward_truth.changes` and `.verdicts`."""
    named = changed.copy()
    own = named["measure"].str.partition(":")
    named = named[(own[2] == "") | (own[2] == named["reward"])].assign(kind=own[0])
    named = named[named["kind"].isin(_CHANGED)]
    cells = pd.concat(
        [
            named.assign(measure=named["kind"] + " before", estimate=named["start"], low=math.nan, high=math.nan),
            named.assign(measure=named["kind"] + " after", estimate=named["end"], low=math.nan, high=math.nan),
            named.assign(measure=named["kind"] + " change"),
        ],
        ignore_index=True,
    )
    cells = cells.assign(entry=cells["line"] + " " + cells["set"])[["entry", "measure", "estimate", "low", "high"]]
    columns = [
        Column("reward before", "reward, before", 3),
        Column("reward after", "after", 3),
        Column("reward change", "change", 3),
        Column("pass@1 before", "pass@1, before", 3),
        Column("pass@1 after", "after", 3),
        Column("pass@1 change", "change", 3),
        Column("gap change", "reward − pass@1, change", 3),
        Column("hacking after", "paid but wrong, after", 3),
        Column("runs after", "runs, after", 3),
        Column("format_ok after", "as asked, after", 3),
        Column("tokens after", "tokens, after", 1),
        Column("zero_variance after", "one reward throughout, after", 3),
    ]
    rows = [
        (f"{label_of(row.line, row.reward)}, {SETS.get(row.set, row.set)}: {row.verdict}", f"{row.line} {row.set}")
        for row in said.itertuples()
    ]
    problems = int(changed["problems"].max())
    several = max(seeds.values())
    notes = [
        f"Means over {problems} problems of a set, {samples} samples each; in brackets the 95 % interval of a "
        f"bootstrap over problems{f' and {several} training seeds' if several > 1 else ''}, before and after paired.",
        "Reward: the one that the line was trained on, as a share of the largest that it pays, on these samples.",
        f"Verdict: by the intervals of the changes of the reward and of pass@1. Flat: wholly within ± {MARGIN:g}; else "
        "it climbs or falls where the interval lies beyond 0, and is unclear where it does not. Neither: both flat.",
        "Paid but wrong: samples that earn half of the largest reward or more and are not right.",
        "One reward throughout: problems all of whose samples earn the same, from which nothing is learned.",
    ]
    return Table("Reward and truth before and after training, by reward", rows, columns, cells, notes)
