"""Gradients of one batch of answers: of the policy by the clipped surrogate, of a critic by its squared error."""

from collections.abc import Sequence
from dataclasses import dataclass

import torch
from torch import Tensor

from workflow_scripts.policies.chunks import Chunk, teacher_forced
from workflow_scripts.policies.model import Weights
from workflow_scripts.policies.objectives.critic import generalised_advantages, value_loss
from workflow_scripts.policies.objectives.divergence import entropy, exact_kl, k3_kl
from workflow_scripts.policies.objectives.surrogate import clipped_share, clipped_surrogate
from workflow_scripts.policies.optimiser import AdamW
from workflow_scripts.policies.rollouts import Rollouts


@dataclass(frozen=True)
class Penalties:
    """What the policy's loss holds besides the surrogate. clip: below and above 1. kl, entropy: coefficients."""

    clip: tuple[float, float] = (0.2, 0.2)
    kl: float = 0.0
    entropy: float = 0.0


def _log_probs(logits: Tensor, targets: Tensor) -> Tensor:
    return -torch.nn.functional.cross_entropy(logits, targets, reduction="none")


def policy_gradient(
    optimiser: AdamW,
    rollouts: Rollouts,
    chosen: Sequence[int],
    advantages: Tensor,
    weights: Tensor,
    penalties: Penalties,
    *,
    reference: Weights | None,
    bonus: Tensor | None = None,
    on_policy: bool,
) -> dict[str, float]:
    """Puts the gradient of the policy's loss over some of the texts into its `grad`; returns loss and clipped share.

    chosen: those texts. advantages: fp32 [texts, longest], of each token. weights: fp32 [texts], what a token of each
    text weighs in the loss (samples that said it times `token_weights`). reference: where the KL is measured from, None
    where its coefficient is 0. bonus: fp32 [texts, longest], coefficients of the tokens' entropies on top of the
    penalty's; None for none. on_policy: the policy is still the one that sampled, so that its own log-probabilities
    are the old ones; else those noted while sampling are.
    """
    optimiser.policy.grad.zero_()
    trained, total, clipped = Weights(optimiser.policy, trained=True), 0.0, 0.0
    ends = None
    if bonus is not None and reference is None and not penalties.entropy:
        ends = _last_used((advantages != 0) | (bonus != 0))
    for chunk in _chunks(rollouts, chosen, ends):
        logits = trained.predictions(chunk)
        now = _log_probs(logits, chunk.targets)
        old = now.detach() if on_policy else rollouts.log_probs[chunk.texts, chunk.steps]
        gains, weight = advantages[chunk.texts, chunk.steps], weights[chunk.texts]
        losses = clipped_surrogate(now, old, gains, penalties.clip)
        if reference is not None:
            with torch.no_grad():
                start = _log_probs(reference.predictions(chunk), chunk.targets)
            losses = losses + penalties.kl * k3_kl(now, start)
        if penalties.entropy:
            losses = losses - penalties.entropy * entropy(logits)
        if bonus is not None:
            losses = losses - bonus[chunk.texts, chunk.steps] * entropy(logits)
        loss = losses @ weight
        loss.backward()
        total += float(loss.detach())
        clipped += float(clipped_share(now.detach(), old, gains, penalties.clip) @ weight)
    trained.backward()
    return {"loss": total, "clipped": clipped / float(weights[list(chosen)] @ rollouts.lengths[list(chosen)].float())}


def critic_gradient(
    optimiser: AdamW, rollouts: Rollouts, chosen: Sequence[int], advantages: Tensor, *, gamma: float, lam: float
) -> float:
    """Puts the gradient of the critic's loss over some of the texts into its `grad`; returns the loss, a token.

    The reward comes after the last token. advantages: fp32 [texts, longest], filled in for `chosen` from the values of
    this very forward pass.
    """
    optimiser.policy.grad.zero_()
    trained, total = Weights(optimiser.policy, trained=True), 0.0
    shares = rollouts.counts / float(rollouts.counts[list(chosen)] @ rollouts.lengths[list(chosen)])
    for chunk in _chunks(rollouts, chosen):
        expected = trained.values(chunk)
        texts, lengths = torch.unique_consecutive(chunk.texts, return_counts=True)
        rows = torch.repeat_interleave(torch.arange(len(texts)), lengths)
        values = torch.zeros(len(texts), int(lengths.max()))
        values[rows, chunk.steps] = expected.detach()
        rewards = torch.zeros_like(values)
        rewards[torch.arange(len(texts)), lengths - 1] = rollouts.rewards[texts]
        gains, returns = generalised_advantages(rewards, values, lengths, gamma=gamma, lam=lam)
        advantages[texts, : values.shape[1]] = gains
        loss = value_loss(expected, returns[rows, chunk.steps]) @ shares[chunk.texts]
        loss.backward()
        total += float(loss.detach())
    trained.backward()
    return total


@torch.no_grad()
def measured(policy: Weights, start: Weights, rollouts: Rollouts, chosen: Sequence[int]) -> dict[str, float]:
    """Entropy of the policy and its exact KL from the starting policy, nats, averaged over the sampled tokens."""
    totals = torch.zeros(3, dtype=torch.float64)
    for chunk in _chunks(rollouts, chosen):
        logits, weight = policy.predictions(chunk), rollouts.counts[chunk.texts].to(torch.float32)
        parts = (entropy(logits) @ weight, exact_kl(logits, start.predictions(chunk)) @ weight, weight.sum())
        totals += torch.stack(parts).double()
    return {"token_entropy": float(totals[0] / totals[2]), "kl": float(totals[1] / totals[2])}


def _last_used(used: Tensor) -> list[int]:
    """How many tokens of each text there are up to the last that is used: of bool [texts, longest]."""
    return (used * torch.arange(1, used.shape[1] + 1)).amax(dim=1).tolist()


def _chunks(rollouts: Rollouts, chosen: Sequence[int], ends: Sequence[int] | None = None):
    """Chunks of the chosen texts, whose `texts` are places among all of them.

    ends: tokens kept of each text's completion, where what follows has no part in the loss; None for all.
    """
    places = torch.tensor(chosen)
    texts = [rollouts.texts[place] for place in chosen]
    if ends is not None:
        texts = [(asked, said[: ends[place]]) for place, (asked, said) in zip(chosen, texts, strict=True)]
    for chunk in teacher_forced(texts):
        yield Chunk(chunk.tokens, chunk.rows, chunk.targets, places[chunk.texts], chunk.steps)
