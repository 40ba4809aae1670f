"""The rows that decide the claims about what brings breadth back (measures/recovery_claims.py).

`before` and `after` of a row are always early and late, for the scorecard; what they stand for is said in its words.
"""

from collections.abc import Mapping

import pandas as pd

from workflow_scripts.records.errors import UserError

INTERVENTION_ROWS = {
    "interpolation": {"interpolation_coverage": "coverage_paper", "interpolation_pass": "pass@1"},
    "mixing_reasoning": {"mixing_reasoning_coverage": "coverage_paper"},
    "mixing_answer": {"mixing_answer_coverage": "coverage_paper"},
    "temperature": {"temperature_coverage": "coverage_paper", "temperature_pass": "pass@1"},
    "reordered": {"reordered_coverage": "coverage_paper"},
    "forced_operator": {"forced_operator_coverage": "coverage_paper"},
    "checkpoints": {"checkpoints_coverage": "coverage_paper", "checkpoints_pass": "pass@1"},
    "allocation": {"allocation_{end}_coverage": "coverage_paper", "allocation_{end}_families": "families"},
}
"""Intervention, and the rows it gives: name to measure of interventions.OUTCOMES."""

_COLUMNS = ["line", "before", "after", "measure", "start", "end", "estimate", "low", "high", "problems"]


def _rows(line: str, rows: list[dict]) -> pd.DataFrame:
    numbers = {"start": float("nan"), "end": float("nan")}
    labelled = [numbers | row | {"line": line, "before": "early", "after": "late"} for row in rows]
    return pd.DataFrame(labelled, columns=_COLUMNS)


def _only(frame: pd.DataFrame, what: str) -> dict:
    if len(frame) != 1:
        raise UserError(f"one row of {what} is needed, there are {len(frame)}")
    return frame.iloc[0][["start", "end", "estimate", "low", "high", "problems"]].to_dict()


def intervention_rows(
    differences: pd.DataFrame, settings: Mapping[str, str], *, line: str, end: str = "late"
) -> pd.DataFrame:
    """Rows of C18–C23: each intervention less the plain policy at `end` (start: plain, end: with the intervention).

    differences: interventions.paired on held-out problems. settings: intervention (keys of INTERVENTION_ROWS; others
    are no claim's) to the chosen setting. end: the policy that was intervened on, late or early; at early the
    allocation alone is claimed about. interpolation_loss is the loss of pass@1, 0 or below: a gain counts as no loss.
    """
    rows = []
    for intervention, names in INTERVENTION_ROWS.items():
        if intervention not in settings or (end != "late" and intervention != "allocation"):
            continue
        for name, measure in names.items():
            setting = settings[intervention]
            found = differences[(differences["after"] == setting) & (differences["measure"] == measure)]
            row = _only(found, f"{measure} of {setting!r}")
            rows.append(row | {"measure": name.format(end=end)})
            if name == "interpolation_pass":
                loss = {number: min(row[number], 0.0) for number in ("estimate", "low", "high")}
                unknown = {"start": float("nan"), "end": float("nan")}
                rows.append(row | loss | unknown | {"measure": "interpolation_loss"})
    return _rows(line, rows)


def road_rows(
    *,
    line: str,
    broader: pd.DataFrame,
    trend: pd.DataFrame,
    continuation: pd.DataFrame,
    broad: str,
    start: str,
    end: str,
) -> pd.DataFrame:
    """Rows of C30–C32.

    broader: roads.broader_at_equal_precision, where `broad` is the road from four solutions a problem. trend: of
    roads.dose_response. continuation: comparison.contrasts of roads, from `start` (before RL) to `end` (after it).
    dose_steps: the smallest upper end of the intervals of successive differences; below 0 where a step is a fall.
    """
    doses = trend[trend["measure"] == "coverage_paper"]
    steps = doses[doses["quantity"] != "slope"]
    # It has no interval of its own: it stands for the rule that no step's interval lies wholly below 0
    worst = {"estimate": steps["high"].min(), "low": steps["high"].min(), "high": steps["high"].min()}
    went = continuation[(continuation["before"] == start) & (continuation["after"] == end)]
    level = broader[(broader["after"] == broad) & (broader["measure"] == "coverage_paper")]
    return _rows(
        line,
        [
            _only(level, f"coverage_paper of {broad!r}") | {"measure": "sft4_broader"},
            _only(doses[doses["quantity"] == "slope"], "the slope of coverage_paper") | {"measure": "dose_slope"},
            worst | {"problems": steps["problems"].min(), "measure": "dose_steps"},
            *(
                _only(went[went["measure"] == measure], f"{measure} from {start!r} to {end!r}") | {"measure": name}
                for name, measure in (
                    ("continuation_entropy", "entropy_think"),
                    ("continuation_coverage", "coverage_paper"),
                    ("continuation_pass", "pass@1"),
                )
            ),
        ],
    )
