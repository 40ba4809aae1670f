"""The verdict on every sample of one or many policies. Equal completions of one problem are judged once."""

from collections.abc import Callable
from typing import NamedTuple

import pandas as pd

from workflow_scripts.records.errors import UserError
from workflow_scripts.records.scicode_schemas import SCICODE_SCORES
from workflow_scripts.tasks.scicode.extraction import Form
from workflow_scripts.tasks.scicode.judging import judge
from workflow_scripts.tasks.scicode.problems import Problem, problems_of
from workflow_scripts.tasks.scicode.sandbox import Sandbox
from workflow_scripts.tasks.scicode.verdicts import LAYERS, Verdict

VALUE = 200
"""Characters of a returned value that a table keeps."""

_JUDGED = ["status", *LAYERS, "passed", "checks", "format_ok", "characters", "value"]


class Judged(NamedTuple):
    """Rollouts with their verdicts. keys: policy, set, problem_id, family, sample, tokens and finish_reason of every
    rollout. texts, asked, verdicts: of each distinct completion of a problem. place: of every rollout among those."""

    keys: pd.DataFrame
    texts: list[str]
    asked: list[Problem]
    verdicts: list[Verdict]
    place: list[int]


def judged(
    rollouts: pd.DataFrame,
    problems: pd.DataFrame,
    sandbox: Sandbox,
    *,
    form: Form = "any",
    rendered: Callable[[str], str] = str,
) -> Judged:
    """Every rollout judged, in their order; what `scores_of` and `paid.paid` make tables of.

    rollouts: ROLLOUTS without prefixes. problems: SCICODE_PROBLEMS, theirs among them, of one or several sets. form: of
    completions, see `extraction`. rendered: from what a policy wrote to the text that is judged, where they differ.
    Raises UserError for a problem that is not among `problems` or is there twice, for one without checks, and for a
    clamped sample.
    """
    if (rollouts["prefix"] != "").any():
        raise UserError("these rollouts hold clamped samples; programs are judged from free ones")
    if (twice := problems["problem_id"].duplicated()).any():
        raise UserError(f"problem {problems['problem_id'][twice].iloc[0]} is given twice; ids are unique over all sets")
    known = problems.set_index("problem_id", drop=False)
    strangers = sorted(set(rollouts["problem_id"]) - set(known.index))
    if strangers:
        raise UserError(f"the rollouts hold problem {strangers[0]}, which is not among the problems")
    by_id = {problem.problem_id: problem for problem in problems_of(problems)}
    said = list(zip(rollouts["problem_id"], rollouts["completion"], strict=True))
    distinct = list(dict.fromkeys(said))
    texts = [rendered(completion) for _, completion in distinct]
    asked = [by_id[problem_id] for problem_id, _ in distinct]
    verdicts = judge(list(zip(texts, asked, strict=True)), sandbox, form=form)
    place = {key: index for index, key in enumerate(distinct)}
    rest = rollouts[["policy", "problem_id", "sample", "tokens", "finish_reason"]].reset_index(drop=True)
    of_problem = known.loc[rest["problem_id"], ["set", "family"]].reset_index(drop=True)
    return Judged(pd.concat([rest, of_problem], axis=1), texts, asked, verdicts, [place[key] for key in said])


def scores_of(found: Judged) -> pd.DataFrame:
    """SCICODE_SCORES of judged rollouts, one row each and in their order. `characters` are those of the judged text."""
    rows = [
        [
            verdict.status.value,
            *(getattr(verdict, layer) for layer in LAYERS),
            verdict.passed,
            verdict.total,
            verdict.format_ok,
            len(text),
            None if verdict.value is None else verdict.value[:VALUE],
        ]
        for text, verdict in zip(found.texts, found.verdicts, strict=True)
    ]
    told = pd.DataFrame(rows, columns=_JUDGED).iloc[found.place].reset_index(drop=True)
    return pd.concat([found.keys, told], axis=1)[SCICODE_SCORES.names]
