"""How spread a policy's next-token distribution is, and how far it went from a reference: nats, token by token."""

import torch
from torch import Tensor


def entropy(logits: Tensor) -> Tensor:
    """Entropy of softmax(logits): fp32 [N], of logits [N, vocabulary]."""
    log_probs = torch.log_softmax(logits, -1)
    return -(log_probs.exp() * log_probs).sum(-1)


def exact_kl(logits: Tensor, reference: Tensor) -> Tensor:
    """KL(softmax(logits) || softmax(reference)) over the whole vocabulary: fp32 [N], of two [N, vocabulary]."""
    log_probs = torch.log_softmax(logits, -1)
    return (log_probs.exp() * (log_probs - torch.log_softmax(reference, -1))).sum(-1)


def k3_kl(log_probs: Tensor, reference: Tensor) -> Tensor:
    """Schulman's low-variance estimate of the same from the sampled tokens alone: fp32 [N], never negative.

    log_probs, reference: of the sampled token, [N]. Unbiased where the tokens were drawn from the policy.
    GRPO's penalty, DeepSeekMath (2402.03300) equation 4.
    """
    gap = reference - log_probs
    return torch.expm1(gap) - gap
