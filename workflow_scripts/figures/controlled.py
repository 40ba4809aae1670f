"""Figure and table `controlled`: four candidates per problem through SFT, DPO and GRPO; what a reward pays for."""

import os
from collections.abc import Iterable, Mapping, Sequence

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D

from workflow_scripts.figures import style
from workflow_scripts.figures.tables import Column, Table
from workflow_scripts.measures.controlled import CANDIDATES
from workflow_scripts.records.errors import UserError

ROADS = {"dpo": "SFT → DPO", "grpo": "SFT → GRPO"}
"""Road behind SFT and its column's title."""

KINDS = {"pass": "correct", "format": "in a box"}
"""What a sample and the likeliest candidate may be."""

_PROBABILITIES = [f"p_{name}" for name in CANDIDATES]
_SHARES = [f"{before}{kind}{after}" for kind in KINDS for before, after in (("expected_", ""), ("", "@1"))]

COLUMNS = (
    *(Column(f"p_{name}", f"p({words})") for name, words in CANDIDATES.items()),
    Column("pass@1", "pass@1", 2),
    Column("format@1", "format@1", 2),
    Column("reward@1", "reward@1", 2),
    Column("expected_pass", "expected pass"),
    Column("expected_format", "expected format"),
    Column("expected_reward", "expected reward"),
    Column("entropy", "entropy, nats"),
    Column("loss", "final loss", 4),
    Column("clipped", "clipped samples"),
    Column("zero_variance", "zero-variance groups"),
    Column("overtaking", "boxed ahead of unmarked from update", 0),
)


def data(steps: pd.DataFrame, incentive: pd.DataFrame, *, sampled: str) -> pd.DataFrame:
    """What the figure shows: columns panel (probability, metric, incentive), road, measure, update, format_bonus,
    invalid_penalty, estimate, low, high.

    steps: measures.controlled.along of the roads sft, dpo, grpo and `sampled`, updates counted from SFT's first.
    incentive: measures.format_incentive.shares_of_starts; its road is `divided` or `centred`, by the advantages.
    Raises UserError for a road without rows.
    """
    parts = []
    for panel, names in (("probability", _PROBABILITIES), ("metric", _SHARES)):
        for road in ("sft", *ROADS, *([sampled] if panel == "probability" else [])):
            found = steps[(steps["road"] == road) & steps["measure"].isin(names)]
            if found.empty:
                raise UserError(f"the controlled figure has no steps of {road}")
            parts.append(found.assign(panel=panel))
    shares = incentive.assign(
        panel="incentive", measure="reinforced", road=np.where(incentive["divide"], "divided", "centred")
    ).rename(columns={"reinforced": "estimate"})
    columns = ["panel", "road", "measure", "update", "format_bonus", "invalid_penalty", "estimate", "low", "high"]
    return pd.concat([*parts, shares], ignore_index=True).reindex(columns=columns).astype({"update": "Int64"})


def _curves(axes: Axes, frame: pd.DataFrame, looks: Mapping[str, tuple], width: float) -> None:
    for measure, (colour, dashes, marker) in looks.items():
        points = frame[frame["measure"] == measure].sort_values("update", kind="stable")
        axes.plot(
            points["update"].to_numpy(dtype=float),
            points["estimate"].to_numpy(dtype=float),
            color=colour,
            linestyle=dashes,
            linewidth=width,
            marker=marker,
            markersize=3,
            markeredgecolor="white",
            markeredgewidth=0.4,
            markevery=50,
        )


def _column(panels: Sequence[Axes], frame: pd.DataFrame, road: str, sampled: str) -> None:
    """Probabilities above, metrics below, from SFT's first update to the last of `road`."""
    turn = int(frame.loc[frame["road"] == "sft", "update"].max())
    solid = {
        f"p_{name}": (colour, "-", marker) for name, colour, marker in zip(CANDIDATES, style.COLOURS, style.MARKERS)
    }
    dotted = {measure: (colour, ":", "") for measure, (colour, *_) in solid.items()}
    for panel, axes in zip(("probability", "metric"), panels, strict=True):
        of_panel = frame[frame["panel"] == panel]
        looks = solid if panel == "probability" else _metric_looks()
        for part in ("sft", road):
            _curves(axes, of_panel[of_panel["road"] == part], looks, 1.3)
        if panel == "probability" and road == "grpo":
            _curves(axes, of_panel[of_panel["road"] == sampled], dotted, 0.9)
        axes.axvline(turn, color="#999999", linewidth=0.6)
        axes.set_ylim(-0.03, 1.03)
    panels[0].set_title(ROADS[road])
    panels[1].set_xlabel("update")


