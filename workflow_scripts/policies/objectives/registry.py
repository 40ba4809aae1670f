"""Countermeasures against the loss of breadth, by name: `entrance_entropy` is the module `entrance_entropy.py` here.

Such a module offers one of two hooks, and one number, its coefficient, sets it:

    advantages(rollouts, coefficient, *, divide) -> fp32 [prompts, samples], in place of `group_advantages`
    entropy_bonus(rollouts, weights, tokenizer, coefficient) -> fp32 [texts, longest], coefficient of each token's
        entropy in the loss; weights: fp32 [texts], what a token of each text weighs there

A module is imported when a line names it and not before, so that a line depends on the code of those it uses, and a
new one changes no other line.
"""

import importlib.util
from collections.abc import Mapping
from types import ModuleType

from torch import Tensor

from workflow_scripts.policies.objectives.advantages import group_advantages
from workflow_scripts.policies.rollouts import Rollouts
from workflow_scripts.policies.tokenizer import Tokenizer
from workflow_scripts.records.errors import UserError

HOOKS = ("advantages", "entropy_bonus")


def find(name: str) -> ModuleType:
    """The countermeasure's module. Raises UserError where there is none of that name in this package."""
    path = f"{__package__}.{name}"
    # A name with dots would lead out of this package.
    if name.isidentifier() and importlib.util.find_spec(path):
        module = importlib.import_module(path)
        if any(callable(getattr(module, hook, None)) for hook in HOOKS):
            return module
    raise UserError(f"there is no countermeasure {name!r}; each is a file of that name beside policies/objectives")


def check(named: Mapping[str, float] | None) -> None:
    """Refuses what cannot be combined: unknown names, coefficients not above 0, two that set the advantages."""
    setting = []
    for name, coefficient in (named or {}).items():
        if hasattr(find(name), "advantages"):
            setting.append(name)
        if not 0 < coefficient < float("inf"):
            raise UserError(f"countermeasure {name} is {coefficient}; it must be above 0, or be left out")
    if len(setting) > 1:
        raise UserError(f"countermeasures {' and '.join(setting)} both set the advantages; choose one")


def sample_advantages(named: Mapping[str, float] | None, rollouts: Rollouts, *, divide: bool) -> Tensor:
    """Advantage of each sample, fp32 [prompts, samples], 0 on average over a prompt: GRPO's, unless one sets them."""
    for name, coefficient in (named or {}).items():
        if hook := getattr(find(name), "advantages", None):
            return hook(rollouts, coefficient, divide=divide)
    return group_advantages(rollouts.sampled(rollouts.rewards), divide=divide)


def entropy_coefficients(
    named: Mapping[str, float] | None, rollouts: Rollouts, weights: Tensor, tokenizer: Tokenizer
) -> Tensor | None:
    """Coefficient of each token's entropy, fp32 [texts, longest], summed over those that give one; None without."""
    total = None
    for name, coefficient in (named or {}).items():
        if hook := getattr(find(name), "entropy_bonus", None):
            found = hook(rollouts, weights, tokenizer, coefficient)
            total = found if total is None else total + found
    return total
