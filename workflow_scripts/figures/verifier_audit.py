"""The verifier audit as a table: every pair of verifiers on the same answers, and examples where they differ."""

import math
from collections.abc import Sequence
from typing import NamedTuple

import pandas as pd

from workflow_scripts.figures.tables import Column, Table
from workflow_scripts.measures.agreement import FEASIBLE, excerpt

_COUNTS = ("samples", "both", "neither", "only_first", "only_second", "undecided")
_HEADINGS = {
    "samples": "samples",
    "both": "both accept",
    "neither": "both reject",
    "only_first": "only the first",
    "only_second": "only the second",
    "undecided": "undecided",
    "agreement": "agreement",
    "kappa": "kappa",
}
_NAMES = {
    "ours": "this verifier",
    "math_verify": "math-verify",
    "lab_rules": "lab's rules",
    "paper_extractor": "paper's grader",
}
_TASKS = {"maths": "Maths", "countdown": "Countdown"}


class Examples(NamedTuple):
    """pattern: who accepts | who rejects.  total: samples of that pattern.  rows: (gold, end of completion) shown."""

    pattern: str
    total: int
    rows: Sequence[tuple[str, str]]


def audit_table(pairs: pd.DataFrame, *, notes: Sequence[str] = ()) -> Table:
    """pairs: `measures.agreement.agreement`.  One row per pair of verifiers, counts in samples."""
    labels = [
        f"{_TASKS.get(row.task, row.task)}: {_named(row.first)} / {_named(row.second)}" for row in pairs.itertuples()
    ]
    measures = [*_COUNTS, "agreement", "kappa"]
    cells = pairs.assign(entry=labels).melt("entry", measures, "measure", "estimate")
    cells["estimate"] = cells["estimate"].astype(float)
    columns = [Column(name, _HEADINGS[name], 0 if name in _COUNTS else 4) for name in measures]
    about = [
        "Counts are samples; a completion is judged once, however often it was sampled. Undecided: one of the two "
        "could not tell (time, memory, or a writing that it does not read); such samples are in no other column.",
        "Agreement: share of the decided samples; kappa: agreement beyond chance (Cohen).",
    ]
    if (pairs["task"] == "maths").any():
        about.append("The lab's rules and the paper's grader are written anew here, their faults kept.")
    if (pairs["task"] == "countdown").any():
        about.append(f"Contract paper_ppo: `{FEASIBLE}` stands before completions that hold no such label.")
    title = "Verifier audit: the same answers under every checker"
    return Table(
        title,
        [(label, label) for label in labels],
        columns,
        cells.assign(low=math.nan, high=math.nan),
        (*about, *notes),
        "pair",
    )


def examples(listed: pd.DataFrame, *, shown: int = 3) -> list[Examples]:
    """The first `shown` completions of each pattern of `measures.agreement.disagreements`."""
    found = []
    for (_, pattern), rows in listed.groupby(["task", "pattern"], sort=False):
        pairs = [(row.gold, excerpt(row.completion)) for row in rows.head(shown).itertuples()]
        found.append(Examples(pattern, int(rows["total"].iloc[0]), pairs))
    return found


def examples_markdown(listed: pd.DataFrame, *, shown: int = 3) -> str:
    """The examples as Markdown, to stand below the table; empty where all agree."""
    lines: list[str] = []
    for example in examples(listed, shown=shown):
        accept, _, reject = example.pattern.partition(" | ")
        lines += ["", f"**{_list(accept)}** accept, **{_list(reject)}** reject ({example.total} samples):", ""]
        lines += [f"* gold {_code(gold)}: {_code(text)}" for gold, text in example.rows]
    return "\n".join(["", "Where they differ (end of the completion):", *lines]) + "\n" if lines else ""


def _named(name: str) -> str:
    return _NAMES.get(name, name)


def _list(names: str) -> str:
    told, _, unsure = names.partition(" ?")
    text = ", ".join(_named(name) for name in told.split(", "))
    return f"{text} (undecided: {', '.join(_named(name) for name in unsure.split(' ?'))})" if unsure else text


def _code(text: str) -> str:
    """Inline code that may hold backticks."""
    fence = "``" if "`" in text else "`"
    inner = f" {text} " if "`" in text or not text else text
    return f"{fence}{inner}{fence}"
