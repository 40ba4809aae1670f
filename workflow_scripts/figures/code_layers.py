"""The table of layers: how many programs are extracted, parse, define `answer`, run, have the right type, are right."""

from collections.abc import Sequence

import pandas as pd

from workflow_scripts.figures.tables import Column, Table
from workflow_scripts.measures.code_layers import ALL, MEASURES

COLUMNS = (
    Column("extracted", "extracted"),
    Column("parses", "parses"),
    Column("defines", "defines answer"),
    Column("runs", "runs"),
    Column("typed", "right type"),
    Column("correct", "right value"),
    Column("passed_share", "checks passed"),
    Column("format_ok", "format"),
)
"""One for each of measures.code_layers.MEASURES."""


def layer_table(
    rates: pd.DataFrame,
    rows: Sequence[tuple[str, str]],
    *,
    samples: int,
    families: bool = False,
    confidence: float = 0.95,
    notes: Sequence[str] = (),
) -> Table:
    """The table, for figures.tables.write: a row per set and policy, with `families` one per set, family and policy.

    rates: measures.code_layers.layer_rates. rows: (label, entry). samples: of a problem. Raises UserError where a rate
    is missing, when it is written.
    """
    shown = rates if families else rates[rates["family"] == ALL]
    parts = list(dict.fromkeys(zip(shown["set"], shown["family"], strict=True)))
    place = shown["set"] + " " + shown["family"] + " "
    cells = shown.assign(entry=place + shown["entry"])
    placed = [
        (f"{name}{'' if family == ALL else f', {family}'}: {label}", f"{name} {family} {entry}")
        for name, family in parts
        for label, entry in rows
    ]
    about = [
        f"Means over the problems of a set, {samples} samples each; in brackets the {100 * confidence:g} % interval of "
        "a bootstrap over problems. The first six are layers: shares of all samples that pass those before it, too.",
        *(f"{column.heading}: {MEASURES[column.name]}." for column in COLUMNS),
        *notes,
    ]
    return Table("Layers. How far programs come", placed, COLUMNS, cells, tuple(about))
