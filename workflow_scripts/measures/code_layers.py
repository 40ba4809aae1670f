"""How far the programs of each policy come: the share of samples at every layer, by set and family.

The problem is the unit: a rate is the mean over problems of the share of their samples.
"""

from collections.abc import Mapping, Sequence
from itertools import pairwise

import pandas as pd

from workflow_scripts.measures import benchmark_means
from workflow_scripts.records import seeds
from workflow_scripts.records.errors import UserError
from workflow_scripts.tasks.scicode.verdicts import LAYERS

MEASURES: Mapping[str, str] = {
    "extracted": "a program was found in the text",
    "parses": "and it parses",
    "defines": "and it defines a callable `answer`",
    "runs": "and every call of it returns",
    "typed": "and every value has the right type",
    "correct": "and every check passes",
    "passed_share": "share of checks that pass, whatever the other checks of the problem gave",
    "format_ok": "the text is one closed block with one definition of `answer`, and nothing else",
}
"""Columns of the table. The first six are the layers: shares of all samples, each at most the one before it."""

ALL = "all"
"""Stands for all families of a set."""


def layer_values(scores: pd.DataFrame) -> pd.DataFrame:
    """Every measure for every policy and problem: columns policy, set, family, problem_id, measure, value in [0, 1].

    scores: SCICODE_SCORES of one or many policies. Raises UserError for no scores, and for a layer that holds where one
    before it does not.
    """
    if scores.empty:
        raise UserError("there are no scores of programs; sample the policies first")
    flags = scores[[*LAYERS]].astype(bool)
    for before, after in pairwise(LAYERS):
        if (flags[after] & ~flags[before]).any():
            raise UserError(f"some scores say {after} and not {before}; remake them with stages/scicode_scores")
    numbers = flags.astype(float).assign(
        passed_share=scores["passed"] / scores["checks"], format_ok=scores["format_ok"].astype(float)
    )
    keys = ["policy", "set", "family", "problem_id"]
    means = numbers.groupby([scores[key] for key in keys], sort=True)[[*MEASURES]].mean()
    return means.reset_index().melt(keys, var_name="measure", value_name="value")


def layer_rates(
    scores: pd.DataFrame,
    entries: Mapping[str, Sequence[str]],
    *,
    seed: int,
    draws: int,
    confidence: float = 0.95,
) -> pd.DataFrame:
    """Means over problems with bootstrap intervals: columns entry, set, family (ALL first), measure, estimate, low,
    high, problems; entries in their order, measures in that of MEASURES.

    scores: as of `layer_values`. entries: name to policies, one per training seed. seed, draws, confidence: of the
    study's bootstrap over problems (and seeds, where there are several), one for all policies and measures of a set.
    Raises UserError for a policy of `entries` without scores.
    """
    values = layer_values(scores)
    parts = []
    for name, rows in values.groupby("set", sort=True):
        wholes = rows.assign(benchmark=ALL)
        frame = pd.concat([wholes, rows.assign(benchmark=rows["family"])], ignore_index=True)
        # Every set gets resamples of its own.
        drawn = benchmark_means.summary(
            frame, entries, seed=seeds.key("code layers", name, seed), draws=draws, confidence=confidence
        )
        parts.append(drawn[drawn["benchmark"] != benchmark_means.MEAN].assign(set=name))
    found = pd.concat(parts, ignore_index=True).rename(columns={"benchmark": "family"})
    orders = {"entry": [*entries], "measure": [*MEASURES]}
    for column, order in orders.items():
        found[column] = pd.Categorical(found[column], order, ordered=True)
    found["first"] = found["family"] != ALL
    found = found.sort_values(["set", "first", "family", "entry", "measure"]).reset_index(drop=True)
    columns = ["entry", "set", "family", "measure", "estimate", "low", "high", "problems"]
    return found[columns].astype(dict.fromkeys(orders, str))
