"""Exact opening probabilities beside sampled shares: do the two say the same of a policy?

The exact ones come from one forward pass (policies.likelihood.next_pairs) and need no samples, so that they also tell
chances far below 1/n; here they are held against n samples a problem. Both under the study's temperature and nucleus.
"""

from collections.abc import Mapping, Sequence

import numpy as np
import pandas as pd

from workflow_scripts.measures.long_values import values_of
from workflow_scripts.measures.statistics import Bootstrap
from workflow_scripts.records.errors import UserError
from workflow_scripts.records.schemas import MASSES, OUTSIDE

OPERATORS = ("+", "-", "*", "/")


def asked_openings(numbers: Sequence[int]) -> tuple[list[str], list[str]]:
    """First and second words of a problem's possible openings, for policies.likelihood.next_pairs: its different
    numbers in ascending order, and the four operators."""
    return [str(number) for number in sorted(set(numbers))], list(OPERATORS)


def mass_rows(
    policy: str, problems: pd.DataFrame, openings: pd.DataFrame, pairs: Sequence[tuple[np.ndarray, np.ndarray]]
) -> pd.DataFrame:
    """MASSES of one policy, in the order of the problems.

    problems: PROBLEMS. openings: OPENINGS. pairs: next_pairs of each problem's asked_openings. `outside` is what is
    left of 1. Raises UserError where the numbers of problems and pairs differ.
    """
    if len(pairs) != len(problems):
        raise UserError(f"{policy}: {len(problems)} problems need as many opening probabilities, not {len(pairs)}")
    menu = set(openings.loc[openings["expressible"], ["problem_id", "opening"]].itertuples(index=False, name=None))
    rows = []
    for (problem_id, numbers), (plain, decoded) in zip(zip(problems["problem_id"], problems["numbers"]), pairs):
        firsts, seconds = asked_openings(numbers)
        names = [first + second for first in firsts for second in seconds]
        for name, probability, under_study in zip(names, plain.ravel(), decoded.ravel(), strict=True):
            rows.append((policy, problem_id, name, (problem_id, name) in menu, probability, under_study))
        left = [max(0.0, 1.0 - float(array.sum())) for array in (plain, decoded)]
        rows.append((policy, problem_id, OUTSIDE, False, *left))
    return pd.DataFrame(rows, columns=MASSES.names)


def cells(masses: pd.DataFrame, counts: pd.DataFrame, samples: int, confidence: float = 0.95) -> pd.DataFrame:
    """One row per policy, problem and opening: columns policy, problem_id, opening, feasible, exact, sampled, count,
    low, high, region.

    masses: MASSES. counts: FORM_COUNTS of (at least) the same policies and problems; samples: n of each problem.
    exact: `decoded`. count: samples whose think part opens so; `outside` has the rest, samples that state no step among
    them. low, high: counts between which an exact binomial of that probability lies with at least `confidence`, equal
    tails; region: the probability that it does. Raises UserError for a problem with
    more counted samples than n. A policy without counts states no step.
    """
    if twice := sorted(masses.loc[masses.duplicated(["policy", "problem_id", "opening"]), "problem_id"]):
        raise UserError(f"an opening of problem {twice[0]} is given twice in the masses of one policy")
    from scipy.stats import binom

    seen = counts.loc[counts["kind"] == "think", ["policy", "problem_id", "form", "samples"]]
    seen = seen.rename(columns={"form": "opening", "samples": "count"})
    table = masses.merge(seen, how="left", on=["policy", "problem_id", "opening"]).fillna({"count": 0})
    table["count"] = table["count"].astype(int)
    stated = table.groupby(["policy", "problem_id"])["count"].transform("sum")
    if (stated > samples).any():
        row = table[stated > samples].iloc[0]
        raise UserError(f"{row['policy']} has more than {samples} samples of problem {row['problem_id']}")
    table["count"] = np.where(table["opening"] == OUTSIDE, samples - stated, table["count"])
    # fp32 sums leave some 1e-7 outside: not an event that a sample could tell from none
    exact = np.where(table["decoded"] < 1e-6, 0.0, np.minimum(table["decoded"], 1.0))
    tail = (1 - confidence) / 2
    low, high = binom.ppf(tail, samples, exact).clip(0), binom.ppf(1 - tail, samples, exact)
    table["exact"], table["sampled"], table["low"], table["high"] = exact, table["count"] / samples, low, high
    table["region"] = binom.cdf(high, samples, exact) - binom.cdf(low - 1, samples, exact)
    names = ["policy", "problem_id", "opening", "feasible", "exact", "sampled", "count", "low", "high", "region"]
    return table.sort_values(["policy", "problem_id", "opening"], ignore_index=True)[names]


