"""Sizes and settings of the small policies' trainers from the keys of the config (workflow_scripts/settings)."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from workflow_scripts.policies.architecture import Architecture
from workflow_scripts.policies.model import Policy
from workflow_scripts.policies.own_samples import own_samples
from workflow_scripts.policies.preferences import PreferenceSettings, prefer, preference_pairs
from workflow_scripts.policies.rollouts import Reward
from workflow_scripts.policies.tokenizer import Tokenizer
from workflow_scripts.policies.training import LineSettings


def architecture_of(sizes: Mapping[str, Any], vocabulary: Sequence[str]) -> Architecture:
    """Sizes of a policy that is trained from scratch. sizes: the config's section, heads of width hidden / heads."""
    return Architecture(
        vocabulary=len(vocabulary),
        model_type=sizes["architecture"],
        hidden=sizes["hidden"],
        layers=sizes["layers"],
        heads=sizes["heads"],
        head_dim=sizes["hidden"] // sizes["heads"],
        mlp=sizes["mlp"],
        positions=sizes["context"],
    )


def line_settings(given: Mapping[str, Any], *, seed: int, line: str) -> LineSettings:
    """The trainer's settings of a line or road. given: the keys of settings.training.Training."""
    return LineSettings(
        seed=seed,
        line=line,
        objective=given["algorithm"],
        prompts=given["prompts"],
        samples=given["samples"],
        temperature=given["temperature"],
        max_new_tokens=given["max_new_tokens"],
        rate=given["learning_rate"],
        average=given["average"],
        divide=given["normalise_std"],
        kl=given["kl"],
        entropy=given["entropy"],
        clip_low=given["clip"],
        clip_high=given["clip"] if given["clip_high"] is None else given["clip_high"],
        clip_norm=given["max_grad_norm"],
        parts=given["updates"],
        critic_rate=given["critic_learning_rate"],
        gamma=given["gamma"],
        lam=given["gae_lambda"],
        countermeasures=given["countermeasures"] or None,
    )


def prefer_own_samples(
    policy: Policy,
    tokenizer: Tokenizer,
    prompts: Sequence[str],
    reward: Reward,
    given: Mapping[str, Any],
    *,
    seed: int,
    max_new_tokens: int,
) -> Iterator[dict[str, float]]:
    """DPO of a policy, which it changes, on its own judged samples: a row of PREFERENCES for each step.

    given: the keys of settings.training.DpoRoad. seed: keys samples, pairs and batches.
    """
    samples = {"samples": given["samples"], "max_new_tokens": max_new_tokens}
    batch = own_samples(policy, prompts, reward, tokenizer, seed=seed, **samples)
    pairs = preference_pairs(batch, given["pairs_a_problem"], seed=seed)
    settings = PreferenceSettings(
        seed=seed,
        steps=given["steps"],
        pairs=given["pairs"],
        rate=given["learning_rate"],
        warmup=min(PreferenceSettings.warmup, given["steps"]),
        beta=given["beta"],
    )
    return prefer(policy, pairs, settings)
