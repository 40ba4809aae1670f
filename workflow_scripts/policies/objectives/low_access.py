"""A larger reward for correct answers of families that the policy seldom enters."""

from collections import Counter
from collections.abc import Sequence

import torch
from torch import Tensor

from workflow_scripts.policies.objectives.advantages import group_advantages
from workflow_scripts.policies.rollouts import Rollouts
from workflow_scripts.records.errors import UserError


def advantages(rollouts: Rollouts, coefficient: float, *, divide: bool) -> Tensor:
    """Group-relative advantages of the rewards of `scarce_rewards`: fp32 [prompts, samples], each prompt's mean 0.

    Raises UserError where a verdict does not tell the answer's opening.
    """
    if any("answer_opening" not in verdict for verdict in rollouts.verdicts):
        raise UserError("low_access needs a reward function that gives answer_opening")
    openings = [verdict.get("answer_opening") or "" for verdict in rollouts.verdicts]
    rewards = scarce_rewards(rollouts.rewards, openings, rollouts.groups, rollouts.counts, coefficient)
    return group_advantages(rollouts.sampled(rewards), divide=divide)


def scarce_rewards(
    rewards: Tensor, openings: Sequence[str], groups: Tensor, counts: Tensor, coefficient: float
) -> Tensor:
    """r (1 + β (1 − s)): fp32 [texts]; s is the share of the group's samples whose answer opens as this one does.

    β is the coefficient; s stands for q_b, the access of the family (paper, section 3). Wrong answers stay at 0, so
    that rarity alone is worth nothing; a family that all samples choose keeps r. The opening is the answer's, not that
    of the think part: a rare first attempt before the usual solution earns no more.
    rewards: fp32 [texts]. openings: one a text, "" without answer. groups, counts: as in Rollouts.
    """
    keys = list(zip(groups.tolist(), openings, strict=True))
    said, samples = Counter(), Counter()
    for key, count in zip(keys, counts.tolist(), strict=True):
        said[key] += count
        samples[key[0]] += count
    shares = torch.tensor([said[key] / samples[key[0]] for key in keys])
    return rewards * (1 + coefficient * (1 - shares))
