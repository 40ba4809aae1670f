"""What rewards would have paid for samples, whichever of them trained the policy; and the sandbox of a config."""

from collections.abc import Mapping
from typing import Any

import pandas as pd

from workflow_scripts.records.scicode_schemas import SCICODE_REWARDS
from workflow_scripts.tasks.scicode.judging import judge
from workflow_scripts.tasks.scicode.problems import problems_of
from workflow_scripts.tasks.scicode.rewards import Composition, Evidence
from workflow_scripts.tasks.scicode.sandbox import Limits, Sandbox


def limited(limits: Mapping[str, Any], workers: int = 2) -> Sandbox:
    """The sandbox that a config's `scicode.limits` describes: seconds, memory_mb, isolation."""
    given = Limits(cpu_seconds=limits["seconds"], memory_mb=limits["memory_mb"])
    return Sandbox(given, workers=workers, isolation=limits["isolation"])


def paid(
    rollouts: pd.DataFrame,
    problems: pd.DataFrame,
    rewards: Mapping[str, Composition],
    sandbox: Sandbox,
    rendered=str,
) -> pd.DataFrame:
    """SCICODE_REWARDS of rollouts: one row per sample and reward, as a share of the largest that the reward pays.

    rollouts: ROLLOUTS. problems: SCICODE_PROBLEMS, theirs among them. rewards: those that need a judge are left out.
    rendered: from what a policy wrote to the text that is judged.
    """
    asked = {problem.problem_id: problem for problem in problems_of(problems)}
    sets = dict(zip(problems["problem_id"], problems["set"], strict=True))
    said = list(zip(rollouts["problem_id"], rollouts["completion"], strict=True))
    distinct = list(dict.fromkeys(said))
    pairs = [(rendered(completion), asked[problem]) for problem, completion in distinct]
    evidences = [Evidence(text, verdict, problem) for (text, problem), verdict in zip(pairs, judge(pairs, sandbox))]
    place = {key: index for index, key in enumerate(distinct)}
    keys = rollouts[["policy", "problem_id", "sample"]].reset_index(drop=True)
    keys.insert(1, "set", [sets[problem] for problem in keys["problem_id"]])
    parts = []
    for name, reward in rewards.items():
        if reward.needs_judge:
            continue
        scores = [reward.score(evidence) / reward.largest for evidence in evidences]
        parts.append(keys.assign(reward=name, score=[scores[place[key]] for key in said]))
    return pd.concat(parts, ignore_index=True)[SCICODE_REWARDS.names]
