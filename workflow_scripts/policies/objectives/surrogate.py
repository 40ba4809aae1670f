"""The clipped policy-gradient objective of PPO, which GRPO shares."""

import torch
from torch import Tensor


def clipped_surrogate(
    log_probs: Tensor, old_log_probs: Tensor, advantages: Tensor, clip: tuple[float, float]
) -> Tensor:
    """Loss of each token, -min(ratio A, clip(ratio, 1 - low, 1 + high) A): fp32 [N]; all arguments [N].

    old_log_probs, advantages: no gradient. Where both log-probabilities are one, the gradient is that of -A log p.
    PPO (1707.06347) equation 7; separate bounds: DAPO (2503.14476).
    """
    ratio = torch.exp(log_probs - old_log_probs)
    clipped = ratio.clamp(1 - clip[0], 1 + clip[1])
    return -torch.minimum(ratio * advantages, clipped * advantages)


def clipped_share(log_probs: Tensor, old_log_probs: Tensor, advantages: Tensor, clip: tuple[float, float]) -> Tensor:
    """Whether each token's gradient was cut off by the clipping: fp32 [N] of 0 and 1."""
    ratio = torch.exp(log_probs - old_log_probs)
    above = (advantages > 0) & (ratio > 1 + clip[1])
    below = (advantages < 0) & (ratio < 1 - clip[0])
    return (above | below).to(log_probs.dtype)
