"""Every sample of maths policies with its verdict and trace. Equal completions of one problem are looked at once."""

from collections.abc import Callable, Iterable, Mapping

import pandas as pd

from workflow_scripts.records.errors import UserError
from workflow_scripts.records.maths_schemas import MATHS_SCORES
from workflow_scripts.tasks.maths.first_calculation import first_calculation
from workflow_scripts.tasks.maths.judging import judge_rows
from workflow_scripts.tasks.maths.milestones import first_boundary
from workflow_scripts.tasks.maths.numeric_traces import trace_key

_JUDGED = ["status", "correct", "format_ok", "extracted", "first_calculation", "numeric_trace", "p1"]


def scores_of(
    rollouts: pd.DataFrame,
    problems: pd.DataFrame,
    judge: Callable[[Iterable[Mapping]], Iterable[Mapping]] = judge_rows,
) -> pd.DataFrame:
    """MATHS_SCORES of rollouts, one row each and in their order.

    rollouts: ROLLOUTS without prefixes. problems: MATHS_PROBLEMS, theirs among them. judge: as judging.judge_rows; it
    is asked about each distinct completion of a problem. Raises UserError for a problem that is not among `problems`,
    and for a clamped sample.
    """
    if (rollouts["prefix"] != "").any():
        raise UserError("these rollouts hold clamped samples; traces are read from free ones")
    known = problems.set_index("problem_id")
    strangers = sorted(set(rollouts["problem_id"]) - set(known.index))
    if strangers:
        raise UserError(f"the rollouts hold problem {strangers[0]}, which is not among the problems")
    said = list(zip(rollouts["problem_id"], rollouts["completion"]))
    distinct = list(dict.fromkeys(said))
    asked = known[["question", "gold"]].to_dict("index")
    verdicts = judge([asked[problem] | {"completion": completion} for problem, completion in distinct])
    looked = []
    for (_, completion), verdict in zip(distinct, verdicts, strict=True):
        calculation = first_calculation(completion)
        looked.append(
            {
                "status": str(verdict["status"]),
                "correct": bool(verdict["accept"]),
                "format_ok": bool(verdict["format_ok"]),
                "extracted": verdict["extracted"],
                "first_calculation": None if calculation is None else calculation.label,
                "numeric_trace": trace_key(completion),
                "p1": first_boundary(completion),
            }
        )
    place = {key: index for index, key in enumerate(distinct)}
    judged = pd.DataFrame(looked, columns=_JUDGED).iloc[[place[key] for key in said]].reset_index(drop=True)
    judged["p1"] = judged["p1"].astype("Int32")
    rest = rollouts[["policy", "problem_id", "sample", "tokens", "finish_reason"]].reset_index(drop=True)
    benchmark = rest["problem_id"].map(known["benchmark"].to_dict())
    return pd.concat([rest.assign(benchmark=benchmark), judged], axis=1)[MATHS_SCORES.names]
