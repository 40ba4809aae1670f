"""Table 3 and figure `ladder`: completion of a designated opening by what the policy is given of it."""

import os
from collections.abc import Collection, Iterable, Mapping, Sequence

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from workflow_scripts.figures import style
from workflow_scripts.figures.tables import Column, Table
from workflow_scripts.measures.ladder import MEASURES, NEUTRAL, POOLED, RETRY
from workflow_scripts.records.errors import UserError
from workflow_scripts.tasks.countdown.clamps import RUNGS

SCAFFOLDS = {NEUTRAL: "no scaffold", RETRY: "own failed attempt"}

RUNG_WORDS = {
    "nothing": "nothing",
    "first_number": "first number",
    "entrance": "entrance",
    "first_calculation": "first calculation",
    "generic_plan": "generic plan",
    "misleading_plan": "misleading plan",
    "wrong_value": "wrong value",
    "before_last_step": "up to the last step",
    "before_answer": "up to the answer",
}

TABLE3_COLUMNS = {
    "in_family_early": ("early", "in_family", "early: designated"),
    "in_family_late": ("late", "in_family", "late: designated"),
    "any_valid_late": ("late", "any_valid", "late: any valid"),
    "adherence_late": ("late", "adherence", "late: adherence"),
    "chance": ("late", "chance", "chance"),
    "excess_late": ("late", "excess", "late: excess"),
}
"""Column of Table 3: entry and measure of the summary, heading."""


def _cells(frame: pd.DataFrame, row: str) -> list[dict]:
    """One row of Table 3 from summary rows of one kind of clamp; NaN where a column has no value."""
    cells = []
    for column, (entry, measure, _) in TABLE3_COLUMNS.items():
        found = frame[(frame["entry"] == entry) & (frame["measure"] == measure)]
        if len(found) > 1:
            raise UserError(f"Table 3 needs one {measure} of {entry} for the row {row!r}, there are {len(found)}")
        numbers = ("estimate", "low", "high", "problems")
        blank = {"estimate": np.nan, "low": np.nan, "high": np.nan, "problems": 0}
        cells.append(
            {"entry": row, "measure": column} | (found.iloc[0][list(numbers)].to_dict() if len(found) else blank)
        )
    return cells


def table3(
    summary: pd.DataFrame,
    *,
    line: str,
    early: str,
    late: str,
    continuations: int,
    excluded: Collection[str] = (),
    extra: Mapping[str, pd.DataFrame] | None = None,
    confidence: float = 0.95,
    notes: Sequence[str] = (),
) -> Table:
    """Table 3 of one line, for figures.tables.write: a row per scaffold and rung, then a row per `extra`.

    summary: measures.ladder.ladder_summary of the entries `early` and `late`; its kinds of scaffold besides neutral and
    retry (such as run_cut) get rows of their own. early, late: words for the two policies, such as `step 25`.
    continuations: per clamp. excluded: kinds of scaffold that the leak screen failed: summary rows of such a kind are
    marked, and what was left out of a pooled row is said below. extra: label to frame with columns entry, measure,
    estimate, low, high, problems (extinct families, deep tail).
    """
    rows, cells = [], []
    kinds = [kind for kind in (NEUTRAL, RETRY) if kind in set(summary["scaffold"])]
    kinds += sorted(set(summary["scaffold"]) - set(kinds))
    for kind in kinds:
        of_kind = summary[summary["scaffold"] == kind]
        present = set(of_kind["rung"])
        mark = ", excluded: leaks" if kind in excluded and kind not in POOLED else ""
        words = SCAFFOLDS.get(kind, kind.replace("_", " "))
        for rung in [r for r in RUNG_WORDS if r in present] + sorted(present - set(RUNG_WORDS)):
            name = f"{kind} {rung}"
            spliced = " (splice)" if (kind, rung) == (RETRY, "entrance") else ""
            rows.append((f"{words}: {RUNG_WORDS.get(rung, rung)}{spliced}{mark}", name))
            cells += _cells(of_kind[of_kind["rung"] == rung], name)
    for label, frame in (extra or {}).items():
        rows.append((label, label))
        cells += _cells(frame, label)
    frame = pd.DataFrame(cells)
    columns = [Column(name, heading) for name, (_, _, heading) in TABLE3_COLUMNS.items()]
    counts = frame.groupby("entry")["problems"].max()
    sizes = pd.DataFrame({"entry": counts.index, "measure": "problems", "estimate": counts.to_numpy(dtype=float)})
    columns.append(Column("problems", "problems", 0))
    failed = sorted(set(excluded) & set(POOLED))
    about = [
        f"Line {line}: early is {early}, late is {late}. Means over the problems that have such a clamp, "
        f"{continuations} continuations per clamp, openings and scaffolds of a problem averaged first; in brackets the "
        f"{100 * confidence:g} % interval of a bootstrap over problems.",
        f"Designated: {MEASURES['in_family']}. Any valid: {MEASURES['any_valid']}. Adherence: {MEASURES['adherence']}.",
        f"Chance: {MEASURES['chance']} (every order, bracketing and operator counts alike). Excess: "
        f"{MEASURES['excess']}.",
        f"Scaffolds that the leak screen failed are left out: {', '.join(failed)}." if failed else "",
        *notes,
    ]
    title = f"Table 3. Clamp ladder, {line}: completion by what is given"
    return Table(title, rows, columns, pd.concat([frame, sizes]), tuple(note for note in about if note), corner="given")


