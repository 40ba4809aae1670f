"""Generalised advantage estimation and the critic's loss (PPO)."""

import torch
from torch import Tensor


def generalised_advantages(
    rewards: Tensor, values: Tensor, lengths: Tensor, *, gamma: float = 1.0, lam: float = 1.0
) -> tuple[Tensor, Tensor]:
    """Advantages and returns of texts that end: both fp32 [texts, longest], 0 beyond each length.

    rewards: after each token, [texts, longest]. values: expected before each token, the same shape. lengths: int64
    [texts], tokens of each. Nothing is expected after the last token. Returns are advantages plus values.
    GAE (1506.02438) equation 16.
    """
    texts, longest = rewards.shape
    inside = torch.arange(longest)[None, :] < lengths[:, None]
    rewards, values = rewards * inside, values * inside
    advantages = torch.zeros_like(values)
    following, gathered = torch.zeros(texts), torch.zeros(texts)
    for step in range(longest - 1, -1, -1):
        surprise = rewards[:, step] + gamma * following - values[:, step]
        gathered = (surprise + gamma * lam * gathered) * inside[:, step]
        advantages[:, step], following = gathered, values[:, step]
    return advantages, advantages + values


def value_loss(values: Tensor, returns: Tensor) -> Tensor:
    """Half the squared error of each value, fp32 [N]; returns carry no gradient. PPO (1707.06347) equation 9."""
    return 0.5 * (values - returns).square()
