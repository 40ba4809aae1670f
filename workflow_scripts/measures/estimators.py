"""Point estimators on counts: pass@k, expected distinct solutions, unseen mass, entropy. Arrays in, arrays out, no
frames.

pass@k, coverage at fewer samples and rarefied coverage are one quantity: the chance that a draw without replacement
meets a marked sample.
"""

from functools import cache

import numpy as np

from workflow_scripts.records.errors import UserError


@cache
def _log_factorials(size: int) -> np.ndarray:
    """log(0!) … log(size!), summed in extended precision."""
    steps = np.log(np.arange(1, size + 1, dtype=np.longdouble))
    table = np.concatenate([[0.0], np.cumsum(steps)]).astype(np.float64)
    table.setflags(write=False)
    return table


def seen_probability(*, total: np.ndarray | int, marked: np.ndarray | int, draws: np.ndarray | int) -> np.ndarray:
    """Chance that `draws` of `total` samples, drawn without replacement, hold at least one of the `marked` ones.

    1 − C(total − marked, draws) / C(total, draws), by log-factorials; integer arrays broadcast against each other.
    Raises ValueError unless 0 <= marked <= total and 0 <= draws <= total.
    """
    total, marked, draws = np.broadcast_arrays(*(np.asarray(a, dtype=np.int64) for a in (total, marked, draws)))
    if total.size == 0:
        return np.zeros(total.shape)
    if min(marked.min(), draws.min()) < 0 or (marked > total).any() or (draws > total).any():
        raise ValueError("needs 0 <= marked <= total and 0 <= draws <= total")
    table = _log_factorials(1 << int(total.max()).bit_length())
    others = total - marked
    left = others - draws
    log_none = table[others] + table[total - draws] - table[np.maximum(left, 0)] - table[total]
    # The two ends are exact, not merely within rounding.
    return np.where(left < 0, 1.0, np.where((marked == 0) | (draws == 0), 0.0, -np.expm1(np.minimum(log_none, 0.0))))


def pass_at_k(*, samples: np.ndarray | int, correct: np.ndarray, ks: np.ndarray | list[int]) -> np.ndarray:
    """Unbiased pass@k of each problem: the chance that k of its samples hold a correct one.

    samples: number drawn per problem, (problems,) or one number. correct: how many were correct, (problems,). ks:
    values of k. Returns (problems, len(ks)). Raises UserError where k exceeds the number of samples or is below 1:
    the estimator does not exist there. Chen et al. 2021, "Evaluating large language models trained on code".
    """
    correct, ks = np.atleast_1d(np.asarray(correct)), np.asarray(ks, dtype=np.int64)
    samples = np.broadcast_to(np.asarray(samples), correct.shape)
    if ks.size and samples.size and (ks.max() > samples.min() or ks.min() < 1):
        bad = int(ks.max() if ks.max() > samples.min() else ks.min())
        raise UserError(
            f"pass@{bad} cannot be estimated from {int(samples.min())} samples a problem; 1 <= k <= samples"
        )
    return seen_probability(total=samples[:, None], marked=correct[:, None], draws=ks[None, :])


def distinct_curve(*, hits: np.ndarray, groups: np.ndarray, size: int, total: int, draws: np.ndarray) -> np.ndarray:
    """Expected number of distinct things in `draws` of `total` samples, per group: the accumulation curve.

    hits: in how many of the samples each thing occurred, (things,). groups: which of the `size` groups (problems) it
    belongs to, (things,). draws: (points,), each 0 … total. Returns (size, points). Hurlbert 1971; the sum over
    things is exact, not simulated.
    """
    hits = np.asarray(hits, dtype=np.int64)
    # Things with equally many hits share one curve, so that the cost does not grow with their number.
    histogram = np.bincount(np.asarray(groups) * (total + 1) + hits, minlength=size * (total + 1))
    curves = seen_probability(total=total, marked=np.arange(total + 1)[:, None], draws=np.asarray(draws)[None, :])
    return histogram.reshape(size, total + 1) @ curves


def rarefied_distinct(*, hits: np.ndarray, groups: np.ndarray, totals: np.ndarray, draws: np.ndarray) -> np.ndarray:
    """Expected number of distinct things in `draws[g]` of the `totals[g]` samples of each group g.

    hits, groups: (things,) as in distinct_curve. totals, draws: (size,). Returns (size,), NaN where draws is 0:
    nothing can be compared there.
    """
    totals, draws = np.asarray(totals, dtype=np.int64), np.asarray(draws, dtype=np.int64)
    groups = np.asarray(groups, dtype=np.int64)
    chance = seen_probability(total=totals[groups], marked=hits, draws=draws[groups])
    return np.where(draws > 0, np.bincount(groups, weights=chance, minlength=len(totals)), np.nan)


def unseen_mass(*, singletons: np.ndarray, samples: np.ndarray) -> np.ndarray:
    """Good–Turing estimate of the probability that one more sample is of a kind not seen so far: f1 / samples.

    singletons: kinds seen exactly once. samples: samples over all kinds. NaN without samples. Good 1953.
    """
    singletons, samples = np.asarray(singletons, dtype=float), np.asarray(samples, dtype=float)
    return np.divide(singletons, samples, out=np.full(samples.shape, np.nan), where=samples > 0)


def entropies(*, counts: np.ndarray, groups: np.ndarray, size: int) -> np.ndarray:
    """Shannon entropy in nats of the relative frequencies within each group (plug-in estimate, no smoothing).

    counts: (categories,), zeros allowed. groups: (categories,), which of the `size` groups each belongs to. Returns
    (size,), NaN for a group without counts.
    """
    counts, groups = np.asarray(counts, dtype=float), np.asarray(groups, dtype=np.int64)
    total = np.bincount(groups, weights=counts, minlength=size)
    terms = counts * np.log(np.where(counts > 0, counts, 1.0))
    inner = np.bincount(groups, weights=terms, minlength=size)
    safe = np.where(total > 0, total, 1.0)
    return np.where(total > 0, np.maximum(np.log(safe) - inner / safe, 0.0), np.nan)
