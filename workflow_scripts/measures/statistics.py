"""Uncertainty: one bootstrap over problems (and seeds), and exact binomial bounds.

The problem is the unit. Everything that is compared shares one set of resamples, so that differences are paired.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from workflow_scripts.records import seeds


class Estimates(NamedTuple):
    """Arrays of one length: mean, ends of its interval, and the number of problems with a value."""

    value: np.ndarray
    low: np.ndarray
    high: np.ndarray
    problems: np.ndarray


@dataclass(frozen=True)
class Bootstrap:
    """Multinomial weights of resampled problems, and of resampled training seeds where a line was trained more than
    once.

    problem_weights: (draws, problems). seed_weights: (draws, seeds); all ones for a single seed.
    """

    problem_weights: np.ndarray
    seed_weights: np.ndarray
    confidence: float = 0.95

    @classmethod
    def over(
        cls, problems: int, *, seed: int, draws: int, seeds_per_line: int = 1, confidence: float = 0.95
    ) -> "Bootstrap":
        """Resamples for `problems` problems (in sorted order of their ids) keyed by the study `seed`; the same for
        the same arguments."""

        def weights(units: int, what: str) -> np.ndarray:
            stream = seeds.generator("bootstrap", what, seed)
            return stream.multinomial(units, np.full(units, 1 / units), size=draws).astype(float)

        return cls(weights(problems, "problems"), weights(seeds_per_line, "seeds"), confidence)

    @classmethod
    def of_line(cls, line: Mapping, problems: int, *, seed: int, draws: int, confidence: float = 0.95) -> "Bootstrap":
        """`over` for a line (measures.points): as many training seeds as it has."""
        return cls.over(problems, seed=seed, draws=draws, confidence=confidence, seeds_per_line=len(line["seeds"]))

    def means(self, values: np.ndarray) -> np.ndarray:
        """Mean of each resample: (draws, columns), from values (problems, columns) or (seeds, problems, columns).

        A first axis of 1 stands for a policy that all seeds share. NaN marks a problem without a value; it is left
        out of the mean, of whatever resample.
        """
        values = values[None] if values.ndim == 2 else values
        if values.shape[0] not in (1, self.seed_weights.shape[1]) or values.shape[1] != self.problem_weights.shape[1]:
            raise ValueError(f"values of shape {values.shape} do not fit this bootstrap")
        present = ~np.isnan(values)
        summed = self._weighted(np.where(present, values, 0.0))
        weight = (
            self.problem_weights.shape[1] * values.shape[0] if present.all() else self._weighted(present.astype(float))
        )
        with np.errstate(invalid="ignore", divide="ignore"):
            return summed / weight

    def _weighted(self, values: np.ndarray) -> np.ndarray:
        if len(values) == 1:  # a policy that all seeds share, such as the base
            return self.problem_weights @ values[0]
        return sum(self.seed_weights[:, [s]] * (self.problem_weights @ values[s]) for s in range(len(values)))

    def interval(self, resampled: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Percentile interval of resampled statistics (draws, columns); resamples without any value (NaN) are left
        out."""
        tails = [(1 - self.confidence) / 2, (1 + self.confidence) / 2]
        low, high = np.quantile(resampled, tails, axis=0)
        missing = np.isnan(resampled)
        for column in np.flatnonzero(missing.any(axis=0) & ~missing.all(axis=0)):
            low[column], high[column] = np.nanquantile(resampled[:, column], tails)
        return low, high

    def estimate(self, values: np.ndarray) -> Estimates:
        """Mean over problems (and seeds) of each column, with its interval. Values as in `means`."""
        low, high = self.interval(self.means(values))
        stacked = values[None] if values.ndim == 2 else values
        present = ~np.isnan(stacked)
        count = present.sum(axis=(0, 1))
        with np.errstate(invalid="ignore", divide="ignore"):
            mean = np.where(present, stacked, 0.0).sum(axis=(0, 1)) / count
        return Estimates(mean, low, high, present.any(axis=0).sum(axis=0))


def upper_bound(successes: int, trials: int, confidence: float = 0.95) -> float:
    """One-sided Clopper–Pearson upper bound of a proportion; 1 − 0.05^(1/512) = 0.0058 for none of 512."""
    from scipy.special import betaincinv

    _check(successes, trials)
    return 1.0 if successes == trials else float(betaincinv(successes + 1, trials - successes, confidence))


def lower_bound(successes: int, trials: int, confidence: float = 0.95) -> float:
    """One-sided Clopper–Pearson lower bound of a proportion."""
    _check(successes, trials)
    return 1.0 - upper_bound(trials - successes, trials, confidence)


def proportion_interval(successes: int, trials: int, confidence: float = 0.95) -> tuple[float, float]:
    """Clopper–Pearson interval; one-sided where no trial or every trial succeeds, since the other end is then known."""
    _check(successes, trials)
    if successes in (0, trials):
        return (
            (0.0, upper_bound(0, trials, confidence))
            if successes == 0
            else (lower_bound(trials, trials, confidence), 1.0)
        )
    each = (1 + confidence) / 2
    return lower_bound(successes, trials, each), upper_bound(successes, trials, each)


def _check(successes: int, trials: int) -> None:
    if not 0 <= successes <= trials or trials == 0:
        raise ValueError(f"{successes} successes of {trials} trials")