def _metric_looks() -> dict[str, tuple]:
    """Colour, dashes and marker of each metric: dashed that of the likeliest candidate."""
    looks: dict[str, tuple] = {}
    for kind, colour, marker in zip(KINDS, style.COLOURS[4:], style.MARKERS[4:]):
        looks |= {f"expected_{kind}": (colour, "-", marker), f"{kind}@1": (colour, (0, (4, 2)), "")}
    return looks


def _map(axes: Axes, frame: pd.DataFrame, title: str) -> None:
    """Share of starts over the two reward constants; light numbers on dark cells."""
    grid = (
        frame.pivot(index="invalid_penalty", columns="format_bonus", values="estimate").sort_index().sort_index(axis=1)
    )
    axes.imshow(grid.to_numpy(dtype=float), cmap="Blues", vmin=0, vmax=1, origin="lower", aspect="auto")
    for row, values in enumerate(grid.to_numpy(dtype=float)):
        for place, value in enumerate(values):
            shade = "white" if value > 0.6 else "black"
            axes.text(place, row, f"{100 * value:.0f}", ha="center", va="center", fontsize=6.5, color=shade)
    axes.set_xticks(range(grid.shape[1]), [f"{value:g}" for value in grid.columns])
    axes.set_yticks(range(grid.shape[0]), [f"{value:g}" for value in grid.index])
    axes.grid(False)
    axes.set_title(title)
    axes.set_ylabel("penalty, nothing extracted")


def draw(frame: pd.DataFrame, *, sampled: str) -> Figure:
    """The figure from its data: a column each for DPO and GRPO, and one of maps of the format incentive."""
    figure = style.new_figure("text", 4.7)
    panels = figure.subplots(2, 3)
    for place, road in enumerate(ROADS):
        _column(panels[:, place], frame, road, sampled)
    panels[0, 0].set_ylabel("probability of a candidate")
    panels[1, 0].set_ylabel("share of problems or samples")
    maps = frame[frame["panel"] == "incentive"]
    _map(panels[0, 2], maps[maps["road"] == "divided"], "divided by std: %")
    _map(panels[1, 2], maps[maps["road"] == "centred"], "not divided (Dr.GRPO): %")
    panels[1, 2].set_xlabel("bonus for a box")
    handles = [
        Line2D([], [], color=colour, marker=marker, markeredgecolor="white", label=words)
        for words, colour, marker in zip(CANDIDATES.values(), style.COLOURS, style.MARKERS)
    ]
    handles.append(Line2D([], [], color="black", linestyle=":", linewidth=0.9, label="GRPO, groups drawn"))
    looks = _metric_looks()
    for kind, words in KINDS.items():
        for measure, whose in ((f"expected_{kind}", "a sample"), (f"{kind}@1", "likeliest")):
            colour, dashes, marker = looks[measure]
            drawn = {"color": colour, "linestyle": dashes, "marker": marker, "markeredgecolor": "white"}
            handles.append(Line2D([], [], label=f"{words}: {whose}", **drawn))
    title = "above: candidates; below: expected of a sample, and of the likeliest candidate alone;\n"
    title += "right: starts in which the first update reinforces the wrong boxed answer"
    figure.legend(handles=handles, loc="outside upper center", ncols=5, title=title, title_fontsize=7)
    # The layout is found once, not anew for each file
    figure.draw_without_rendering()
    figure.set_layout_engine("none")
    return figure


def figure(steps: pd.DataFrame, incentive: pd.DataFrame, paths: Iterable[str | os.PathLike], *, sampled: str) -> None:
    """Draws the figure and writes it to `paths` (.pdf, .png, .svg; .csv holds its data). Arguments as in `data`."""
    frame = data(steps, incentive, sampled=sampled)
    with style.styled():
        style.save(draw(frame, sampled=sampled), frame, paths)


