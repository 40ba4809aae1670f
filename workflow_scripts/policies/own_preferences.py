"""DPO of a small policy on its own judged samples, from the keys of the config."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from workflow_scripts.policies.model import Policy
from workflow_scripts.policies.own_samples import own_samples
from workflow_scripts.policies.preferences import PreferenceSettings, prefer, preference_pairs
from workflow_scripts.policies.rollouts import Reward
from workflow_scripts.policies.tokenizer import Tokenizer


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
