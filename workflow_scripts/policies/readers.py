"""Which reader goes with which weights: the numpy one with DecodeWeights, a transformers model's own with any other."""

from typing import Any

from workflow_scripts.policies.decoding_weights import DecodeWeights
from workflow_scripts.policies.inference import Reader


def reading(weights: Any) -> Reader:
    """What `decode` asks: a reader of the small policies, or that of a policies.foreign_model.ForeignPolicy."""
    return Reader(weights) if isinstance(weights, DecodeWeights) else weights.reader()
