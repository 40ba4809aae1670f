"""The claims about what brings breadth back, and the rows that decide them.

`before` and `after` of a row are always early and late, for the scorecard; what they stand for is said in its words.
"""

from collections.abc import Mapping

import pandas as pd

from workflow_scripts.measures.claims import Claim, Part
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


def _gain(name: str, what: str, *, sign: int = 1, margin: float | None = None, of: str = "coverage") -> Part:
    words = f"{of} {what} − {of} without (held-out problems)"
    return Part(name, sign=sign, words=words) if margin is None else Part(name, "null", margin=margin, words=words)


RECOVERY = (
    Claim(
        "C18",
        "Layer interpolation recovers breadth at no cost in precision",
        "layers 20–28, late mixed with step 50: coverage .111 → .152 (+37 %), pass@1 .278 → .305",
        "ppo",
        "interventions",
        (
            _gain("interpolation_coverage", "with interpolated layers"),
            Part("interpolation_loss", "null", margin=0.03, words="the loss of pass@1 (a gain counts as none)"),
        ),
        ("interpolation_pass",),
        "blocks and share chosen on calibration problems",
    ),
    Claim(
        "C19",
        "Mixing logits over the reasoning helps a little, over the answer it does not",
        "+.013; −.006",
        "ppo",
        "interventions",
        (
            _gain("mixing_reasoning_coverage", "with the reasoning mixed"),
            _gain("mixing_answer_coverage", "with the answer mixed", margin=0.03),
        ),
    ),
    Claim(
        "C20",
        "Hotter decoding buys breadth with precision",
        "T = 1: coverage +.016, pass@1 −.014",
        "ppo",
        "interventions",
        (
            _gain("temperature_coverage", "with hotter decoding"),
            _gain("temperature_pass", "with hotter decoding", sign=-1, of="pass@1"),
        ),
    ),
    Claim(
        "C21",
        "Diverse prompts and forced operators do not help",
        "+.014 (n.s.); −.007",
        "ppo",
        "interventions",
        (
            _gain("reordered_coverage", "with reordered numbers", margin=0.03),
            _gain("forced_operator_coverage", "with a forced first operator", sign=-1),
        ),
        (),
        "the policy's prompt has no words to ask for another method: its numbers are given in other orders",
    ),
    Claim(
        "C22",
        "Sampling from two checkpoints buys much breadth at a high price",
        "32 + 32 samples from 50 and 275: coverage +.100, pass@1 −.117",
        "ppo",
        "interventions",
        (
            _gain("checkpoints_coverage", "with half the samples from early"),
            _gain("checkpoints_pass", "with half the samples from early", sign=-1, of="pass@1"),
        ),
    ),
    Claim(
        "C23",
        "Spreading the budget over solver-feasible entrances helps only after collapse",
        "late: coverage +.077, families +.430; at step 50: null",
        "ppo",
        "interventions",
        (
            _gain("allocation_late_coverage", "with late's budget spread"),
            _gain("allocation_late_families", "with late's budget spread", of="families"),
            _gain("allocation_early_coverage", "with early's budget spread", margin=0.05),
        ),
        ("allocation_early_families",),
        "equal tokens a problem",
    ),
    Claim(
        "C30",
        "SFT on several solutions is broad at equal precision",
        "k = 4: coverage .709 at pass@1 .333 (GRPO .268 at .429)",
        "grpo",
        "roads",
        (Part("sft4_broader", words="coverage after SFT on 4 solutions − coverage of the line at equal pass@1"),),
    ),
    Claim(
        "C31",
        "Breadth grows with the number of demonstrated solutions",
        "k = 1, 2, 4, 8: coverage .471 → .766, monotone",
        "grpo",
        "roads",
        (
            Part("dose_slope", words="the change of coverage per doubling of k"),
            Part("dose_steps", words="the smallest upper end of the successive differences' intervals"),
        ),
        (),
        "dose_steps is one number: a monotone rise has no step whose interval lies wholly below 0",
    ),
    Claim(
        "C32",
        "On-policy RL collapses even a broad start",
        "500 GRPO steps from the k = 4 SFT policy: rollout entropy .085 nats",
        "grpo",
        "roads",
        (
            Part("continuation_entropy", sign=-1, words="entrance entropy after GRPO − at its start, the SFT policy"),
            Part("continuation_coverage", sign=-1, words="coverage after GRPO − at its start, the SFT policy"),
        ),
        ("continuation_pass",),
    ),
)
"""C18–C23 and C30–C32."""
