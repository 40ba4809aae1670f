"""Choosing one setting of each intervention on calibration problems, and holding the held-out comparison to it.

The choice is a record: the rule, the rows, the problems that it saw and a digest of the table that it was made from. A
comparison on held-out problems takes settings from such a record only, and checks that none of its problems was used.
"""

import json
from collections.abc import Mapping, Sequence
from hashlib import sha256

import pandas as pd

from workflow_scripts.records.errors import UserError

CALIBRATION, HELD_OUT = "calibration", "held_out"


def digest(table: pd.DataFrame) -> str:
    """sha256 of a table of outcomes as csv, rows sorted: the same for the same numbers in any order."""
    rows = table[["policy", "problem_id", "measure", "value"]].sort_values(["policy", "problem_id", "measure"])
    # ten digits: what a csv of ours holds, so that a table and its file have one digest
    text = rows.to_csv(index=False, float_format="%.10g", lineterminator="\n")
    return sha256(text.encode()).hexdigest()


def choose(
    table: pd.DataFrame,
    problems: pd.DataFrame,
    candidates: Mapping[str, Sequence[str]],
    baseline: str,
    *,
    gain: str = "coverage_paper",
    precision: str = "pass@1",
    tolerance: float = 0.02,
) -> dict:
    """One setting of every intervention: the one with the largest mean gain among those that cost little precision.

    table: interventions.outcomes on calibration problems. problems: PROBLEMS, with their split. candidates:
    intervention to its settings; of equally good ones the earlier is taken. baseline: the policy that settings are
    compared with, problem by problem. tolerance: largest loss of `precision`, in its own unit, that is accepted. Where
    every setting loses more, the one that loses least is taken and `within_tolerance` is false.
    Returns a record that json can hold: rule, candidates, problems, sha256 (of the table), rows (intervention, setting,
    gain, loss, settings: how many were tried, within_tolerance).
    Raises UserError for a problem that is not of the calibration split, and for a setting without outcomes on all of
    them.
    """
    _refuse_other_split(table, problems, CALIBRATION, "the choice of settings")
    seen = sorted(table["problem_id"].unique())
    if not seen:
        raise UserError("no outcomes on calibration problems: there is nothing to choose by")
    values = table.pivot(index="problem_id", columns=["measure", "policy"], values="value")
    rows = []
    for intervention, settings in candidates.items():
        if not settings:
            raise UserError(f"intervention {intervention} has no settings to choose from")
        judged = []
        for setting in settings:
            gained, lost = (
                sign * _mean_difference(values, measure, setting, baseline)
                for measure, sign in ((gain, 1), (precision, -1))
            )
            judged.append({"setting": setting, "gain": gained, "loss": lost})
        cheap = [row for row in judged if row["loss"] <= tolerance]
        # max and min keep the first of equals
        best = max(cheap, key=lambda row: row["gain"]) if cheap else min(judged, key=lambda row: row["loss"])
        rows.append(
            {"intervention": intervention} | best | {"settings": len(settings), "within_tolerance": bool(cheap)}
        )
    rule = {"gain": gain, "precision": precision, "tolerance": tolerance, "baseline": baseline}
    tried = {intervention: list(settings) for intervention, settings in candidates.items()}
    return {"rule": rule, "candidates": tried, "problems": seen, "sha256": digest(table), "rows": rows}


def _mean_difference(values: pd.DataFrame, measure: str, setting: str, baseline: str) -> float:
    for policy in (setting, baseline):
        if (measure, policy) not in values:
            raise UserError(f"{policy!r} has no {measure} on the calibration problems")
    own, other = values[measure, setting], values[measure, baseline]
    gap = own.isna() != other.isna()
    if gap.any():
        raise UserError(f"{measure} of {setting!r} and {baseline!r} are not on the same problems: {gap.idxmax()}")
    # differences below rounding are none: a choice must not hang on the last bit of a mean
    return round(float((own - other).mean()), 9)


def choice_text(choice: Mapping) -> str:
    """The record as json, the same bytes for the same choice."""
    return json.dumps(choice, indent=1, sort_keys=True) + "\n"


def chosen_settings(
    choice: Mapping, calibration: pd.DataFrame, problems: pd.DataFrame, table: pd.DataFrame | None = None
) -> dict[str, str]:
    """Intervention to setting, of a record whose making is checked; this is the only way to a held-out comparison.

    choice: from `choose`, as read from its file. calibration: the table it says to come from. problems: PROBLEMS.
    table: outcomes that are to be compared (where they exist already), which must be of held-out problems only.
    Raises UserError where the calibration table is another or holds other problems than calibration ones, where the
    record was changed (its rows are chosen again and compared), and where `table` holds a problem that is not held out.
    """
    missing = [name for name in ("rule", "candidates", "problems", "sha256", "rows") if name not in choice]
    if missing:
        raise UserError(f"the record of the choice lacks {missing[0]!r}; make it again from the calibration table")
    _refuse_other_split(calibration, problems, CALIBRATION, "the choice of settings")
    strays = sorted(set(choice["problems"]) - set(problems.loc[problems["split"] == CALIBRATION, "problem_id"]))
    if strays:
        raise UserError(f"the settings were chosen on problem {strays[0]}, which is not a calibration problem")
    if digest(calibration) != choice["sha256"]:
        raise UserError("the settings were not chosen on this calibration table: its sha256 is another")
    chosen = {row["intervention"]: row["setting"] for row in choice["rows"]}
    again = choose(calibration, problems, choice["candidates"], **choice["rule"])
    for row in again["rows"]:
        if chosen.get(row["intervention"]) != row["setting"]:
            raise UserError(
                f"the record takes {chosen.get(row['intervention'])!r} for {row['intervention']}, its rule takes "
                f"{row['setting']!r}: a choice cannot be changed afterwards; make it again"
            )
    if table is not None:
        _refuse_other_split(table, problems, HELD_OUT, "the held-out comparison")
    return chosen


def _refuse_other_split(table: pd.DataFrame, problems: pd.DataFrame, split: str, what: str) -> None:
    of = problems.set_index("problem_id")["split"]
    for problem_id in sorted(table["problem_id"].unique()):
        if problem_id not in of.index:
            raise UserError(f"{what} holds problem {problem_id}, which is not among the study's problems")
        if of[problem_id] != split:
            raise UserError(f"{what} holds problem {problem_id} of the {of[problem_id]} problems; it may hold none")
