"""A policy over a few given candidates per prompt, trained by full-batch gradient descent with the common objectives.

Its parameters are the logits: independent of one another between prompts, so that every number can be followed by hand.
`conditions` below are any leading dimensions, trained side by side (seeds, reward constants, starts); they share
nothing. Each loss is a mean over the prompts, so that one prompt's logits move by rate / prompts times their own
gradient. All tensors are fp64.
"""

from collections.abc import Callable, Sequence
from functools import lru_cache
from math import lgamma
from typing import NamedTuple

import torch
from torch import Tensor

from workflow_scripts.policies.objectives.advantages import group_advantages
from workflow_scripts.policies.objectives.dpo import dpo_loss, implied_margin
from workflow_scripts.policies.objectives.sft import negative_log_likelihood
from workflow_scripts.policies.objectives.surrogate import clipped_share, clipped_surrogate
from workflow_scripts.records import seeds as streams
from workflow_scripts.records.errors import UserError

EPS = 1e-6
"""Added to a group's standard deviation."""


class Path(NamedTuple):
    """logits: [updates + 1, conditions…, prompts, candidates], the start first. losses: [updates, conditions…], of each
    update before it was made."""

    logits: Tensor
    losses: Tensor


class SampledPath(NamedTuple):
    """A path with what happened on the way. clipped: share of samples whose gradient was cut off, [updates, seeds].
    zero_variance: share of groups that teach nothing, since all their rewards are equal, [batches, seeds]."""

    path: Path
    clipped: Tensor
    zero_variance: Tensor


def descend(start: Tensor, loss: Callable[[Tensor], Tensor], updates: int, rate: float) -> Path:
    """Plain gradient descent, with `loss` a mean over the prompts: logits [conditions…, prompts, candidates] →
    [conditions…]."""
    logits, passed, losses = start.double(), [start.double()], []
    for _ in range(updates):
        free = logits.detach().requires_grad_()
        value = loss(free)
        (gradient,) = torch.autograd.grad(value.sum(), free)  # conditions share nothing: of each its own
        logits = free.detach() - rate * gradient
        passed.append(logits)
        losses.append(value.detach())
    return Path(torch.stack(passed), torch.stack(losses) if losses else start.new_empty(0, *start.shape[:-2]))


def train_sft(start: Tensor, target: int, *, updates: int, rate: float) -> Path:
    """Supervised learning of one candidate, the same of each prompt. start: [prompts, candidates]."""
    targets = torch.full((len(start),), target)
    return descend(start, lambda logits: negative_log_likelihood(logits, targets).mean(), updates, rate)


def train_dpo(start: Tensor, chosen: int, rejected: int, *, updates: int, rate: float, beta: float) -> Path:
    """DPO of one candidate over another, with the start as reference. start: [prompts, candidates]."""
    reference = torch.log_softmax(start.double(), -1)

    def loss(logits: Tensor) -> Tensor:
        found = torch.log_softmax(logits, -1)
        ends = (scores[..., place] for scores in (found, reference) for place in (chosen, rejected))
        return dpo_loss(implied_margin(*ends, beta=beta)).mean(-1)

    return descend(start, loss, updates, rate)


def relative_rewards(rewards: Tensor, *, divide: bool = True) -> Tensor:
    """Rewards minus their group's mean, over the group's standard deviation of the population (n, not n - 1): [..., n].

    A group whose rewards are all equal gets zeros. With n - 1, as in `group_advantages`, groups of four would move
    sqrt(3/4) as far.
    """
    centred = group_advantages(rewards.reshape(-1, rewards.shape[-1]), divide=False).reshape(rewards.shape)
    spread = rewards.std(-1, correction=0, keepdim=True)
    centred = torch.where(spread > EPS, centred, 0.0)
    return centred / (spread + EPS) if divide else centred


def train_grpo(start: Tensor, rewards: Tensor, *, updates: int, rate: float, divide: bool = True) -> Path:
    """GRPO with every candidate once as the group: [conditions…, prompts, candidates], of start and rewards.

    One update a batch: the ratio is 1 and nothing is clipped. Samples weigh alike whatever the policy thinks of them,
    so that this is not its own gradient; compare `train_grpo_sampled`.
    """
    advantages = relative_rewards(rewards.double(), divide=divide)

    def loss(logits: Tensor) -> Tensor:
        found = torch.log_softmax(logits, -1)
        return clipped_surrogate(found, found.detach(), advantages, (1.0, 1.0)).mean((-2, -1))

    return descend(start.double().expand(rewards.shape), loss, updates, rate)


