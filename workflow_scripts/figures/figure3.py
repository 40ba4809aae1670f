"""Figure 3: first-calculation entropy against pass@1, and the same-trace difference beside its placebos."""

import os
from collections.abc import Iterable, Mapping, Sequence

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D

from workflow_scripts.figures import style
from workflow_scripts.measures.benchmark_means import MEAN
from workflow_scripts.measures.trace_differences import BOTH, PLACEMENTS
from workflow_scripts.records.errors import UserError

ORIGINS = {BOTH: "all traces", "before": "traces of the policy before", "after": "traces of the policy after"}
"""Origin and its words: the difference is shown for each, never for all traces alone."""

PLACEBOS = {
    "did_sentence_end": ("nearest other unit end", "s"),
    "did_second": ("second calculation", "^"),
    "did_permuted": ("place of P1 in another trace", "x"),
    "did_anywhere": ("mean over all cuts", "+"),
}
"""Placebo and (its words, its marker)."""

_ALIKE = ("did_sentence_end", "did_second")
"""Placebos that are one where the nearest other unit end is that of the second calculation."""

_ALWAYS = ("did", "did_permuted", "did_anywhere")

_GREY = "#767676"
_LOOKS = {BOTH: ("D", 1.0), "before": ("<", 0.0), "after": (">", 0.0)}
_ACROSS = 3
_VALUES = ["estimate", "low", "high", "problems"]


def data(
    summary: pd.DataFrame, differences: pd.DataFrame, pairs: Sequence[Mapping[str, str]], benchmarks: Sequence[str]
) -> pd.DataFrame:
    """What the figure shows: columns panel, pair, before, after, benchmark, entry, measure, estimate, low, high,
    problems.

    Panel `plane`: `pass@1` and `entropy` of each pair's entries `before` and `after`. Panel `differences`: PLACEMENTS
    by origin of the traces (`entry`), `did` and every placebo; where no trace can be cut there are no rows, and where
    none has a second calculation or another unit end, that placebo has none.

    summary: benchmark_means.summary. differences: the same of trace_differences.line_values, with columns pair and
    origin. pairs: rows with name, before, after. Raises UserError where something is missing: the difference is not
    shown without its placebos.
    """
    shown = [*benchmarks, MEAN] if len(benchmarks) > 1 else list(benchmarks)
    known = summary.set_index(["entry", "benchmark", "measure"])[_VALUES]
    cuts = differences.set_index(["pair", "origin", "benchmark", "measure"])[_VALUES]
    rows = []
    for pair in pairs:
        for benchmark in shown:
            key = {"pair": pair["name"], "before": pair["before"], "after": pair["after"], "benchmark": benchmark}
            for end in ("before", "after"):
                for measure in ("pass@1", "entropy"):
                    place = (pair[end], benchmark, measure)
                    if place not in known.index:
                        raise UserError(f"figure 3 needs {measure} of {pair[end]} on {benchmark}")
                    rows.append({"panel": "plane"} | key | {"entry": end, "measure": measure} | dict(known.loc[place]))
            for origin in ORIGINS:
                found = [m for m in PLACEMENTS if (pair["name"], origin, benchmark, m) in cuts.index]
                missing = sorted(set(_ALWAYS) - set(found))
                if missing and found:
                    raise UserError(
                        f"figure 3 needs {missing[0]} of pair {pair['name']} on {benchmark} ({ORIGINS[origin]})"
                    )
                for measure in found:
                    values = dict(cuts.loc[(pair["name"], origin, benchmark, measure)])
                    rows.append({"panel": "differences"} | key | {"entry": origin, "measure": measure} | values)
    return pd.DataFrame(rows).astype({"problems": int})


