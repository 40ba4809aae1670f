"""Reinforcement learning with a verifiable reward, in segments: from one saved state to the next.

GRPO by default, PPO with a learned critic by choice; the objectives are pure functions in `policies/objectives`. Step s
of a line is a function of the state after step s - 1, the seed and s alone: prompts come from permutations keyed by the
epoch, tokens from streams keyed by (seed, line, step, prompt, sample). So 4 steps equal 2 + 2, bit for bit.

Deviations from the textbook: one update a batch by default, hence no ratio to clip; prompts whose samples all got the
same reward are left out of the forward pass, since they move nothing; identical samples are forwarded once; a critic
sees each answer once a step, its values give the advantages and its error its update; the reward is the judge's alone,
KL and entropy are terms of the loss (zero by default).
"""

import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import torch

from workflow_scripts.policies import rollouts as answers
from workflow_scripts.policies.model import Policy, Weights
from workflow_scripts.policies.objectives import registry
from workflow_scripts.policies.objectives.advantages import token_weights, whiten
from workflow_scripts.policies.pretraining import check_finite
from workflow_scripts.policies.rollouts import Reward, Rollouts
from workflow_scripts.policies.state import TrainingState
from workflow_scripts.policies.tokenizer import Tokenizer
from workflow_scripts.policies.updates import Penalties, critic_gradient, measured, policy_gradient
from workflow_scripts.records import seeds
from workflow_scripts.records.errors import UserError


@dataclass(frozen=True)
class LineSettings:
    """What a training line is made with; a state can only be continued with the same.

    line: its name in the random streams. objective: grpo or ppo. prompts, samples: of a step. rate: learning rate of
    the policy. average: see `token_weights`. divide: advantages over their group's deviation; Dr.GRPO is
    `divide=False, average="constant"`. kl, entropy: coefficients in the loss. clip_low, clip_high: bounds of the ratio.
    clip_norm: largest gradient norm. parts: updates a step makes, each on its part of the prompts. Of PPO: critic_rate,
    gamma, lam. measured: prompts of a step on which entropy and KL are measured. countermeasures: of grpo, coefficients
    by name (see `objectives/registry.py`), None without.
    """

    seed: int
    line: str
    objective: str = "grpo"
    prompts: int = 64
    samples: int = 8
    temperature: float = 1.0
    top_p: float = 1.0
    max_new_tokens: int = 64
    rate: float = 1e-4
    average: str = "token"
    divide: bool = True
    kl: float = 0.0
    entropy: float = 0.0
    clip_low: float = 0.2
    clip_high: float = 0.2
    clip_norm: float = 1.0
    parts: int = 1
    critic_rate: float = 1e-3
    gamma: float = 1.0
    lam: float = 1.0
    measured: int = 16
    countermeasures: Mapping[str, float] | None = None

    def __post_init__(self) -> None:
        if self.objective not in ("grpo", "ppo"):
            raise UserError(f"objective is {self.objective!r}; choose grpo or ppo")
        if self.average not in ("token", "sequence", "constant"):
            raise UserError(f"average is {self.average!r}; choose token, sequence or constant")
        if self.objective == "grpo" and self.samples < 2:
            raise UserError("grpo compares the samples of a prompt: samples must be at least 2")
        if min(self.prompts, self.samples, self.parts, self.max_new_tokens) < 1 or self.parts > self.prompts:
            raise UserError("prompts, samples, parts and max_new_tokens must be at least 1, parts at most prompts")
        if self.countermeasures and self.objective != "grpo":
            raise UserError(f"countermeasures are for grpo, not for {self.objective}")
        registry.check(self.countermeasures)

    @property
    def critic(self) -> bool:
        return self.objective == "ppo"


def train_segment(
    state: TrainingState,
    start: Policy,
    prompts: Sequence[Sequence[int]],
    reward: Reward,
    tokenizer: Tokenizer,
    settings: LineSettings,
    last_step: int,
) -> Iterator[dict]:
    """The rows of `observed_segment`."""
    for row, _ in observed_segment(state, start, prompts, reward, tokenizer, settings, last_step):
        yield row