def train_grpo_sampled(
    start: Tensor,
    rewards: Tensor,
    *,
    seeds: Sequence[int],
    samples: int,
    batches: int,
    updates: int,
    rate: float,
    clip: float = 0.2,
    divide: bool = True,
) -> SampledPath:
    """GRPO with groups that the policy draws itself, several updates on each batch; conditions are the seeds.

    start, rewards: [prompts, candidates]. samples: drawn of each prompt and batch. updates: on one batch. clip: how far
    the ratio to the policy that drew may go. Raises UserError for fewer than two samples.
    """
    if samples < 2:
        raise UserError(f"samples is {samples}; a group needs two or more")
    prompts, candidates = start.shape
    logits, paths, clipped, zero = start.double().expand(len(seeds), prompts, candidates), [], [], []
    draws = torch.stack(
        [torch.from_numpy(streams.generator("categorical", seed).random((batches, prompts, samples))) for seed in seeds]
    )
    every = rewards.double().expand(len(seeds), prompts, candidates)
    for batch in range(batches):
        old = torch.log_softmax(logits, -1)
        bounds = old.exp().cumsum(-1)[..., :-1].contiguous()
        drawn = torch.searchsorted(bounds, draws[:, batch].contiguous(), right=True)
        advantages = relative_rewards(every.gather(-1, drawn), divide=divide)
        zero.append((advantages == 0).all(-1).double().mean(-1))
        before = old.gather(-1, drawn)

        def terms(at: Tensor, drawn=drawn, before=before, advantages=advantages) -> tuple[Tensor, ...]:
            return torch.log_softmax(at, -1).gather(-1, drawn), before, advantages, (clip, clip)

        path = descend(logits, lambda at: clipped_surrogate(*terms(at)).mean((-2, -1)), updates, rate)
        clipped.extend(clipped_share(*terms(at)).mean((-2, -1)) for at in path.logits[:-1])
        logits = path.logits[-1]
        paths.append(path)
    passed = torch.cat([paths[0].logits[:1], *(path.logits[1:] for path in paths)])
    losses = torch.cat([path.losses for path in paths])
    return SampledPath(Path(passed, losses), torch.stack(clipped), torch.stack(zero))


@lru_cache(maxsize=8)
def _compositions(candidates: int, samples: int) -> tuple[Tensor, Tensor]:
    """All ways to draw each candidate so many times, [ways, candidates], and the log of how many orders make each."""
    ways = [()]
    for _ in range(candidates - 1):
        ways = [(*way, count) for way in ways for count in range(samples - sum(way) + 1)]
    counts = torch.tensor([(*way, samples - sum(way)) for way in ways], dtype=torch.float64)
    orders = lgamma(samples + 1) - torch.lgamma(counts + 1).sum(-1)
    return counts, orders


def group_lessons(rewards: Tensor, samples: int, *, divide: bool = True) -> Tensor:
    """Gradient of the logits that each possible group gives: [..., ways, candidates], of rewards [..., candidates].

    A group that drew candidate a n_a times teaches n_a A_a / samples: the advantages of a group add up to 0, so that
    the softmax' own term is none.
    """
    counts, _ = _compositions(rewards.shape[-1], samples)
    spread_out = rewards.double().unsqueeze(-2)
    mean = (counts * spread_out).sum(-1, keepdim=True) / samples
    centred = spread_out - mean
    spread = ((counts * centred.square()).sum(-1, keepdim=True) / samples).sqrt()
    scale = torch.where(spread > EPS, 1.0 / (spread + EPS) if divide else 1.0, 0.0)
    return counts * centred * scale / samples


def expected_gradient(logits: Tensor, lessons: Tensor, samples: int) -> Tensor:
    """What one update of GRPO gives the logits on average over the groups that the policy may draw: as `logits`.

    Exact: a sum over all groups. logits: [..., candidates]. lessons: `group_lessons` for the same leading dimensions.
    """
    counts, orders = _compositions(logits.shape[-1], samples)
    chances = torch.exp(torch.log_softmax(logits.double(), -1) @ counts.T + orders)
    return (chances.unsqueeze(-2) @ lessons).squeeze(-2)


def train_grpo_expected(
    start: Tensor, rewards: Tensor, *, samples: int, updates: int, rate: float, divide: bool = True
) -> Tensor:
    """Logits along GRPO with groups that the policy draws, each update its mean over all groups: [updates + 1, ...].

    start, rewards: [..., candidates]. rate: of one prompt's logits (that of the other trainers over their prompts).
    """
    lessons = group_lessons(rewards, samples, divide=divide)
    logits = start.double().expand(rewards.shape)
    passed = [logits]
    for _ in range(updates):
        logits = logits + rate * expected_gradient(logits, lessons, samples)
        passed.append(logits)
    return torch.stack(passed)
