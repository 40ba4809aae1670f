"""Which families survive training: does the chance that a rewarded group holds a family, 1 − (1 − q μ)^G, foretell it?

Paper, section on why entrances lock; reference protocol, section 4.3.
"""

from collections.abc import Mapping, Sequence

import numpy as np
import pandas as pd

from workflow_scripts.measures.pairs import pair_rows, paired
from workflow_scripts.measures.statistics import Bootstrap
from workflow_scripts.records.schemas import OUTSIDE

ALIVE = 1e-3
"""Probability at temperature 1 from which on a family counts as alive: 320 samples then show it one time in four."""


def survival_rows(
    frame: pd.DataFrame,
    problems: Sequence[str],
    bootstrap: Bootstrap,
    entries: Mapping[str, Sequence[str]],
    pair: tuple[str, str] = ("early", "late"),
    *,
    group: int,
    alive: float = ALIVE,
) -> pd.DataFrame:
    """Whether the chance that a rewarded group holds a family foretells its survival: rows as comparison.contrasts.

    frame: access.cells of both ends. group: samples of a prompt in one training step, G. alive: probability at
    temperature 1 from which on a family counts as alive; families alive at the first end are looked at. Measures:
    survival_auc_group (of 1 − (1 − q μ)^G, the same for every G), survival_auc_access (of q), survival_auc_execution
    (of μ): the chance that a survivor scores above one that died, over pairs from all problems, ½ if nothing is
    foretold; survival_group: `start` the mean of the formula, `end` the share of families that survive, estimate their
    difference, means within problems first.
    """
    both = paired(frame, entries[pair[0]], entries[pair[1]])
    both = both[(both["opening"] != OUTSIDE) & (both["probability_before"] >= alive)]
    q, mu = both["probability_before"], both["any_valid_before"]
    scores = {"group": 1 - (1 - q * mu) ** group, "access": q, "execution": mu}
    survived = both["probability_after"] >= alive
    rows = []
    for name, score in scores.items():
        wins, pairs = _comparisons(both, score.to_numpy(), survived.to_numpy(), problems)
        estimate, low, high = _auc(wins, pairs, bootstrap)
        row = {"before": pair[0], "after": pair[1], "measure": f"survival_auc_{name}", "start": np.nan, "end": np.nan}
        row |= {"estimate": estimate, "low": low, "high": high, "problems": both["problem_id"].nunique()}
        rows.append(pd.DataFrame([row]))
    means = pd.DataFrame({"start": scores["group"], "end": survived.astype(float)})
    means = means.groupby([both["policy"], both["problem_id"]]).mean().reset_index()
    means = means.assign(measure="survival_group", value=means["end"] - means["start"])
    return pd.concat([*rows, pair_rows(means, problems, entries[pair[1]], bootstrap, pair)], ignore_index=True)


def _comparisons(
    both: pd.DataFrame, score: np.ndarray, survived: np.ndarray, problems: Sequence[str]
) -> tuple[np.ndarray, np.ndarray]:
    """Pairs of a survivor (first problem axis) and a dead family (second) of one policy: how many the survivor wins,
    ties half, and how many there are. Both (seeds, problems, problems)."""
    seed, policies = pd.factorize(both["policy"], sort=True)
    place = pd.Index(sorted(problems)).get_indexer(both["problem_id"])
    wins = np.zeros((len(policies), len(problems), len(problems)))
    pairs = np.zeros_like(wins)
    for s in range(len(policies)):
        lived, died = np.flatnonzero((seed == s) & survived), np.flatnonzero((seed == s) & ~survived)
        difference = score[lived][:, None] - score[died][None, :]
        where = (s, place[lived][:, None], place[died][None, :])
        np.add.at(wins, where, (np.sign(difference) + 1) / 2)
        np.add.at(pairs, where, 1.0)
    return wins, pairs


def _auc(wins: np.ndarray, pairs: np.ndarray, bootstrap: Bootstrap) -> tuple[float, float, float]:
    if not pairs.any():
        return np.nan, np.nan, np.nan
    weights, seeds = bootstrap.problem_weights, bootstrap.seed_weights

    def weighted(counts: np.ndarray) -> np.ndarray:
        return sum(seeds[:, s] * ((weights @ counts[s]) * weights).sum(axis=1) for s in range(len(counts)))

    with np.errstate(invalid="ignore", divide="ignore"):
        low, high = bootstrap.interval((weighted(wins) / weighted(pairs))[:, None])
        return float(wins.sum() / pairs.sum()), low[0], high[0]
