"""Supervised learning: the negative log-likelihood of given tokens."""

import torch
from torch import Tensor


def negative_log_likelihood(logits: Tensor, targets: Tensor) -> Tensor:
    """Nats by which each target surprises: fp32 [N], of logits [N, vocabulary] and targets int64 [N]. No reduction."""
    return torch.nn.functional.cross_entropy(logits, targets, reduction="none")
