"""Figure `lab_curves`: reward, format, first calculations and drift by step of every reinforcement stage of the lab."""

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
    "reward": "mean reward",
    "format_ok": "share in the asked format",
    "entrance_entropy": "first-calculation entropy, nats",
    "kl": "KL from the start, nats a token",
}
"""Column of records.schemas.TRAINING and the words on its axis."""


def data(metrics: pd.DataFrame, policies: Mapping[str, str], *, window: int = 10) -> pd.DataFrame:
    """What the figure shows: running_means of PANELS, keyed by policy (its name in the config)."""
    return running_means(metrics, policies, PANELS, key="policy", window=window)


def _panel(axes: Axes, frame: pd.DataFrame, looks: Mapping[str, tuple[str, str]]) -> None:
    for policy, points in frame.groupby("policy", sort=False):
        colour, marker = looks[policy]
        every = max(len(points) // 8, 1)
        style.curve_with_band(axes, points, "step", colour=colour, marker=marker, dashes="-", alpha=0.2, every=every)
    measure = frame["measure"].iloc[0]
    low, high = min(0.0, float(frame["low"].min())), float(frame["high"].max())
    axes.set_ylim(1.08 * low, 1.02 if measure == "format_ok" else 1.08 * max(high, 1e-3))
    axes.set_ylabel(PANELS[measure])
    axes.xaxis.set_major_locator(MaxNLocator(integer=True, nbins=5))


def draw(frame: pd.DataFrame, *, window: int = 10) -> Figure:
    """The figure from its data: a panel per quantity, a colour per policy, a band over training seeds."""
    figure = style.new_figure("text", 4.6)
    panels = figure.subplots(2, 2, sharex=True)
    names = list(frame["policy"].unique())
    looks = {
        name: (style.COLOURS[i % len(style.COLOURS)], style.MARKERS[i % len(style.MARKERS)])
        for i, name in enumerate(names)
    }
    for axes, measure in zip(panels.ravel(), PANELS, strict=True):
        _panel(axes, frame[frame["measure"] == measure], looks)
    for axes in panels[1]:
        axes.set_xlabel("RL step")
    labels = frame[["policy", "label"]].drop_duplicates().itertuples(index=False)
    handles = [
        Line2D([], [], color=looks[policy][0], marker=looks[policy][1], markeredgecolor="white", label=label)
        for policy, label in labels
    ]
    band = "; band: lowest to highest seed" if int(frame["seeds"].max()) > 1 else ""
    title = f"means over training samples, last {window} steps{band}"
    figure.legend(
        handles=handles, loc="outside upper center", ncols=2 if len(handles) > 3 else 3, title=title, title_fontsize=7
    )
    return figure


def figure(
    metrics: pd.DataFrame, policies: Mapping[str, str], paths: Iterable[str | os.PathLike], *, window: int = 10
) -> None:
    """Draws the figure and writes it to `paths` (.pdf, .png, .svg; .csv holds its data). Arguments as in `data`."""
    frame = data(metrics, policies, window=window)
    with style.styled():
        style.save(draw(frame, window=window), frame, paths)
