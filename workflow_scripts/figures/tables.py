"""Tables as csv, Markdown and LaTeX from one frame, with the way each column is computed written underneath."""

import math
import os
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import NamedTuple

import pandas as pd

from workflow_scripts.measures.comparison import measures
from workflow_scripts.records.errors import UserError
from workflow_scripts.records.files import write_text
from workflow_scripts.records.tables import csv_text


class Column(NamedTuple):
    """name: a measure. heading: above the column. decimals: shown in md and tex; the csv has ten digits."""

    name: str
    heading: str
    decimals: int = 3


@dataclass(frozen=True)
class Table:
    """rows: (label, entry) in order. cells: columns entry, measure, estimate, low, high. notes: sentences below the
    table."""

    title: str
    rows: Sequence[tuple[str, str]]
    columns: Sequence[Column]
    cells: pd.DataFrame
    notes: Sequence[str] = field(default_factory=tuple)
    corner: str = "policy"

    def cell(self, entry: str, measure: str) -> pd.Series:
        """estimate, low, high of one cell; UserError unless there is exactly one."""
        found = self.cells[(self.cells["entry"] == entry) & (self.cells["measure"] == measure)]
        if len(found) != 1:
            raise UserError(f"table {self.title!r} needs one value of {measure} for {entry}, there are {len(found)}")
        return found.iloc[0]


def stacked(title: str, parts: Sequence[tuple[str, Table]]) -> Table:
    """Tables of the same columns below each other: (name, table) in order, names before rows; each note once."""
    rows = [(f"{name}: {label}", f"{name} {entry}") for name, table in parts for label, entry in table.rows]
    cells = pd.concat(
        [table.cells.assign(entry=f"{name} " + table.cells["entry"]) for name, table in parts], ignore_index=True
    )
    notes = tuple(dict.fromkeys(note for _, table in parts for note in table.notes))
    first = parts[0][1]
    return Table(title, rows, first.columns, cells, notes, first.corner)


def frame_of(table: Table) -> pd.DataFrame:
    """The table in wide form: label, entry, then estimate, low and high of each column."""
    records = []
    for label, entry in table.rows:
        record: dict[str, object] = {table.corner: label, "entry": entry}
        for column in table.columns:
            cell = table.cell(entry, column.name)
            record |= {
                column.name: cell["estimate"],
                f"{column.name}_low": cell["low"],
                f"{column.name}_high": cell["high"],
            }
        records.append(record)
    return pd.DataFrame(records)


def _number(value: float, decimals: int) -> str:
    return "–" if math.isnan(value) else f"{value:.{decimals}f}".replace("-", "−")


def _interval(cell: pd.Series, decimals: int) -> str:
    if math.isnan(cell["low"]):
        return ""
    return f"[{_number(cell['low'], decimals)}, {_number(cell['high'], decimals)}]"


def markdown(table: Table) -> str:
    """GitHub Markdown; intervals in square brackets."""
    lines = [f"**{table.title}**", ""]
    lines += ["| " + " | ".join([table.corner, *(c.heading for c in table.columns)]) + " |"]
    lines += ["|" + "|".join(["---", *("---:" for _ in table.columns)]) + "|"]
    for label, entry in table.rows:
        cells = [(table.cell(entry, c.name), c.decimals) for c in table.columns]
        shown = [
            f"{_number(cell['estimate'], decimals)} {_interval(cell, decimals)}".strip() for cell, decimals in cells
        ]
        lines.append("| " + " | ".join([label, *shown]) + " |")
    return "\n".join([*lines, "", *(f"* {note}" for note in table.notes)]) + "\n"


_TEX = {
    **{character: f"\\{character}" for character in "&%$#_{}"},
    "\\": r"\textbackslash{}",
    "~": r"\textasciitilde{}",
    "^": r"\textasciicircum{}",
    "−": "$-$",
    "–": "--",
    "→": r"$\rightarrow$",
    "≤": r"$\le$",
    "×": r"$\times$",
    "±": r"$\pm$",
}


def _tex(text: str) -> str:
    return "".join(_TEX.get(character, character) for character in text)


