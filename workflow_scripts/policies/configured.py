"""Settings of the reinforcement trainer from the keys of the config (workflow_scripts/settings/training.py)."""

from collections.abc import Mapping
from typing import Any

from workflow_scripts.policies.training import LineSettings


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
