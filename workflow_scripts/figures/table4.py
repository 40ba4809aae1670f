"""Table 4: what each intervention does to breadth and precision on held-out problems, paired with the plain policy."""

from collections.abc import Mapping, Sequence
from typing import NamedTuple

import numpy as np
import pandas as pd

from workflow_scripts.figures.tables import Column, Table
from workflow_scripts.records.errors import UserError

COLUMNS = (
    Column("coverage_paper", "coverage (paper)"),
    Column("coverage_formula", "coverage (formula)"),
    Column("families", "openings"),
    Column("pass@1", "pass@1"),
    Column("tokens_ratio", "tokens, ratio", 2),
)
"""Measures of interventions.OUTCOMES, as differences, and the tokens as a ratio to the baseline's."""

OUT_OF_TOLERANCE = "†"


class Block(NamedTuple):
    """Rows of one baseline.

    name: before the rows, such as `ppo late`. differences: interventions.paired on held-out problems. settings:
    intervention to the setting that calibration chose. words: setting to what is printed of it. costly: interventions
    none of whose settings was within the tolerance on calibration problems.
    """

    name: str
    differences: pd.DataFrame
    settings: Mapping[str, str]
    words: Mapping[str, str]
    costly: Sequence[str] = ()


def _cells(block: Block, intervention: str) -> list[dict]:
    setting = block.settings[intervention]
    rows = block.differences[block.differences["after"] == setting].set_index("measure")
    entry, cells = f"{block.name} {intervention}", []
    for name, *_ in COLUMNS:
        measure = "tokens" if name == "tokens_ratio" else name
        if list(rows.index).count(measure) != 1:
            raise UserError(f"table 4 needs one difference in {measure} of {setting!r} ({block.name})")
        row = rows.loc[measure]
        if measure == "tokens":
            # A ratio of means over problems; what is compared is said, not tested
            ratio = row["end"] / row["start"] if row["start"] > 0 else np.nan
            numbers = {"estimate": ratio, "low": np.nan, "high": np.nan}
        else:
            numbers = {number: row[number] for number in ("estimate", "low", "high")}
        cells.append({"entry": entry, "measure": name, **numbers, "problems": row["problems"]})
    return cells


def table4(
    blocks: Sequence[Block],
    *,
    labels: Mapping[str, str],
    samples: int,
    calibration: int,
    tolerance: float,
    confidence: float = 0.95,
    notes: Sequence[str] = (),
) -> Table:
    """Table 4, for figures.tables.write: a row per block and intervention, with the setting in the row's name.

    labels: intervention to its words, in the order of rows; interventions that a block lacks have no row there.
    samples: per problem on each side. calibration: problems that settings were chosen on. tolerance: the loss of pass@1
    that the choice accepted.
    """
    rows, cells, marked = [], [], False
    for block in blocks:
        unknown = sorted(set(block.settings) - set(labels))
        if unknown:
            raise UserError(f"table 4 has no words for the intervention {unknown[0]!r}")
        for intervention, label in labels.items():
            if intervention not in block.settings:
                continue
            setting = block.settings[intervention]
            words = block.words.get(setting, setting)
            mark = f" {OUT_OF_TOLERANCE}" if intervention in block.costly else ""
            marked |= bool(mark)
            rows.append(
                (f"{block.name}: {label}{f' ({words})' if words else ''}{mark}", f"{block.name} {intervention}")
            )
            cells += _cells(block, intervention)
    if not rows:
        raise UserError("table 4 has no interventions to show")
    frame = pd.DataFrame(cells)
    bases = [_base(block) for block in blocks]
    about = [
        f"Differences from the plain policy over {int(frame['problems'].max())} held-out problems, paired by problem, "
        f"{samples} samples a problem on each side; in brackets the {100 * confidence:g} % interval of a bootstrap "
        "over problems.",
        f"In round brackets the setting, chosen on {calibration} other problems: the largest gain in coverage (paper) "
        f"among settings that lost at most {tolerance:g} of pass@1 there.",
        f"{OUT_OF_TOLERANCE}: its settings all lost more than that on the calibration problems; the one that lost "
        "least is shown, the only one where there is one."
        if marked
        else "",
        "Openings: share of the openings of a problem's menu that a correct answer starts with. Tokens: all that were "
        "generated, as a ratio to the plain policy's.",
        *bases,
        *notes,
    ]
    title = "Table 4. What brings breadth back"
    return Table(title, rows, list(COLUMNS), frame, tuple(note for note in about if note), corner="intervention")


def _base(block: Block) -> str:
    rows = block.differences[block.differences["after"].isin(block.settings.values())]
    start = rows.groupby("measure")["start"].first()
    return (
        f"{block.name}, plain: coverage {start['coverage_paper']:.3f} (paper), {start['coverage_formula']:.3f} "
        f"(formula), openings {start['families']:.3f}, pass@1 {start['pass@1']:.3f}."
    )
