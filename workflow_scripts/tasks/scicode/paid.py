"""What rewards would have paid for samples, whichever of them trained the policy."""

from collections.abc import Mapping

import pandas as pd

from workflow_scripts.records.scicode_schemas import SCICODE_REWARDS
from workflow_scripts.tasks.scicode.rewards import Composition, Evidence
from workflow_scripts.tasks.scicode.scores import Judged


def paid(found: Judged, rewards: Mapping[str, Composition]) -> pd.DataFrame:
    """SCICODE_REWARDS of judged rollouts: one row per sample and reward, as a share of the largest that it pays.

    rewards: those that need a judge are left out.
    """
    evidences = [Evidence(*one) for one in zip(found.texts, found.verdicts, found.asked, strict=True)]
    parts = []
    for name, reward in rewards.items():
        if reward.needs_judge:
            continue
        scores = [reward.score(evidence) / reward.largest for evidence in evidences]
        parts.append(found.keys.assign(reward=name, score=[scores[place] for place in found.place]))
    return pd.concat(parts, ignore_index=True)[SCICODE_REWARDS.names]
