"""Preference learning from a policy's own samples: for one prompt, a correct completion over a wrong one (DPO).

The reference is frozen: its log-probabilities are computed once, before the first update. Deviations from common
practice: sums of log-probabilities are not divided by length, as published; pairs come from the policy that is trained
and a verifier, not from people; no label smoothing.
"""

import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import torch
from torch import Tensor

from workflow_scripts.policies.chunks import teacher_forced
from workflow_scripts.policies.model import Policy, Weights
from workflow_scripts.policies.objectives.dpo import dpo_loss, implied_margin
from workflow_scripts.policies.objectives.sft import negative_log_likelihood
from workflow_scripts.policies.optimiser import AdamW, cosine
from workflow_scripts.policies.pretraining import Text, check_finite
from workflow_scripts.policies.rollouts import Rollouts
from workflow_scripts.records.errors import UserError
from workflow_scripts.records.seeds import generator


@dataclass(frozen=True)
class PreferenceSettings:
    """How a policy is trained on pairs.

    seed: of their order. steps: updates. pairs: of an update. rate: peak of the cosine (AdamW). warmup: updates. clip:
    largest gradient norm. beta: see `objectives.dpo`; a weak one lets small policies drift: at this rate and .1 the
    chosen completions lose 3 nats and pass@1 falls below its start (.20 from .25), at .5 it rises (.31).
    """

    seed: int | str
    steps: int = 100
    pairs: int = 32
    rate: float = 5e-4
    warmup: int = 10
    clip: float = 1.0
    beta: float = 0.5

    def __post_init__(self) -> None:
        if min(self.steps, self.pairs) < 1 or self.beta <= 0:
            raise UserError("steps and pairs must be at least 1, beta above 0")


@dataclass(frozen=True)
class Pair:
    """Two completions of one prompt, token ids; the first is preferred."""

    prompt: Sequence[int]
    chosen: Sequence[int]
    rejected: Sequence[int]


def preference_pairs(batch: Rollouts, most: int, *, seed: int | str) -> list[Pair]:
    """Up to `most` pairs of each prompt from judged samples (`rollouts.collect`), in the order of the prompts.

    A prompt's correct samples (reward above 0) and its wrong ones are each shuffled and paired off; each sample is in
    one pair at most, so that a prompt gives as many as the rarer kind has. Prompts that were always or never solved
    give none. Drawn from samples, not from different texts: what the policy says often is paired often.
    """
    rng = generator("preference pairs", seed)
    right = (batch.rewards > 0).tolist()
    counts = batch.counts.tolist()
    sides: list[tuple[list[int], list[int]]] = [([], []) for _ in range(batch.shape[0])]
    for place, group in enumerate(batch.groups.tolist()):
        sides[group][0 if right[place] else 1].extend([place] * counts[place])
    pairs = []
    for better, worse in sides:
        chosen, rejected = rng.permutation(better).tolist(), rng.permutation(worse).tolist()
        for one, other in list(zip(chosen, rejected))[:most]:
            (prompt, first), (_, second) = batch.texts[int(one)], batch.texts[int(other)]
            pairs.append(Pair(prompt, first, second))
    return pairs


def prefer(
    policy: Policy, pairs: Sequence[Pair], settings: PreferenceSettings, *, reference: Policy | None = None
) -> Iterator[dict]:
    """Trains `policy` in place by DPO; yields a row after each update.

    reference: frozen; None for the policy as it is given. Each epoch goes through the pairs in an order drawn from the
    seed. Rows, of the batch before the update: step, loss (nats a pair), accuracy (share of pairs whose implied margin
    is positive), margin (mean), chosen, rejected (mean change of the completion's log-probability, nats), rate,
    grad_norm (before clipping), tokens (of completions, trained on so far), seconds.
    Raises UserError where there are no pairs, and, naming the step, when loss or weights are no longer finite.
    """
    if not pairs:
        raise UserError("there are no pairs to train on: no prompt had both a correct and a wrong sample")
    with torch.no_grad():
        start = _log_probs(Weights(reference or policy), pairs)
    optimiser = AdamW(policy)
    places = _places(len(pairs), settings)
    tokens = 0
    for index in range(settings.steps):
        began = time.perf_counter()
        chosen = [next(places) for _ in range(settings.pairs)]
        batch, known = [pairs[place] for place in chosen], start[:, chosen]
        policy.grad.zero_()
        weights = Weights(policy, trained=True)
        now = _log_probs(weights, batch)
        margin = implied_margin(*now, *known, beta=settings.beta)
        loss = dpo_loss(margin).mean()
        loss.backward()
        weights.backward()
        rate = settings.rate * cosine(index, settings.steps, warmup=settings.warmup)
        norm = optimiser.step(rate, settings.clip)
        check_finite(policy, float(loss.detach()), f"preference step {index + 1}")
        moved = (now.detach() - known).mean(dim=1)
        tokens += sum(len(pair.chosen) + len(pair.rejected) for pair in batch)
        yield {
            "step": index + 1,
            "loss": float(loss.detach()),
            "accuracy": float((margin > 0).float().mean()),
            "margin": float(margin.detach().mean()),
            "chosen": float(moved[0]),
            "rejected": float(moved[1]),
            "rate": rate,
            "grad_norm": norm,
            "tokens": tokens,
            "seconds": time.perf_counter() - began,
        }


def _places(count: int, settings: PreferenceSettings) -> Iterator[int]:
    epoch = 0
    while True:
        yield from generator("order of pairs", settings.seed, epoch).permutation(count).tolist()
        epoch += 1


def _log_probs(weights: Weights, pairs: Sequence[Pair]) -> Tensor:
    """Log-probability of each whole completion, nats: fp32 [2, pairs], chosen and rejected."""
    texts: list[Text] = [(pair.prompt, pair.chosen) for pair in pairs]
    texts += [(pair.prompt, pair.rejected) for pair in pairs]
    totals = torch.zeros(len(texts))
    for chunk in teacher_forced(texts):
        losses = negative_log_likelihood(weights.predictions(chunk), chunk.targets)
        totals = totals.index_add(0, chunk.texts, -losses)
    return totals.view(2, -1)
