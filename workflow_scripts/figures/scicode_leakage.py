"""The table of leakage and shortcuts: one row a set of problems, all of its families together."""

import math

import pandas as pd

from workflow_scripts.figures.tables import Column, Table
from workflow_scripts.tasks.scicode.leakage import ALL, POLICIES

_COLUMNS = (
    Column("problems", "problems", 0),
    Column("distinct", "distinct"),
    Column("content_in_training", "content in training"),
    Column("parameters_in_training", "parameters in training"),
    Column("prompt_overlap", "8-word overlap"),
    Column("commonest", "commonest answer"),
    Column("empty", "empty answer"),
    *(Column(policy, policy) for policy in POLICIES),
)
_NOTES = (
    "Shares of a set's problems; a problem is told by its task without wrappers and its checks, or by its family and "
    "parameters. 8-word overlap: mean share of a prompt's runs of eight words that some training prompt holds, which "
    "wordings of one family share by design.",
    "Commonest answer: share of problems with the commonest answer of their family in the set; where a family has few "
    "problems it cannot be small. Right of it: shares that are answered rightly without reading the question; "
    "`commonest value` is that of the family in training.",
)


def leakage_table(found: pd.DataFrame) -> Table:
    """The rows of all families. found: columns of tasks.scicode.leakage.COLUMNS."""
    sets = found[found["family"] == ALL]
    cells = [
        {"entry": row["set"], "measure": column.name, "estimate": row[column.name], "low": math.nan, "high": math.nan}
        for _, row in sets.iterrows()
        for column in _COLUMNS
    ]
    rows = [(name, name) for name in sets["set"]]
    return Table("Leakage and shortcuts", rows, _COLUMNS, pd.DataFrame(cells), _NOTES, corner="set")