def _noise(exact: np.ndarray, samples: int) -> np.ndarray:
    """Mean absolute deviation of a binomial share (de Moivre): what |sampled − exact| averages when all is right."""
    from scipy.stats import binom

    above = np.floor(samples * exact) + 1
    return 2 * above * (1 - exact) * binom.pmf(above, samples, exact) / samples


def summary(
    table: pd.DataFrame,
    samples: int,
    problems: Sequence[str],
    bootstrap: Bootstrap,
    entries: Mapping[str, Sequence[str]] | None = None,
) -> pd.DataFrame:
    """How well the two agree: columns entry, measure, estimate, low, high, problems.

    table: from `cells`. problems: all of the set. entries: name to policies (default: each policy by itself).
    absolute_error: mean over a problem's cells of |sampled − exact|; noise_error: what sampling alone makes of it.
    inside: share of cells whose count lies in its binomial interval; inside_expected: the share that would on average.
    Cells of probability 0 or 1 are left out of these four: sampling cannot scatter there. slope: of the least squares
    line of sampled on exact, over all cells. impossible: samples a problem in cells of probability 0.
    """
    table = table.assign(one=1.0, noise=_noise(table["exact"].to_numpy(), samples))
    table["error"] = (table["sampled"] - table["exact"]).abs()
    table["within"] = table["count"].between(table["low"], table["high"]).astype(float)
    table["unseen"] = table["count"].where(table["exact"] == 0, 0)
    x, y = table["exact"], table["sampled"]
    moments = {"n": table["one"], "x": x, "y": y, "xx": x * x, "xy": x * y}
    key = ["policy", "problem_id"]
    sums = table.assign(**moments).groupby(key)[[*moments, "unseen"]].sum()
    open_ = table[(table["exact"] > 0) & (table["exact"] < 1)]
    means = open_.groupby(key)[["error", "noise", "within", "region"]].mean()
    names = {"error": "absolute_error", "noise": "noise_error", "within": "inside", "region": "inside_expected"}
    wide = sums.join(means).rename(columns=names | {"unseen": "impossible"}).rename_axis(columns="measure")
    values = values_of(wide.stack().rename("value").reset_index(), problems)
    entries = entries or {policy: [policy] for policy in values.policies}
    shown = [*names.values(), "impossible"]
    rows = []
    for entry, policies in entries.items():
        array = values.of(policies)
        result, resampled = bootstrap.estimate(array), bootstrap.means(array)
        at = {name: place for place, name in enumerate(values.measures)}
        count = int(result.problems[at["n"]])
        for name in shown:
            place = at[name]
            ends = result.value[place], result.low[place], result.high[place]
            rows.append((entry, name, *ends, int(result.problems[place])))
        slopes = [_slope(*(means[:, at[name]] for name in moments)) for means in (result.value[None], resampled)]
        low, high = bootstrap.interval(slopes[1][:, None])
        rows.append((entry, "slope", slopes[0][0], low[0], high[0], count))
    return pd.DataFrame(rows, columns=["entry", "measure", "estimate", "low", "high", "problems"])


def _slope(n: np.ndarray, x: np.ndarray, y: np.ndarray, xx: np.ndarray, xy: np.ndarray) -> np.ndarray:
    """Slope of least squares from (means over problems of) a problem's sums over its cells."""
    with np.errstate(invalid="ignore", divide="ignore"):
        return (n * xy - x * y) / (n * xx - x * x)