def latex(table: Table) -> str:
    """A LaTeX table (package booktabs); intervals in small type under the numbers."""
    lines = [r"\begin{table}", r"\centering\small", rf"\caption{{{_tex(table.title)}}}"]
    lines += [rf"\begin{{tabular}}{{l{'c' * len(table.columns)}}}", r"\toprule"]
    lines += [" & ".join([_tex(table.corner), *(_tex(c.heading) for c in table.columns)]) + r" \\", r"\midrule"]
    for label, entry in table.rows:
        cells = [(table.cell(entry, c.name), c.decimals) for c in table.columns]
        lines.append(" & ".join([_tex(label), *(_tex(_number(cell["estimate"], d)) for cell, d in cells)]) + r" \\")
        lines.append(" & ".join(["", *(rf"{{\tiny {_tex(_interval(cell, d))}}}" for cell, d in cells)]) + r" \\")
    lines += [r"\bottomrule", r"\end{tabular}", "", r"\begin{minipage}{\linewidth}\footnotesize"]
    lines += [rf"{_tex(note)}\par" for note in table.notes]
    return "\n".join([*lines, r"\end{minipage}", r"\end{table}"]) + "\n"


_WRITERS = {".csv": lambda table: csv_text(frame_of(table)), ".md": markdown, ".tex": latex}


def write(table: Table, paths: Iterable[str | os.PathLike]) -> None:
    """Writes the table to each of `paths` by suffix (.csv, .md, .tex). Raises UserError for another suffix."""
    for path in map(Path, paths):
        if path.suffix not in _WRITERS:
            raise UserError(f"{path}: tables are written as .csv, .md or .tex")
        write_text(path, _WRITERS[path.suffix](table))


TABLE1_MEASURES = ("coverage_paper", "coverage_formula", "family_coverage", "opening_coverage", "entropy_think")


def table1(
    summary: pd.DataFrame,
    rows: Sequence[tuple[str, str]],
    *,
    title: str,
    pass_at: Sequence[int],
    samples: int,
    solution_set: str = "expressible",
    confidence: float = 0.95,
    notes: Sequence[str] = (),
) -> Table:
    """Table 1: precision and breadth along a training line.

    summary: comparison.summary. rows: (label, entry) from the base to the last checkpoint. pass_at: ks shown.
    samples: n per problem. notes: further sentences (sampling settings, what early and late are).
    """
    known = measures(pass_at, solution_set)
    names = [*(f"pass@{k}" for k in pass_at), *TABLE1_MEASURES]
    cells = summary[summary["measure"].isin(names) & summary["entry"].isin([entry for _, entry in rows])]
    columns = [Column(name, _heading(known[name].label, known[name].unit, samples)) for name in names]
    problems = int(cells["problems"].max())
    about = [
        f"Means over {problems} problems, n = {samples} samples each; in brackets the {100 * confidence:g} % interval "
        "of a bootstrap over problems, with the same resamples in every row.",
        f"pass@k: {known[f'pass@{pass_at[0]}'].how} (unbiased).",
        *(
            f"{_heading(known[name].label, '', samples)}: {known[name].how}{_in_unit(known[name].unit)}."
            for name in TABLE1_MEASURES
        ),
        _fewer(cells, known, problems, samples),
        peak_sentence(summary, rows, f"Cov@{samples}"),
        *notes,
    ]
    return Table(title, rows, columns, cells, tuple(note for note in about if note))


def _heading(label: str, unit: str, samples: int) -> str:
    return label.format(n=samples) + (", nats" if unit == "nats" else "")


def _in_unit(unit: str) -> str:
    return "" if unit == "share" else f" ({unit})"


def _fewer(cells: pd.DataFrame, known: Mapping[str, object], problems: int, samples: int) -> str:
    short = cells[cells["problems"] < problems].groupby("measure")["problems"].min()
    if short.empty:
        return ""
    named = ", ".join(f"{_heading(known[name].label, '', samples)} {count}" for name, count in short.items())
    return f"Problems without a value are left out; smallest number with one: {named}."


def peak_sentence(summary: pd.DataFrame, rows: Sequence[tuple[str, str]], name: str) -> str:
    """Where along the line coverage was highest, under both equivalences, over all `rows` and over the trained ones
    (all but the first); where it is 0 throughout, that."""
    parts, nowhere = [], []
    for measure, words in (("coverage_paper", "paper"), ("coverage_formula", "formula")):
        values = summary[summary["measure"] == measure].set_index("entry")["estimate"]
        peak = max(rows, key=lambda row: values[row[1]])
        if values[peak[1]] == 0:
            nowhere.append(words)
            continue
        text = f"at {peak[0]} under the {words} equivalence ({values[peak[1]]:.3f})"
        if peak == rows[0] and len(rows) > 1:
            trained = max(rows[1:], key=lambda row: values[row[1]])
            found = values[trained[1]]
            text += (
                f", among trained policies at {trained[0]} ({found:.3f})" if found else ", 0 for all trained policies"
            )
        parts.append(text)
    highest = [f"{name} is highest {'; '.join(parts)}."] if parts else []
    zero = [f"{name} is 0 in every row under the {' and the '.join(nowhere)} equivalence."] if nowhere else []
    return " ".join(highest + zero)
