"""The classifier behind leak screening: which number comes after a rung, told from the scaffold's text or without it.

A conditional logit over candidates, realised as scikit-learn's LogisticRegression (L2, C = 1) on candidate rows;
log-probabilities are softmaxed within a continuation, and the fit is cross-fitted by problem (GroupKFold). Baseline
features of a candidate: its log share under the same (policy, problem, family), this scaffold left out and neutral
continuations included; whether it is `other`. Scaffold features: FEATURES.
"""

from collections.abc import Sequence

import numpy as np
import pandas as pd

OTHER = -1
"""Stands for what is none of the candidates."""

FOLDS = 5

_SMOOTHING = 0.5

FEATURES = (
    "follows",  # `a op c` stands in the scaffold or across its rung
    "swapped",  # `c op a` does
    "with_a",  # c and a are the operands of one step
    "operand",  # share of steps with c as an operand
    "first_step",  # c is an operand of the first step
    "last_step",  # c is an operand of the last step
    "operator",  # share of steps with c as an operand and this operator
    "result",  # c is the result of a step
)
"""Features of a candidate c for the rung `try a op`, in order; shares and flags, all in [0, 1]."""

_OPERATORS = frozenset("+-*/")


def features(family: str, candidates: Sequence[int], before: str, after: str, width: int) -> np.ndarray:
    """FEATURES of each candidate, (width, len(FEATURES)): row 0 stands for none of them and is 0, as are spare rows.

    family: the rung's, `4*`. before, after: scaffold text before and after the rung inside the prefix.
    """
    first, operator = family[:-1], family[-1]
    steps = _steps([*before.split(), first, operator, *after.split()] if after else before.split())
    table = np.zeros((width, len(FEATURES)))
    if not steps:
        return table
    for row, candidate in enumerate(candidates, start=1):
        c = str(candidate)
        uses = [step for step in steps if c in (step[0], step[2])]
        table[row] = (
            (first, operator, c) in [step[:3] for step in steps],
            (c, operator, first) in [step[:3] for step in steps],
            any((first, c) in ((step[0], step[2]), (step[2], step[0])) for step in steps),
            len(uses) / len(steps),
            c in steps[0][:3:2],
            c in steps[-1][:3:2],
            sum(step[1] == operator for step in uses) / len(steps),
            any(step[3] == c for step in steps),
        )
    return table


def _steps(words: Sequence[str]) -> list[tuple[str, str, str, str]]:
    """(a, operator, b, result) of every `a op b = c` in the words, the result empty where it is missing."""
    found = []
    for at in range(1, len(words) - 1):
        if words[at] in _OPERATORS and words[at - 1].isdecimal() and words[at + 1].isdecimal():
            done = at + 3 < len(words) and words[at + 2] == "="
            found.append((words[at - 1], words[at], words[at + 1], words[at + 3] if done else ""))
    return found


