"""What rewards would have paid for samples, whichever of them trained the policy."""

from collections.abc import Mapping

import pandas as pd

from workflow_scripts.records.scicode_schemas import SCICODE_REWARDS
from workflow_scripts.tasks.scicode.rewards import Composition, Evidence
from workflow_scripts.tasks.scicode.rewards.asking import Ask, judged_for
from workflow_scripts.tasks.scicode.scores import Judged


def paid(
    found: Judged, rewards: Mapping[str, Composition], *, ask: Ask | None = None, asked_of: int = 0
) -> pd.DataFrame:
    """SCICODE_REWARDS of judged rollouts: one row per sample and reward, as a share of the largest that it pays.

    ask: who marks completions, where a reward needs a judge, which is asked of the first `asked_of` samples of every
    problem alone; without one such rewards are left out. Raises UserError where the judge has no usable answer.
    """
    evidences = [Evidence(*one) for one in zip(found.texts, found.verdicts, found.asked, strict=True)]
    parts = []
    for name, reward in rewards.items():
        keys, places = found.keys.assign(reward=name), found.place
        if reward.needs_judge:
            if ask is None:
                continue
            first = (keys["sample"] < asked_of).to_numpy()
            keys, places = keys[first], [place for place, kept in zip(found.place, first, strict=True) if kept]
        seen = sorted(set(places))
        shown = [evidences[place] for place in seen]
        if reward.needs_judge:
            shown = judged_for(reward, shown, ask)
        scores = {place: reward.score(one) / reward.largest for place, one in zip(seen, shown, strict=True)}
        parts.append(keys.assign(score=[scores[place] for place in places]))
    if not parts:
        return pd.DataFrame(columns=SCICODE_REWARDS.names)
    return pd.concat(parts, ignore_index=True)[SCICODE_REWARDS.names]
