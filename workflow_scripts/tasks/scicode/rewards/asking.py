"""A judge's word on completions, asked for until it can be used."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from workflow_scripts.records.errors import UserError
from workflow_scripts.tasks.scicode.rewards.compositions import Composition
from workflow_scripts.tasks.scicode.rewards.evidence import Evidence
from workflow_scripts.tasks.scicode.rewards.judges import judgements_of, requests_of

ASKED_AGAIN = 2
"""How often a judge is asked anew where its answer cannot be used; after that the run stops."""

Ask = Callable[[Sequence[Mapping[str, Any]], int], Sequence[Any]]
"""(requests of messages and schema, number of the repeat) -> replies, which have a `value`."""


def judged_for(reward: Composition, evidences: Sequence[Evidence], ask: Ask) -> list[Evidence]:
    """The evidences, in order, each with what the judge says of it that the reward does not reject unseen.

    Raises UserError where a judge gives no answer that can be used: that is no score of 0.
    """
    found = list(evidences)
    waiting = [place for place, evidence in enumerate(found) if reward.rejected(evidence) is None]
    for repeat in range(1 + ASKED_AGAIN):
        if not waiting:
            return found
        requests = requests_of([found[place] for place in waiting], reward.judge)
        said = judgements_of(ask(requests, repeat), reward.judge)
        for place, judgement in zip(waiting, said, strict=True):
            found[place] = replace(found[place], judgement=judgement)
        waiting = [place for place in waiting if found[place].judgement is None]
    if waiting:
        raise UserError(
            f"the judge gave no answer that can be used to {len(waiting)} sample(s) in {1 + ASKED_AGAIN} attempts "
            f"(first: problem {found[waiting[0]].problem.problem_id}); nothing is scored, since an outage is no reward "
            "of 0. What was answered is in its cache: run again"
        )
    return found
