"""Which roads of a study play which part: arms and their control, doses, the continuation; and what each cost."""

from collections.abc import Mapping, Sequence

import pandas as pd

CONTROL = "control"

BROAD = 4
"""Demonstrations a problem of the supervised policy that claims C30 and C32 are about."""


def _shown(road: Mapping) -> bool:
    """Whether a road is fine-tuning, all weights, from the base on solver-built solutions of different entrances."""
    plain = road["kind"] == "sft" and road["start"] == "base" and not road["lora"]
    return plain and road["source"] == "solver" and road["choice"] == "diverse"


def arms_of(roads: Sequence[Mapping]) -> dict[str, list[str]]:
    """Arms of the comparison of countermeasures to their policies, the control first; empty without a control."""
    arms = {road["name"]: road["policies"] for road in roads if road["role"] == "arm"}
    return {CONTROL: arms[CONTROL]} | arms if CONTROL in arms else {}


def doses_of(roads: Sequence[Mapping]) -> dict[int, list[str]]:
    """Number of solver-built solutions a problem to the policies fine-tuned on them, ascending."""
    doses = {road["demonstrations"]: road["policies"] for road in roads if _shown(road)}
    return dict(sorted(doses.items()))


def continuation_of(roads: Sequence[Mapping]) -> Mapping | None:
    """The road that goes on with reinforcement learning from the policy fine-tuned on BROAD solutions a problem."""
    broad = {road["name"] for road in roads if _shown(road) and road["demonstrations"] == BROAD}
    found = (road for road in roads if road["kind"] == "grpo" and road["role"] == "road" and road["start"] in broad)
    return next(found, None)


def training_tokens(roads: Sequence[Mapping], name: str, metrics: Mapping[str, pd.DataFrame]) -> float:
    """Completion tokens that a road's training saw, mean over its seeds, those of its starts included.

    metrics: rows of every update by policy: `tokens` so far (supervised, preferences), or `length` a sample and the
    number of samples of a step. For reinforcement learning the sampled tokens of all steps.
    """
    by_name = {road["name"]: road for road in roads}
    road = by_name[name]
    own = [_tokens(metrics[policy], road) for policy in road["policies"]]
    before = 0.0 if road["start"] == "base" else training_tokens(roads, road["start"], metrics)
    return sum(own) / len(own) + before


def _tokens(rows: pd.DataFrame, road: Mapping) -> float:
    if "tokens" in rows:
        return float(rows["tokens"].iloc[-1])
    return float(rows["length"].sum() * road["samples_a_step"])
