"""Figure `loss_cost`: what n samples reach before and after training, by how they are used."""

import os
from collections.abc import Iterable, Sequence

import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D

from workflow_scripts.figures import style
from workflow_scripts.records.errors import UserError

PANELS = {
    "best": "best of n, with a verifier",
    "majority": "majority vote",
    "stratified": "best of n, over entrances",
}
"""Method of measures.loss_cost.METHODS and its title."""

_BOUND = (0, (1.5, 1.2))


def data(curves: pd.DataFrame, points: Sequence[tuple[str, str, str]]) -> pd.DataFrame:
    """What the figure shows: columns line, entry, label, measure, n, estimate, low, high, problems, bound.

    curves: measures.loss_cost.cost_curves of each line, with a column `line`. points: (line, entry, label) in the order
    of drawing. Rows of measure `stratified` hold its lower bound, with `bound` true, from the n on that exceeds what
    was sampled of some problem. Raises UserError where a curve is missing.
    """
    parts = []
    for line, entry, label in points:
        of_entry = curves[curves["line"].eq(line) & curves["entry"].eq(entry)]
        for measure in PANELS:
            name = "stratified_floor" if measure == "stratified" else measure
            chosen = of_entry[of_entry["measure"] == name].sort_values("n")
            if chosen.empty:
                raise UserError(f"the cost-of-loss figure needs {name} of {entry} on line {line}")
            exact = of_entry[of_entry["measure"] == measure].set_index("n")["problems"]
            known = chosen["n"].map(exact).fillna(0) == chosen["problems"]
            parts.append(chosen.assign(label=label, measure=measure, bound=~known))
    columns = ["line", "entry", "label", "measure", "n", "estimate", "low", "high", "problems", "bound"]
    return pd.concat(parts, ignore_index=True)[columns]


def _panel(axes: Axes, frame: pd.DataFrame, looks: dict[str, tuple[str, str]]) -> None:
    for entry, points in frame.groupby("entry", sort=False):
        colour, marker = looks[entry]
        exact = points[~points["bound"]]
        style.curve_with_band(axes, exact, "n", colour=colour, marker=marker, dashes="-", alpha=0.13, every=2)
        if points["bound"].any():
            # From the last exact point on, so that the curve does not break
            beyond = pd.concat([exact.tail(1), points[points["bound"]]])
            axes.plot(beyond["n"], beyond["estimate"], color=colour, linestyle=_BOUND)


def draw(frame: pd.DataFrame, *, crossings: pd.DataFrame | None = None, confidence: float = 0.95) -> Figure:
    """The figure from its data: a row per line, a panel per method, a colour per policy.

    crossings: measures.loss_cost.crossings with a column `line`: where the base overtakes late in best of n is marked.
    """
    lines = list(frame["line"].unique())
    figure = style.new_figure("text", 0.9 + 1.9 * len(lines))
    grid = figure.subplots(len(lines), len(PANELS), sharex=True, sharey=True, squeeze=False)
    looks = dict(zip(dict.fromkeys(frame["entry"]), zip(style.COLOURS, style.MARKERS)))
    last = int(frame["n"].max())
    for row, line in zip(grid, lines, strict=True):
        of_line = frame[frame["line"] == line]
        for axes, (measure, title) in zip(row, PANELS.items(), strict=True):
            _panel(axes, of_line[of_line["measure"] == measure], looks)
            axes.set_title(title if line == lines[0] else "")
        row[0].set_ylabel(f"{line}: correct, probability")
        if crossings is not None:
            _mark(row[0], crossings[crossings["line"] == line])
        _legend(row[-1], of_line, looks, confidence)
    places = [*(4**i for i in range(12) if 1.8 * 4**i <= last), last]
    grid[0, 0].set_xscale("log", base=2)
    grid[0, 0].set_xticks(places, [str(place) for place in places])
    grid[0, 0].minorticks_off()
    grid[0, 0].set_ylim(0, min(1.02, 1.08 * float(frame["high"].max())))
    grid[-1, 1].set_xlabel("samples per problem, n (log scale)")
    return figure


def _mark(axes: Axes, crossings: pd.DataFrame) -> None:
    found = crossings[(crossings["before"] == "base") & (crossings["after"] == "late")]
    for row in found.itertuples():
        if row.crossing == float("inf"):
            continue
        axes.axvline(row.crossing, color="#777777", linewidth=0.8, linestyle=(0, (4, 2)))
        axes.annotate(f"base ahead\nfrom n = {row.crossing:g}", (row.crossing, 0), xytext=(4, 4),
                      textcoords="offset points", fontsize=6.5, color="#555555")  # fmt: skip


def _legend(axes: Axes, frame: pd.DataFrame, looks: dict[str, tuple[str, str]], confidence: float) -> None:
    named = frame[["entry", "label"]].drop_duplicates().itertuples(index=False)
    handles = [
        Line2D([], [], color=looks[entry][0], marker=looks[entry][1], markeredgecolor="white", label=label)
        for entry, label in named
    ]
    handles.append(Line2D([], [], color="#333333", linestyle=_BOUND, label="lower bound"))
    axes.legend(
        handles=handles,
        title=f"band: {100 * confidence:g} % interval",
        title_fontsize=7,
        loc="center left",
        bbox_to_anchor=(1, 0.5),
    )


def figure(
    curves: pd.DataFrame,
    points: Sequence[tuple[str, str, str]],
    paths: Iterable[str | os.PathLike],
    *,
    crossings: pd.DataFrame | None = None,
    confidence: float = 0.95,
) -> None:
    """Draws the figure and writes it to `paths` (.pdf, .png, .svg; .csv holds its data). Arguments as in `data` and
    `draw`."""
    frame = data(curves, points)
    with style.styled():
        style.save(draw(frame, crossings=crossings, confidence=confidence), frame, paths)