def shown_placebos(frame: pd.DataFrame) -> dict[str, tuple[str, str]]:
    """PLACEBOS as they are drawn: one mark for the two of _ALIKE where `data` has them equal in every row."""
    cuts = frame[(frame["panel"] == "differences") & (frame["entry"] == BOTH)]
    one, other = (cuts[cuts["measure"] == name].set_index(["pair", "benchmark"])[_VALUES] for name in _ALIKE)
    if one.empty or not one.equals(other):
        return dict(PLACEBOS)
    (words, marker), (more, _) = (PLACEBOS[name] for name in _ALIKE)
    return {_ALIKE[0]: (f"{words} = {more}", marker)} | {k: v for k, v in PLACEBOS.items() if k not in _ALIKE}


def _bars(values: pd.Series) -> np.ndarray:
    """Distances of an interval's ends from its estimate, as errorbar takes them."""
    ends = [values["estimate"] - values["low"], values["high"] - values["estimate"]]
    return np.maximum(np.array(ends, dtype=float)[:, None], 0)


def _plane(axes: Axes, frame: pd.DataFrame, looks: Mapping[str, tuple[str, str]]) -> None:
    for benchmark, rows in frame.groupby("benchmark", sort=False):
        colour, marker = looks[benchmark]
        ends = rows.set_index(["entry", "measure"])
        places = {}
        for end in ("before", "after"):
            x, y = (ends.loc[(end, measure)] for measure in ("pass@1", "entropy"))
            places[end] = float(x["estimate"]), float(y["estimate"])
            axes.errorbar(
                *places[end], xerr=_bars(x), yerr=_bars(y), fmt=marker, color=colour, markersize=4, elinewidth=0.6,
                markerfacecolor="white" if end == "before" else colour, alpha=0.9,
            )  # fmt: skip
        arrow = {"arrowstyle": "-|>", "color": colour, "linewidth": 1.0, "shrinkA": 3, "shrinkB": 3}
        axes.annotate("", places["after"], places["before"], arrowprops=arrow)
    axes.set_xlabel("pass@1")


def _differences(
    axes: Axes, frame: pd.DataFrame, looks: Mapping[str, tuple[str, str]], placebos: Mapping[str, tuple[str, str]]
) -> None:
    benchmarks = list(looks)  # also those without a trace to cut, so that rows of all pairs are level
    lines = [("did", origin) for origin in ORIGINS] + [(placebo, BOTH) for placebo in placebos]
    step = len(lines) + 1.5
    for place, benchmark in enumerate(benchmarks):
        colour = looks[benchmark][0]
        rows = frame[frame["benchmark"] == benchmark].set_index(["measure", "entry"])
        for line, key in enumerate(lines):
            if key not in rows.index or np.isnan(rows.loc[key, "estimate"]):
                continue
            values, y = rows.loc[key], place * step + line
            measure, origin = key
            if measure == "did":
                marker, filled = _LOOKS[origin]
                look = {"color": colour, "markerfacecolor": colour if filled else "white", "elinewidth": 1.1}
            else:
                marker = placebos[measure][1]
                look = {"color": _GREY, "markerfacecolor": "white", "elinewidth": 0.7}
            axes.errorbar(values["estimate"], y, xerr=_bars(values), fmt=marker, markersize=4, **look)
        if place:
            axes.axhline(place * step - 1.25, color="#e4e4e4", linewidth=0.6)
    axes.axvline(0, color="#222222", linewidth=0.7)
    axes.set_ylim(len(benchmarks) * step - 1.0, -1.0)
    axes.set_yticks([place * step + (len(lines) - 1) / 2 for place in range(len(benchmarks))], benchmarks)
    axes.tick_params(axis="y", length=0)
    axes.grid(axis="y", visible=False)
    axes.set_xlabel("difference, nats a token")


