"""The settings of every intervention as plain rows: what is tried on the calibration problems."""

from collections.abc import Mapping

BASELINE = "baseline"
"""Intervention of the two rows that are compared with: the late policy and the early one, as they are."""

STRATEGIES = ("global", "reasoning", "answer", "entropy_adaptive")

MATCHED = ("allocation", "proposed", "early_allocation")
"""Interventions that choose how a budget is spent: they are given the tokens that the plain policy used, no more."""

HOT = "hot"
"""The setting whose samples propose entrances."""


def grid(given: Mapping) -> list[dict]:
    """Rows for policies.interventions.settings_of; the policies are called `late` and `early`.

    given: keys blocks, alphas, mixed, drawings (dicts of temperature, top_p, min_p). Of an intervention's settings that
    do the same the first is chosen.
    """
    rows = [{"setting": "late", "policy": "late", "intervention": BASELINE}]
    rows.append({"setting": "early", "policy": "early", "intervention": BASELINE})
    for blocks in given["blocks"]:
        where = "all weights" if blocks is None else f"blocks {blocks[0]}-{blocks[1] - 1}"
        for alpha in given["alphas"]:
            row = {"change": "interpolation", "partner": "early", "blocks": blocks, "alpha": alpha}
            rows.append(_late("interpolation", f"{where}, {alpha:g} of early", **row))
    for strategy in STRATEGIES:
        for alpha in given["mixed"]:
            row = {"change": "mixing", "partner": "early", "strategy": strategy, "alpha": alpha}
            rows.append(_late(f"mixing_{strategy}", f"{alpha:g} of early", **row))
    for drawing in given["drawings"]:
        temperature, top_p, min_p = (drawing[key] for key in ("temperature", "top_p", "min_p"))
        name, words = ("min_p", f", min-p {min_p:g}") if min_p else ("temperature", f", top-p {top_p:g}")
        row = {"temperature": temperature, "top_p": top_p, "min_p": min_p}
        rows.append(_late(name, f"temperature {temperature:g}{words}", **row))
    rows += [
        _late("reordered", "", requests="reordered"),
        _late("forced_operator", "", requests="forced_operator"),
        _late("checkpoints", "half of each", change="checkpoints", partner="early"),
        _late("allocation", "solver's menu", requests="solver"),
        _late("proposed", "early samples", requests="early"),
        _late("proposed", "agreed answers", requests="agreed"),
        _late("proposed", "hot samples", requests=HOT),
        {"setting": "early_allocation", "policy": "early", "intervention": "early_allocation", "requests": "solver"},
    ]
    return rows


def _late(intervention: str, words: str, **row: object) -> dict:
    setting = f"{intervention}: {words}" if words else intervention
    return {"setting": setting, "policy": "late", "intervention": intervention} | row


def candidates(rows: list[dict]) -> dict[str, list[str]]:
    """Intervention to its settings, in order, of those that a choice is made among."""
    found: dict[str, list[str]] = {}
    for row in rows:
        if row["intervention"] not in (BASELINE, "early_allocation"):
            found.setdefault(row["intervention"], []).append(row["setting"])
    return found


def partners(steps: Mapping[str, int], alpha: float) -> list[dict]:
    """Rows of the curve over the early partner: `interpolation` (all weights) and `checkpoints` with each kept policy.

    steps: policy to its training step.
    """
    rows = [{"setting": "late", "policy": "late", "intervention": BASELINE}]
    for policy, step in steps.items():
        rows.append(_late("interpolation", f"{step}", change="interpolation", partner=policy, alpha=alpha))
        rows.append(_late("checkpoints", f"{step}", change="checkpoints", partner=policy))
    return rows
