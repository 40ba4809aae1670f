"""Rewards for programs: terms, compositions, the families of the reference system, and what judges are asked."""

from collections.abc import Mapping
from typing import Any

from workflow_scripts.tasks.scicode.rewards import specifications
from workflow_scripts.tasks.scicode.rewards.compositions import Composition
from workflow_scripts.tasks.scicode.rewards.evidence import Evidence, Judgement
from workflow_scripts.tasks.scicode.rewards.named import REWARDS, SPECIFICATIONS, rewards_of
from workflow_scripts.tasks.scicode.rewards.terms import TERMS

__all__ = ["REWARDS", "SPECIFICATIONS", "TERMS", "Composition", "Evidence", "Judgement", "composition", "rewards_of"]


def composition(spec: Mapping[str, Any] | str, *, name: str = "reward") -> Composition:
    """A reward from its specification (see `specifications`), or one of REWARDS by its name.

    name: what errors call it. Raises UserError that names the key.
    """
    return specifications.composition(spec, name=name, known=REWARDS)