def row_labels(samples: int, updates: Sequence[int]) -> list[tuple[str, str]]:
    """Rows of the table: (label, entry). samples: drawn in a group. updates: on one batch, of each sampled road."""
    rows = [("base", "base"), ("SFT", "sft"), ("SFT → DPO", "dpo"), ("SFT → GRPO, each candidate once", "grpo")]
    plural = {1: "update"}
    return rows + [
        (f"SFT → GRPO, {samples} drawn, {count} {plural.get(count, 'updates')} a batch", f"sampled_{count}")
        for count in updates
    ]


def table(
    policies: pd.DataFrame,
    incentive: pd.DataFrame,
    rows: Sequence[tuple[str, str]],
    *,
    constants: Mapping[str, float],
    problems: int,
) -> Table:
    """Every policy of the experiment. policies: rows of measures.controlled.row_of; incentive: as in `data`.

    rows: `row_labels`. constants: format_bonus and invalid_penalty of the training, which `incentive` must hold.
    Raises UserError where they are not among the swept ones.
    """
    wanted = pd.MultiIndex.from_product(
        [[entry for _, entry in rows], [column.name for column in COLUMNS]], names=["entry", "measure"]
    )
    cells = policies.set_index(["entry", "measure"]).reindex(wanted).reset_index()
    value = policies.set_index(["entry", "measure"])["estimate"]
    seeds = int(policies["seeds"].max())
    before, after = (value[(entry, "p_wrong_boxed")] for entry in ("sft", "dpo"))
    overtaking = value.get(("grpo", "overtaking"), np.nan)
    notes = [
        f"Means over {problems} problems with the same start; groups that the policy draws: mean, and in brackets the "
        f"lowest and highest of {seeds} seeds.",
        "pass@1, format@1 and reward@1 are those of the likeliest candidate; expected ones those of one sample. pass@4 "
        "of the four listed candidates would be 1 for every policy, since two of them are always correct.",
        f"DPO of boxed over unmarked solutions moves the wrong boxed answer from {before:.3f} to {after:.3f}.",
        "With each candidate once as the group, the loss is 0 by construction, nothing is clipped, no group has zero "
        "variance, and "
        + (
            "the boxed solution never gets ahead of the unmarked one."
            if np.isnan(overtaking)
            else f"the boxed solution gets ahead of the unmarked one after update {overtaking:.0f}: what the likeliest "
            "candidate scores is a choice of the number of updates."
        ),
        *(_paid(incentive, divide, constants) for divide in (True, False)),
    ]
    return Table("The controlled experiment", list(rows), COLUMNS, cells, notes)


def _paid(incentive: pd.DataFrame, divide: bool, constants: Mapping[str, float]) -> str:
    """A sentence about the format incentive under one kind of advantage."""
    chosen = incentive[incentive["divide"] == divide]

    def at(bonus: float, penalty: float) -> pd.Series:
        found = chosen[(chosen["format_bonus"] == bonus) & (chosen["invalid_penalty"] == penalty)]
        if len(found) != 1:
            raise UserError(
                f"the sweep needs bonus {bonus:g} with penalty {penalty:g} once, it has {len(found)} of them"
            )
        return found.iloc[0]

    trained, bare = at(constants["format_bonus"], constants["invalid_penalty"]), at(0.0, 0.0)
    words = "divided by the group's deviation" if divide else "not divided (Dr.GRPO)"
    reinforced, prevails = (
        [f"{100 * row[name]:.0f} %" for row in (trained, bare)] for name in ("reinforced", "prevails")
    )
    paid = f"bonus {trained['format_bonus']:g} and penalty {trained['invalid_penalty']:g}"
    return (
        f"Advantages {words}: with {paid} the first update reinforces the wrong boxed answer in {reinforced[0]} of "
        f"{trained['starts']:.0f} starts, and at the end it is likelier than both right answers together in "
        f"{prevails[0]}; without either constant {reinforced[1]} and {prevails[1]}."
    )
