"""What rewards would have paid for samples, whichever of them trained the policy."""

from collections.abc import Mapping

import pandas as pd

from workflow_scripts.records.scicode_schemas import SCICODE_REWARDS
from workflow_scripts.tasks.scicode.rewards import Composition, Evidence
from workflow_scripts.tasks.scicode.rewards.asking import Ask, judged_for
from workflow_scripts.tasks.scicode.scores import Judged


def paid(found: Judged, rewards: Mapping[str, Composition], ask: Ask | None = None) -> pd.DataFrame:
    """SCICODE_REWARDS of judged rollouts: one row per sample and reward, as a share of the largest that it pays.

    ask: who marks completions, for rewards that need a judge; without one these are left out. Equal completions of one
    problem are asked about once. Raises UserError where the judge has no usable answer.
    """
    evidences = [Evidence(*one) for one in zip(found.texts, found.verdicts, found.asked, strict=True)]
    parts = []
    for name, reward in rewards.items():
        if reward.needs_judge and ask is None:
            continue
        seen = judged_for(reward, evidences, ask) if reward.needs_judge else evidences
        scores = [reward.score(evidence) / reward.largest for evidence in seen]
        parts.append(found.keys.assign(reward=name, score=[scores[place] for place in found.place]))
    if not parts:
        return pd.DataFrame(columns=SCICODE_REWARDS.names)
    return pd.concat(parts, ignore_index=True)[SCICODE_REWARDS.names]