def _legend(
    figure: Figure, looks: Mapping[str, tuple[str, str]], placebos: Mapping[str, tuple[str, str]], confidence: float
) -> None:
    plain = {"linestyle": "none", "markersize": 4.5}
    benchmarks = [
        Line2D([], [], color=colour, marker=marker, label=name, **plain) for name, (colour, marker) in looks.items()
    ]
    cuts = [
        Line2D([], [], color="#222222", marker=_LOOKS[origin][0], label=f"cut at P1, {words}",
               markerfacecolor="#222222" if _LOOKS[origin][1] else "white", **plain)
        for origin, words in ORIGINS.items()
    ]  # fmt: skip
    cuts += [
        Line2D([], [], color=_GREY, marker=marker, markerfacecolor="white", label=f"placebo: {words}", **plain)
        for words, marker in placebos.values()
    ]
    title = f"(a) hollow: before, filled: after; bars: {100 * confidence:g} % intervals over problems"
    above = figure.legend(handles=benchmarks, loc="outside upper center", ncols=7, title=title, title_fontsize=7)
    figure.add_artist(above)
    title = "(b) positive: the later policy suppresses the tokens up to the first calculation more than the rest"
    across = 3 if len(placebos) == len(PLACEBOS) else 2  # two placebos in one have long words
    figure.legend(handles=cuts, loc="outside lower center", ncols=across, title=title, title_fontsize=7)


def draw(frame: pd.DataFrame, *, confidence: float = 0.95) -> Figure:
    """The figure from its data: for every pair a plane above (a), and the differences below it (b); up to three pairs
    stand side by side, further ones below."""
    pairs, benchmarks = list(frame["pair"].unique()), list(frame["benchmark"].unique())
    across, blocks = min(len(pairs), _ACROSS), -(-len(pairs) // _ACROSS)
    low = 0.5 + 0.72 * len(benchmarks)
    figure = style.new_figure("text", 1.3 + blocks * (2.0 + low))
    grid = figure.subplots(2 * blocks, across, squeeze=False, height_ratios=[2.0, low] * blocks)
    placebos = shown_placebos(frame)
    looks = {
        name: (style.COLOURS[i % len(style.COLOURS)], style.MARKERS[i % len(style.MARKERS)])
        for i, name in enumerate(name for name in benchmarks if name != MEAN)
    }
    if MEAN in benchmarks:
        looks[MEAN] = ("#222222", "o")
    for place, cell in enumerate(grid.T.reshape(across, blocks, 2).transpose(1, 0, 2).reshape(-1, 2)):
        if place >= len(pairs):
            for axes in cell:
                axes.set_axis_off()
            continue
        rows = frame[frame["pair"] == pairs[place]]
        _plane(cell[0], rows[rows["panel"] == "plane"], looks)
        _differences(cell[1], rows[rows["panel"] == "differences"], looks, placebos)
        cell[0].set_title("{}\n{} → {}".format(*rows[["pair", "before", "after"]].iloc[0]), loc="left", fontsize=8)
        if place % across == 0:
            cell[0].set_ylabel("(a) first-calculation\nentropy, nats")
            cell[1].set_ylabel("(b) same-trace\ndifference in differences")
        else:
            cell[1].tick_params(labelleft=False)
    _same_scale(grid)
    _legend(figure, looks, placebos, confidence)
    return figure


def _same_scale(grid: np.ndarray) -> None:
    """One scale for all planes and one for all differences."""
    for row, both in ((0, True), (1, False)):
        panels = [axes for axes in grid[row::2].ravel() if axes.axison]
        for limits, wanted in (("xlim", True), ("ylim", both)):
            if wanted:
                found = np.array([getattr(axes, f"get_{limits}")() for axes in panels])
                for axes in panels:
                    getattr(axes, f"set_{limits}")(found[:, 0].min(), found[:, 1].max())


def figure(
    summary: pd.DataFrame,
    differences: pd.DataFrame,
    pairs: Sequence[Mapping[str, str]],
    benchmarks: Sequence[str],
    paths: Iterable[str | os.PathLike],
    *,
    confidence: float = 0.95,
) -> None:
    """Draws the figure and writes it to `paths` (.pdf, .png, .svg; .csv holds its data). Arguments as in `data`."""
    frame = data(summary, differences, pairs, benchmarks)
    with style.styled():
        style.save(draw(frame, confidence=confidence), frame, paths)
