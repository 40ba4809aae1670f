"""How every figure looks, and how it is written: pdf, png, svg and its data as csv, the same bytes on each call."""

import os
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path

import matplotlib
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure

from workflow_scripts.records.errors import UserError
from workflow_scripts.records.files import atomic_file, write_text
from workflow_scripts.records.tables import csv_text

COLOURS = ("#0b6ea8", "#c8551b", "#3d8a4e", "#7a4fa3", "#8c6d1f", "#555555")
"""Told apart in the common kinds of colour blindness and in grey; always paired with a marker."""

MARKERS = ("o", "s", "^", "D", "v", "P")

WIDTH = {"column": 3.4, "text": 6.9}
"""Inches, of a two-column page."""

_RC = {
    "font.family": "DejaVu Sans",  # comes with matplotlib, so that the bytes do not depend on the machine's fonts
    "font.size": 8,
    "axes.titlesize": 9,
    "axes.labelsize": 8,
    "xtick.labelsize": 7,
    "ytick.labelsize": 7,
    "legend.fontsize": 7,
    "legend.frameon": False,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.grid": True,
    "axes.axisbelow": True,
    "grid.color": "#e4e4e4",
    "grid.linewidth": 0.6,
    "lines.linewidth": 1.3,
    "lines.markersize": 4,
    "savefig.dpi": 300,
    "figure.dpi": 100,
    "svg.hashsalt": "rlvr-entrances",
    "svg.fonttype": "path",
    "pdf.fonttype": 42,
    "axes.unicode_minus": True,
}

_METADATA = {
    ".pdf": {"CreationDate": None, "ModDate": None},
    ".svg": {"Date": None},
    ".png": {"Software": None},
}


@contextmanager
def styled() -> Iterator[None]:
    """Draw and save inside this block: one look for all figures, whatever the user's matplotlibrc says."""
    with matplotlib.rc_context():
        matplotlib.rcdefaults()
        matplotlib.rcParams.update(_RC)
        yield


def new_figure(width: str = "column", height: float = 2.6) -> Figure:
    """An empty figure, `width` a key of WIDTH, height in inches; without pyplot, so that nothing is kept between
    figures."""
    figure = Figure(figsize=(WIDTH[width], height), layout="constrained")
    FigureCanvasAgg(figure)
    return figure


def curve_with_band(
    axes: Axes,
    points: pd.DataFrame,
    along: str,
    *,
    colour: str,
    marker: str,
    dashes: object,
    alpha: float,
    every: int = 1,
) -> None:
    """A curve of `estimate` over the column `along`, its interval (`low`, `high`) as a band; points without one are
    left out.

    alpha: of the band. every: a marker at each so-manieth point.
    """
    known = points.dropna(subset=["estimate"])
    axes.fill_between(known[along], known["low"], known["high"], color=colour, alpha=alpha, linewidth=0)
    axes.plot(
        known[along],
        known["estimate"],
        color=colour,
        marker=marker,
        markersize=3,
        markeredgecolor="white",
        markeredgewidth=0.4,
        markevery=every,
        linestyle=dashes,
    )


def save(figure: Figure, data: pd.DataFrame, paths: Iterable[str | os.PathLike]) -> None:
    """Writes the figure, and its data where a path ends in .csv, to each of `paths` by suffix (.pdf, .png, .svg, .csv).

    Call it inside `styled`. Raises UserError for another suffix or where a path cannot be written.
    """
    for path in map(Path, paths):
        if path.suffix == ".csv":
            write_text(path, csv_text(data))
        elif path.suffix in _METADATA:
            with atomic_file(path) as aside:
                figure.savefig(aside, format=path.suffix[1:], metadata=_METADATA[path.suffix])
        else:
            raise UserError(f"{path}: figures are written as .pdf, .png, .svg or .csv")
