"""Table 6: how each policy begins one problem."""

from collections.abc import Mapping, Sequence

import numpy as np
import pandas as pd

from workflow_scripts.figures.tables import Column, Table
from workflow_scripts.records.errors import UserError

NONE, OTHER, CORRECT, ENTROPY = "no calculation", "others", "correct", "entropy, nats"
"""Rows that are no first calculation."""


def table6(
    example: pd.DataFrame,
    columns: Sequence[tuple[str, str]],
    entries: Mapping[str, Sequence[str]],
    *,
    question: str,
    gold: str,
    most: int = 12,
    notes: Sequence[str] = (),
) -> Table:
    """Table 6, for figures.tables.write: a row per first calculation, a column per policy, cells shares of its samples.

    example: first_calculations.worked_example of one problem. columns: (label, entry). entries: name to policies, one
    per training seed; the cells are means over the seeds, the entropy too. most: first calculations that are named,
    those with the largest share in any policy first; the rest is one row. Raises UserError for a policy that the
    example lacks.
    """
    shares, correct, entropy = {}, {}, {}
    for _, entry in columns:
        rows = example[example["policy"].isin(entries[entry])]
        if rows["policy"].nunique() < len(entries[entry]):
            raise UserError(f"the worked example has no samples of {entry}; remake measures/maths/example.csv")
        seeds = rows.assign(first_calculation=rows["first_calculation"].fillna(""))
        seeds = seeds.pivot(index="first_calculation", columns="policy", values=["samples", "correct"]).fillna(0.0)
        each = seeds["samples"] / seeds["samples"].sum()
        shares[entry] = each.mean(axis=1)
        correct[entry] = (seeds["correct"].sum() / seeds["samples"].sum()).mean()
        entropy[entry] = each.drop(index="", errors="ignore").apply(_entropy).mean()
    table = pd.DataFrame(shares).fillna(0.0)
    none = table.loc[""] if "" in table.index else pd.Series(0.0, table.columns)
    named = table.drop(index="", errors="ignore")
    order = sorted(named.index, key=lambda label: (-named.loc[label].max(), label))
    parts = {label: named.loc[label] for label in order[:most]}
    if order[most:]:
        parts[OTHER] = named.loc[order[most:]].sum()
    parts |= {NONE: none, CORRECT: pd.Series(correct), ENTROPY: pd.Series(entropy)}
    cells = [
        {"entry": row, "measure": entry, "estimate": float(values[entry]), "low": np.nan, "high": np.nan}
        for row, values in parts.items()
        for _, entry in columns
    ]
    problem = example["problem_id"].iloc[0]
    kinds = ", ".join(f"{label} {int((named[entry] > 0).sum())}" for label, entry in columns)
    shown = example[example["policy"].isin({policy for _, entry in columns for policy in entries[entry]})]
    sizes = sorted(set(shown.groupby("policy")["samples"].sum().astype(int)))
    several = max(len(entries[entry]) for _, entry in columns)
    about = [
        f"{problem}: {question} (answer: {gold})",
        f"Shares of a policy's {' or '.join(map(str, sizes))} samples that begin with a calculation, as written; its "
        "entropy is the plug-in one, over the samples that have one. One problem says nothing of others.",
        *(
            [f"Trained with up to {several} seeds: the mean of the seeds' shares, and of their entropies."]
            if several > 1
            else []
        ),
        f"Different first calculations{', of all seeds together' if several > 1 else ''}: {kinds}.",
        *notes,
    ]
    return Table(
        "Table 6. Worked example: first calculations of one problem",
        [(row, row) for row in parts],
        [Column(entry, label) for label, entry in columns],
        pd.DataFrame(cells),
        tuple(about),
        corner="first calculation",
    )


def _entropy(shares: pd.Series) -> float:
    """Plug-in entropy, nats, of shares that need not sum to 1; NaN where all are 0."""
    found = shares[shares > 0] / shares.sum()
    return float(-(found * np.log(found)).sum()) + 0.0 if len(found) else np.nan
