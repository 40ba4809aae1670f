"""Advantages that raise pass@k: a prompt counts as solved when one of k samples is correct."""

from math import comb

import torch
from torch import Tensor

from workflow_scripts.policies.rollouts import Rollouts
from workflow_scripts.records.errors import UserError


def advantages(rollouts: Rollouts, coefficient: float, *, divide: bool) -> Tensor:
    """`subset_advantages` of the batch's rewards with k the coefficient: fp32 [prompts, samples].

    Raises UserError where k is no whole number from 1 to samples - 1, or a reward neither 0 nor 1.
    """
    rewards = rollouts.sampled(rollouts.rewards)
    if coefficient not in range(1, rewards.shape[1]):
        raise UserError(f"pass_at_k is {coefficient:g}; it must be a whole number from 1 to {rewards.shape[1] - 1}")
    if not ((rewards == 0) | (rewards == 1)).all():
        raise UserError("pass_at_k needs rewards of 0 and 1")
    return subset_advantages(rewards, int(coefficient), divide=divide)


def subset_advantages(rewards: Tensor, k: int, *, divide: bool = True) -> Tensor:
    """How much likelier k of a group's samples hold a correct one when this sample is among them: fp32 [groups, n].

    Over all subsets of k of the n samples, of which m are wrong, the share that passes is R = 1 − C(m, k)/C(n, k);
    of those with a given correct sample all pass, of those with a given wrong one 1 − C(m−1, k−1)/C(n−1, k−1). The
    advantage is the latter share minus R, over sqrt(R (1 − R)) with `divide`; its mean over a group is 0, and it is 0
    where fewer than k are wrong. Compared with the subsets that leave the sample out instead (leave one out), it would
    be n/(n − k) times as large. k = 1: the centred rewards.
    rewards: 0 or 1, [groups, n]. Chen et al. 2025, Pass@k training (2508.10751), analytical derivation.
    """
    samples = rewards.shape[1]
    table = torch.zeros(samples + 1, 2)  # by number of wrong samples; of a wrong sample, of a correct one
    for wrong in range(k, samples):
        passed = 1 - comb(wrong, k) / comb(samples, k)
        scale = (passed * (1 - passed)) ** 0.5 if divide else 1.0
        lone = 1 - comb(wrong - 1, k - 1) / comb(samples - 1, k - 1)
        table[wrong] = torch.tensor([(lone - passed) / scale, (1 - passed) / scale])
    wrong = (rewards == 0).sum(dim=1, keepdim=True)
    return table[wrong, rewards.to(torch.int64)]
