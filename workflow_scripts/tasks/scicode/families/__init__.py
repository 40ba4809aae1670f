"""All families of problems by name, in the order in which sets go through them."""

from collections.abc import Mapping

from workflow_scripts.tasks.scicode.families import (
    kinetics,
    lattice,
    metrology,
    operators,
    optics,
    quantum,
    sequences,
    statistical,
)
from workflow_scripts.tasks.scicode.families.kinds import DERIVED, LEVELS, Family, made

__all__ = ["DERIVED", "FAMILIES", "LEVELS", "Family", "made"]

_TOPICS = (quantum, statistical, kinetics, optics, sequences, operators, lattice, metrology)

FAMILIES: Mapping[str, Family] = {family.name: family for topic in _TOPICS for family in topic.FAMILIES}
"""By name."""