def data(summary: pd.DataFrame, ends: Sequence[tuple[str, str, str]]) -> pd.DataFrame:
    """What the figure shows: columns line, scaffold, rung, entry, label, measure, estimate, low, high, problems.

    summary: measures.ladder.ladder_summary of each line, with a column `line`. ends: (line, entry, label) in the order
    of drawing. Measures in_family and chance; scaffolds neutral and retry. Raises UserError where a line or entry has
    no values.
    """
    parts = []
    order = {rung: at for at, rung in enumerate(RUNGS)}
    for line, entry, label in ends:
        of_entry = summary[summary["line"].eq(line) & summary["entry"].eq(entry)]
        if of_entry.empty:
            raise UserError(f"the ladder figure needs {entry} on line {line}")
        shown = of_entry["measure"].isin(["in_family", "chance"]) & of_entry["rung"].isin(RUNGS)
        for scaffold in SCAFFOLDS:
            chosen = of_entry[shown & of_entry["scaffold"].eq(scaffold)].assign(label=label)
            parts.append(chosen.sort_values(["rung", "measure"], key=lambda c: c.map(order) if c.name == "rung" else c))
    columns = ["line", "scaffold", "rung", "entry", "label", "measure", "estimate", "low", "high", "problems"]
    return pd.concat(parts, ignore_index=True)[columns]


def _panel(axes: Axes, frame: pd.DataFrame, ends: Sequence[tuple[str, str]]) -> None:
    heights = {rung: -at for at, rung in enumerate(RUNGS)}
    completed = frame[frame["measure"] == "in_family"]
    for place, (entry, label) in enumerate(ends):
        points = completed[completed["entry"] == entry]
        dodge = 0.15 - 0.3 * place / max(len(ends) - 1, 1)
        reach = [points["estimate"] - points["low"], points["high"] - points["estimate"]]
        axes.errorbar(
            points["estimate"],
            [heights[rung] + dodge for rung in points["rung"]],
            xerr=[side.clip(lower=0) for side in reach],
            fmt=style.MARKERS[place],
            color=style.COLOURS[place],
            elinewidth=1,
            label=label,
        )
    chance = frame[(frame["measure"] == "chance") & (frame["entry"] == ends[-1][0])]
    axes.scatter(
        chance["estimate"],
        [heights[rung] for rung in chance["rung"]],
        marker="|",
        s=110,
        color="#777777",
        label="chance",
    )
    axes.set_yticks(list(heights.values()), [RUNG_WORDS[rung] for rung in heights])
    axes.set_ylim(min(heights.values()) - 0.5, 0.5)
    axes.grid(axis="y", visible=False)


def draw(frame: pd.DataFrame, *, confidence: float = 0.95) -> Figure:
    """The figure from its data: a row per line, a panel per scaffold, rungs downwards, completion to the right."""
    lines = list(frame["line"].unique())
    figure = style.new_figure("text", 0.7 + 2.1 * len(lines))
    grid = figure.subplots(len(lines), len(SCAFFOLDS), sharex=True, sharey=True, squeeze=False)
    top = frame["high"].max()
    for row, line in zip(grid, lines, strict=True):
        of_line = frame[frame["line"] == line]
        ends = list(of_line[["entry", "label"]].drop_duplicates().itertuples(index=False, name=None))
        for axes, (scaffold, words) in zip(row, SCAFFOLDS.items(), strict=True):
            of_panel = of_line[of_line["scaffold"] == scaffold]
            _panel(axes, of_panel, ends)
            if of_panel.empty:
                axes.text(0.5, 0.5, "none that passed the leak screen", transform=axes.transAxes, ha="center")
            count = "" if of_panel.empty else f" ({int(of_panel['problems'].max())} problems)"
            axes.set_title(f"{line}: {words}{count}")
        handles, labels = row[-1].get_legend_handles_labels()
        order = sorted(range(len(labels)), key=lambda at: labels[at] == "chance")
        row[-1].legend(
            [handles[at] for at in order],
            [labels[at] for at in order],
            title=f"{100 * confidence:g} % intervals",
            title_fontsize=7,
            loc="center left",
            bbox_to_anchor=(1, 0.5),
        )
    grid[0, 0].set_xlim(-0.02, min(1.02, 1.05 * top) if top > 0 else 1)
    for axes in grid[-1]:
        axes.set_xlabel("designated opening completed, share")
    return figure


def figure(
    summary: pd.DataFrame,
    ends: Sequence[tuple[str, str, str]],
    paths: Iterable[str | os.PathLike],
    *,
    confidence: float = 0.95,
) -> None:
    """Draws the figure and writes it to `paths` (.pdf, .png, .svg; .csv holds its data). Arguments as in `data`."""
    frame = data(summary, ends)
    with style.styled():
        style.save(draw(frame, confidence=confidence), frame, paths)