def observed_segment(
    state: TrainingState,
    start: Policy,
    prompts: Sequence[Sequence[int]],
    reward: Reward,
    tokenizer: Tokenizer,
    settings: LineSettings,
    last_step: int,
) -> Iterator[tuple[dict, Rollouts]]:
    """Trains `state` in place from its step to `last_step`; yields a row of metrics after each step, and its batch.

    The batch's `groups` are places among the step's prompts.
    start: the policy that the line began with; KL is measured from it. prompts: token ids, one a training problem.
    reward: judges (index of the prompt, completion text) pairs. Rows: step, what `rollouts.described` and
    `updates.measured` give, loss, clipped, grad_norm, value_loss (0 without critic), and the seconds of sampling,
    judging and all.
    Raises UserError, naming the step, when the loss or a weight is no longer finite.
    """
    if not prompts:
        raise UserError("there are no prompts to train on")
    reference = Weights(start)
    while state.step < last_step:
        step, began = state.step + 1, time.perf_counter()
        chosen = prompts_of_step(settings, len(prompts), step)
        keys = [[seeds.key(settings.seed, settings.line, step, index, sample) for sample in range(settings.samples)]
                for index in chosen]  # fmt: skip
        judged_in = 0.0

        def judge(pairs: list[tuple[int, str]]) -> list[dict]:
            nonlocal judged_in
            at = time.perf_counter()
            verdicts = reward(pairs)
            judged_in += time.perf_counter() - at
            return verdicts

        batch = answers.collect(
            state.policy,
            [prompts[index] for index in chosen],
            chosen,
            np.array(keys, dtype=np.uint64),
            judge,
            tokenizer,
            temperature=settings.temperature,
            top_p=settings.top_p,
            max_new_tokens=settings.max_new_tokens,
        )
        sampled_in = time.perf_counter() - began - judged_in
        row = {"step": step} | answers.described(batch)
        row |= measured(Weights(state.policy), reference, batch, _of_groups(batch, range(settings.measured)))
        row |= _update(state, batch, reference, tokenizer, settings, step)
        state.step = step
        row |= {
            "seconds_sampling": sampled_in,
            "seconds_judging": judged_in,
            "seconds": time.perf_counter() - began,
        }
        yield row, batch


def prompts_of_step(settings: LineSettings, count: int, step: int) -> list[int]:
    """Which of `count` prompts step 1, 2, … uses: each once an epoch, in an order drawn for the epoch."""
    places = range((step - 1) * settings.prompts, step * settings.prompts)
    orders = {
        epoch: seeds.generator(settings.seed, settings.line, "order", epoch).permutation(count)
        for epoch in {place // count for place in places}
    }
    return [int(orders[place // count][place % count]) for place in places]


def _update(
    state: TrainingState,
    batch: Rollouts,
    reference: Weights,
    tokenizer: Tokenizer,
    settings: LineSettings,
    step: int,
) -> dict[str, float]:
    """Updates critic and policy with one batch."""
    penalties = Penalties((settings.clip_low, settings.clip_high), settings.kl, settings.entropy)
    order = seeds.generator(settings.seed, settings.line, "parts", step).permutation(settings.prompts)
    parts = [_of_groups(batch, part.tolist()) for part in np.array_split(order, settings.parts)]
    totals = {"loss": 0.0, "clipped": 0.0, "grad_norm": 0.0, "value_loss": 0.0}
    advantages = torch.zeros(len(batch.texts), int(batch.lengths.max()))
    if state.critic is not None:
        for part in parts:
            loss = critic_gradient(state.critic, batch, part, advantages, gamma=settings.gamma, lam=settings.lam)
            state.critic.step(settings.critic_rate, settings.clip_norm)
            check_finite(state.critic.policy, loss, f"step {step} of line {settings.line}, critic")
            totals["value_loss"] += loss / len(parts)
        inside = torch.arange(advantages.shape[1])[None, :] < batch.lengths[:, None]
        advantages[inside] = whiten(advantages[inside], batch.counts.repeat_interleave(batch.lengths))
    else:
        gains = registry.sample_advantages(settings.countermeasures, batch, divide=settings.divide)
        firsts = torch.cumsum(batch.counts, 0) - batch.counts
        advantages += gains.flatten()[firsts][:, None]
    for number, part in enumerate(parts):
        weights = torch.zeros(len(batch.texts))
        lengths = torch.repeat_interleave(batch.lengths[part], batch.counts[part])
        shares = token_weights(lengths, settings.average, settings.max_new_tokens)
        weights[part] = shares[torch.cumsum(batch.counts[part], 0) - 1] * batch.counts[part]
        bonus = registry.entropy_coefficients(settings.countermeasures, batch, weights, tokenizer)
        moved = part
        if not settings.kl and not settings.entropy:
            moved = [place for place in part if advantages[place].any() or (bonus is not None and bonus[place].any())]
        if not moved:
            continue
        found = policy_gradient(
            state.actor,
            batch,
            moved,
            advantages,
            weights,
            penalties,
            reference=reference if settings.kl else None,
            bonus=bonus,
            on_policy=number == 0,
        )
        norm = state.actor.step(settings.rate, settings.clip_norm)
        check_finite(state.policy, found["loss"], f"step {step} of line {settings.line}")
        for name, value in (found | {"grad_norm": norm}).items():
            totals[name] += value / len(parts)
    return totals


def _of_groups(batch: Rollouts, groups: Sequence[int]) -> list[int]:
    """Places of the texts that answer these prompts of the batch."""
    wanted = torch.isin(batch.groups, torch.tensor(list(groups)))
    return torch.nonzero(wanted).flatten().tolist()
