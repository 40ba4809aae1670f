"""Every reward by name, and the rewards of a config."""

from collections.abc import Mapping
from typing import Any

from workflow_scripts.tasks.scicode.rewards.compositions import Composition
from workflow_scripts.tasks.scicode.rewards.judged import JUDGED
from workflow_scripts.tasks.scicode.rewards.references import PROGRAMMATIC
from workflow_scripts.tasks.scicode.rewards.specifications import composition


def rewards_of(config: Mapping[str, str | Mapping[str, Any]]) -> dict[str, Composition]:
    """The rewards of a config (`scicode.rewards`): each the name of one of REWARDS or a specification, whose `base` may
    name one of them. Raises UserError that names the key."""
    return {name: composition(spec, name=name, known=REWARDS) for name, spec in config.items()}


def _built() -> dict[str, Composition]:
    made: dict[str, Composition] = {}
    for name, spec in SPECIFICATIONS.items():
        made[name] = composition(spec, name=name, known=made)
    return made


SPECIFICATIONS: Mapping[str, Mapping[str, Any]] = {**PROGRAMMATIC, **JUDGED}
"""Every reward as it could stand in a config."""

REWARDS: Mapping[str, Composition] = _built()
"""Every reward. Bases stand before what is built on them."""
