"""Figure `continuation`: entropy by step of RL that starts from the base, from SFT and from SFT and DPO."""

import os
from collections.abc import Iterable, Mapping

import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.ticker import MaxNLocator

from workflow_scripts.figures import style
from workflow_scripts.figures.running import running_means

PANELS = {
    "entrance_entropy": "entropy of the first step, nats",
    "token_entropy": "entropy of a token, nats",
    "reward": "mean reward",
}
"""Column of records.schemas.TRAINING and the words on its axis."""


def data(metrics: pd.DataFrame, roads: Mapping[str, str], *, window: int = 10) -> pd.DataFrame:
    """What the figure shows: running_means of PANELS, keyed by road. metrics: with columns `line` and `seed`."""
    return running_means(metrics.rename(columns={"line": "road"}), roads, PANELS, key="road", window=window)


def _panel(axes: Axes, frame: pd.DataFrame, looks: Mapping[str, tuple[str, str]]) -> None:
    for road, points in frame.groupby("road", sort=False):
        colour, marker = looks[road]
        every = max(len(points) // 8, 1)
        style.curve_with_band(axes, points, "step", colour=colour, marker=marker, dashes="-", alpha=0.2, every=every)
    axes.set_ylim(0, 1.08 * max(float(frame["high"].max()), 1e-3))
    axes.set_ylabel(PANELS[frame["measure"].iloc[0]])
    axes.set_xlabel("RL step")
    axes.xaxis.set_major_locator(MaxNLocator(integer=True, nbins=5))


def draw(frame: pd.DataFrame, *, window: int = 10) -> Figure:
    """The figure from its data: a panel per quantity, a colour per road, a band from the lowest to the highest seed."""
    figure = style.new_figure("text", 2.7)
    panels = figure.subplots(1, len(PANELS), sharex=True)
    looks = dict(zip(frame["road"].unique(), zip(style.COLOURS, style.MARKERS)))
    for axes, measure in zip(panels, PANELS, strict=True):
        _panel(axes, frame[frame["measure"] == measure], looks)
    labels = frame[["road", "label"]].drop_duplicates().itertuples(index=False)
    handles = [
        Line2D([], [], color=looks[road][0], marker=looks[road][1], markeredgecolor="white", label=label)
        for road, label in labels
    ]
    band = "; band: lowest to highest seed" if int(frame["seeds"].max()) > 1 else ""
    title = f"road (means over training samples, last {window} steps{band})"
    figure.legend(handles=handles, loc="outside upper center", ncols=len(handles), title=title, title_fontsize=7)
    return figure


def figure(
    metrics: pd.DataFrame, roads: Mapping[str, str], paths: Iterable[str | os.PathLike], *, window: int = 10
) -> None:
    """Draws the figure and writes it to `paths` (.pdf, .png, .svg; .csv holds its data). Arguments as in `data`."""
    frame = data(metrics, roads, window=window)
    with style.styled():
        style.save(draw(frame, window=window), frame, paths)