class Design:
    """Candidate rows of one kind of scaffold.

    A unit is a scaffold in a family, a block the continuations of a unit by one policy. Units are sorted by group, so
    that a permutation within groups is an order of the units.
    """

    def __init__(self, rows: pd.DataFrame, reference: pd.DataFrame):
        """rows: as in screening.ROWS, with a column `group` that says among which scaffolds texts change places.
        reference: rows of the same kind and neutral ones, for the baseline."""
        keys = ["group", "problem_id", "family", "scaffold_id"]
        units = rows.drop_duplicates(keys).sort_values(keys, ignore_index=True)
        width = 1 + units["candidates"].map(len).max()
        self.groups = units["group"].factorize()[0]
        self.own = np.arange(len(units))
        sizes = np.bincount(self.groups)[self.groups]
        starts = np.searchsorted(self.groups, self.groups)
        self.features = np.stack(
            [
                features(unit.family, unit.candidates, units["before"][other], units["after"][other], width)
                for unit, start, size in zip(units.itertuples(), starts, sizes)
                for other in range(start, start + size)
            ]
        )  # (unit with each text of its group, candidate, feature)
        self.first = np.cumsum(sizes) - sizes - starts
        blocks = rows.merge(units.reset_index(names="unit")[["unit", *keys]])
        blocks = blocks.groupby(["policy", "problem_id", "family", "unit"])["y"].agg(list).reset_index()
        self.units = blocks["unit"].to_numpy()
        self.problems = blocks["problem_id"].to_numpy()
        candidates = units["candidates"][self.units]
        self.hits = np.stack([_counts(*block, width) for block in zip(blocks["y"], candidates)])  # (block, candidate)
        self.present = np.arange(width) <= candidates.map(len).to_numpy()[:, None]
        names = ["policy", "problem_id", "family"]
        outcomes = reference.groupby(names)["y"].agg(list).to_dict()
        keyed = zip(blocks[names].itertuples(index=False, name=None), candidates)
        elsewhere = [_counts(outcomes[key], known, width) for key, known in keyed]
        self.shares = self._shares(np.stack(elsewhere) - self.hits)
        self.folds = self._folds()
        self.misses = self.hits.sum(axis=1, keepdims=True) - self.hits
        self.base, fits = self._fit(self.shares, [None] * FOLDS)
        # Every fit with the scaffold begins where it is ignored: a start that no order of the texts is favoured by.
        self.starts = [np.concatenate([fit[:-1], np.zeros(len(FEATURES)), fit[-1:]]) for fit in fits]

    def _shares(self, counts: np.ndarray) -> np.ndarray:
        """(block, candidate, 2): smoothed log share of the candidate among `counts`, and whether it is `other`."""
        counts = np.where(self.present, counts + _SMOOTHING, 0.0)
        with np.errstate(divide="ignore"):
            shares = np.log(counts / counts.sum(axis=1, keepdims=True))
        is_other = np.broadcast_to(np.arange(counts.shape[1]) == 0, counts.shape)
        return np.stack([np.where(self.present, shares, 0.0), is_other], axis=2)

    def _folds(self) -> list[tuple[np.ndarray, np.ndarray]]:
        from sklearn.model_selection import GroupKFold

        return list(GroupKFold(FOLDS).split(self.hits, groups=self.problems))

    def shuffled(self, stream: np.random.Generator) -> np.ndarray:
        """For each unit, the unit whose text it gets."""
        return np.lexsort((stream.random(len(self.groups)), self.groups))

    def gains(self, texts: np.ndarray) -> pd.Series:
        """Mean gain per continuation of each problem, nats, where unit i has the text of unit texts[i]."""
        seen = self.features[(self.first + texts)[self.units]]
        difference = self._fit(np.concatenate([self.shares, seen], axis=2), self.starts)[0] - self.base
        gain = pd.Series((self.hits * difference).sum(axis=1)).groupby(self.problems).sum()
        return gain / pd.Series(self.hits.sum(axis=1)).groupby(self.problems).sum()

    def _fit(self, design: np.ndarray, starts: Sequence[np.ndarray | None]) -> tuple[np.ndarray, list[np.ndarray]]:
        """Cross-fitted log-probability of each candidate, (block, candidate), 0 where there is none; and each fold's
        coefficients, the intercept last.

        starts: coefficients from which each fold's fit begins.
        """
        found, fits = np.zeros(self.hits.shape), []
        for (train, test), start in zip(self.folds, starts, strict=True):
            present = self.present[train]
            fitted = _fitted(design[train][present], self.hits[train][present], self.misses[train][present], start)
            scores = design[test] @ fitted[:-1] + fitted[-1]
            # Log-probabilities, not log-odds: these would be too sure of themselves where there are three candidates
            scores = np.where(self.present[test], -np.logaddexp(0, -scores), -np.inf)
            scores -= np.logaddexp.reduce(scores, axis=1, keepdims=True)
            found[test] = np.where(self.present[test], scores, 0.0)
            fits.append(fitted)
        return found, fits


def _fitted(design: np.ndarray, hits: np.ndarray, misses: np.ndarray, start: np.ndarray | None) -> np.ndarray:
    """Coefficients of candidate rows (rows, features), the intercept last; rows count `hits` times as chosen, `misses`
    times as not."""
    from sklearn import config_context
    from sklearn.linear_model import LogisticRegression

    model = LogisticRegression(solver="newton-cholesky", warm_start=True)
    if start is not None:
        model.coef_, model.intercept_ = start[None, :-1], start[-1:]
    chosen, other = hits > 0, misses > 0
    with config_context(assume_finite=True, skip_parameter_validation=True):
        model.fit(
            np.concatenate([design[chosen], design[other]]),
            np.repeat([1, 0], [chosen.sum(), other.sum()]),
            sample_weight=np.concatenate([hits[chosen], misses[other]]),
        )
    return np.concatenate([model.coef_[0], model.intercept_])


def _counts(y: Sequence[int], candidates: tuple[int, ...], width: int) -> np.ndarray:
    """How often each candidate follows: (width,), `other` first."""
    places = {OTHER: 0} | {candidate: at for at, candidate in enumerate(candidates, start=1)}
    return np.bincount([places[value] for value in y], minlength=width).astype(float)
