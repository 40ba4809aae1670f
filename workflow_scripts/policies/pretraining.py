"""Training from scratch on random texts: next-token likelihood, AdamW, cosine schedule.

Each step sees a new batch of whole texts; chunks of about 1,000 tokens are worked through one after the other and their
gradients added up, which changes nothing but rounding and keeps everything in cache.
"""

import math
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass

import torch

from workflow_scripts.policies.chunks import TOKENS, teacher_forced
from workflow_scripts.policies.model import Policy, Weights
from workflow_scripts.policies.objectives.sft import negative_log_likelihood
from workflow_scripts.policies.optimiser import AdamW, cosine
from workflow_scripts.records.errors import UserError

Text = tuple[Sequence[int], Sequence[int]]
"""Token ids of a prompt and of its completion, the end token included."""


@dataclass(frozen=True)
class Schedule:
    """How long and how fast. rate: peak learning rate. warmup: updates. clip: largest gradient norm.

    whole: learn the prompt's tokens too, not the completion's alone (measured: .29 against .32 nats a completion
    token). workers: parts of a batch worked on side by side, one thread each; that keeps cores busy where the threads
    of one matrix product do not, since these are small. With batches of 64 texts the default reaches .26 in the CPU
    time that 1,000 batches of 256 take to reach .34.
    """

    steps: int = 3000
    rate: float = 6e-3
    warmup: int = 20
    betas: tuple[float, float] = (0.9, 0.99)
    decay: float = 0.0
    clip: float = 1.0
    whole: bool = True
    workers: int = 1


def pretrain(policy: Policy, batch: Callable[[int], Sequence[Text]], schedule: Schedule) -> Iterator[dict]:
    """Trains `policy` in place, one update at a time; yields a row after each.

    batch: the texts of update 0, 1, … Rows: step (1, 2, …), loss (nats a predicted token, before the update), rate,
    grad_norm (before clipping), seconds. The number of threads is the caller's affair.
    Raises UserError, naming the step, when the loss or the weights are no longer finite.
    """
    optimiser = AdamW(policy, betas=schedule.betas, decay=schedule.decay)
    with ThreadPoolExecutor(schedule.workers) as workers:
        for index in range(schedule.steps):
            began = time.perf_counter()
            rate = schedule.rate * cosine(index, schedule.steps, warmup=schedule.warmup)
            loss = _gradient(policy, batch(index), schedule.whole, workers, schedule.workers)
            norm = optimiser.step(rate, schedule.clip)
            check_finite(policy, loss, f"pre-training step {index + 1}")
            yield {
                "step": index + 1,
                "loss": loss,
                "rate": rate,
                "grad_norm": norm,
                "seconds": time.perf_counter() - began,
            }


def mean_loss(policy: Policy, texts: Sequence[Text], whole: bool = False) -> float:
    """Nats a predicted token over `texts`, without training."""
    weights, total, count = Weights(policy), 0.0, 0
    with torch.no_grad():
        for chunk in teacher_forced(texts, whole=whole):
            total += float(negative_log_likelihood(weights.predictions(chunk), chunk.targets).double().sum())
            count += len(chunk.targets)
    return total / count


def check_finite(policy: Policy, loss: float, where: str) -> None:
    """Raises UserError, saying where, when the loss or a weight is NaN or infinite."""
    broken = "loss" if not math.isfinite(loss) else None
    if broken is None and not torch.isfinite(policy.flat.sum()):
        broken = next((name for name, value in policy.tensors().items() if not torch.isfinite(value).all()), "weights")
    if broken:
        raise UserError(f"{where}: the {broken} is NaN or infinite; lower the learning rate and train again")


def _gradient(policy: Policy, texts: Sequence[Text], whole: bool, workers: ThreadPoolExecutor, count: int) -> float:
    """Puts the gradient of the mean loss over all predicted tokens into `policy.grad`; returns that loss.

    Each of the `count` workers has every count-th chunk and gathers its gradients apart; they are added up in the
    workers' order, so that the sum does not depend on who is faster.
    """
    policy.grad.zero_()
    predicted = sum(len(completion) + (len(prompt) - 1 if whole else 0) for prompt, completion in texts)
    tokens = sum(len(prompt) + len(completion) for prompt, completion in texts)
    # Twice as many chunks as workers, since short and long ones alternate.
    limit = TOKENS if count == 1 else min(TOKENS, -(-tokens // (2 * count)))
    chunks = list(teacher_forced(texts, whole=whole, limit=limit))

    def share(worker: int) -> tuple[Weights, float]:
        weights, total = Weights(policy, trained=True), 0.0
        for chunk in chunks[worker::count]:
            loss = negative_log_likelihood(weights.predictions(chunk), chunk.targets).sum() / predicted
            loss.backward()
            total += float(loss.detach())
        return weights, total

    shares = list(workers.map(share, range(min(count, len(chunks)))))
    for weights, _ in shares:
        weights.backward()
    return sum(total for _, total in shares)
