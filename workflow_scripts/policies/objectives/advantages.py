"""How much better than expected an answer was: group-relative advantages, and whitening."""

import torch
from torch import Tensor


def group_advantages(rewards: Tensor, *, divide: bool = True, eps: float = 1e-6) -> Tensor:
    """Rewards minus their group's mean, over the group's standard deviation (GRPO), or not divided (Dr.GRPO).

    rewards: fp32 [groups, samples] → the same shape. The deviation is the sample's (n - 1); a group whose rewards are
    all equal gets zeros. DeepSeekMath (2402.03300) section 4.1.2; Dr.GRPO (2503.20783) section 3.
    """
    centred = rewards - rewards.mean(dim=1, keepdim=True)
    if not divide or rewards.shape[1] < 2:
        return centred
    return centred / (rewards.std(dim=1, keepdim=True) + eps)


def token_weights(lengths: Tensor, average: str, longest: int) -> Tensor:
    """What one token of each sample weighs in the batch's loss: fp32 [samples]; lengths: int64 [samples].

    average: `token` (all tokens of the batch alike: DAPO, verl's default), `sequence` (all samples alike, then their
    tokens: GRPO as published), `constant` (all tokens alike, over samples x longest: Dr.GRPO).
    longest: the largest number of tokens that may be generated.
    """
    lengths = lengths.to(torch.float32)
    if average == "token":
        return torch.full_like(lengths, 1.0) / lengths.sum()
    if average == "sequence":
        return 1.0 / (lengths * len(lengths))
    if average == "constant":
        return torch.full_like(lengths, 1.0 / (longest * len(lengths)))
    raise ValueError(f"average is {average!r}; it must be token, sequence or constant")


def whiten(values: Tensor, counts: Tensor, eps: float = 1e-8) -> Tensor:
    """Values shifted and scaled to mean 0 and standard deviation 1 (n - 1), each seen `counts` times: fp32 [N]."""
    total = counts.sum()
    centred = values - (values * counts).sum() / total
    variance = (centred.square() * counts).sum() / (total - 1).clamp(min=1)
    return centred / (variance.sqrt() + eps)
