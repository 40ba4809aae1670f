"""A batch of sampled answers for training: decoded, freed of repetitions, judged, and described.

Identical completions of one prompt are kept once with their number: they would get the same reward, the same advantage
and the same gradient, so that forwarding them once with a larger weight is exact.
"""

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor

from workflow_scripts.policies.decoding import DecodeWeights, decode
from workflow_scripts.policies.model import Policy
from workflow_scripts.policies.tokenizer import Tokenizer
from workflow_scripts.records.errors import UserError

Reward = Callable[[list[tuple[int, str]]], list[dict]]
"""Takes (index of the problem, completion); gives a dict each with `score`, and if known `format_ok`, `formula_form`,
`think_opening`, `answer_opening`."""


@dataclass(frozen=True)
class Rollouts:
    """Distinct completions of a batch, by prompt.

    texts: token ids of prompt and completion, end token included. groups: int64 [texts], the prompt's place in the
    batch. counts: int64 [texts], how many samples said this. rewards: fp32 [texts]. stopped: bool [texts], ended by an
    end token. log_probs: fp32 [texts, longest], of each token at temperature 1, 0 after the end. verdicts: the reward's
    dicts. shape: prompts and samples.
    """

    texts: list[tuple[Sequence[int], Sequence[int]]]
    groups: Tensor
    counts: Tensor
    rewards: Tensor
    stopped: Tensor
    log_probs: Tensor
    verdicts: list[dict]
    shape: tuple[int, int]

    @property
    def lengths(self) -> Tensor:
        """Tokens of each completion, int64 [texts]."""
        return torch.tensor([len(completion) for _, completion in self.texts])

    def sampled(self, values: Tensor) -> Tensor:
        """A value of each text, [texts], dealt out to the samples: [prompts, samples], those of a prompt sorted."""
        return values.repeat_interleave(self.counts).view(self.shape)


def collect(
    policy: Policy,
    prompts: Sequence[Sequence[int]],
    problems: Sequence[int],
    keys: np.ndarray,
    reward: Reward,
    tokenizer: Tokenizer,
    *,
    temperature: float,
    top_p: float,
    max_new_tokens: int,
) -> Rollouts:
    """Samples answers to a batch of prompts and has them judged.

    prompts: token ids, one prompt a problem. problems: what `reward` knows each by. keys: uint64 [prompts, samples],
    each sample's random stream. Raises UserError where the reward is not a finite number.
    """
    weights = DecodeWeights.from_tensors(policy.tensors(), policy.architecture.config())
    decoded = decode(
        weights,
        prompts,
        keys,
        temperature=temperature,
        top_p=top_p,
        max_new_tokens=max_new_tokens,
        eos_id=tokenizer.end_id,
        log_probs=True,
    )
    texts, groups, counts, stopped, places = [], [], [], [], []
    for group, prompt in enumerate(prompts):
        said: dict[tuple[int, ...], list[int]] = {}
        rows = zip(decoded.tokens[group].tolist(), decoded.lengths[group].tolist(), strict=True)
        for sample, (tokens, length) in enumerate(rows):
            said.setdefault(tuple(tokens[:length]), []).append(sample)
        for tokens, samples in said.items():
            texts.append((prompt, tokens))
            groups.append(group)
            counts.append(len(samples))
            stopped.append(bool(decoded.stopped[group, samples[0]]))
            places.append((group, samples[0]))
    verdicts = reward([(problems[g], tokenizer.decode(text[1])) for g, text in zip(groups, texts, strict=True)])
    rewards = torch.tensor([float(verdict["score"]) for verdict in verdicts])
    if len(rewards) != len(texts) or not torch.isfinite(rewards).all():
        raise UserError("the reward function must give one finite score for each completion")
    return Rollouts(
        texts=texts,
        groups=torch.tensor(groups),
        counts=torch.tensor(counts),
        rewards=rewards,
        stopped=torch.tensor(stopped),
        log_probs=torch.from_numpy(decoded.log_probs[tuple(np.array(places).T)]),
        verdicts=verdicts,
        shape=(len(prompts), keys.shape[1]),
    )


def described(rollouts: Rollouts) -> dict[str, float]:
    """What a batch of answers looks like.

    reward, format_ok, truncated: shares of samples. length: tokens a sample. distinct: completions a sample.
    zero_variance: share of prompts whose rewards are all equal. entrance_entropy: nats, of the first step within a
    prompt's samples, averaged over prompts. distinct_formulas: different correct formulas a prompt.
    """
    prompts, samples = rollouts.shape
    shares = rollouts.counts / rollouts.counts.sum()
    rewards = rollouts.sampled(rollouts.rewards)
    formats = torch.tensor([float(verdict.get("format_ok", False)) for verdict in rollouts.verdicts])
    openings = [Counter() for _ in range(prompts)]
    formulas = [set() for _ in range(prompts)]
    told = zip(rollouts.groups.tolist(), rollouts.counts.tolist(), rollouts.verdicts, strict=True)
    for group, count, verdict in told:
        if verdict.get("think_opening"):
            openings[group][verdict["think_opening"]] += count
        if verdict["score"] > 0 and verdict.get("formula_form"):
            formulas[group].add(verdict["formula_form"])
    return {
        "reward": float(shares @ rollouts.rewards),
        "format_ok": float(shares @ formats),
        "truncated": float(shares @ (~rollouts.stopped).to(shares.dtype)),
        "length": float(shares @ rollouts.lengths.to(shares.dtype)),
        "distinct": len(rollouts.texts) / (prompts * samples),
        "zero_variance": float((rewards == rewards[:, :1]).all(dim=1).float().mean()),
        "entrance_entropy": _mean([_entropy(counter) for counter in openings if counter]),
        "distinct_formulas": _mean([len(found) for found in formulas]),
    }


def _entropy(counter: Counter) -> float:
    shares = np.array(list(counter.values())) / counter.total()
    return float(-(shares * np.log(shares)).sum())


def _mean(values: list[float]) -> float:
    return float(np.mean(values)) if values else 0.0
