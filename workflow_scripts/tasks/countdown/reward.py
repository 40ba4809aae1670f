"""The Countdown reward, with verl's signature: the judge's verdict as a number, nothing added."""

import json
from collections.abc import Mapping

from workflow_scripts.records.errors import UserError
from workflow_scripts.tasks.countdown.judging import judge_completion


def compute_score(
    data_source: str,
    solution_str: str,
    ground_truth: Mapping | str,
    extra_info: Mapping | None = None,
    *,
    contract: str = "strict",
    **_: object,
) -> dict:
    """Score one completion: 1.0 where the judge accepts it, else 0.0; no credit for format.

    solution_str: what the policy wrote after its prompt.  ground_truth: {numbers (or nums), target} as a mapping or
    JSON, lists or arrays; `feasible_label` ("yes" by default) matters to `paper_ppo` alone.  data_source, extra_info
    and what else verl passes are not looked at.
    Gives score, status, formula_form, paper_form, answer_opening, think_opening, format_ok: the same keys each time,
    and "" where there is no text, because verl averages what is no string.  Raises `UserError` for a bad ground truth.
    """
    truth = _ground_truth(ground_truth)
    numbers = truth["numbers"] if truth.get("numbers") is not None else truth.get("nums")
    target = truth.get("target")
    if numbers is None or target is None:
        raise UserError(f"ground truth needs numbers (or nums) and target, not {ground_truth!r:.80}")
    feasible = str(truth.get("feasible_label", "yes")).lower() != "no"
    verdict = judge_completion(solution_str, numbers, target, contract, feasible=feasible)
    return {
        "score": float(verdict.accept),
        "status": verdict.status.value,
        "formula_form": verdict.formula_form or "",
        "paper_form": verdict.paper_form or "",
        "answer_opening": verdict.answer_opening or "",
        "think_opening": verdict.think_opening or "",
        "format_ok": verdict.format_ok,
    }


def _ground_truth(ground_truth: Mapping | str) -> Mapping:
    if isinstance(ground_truth, str):
        try:
            ground_truth = json.loads(ground_truth)
        except json.JSONDecodeError as error:
            raise UserError(f"ground truth is not JSON: {error}") from None
    if not isinstance(ground_truth, Mapping):
        raise UserError(f"ground truth must hold numbers and target, not {ground_truth!r:.80}")
    return ground_truth
