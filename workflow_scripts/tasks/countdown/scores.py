"""The verdict on every sample of one or many policies. Equal answers to one problem are judged once."""

from collections.abc import Callable, Iterable

import pandas as pd

from workflow_scripts.records.errors import UserError
from workflow_scripts.records.schemas import SCORES
from workflow_scripts.tasks.countdown.judging import judge_completion

_VERDICT = [
    "status", "accept", "format_ok", "extracted", "paper_form", "formula_form", "paper_family", "answer_opening",
    "think_opening",
]  # fmt: skip


def scores_of(
    rollouts: pd.DataFrame,
    problems: pd.DataFrame,
    *,
    contract: str = "strict",
    gap: str = " ",
    watched: Callable[[Iterable], Iterable] = iter,
) -> pd.DataFrame:
    """SCORES of rollouts, one row each and in their order.

    rollouts: ROLLOUTS. problems: PROBLEMS, theirs among them. contract: see judging. watched: wraps the distinct
    completions as they are judged (a progress bar). Prefix and continuation are judged as one completion,
    gap between them (Wording.gap).
    Raises UserError for a problem that is not among `problems`.
    """
    asked = {
        row.problem_id: (list(map(int, row.numbers)), int(row.target))
        for row in problems[["problem_id", "numbers", "target"]].itertuples()
    }
    strangers = sorted(set(rollouts["problem_id"]) - set(asked))
    if strangers:
        raise UserError(f"the rollouts hold problem {strangers[0]}, which is not among the problems")
    written = (rollouts["prefix"] + gap + rollouts["completion"]).str.strip()
    codes, distinct = pd.MultiIndex.from_arrays([rollouts["problem_id"], written]).factorize()
    verdicts = []
    for problem_id, text in watched(distinct):
        verdict = judge_completion(text, *asked[problem_id], contract=contract)
        verdicts.append([getattr(verdict, name) for name in _VERDICT])
    judged = pd.DataFrame(verdicts, columns=_VERDICT).rename(columns={"accept": "correct"}).iloc[codes]
    judged["status"] = judged["status"].astype(str)
    rest = rollouts[["policy", "problem_id", "prefix", "sample", "tokens", "finish_reason"]].reset_index(drop=True)
    return pd.concat([rest, judged.reset_index(drop=True)], axis=1)[SCORES.names]
