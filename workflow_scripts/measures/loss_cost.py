"""What a loss of breadth costs whoever samples n times: best of n, majority vote, and n samples spread over entrances.

Best of n needs a verifier, the vote needs none, the spread needs a verifier and the menu. All are chances of a correct
answer per problem, in [0, 1], as expectations over draws without replacement from the samples at hand.
"""

from collections.abc import Mapping, Sequence
from math import comb

import numpy as np
import pandas as pd

from workflow_scripts.measures import estimators
from workflow_scripts.measures.comparison import contrasts, summary
from workflow_scripts.measures.curves import curve_frame
from workflow_scripts.measures.long_values import values_of
from workflow_scripts.measures.statistics import Bootstrap
from workflow_scripts.records import seeds
from workflow_scripts.records.errors import UserError

METHODS = {
    "best": "chance that n samples hold a correct one: 1 − C(N−c, n)/C(N, n), c of N samples correct (unbiased)",
    "majority": "chance that the answer with most votes among n samples is correct; an answer is its formula, one "
    "without a value does not vote, ties are broken at random (in expectation)",
    "stratified": "chance that n samples, spread over the problem's entrances as evenly as possible, hold a correct "
    "one (unbiased); none beyond what was sampled after all entrances",
    "stratified_floor": "the same, kept at its last value beyond: a lower bound",
    "stratified_gain": "stratified less best, on the problems that have both",
}
"""Method and how it is computed."""

PAIRS = (("early", "late"), ("base", "late"))


def _long(values: np.ndarray, problems: Sequence[str], draws: Sequence[int], method: str) -> pd.DataFrame:
    """(problems, draws) as columns problem_id, measure (`best@16`), value."""
    wide = pd.DataFrame(values, index=problems, columns=[f"{method}@{n}" for n in draws]).rename_axis("problem_id")
    return wide.reset_index().melt("problem_id", var_name="measure", value_name="value")


def majority_chances(
    votes: np.ndarray, correct: np.ndarray, draws: Sequence[int], stream: np.random.Generator, resamples: int
) -> np.ndarray:
    """Chance that the vote of `draws` samples of one problem is right: (len(draws),).

    votes: code of each sample's answer, -1 for one that does not vote, (N,). correct: (N,); where samples of one answer
    differ, the answer is right as often as they are. Means over `resamples` orders of the samples, whose first n vote,
    so that all n share the orders; exact for one sample and for all.
    """
    votes, correct = np.asarray(votes), np.asarray(correct, dtype=float)
    answers, total = int(votes.max()) + 1, len(votes)
    if answers == 0:
        return np.zeros(len(draws))
    voting = votes >= 0
    size = np.bincount(votes[voting], minlength=answers)
    right = np.bincount(votes[voting], weights=correct[voting], minlength=answers) / np.maximum(size, 1)
    orders = stream.permuted(np.tile(votes, (resamples, 1)), axis=1)
    places = np.where(orders >= 0, orders + answers * np.arange(resamples)[:, None], answers * resamples)
    counts = np.zeros(answers * resamples + 1, dtype=np.int64)
    chances, used = np.empty(len(draws)), 0
    for i in np.argsort(draws, kind="stable"):
        counts += np.bincount(places[:, used : draws[i]].ravel(), minlength=len(counts))
        used = draws[i]
        table = counts[:-1].reshape(resamples, answers)
        most = table.max(axis=1, keepdims=True)
        won = (table == most) & (most > 0)
        chances[i] = ((won * right).sum(axis=1) / np.maximum(won.sum(axis=1), 1)).mean()
        if draws[i] == 1:
            chances[i] = right @ size / total
    return chances


def sampling_values(scores: pd.DataFrame, draws: Sequence[int], *, seed: int, resamples: int = 200) -> pd.DataFrame:
    """Best of n and majority vote of every policy: columns policy, problem_id, measure (`best@16`), value.

    scores: SCORES, free samples of any number of policies, N per problem. draws: the n, each 1 … N. seed, resamples:
    of the orders in which samples vote; policies share them. Raises UserError for clamped samples and for draws
    beyond N.
    """
    if (scores["prefix"] != "").any():
        raise UserError("best of n and the vote are taken of free samples; these scores hold clamped ones")
    draws, parts = list(draws), []
    for policy, rows in scores.groupby("policy", sort=True):
        groups = rows.sort_values(["problem_id", "sample"]).groupby("problem_id", sort=True)
        problems, sizes = list(groups.groups), groups.size().to_numpy()
        best = estimators.pass_at_k(samples=sizes, correct=groups["correct"].sum().to_numpy(), ks=draws)
        vote = np.empty(best.shape)
        for row, (problem, group) in zip(vote, groups, strict=True):
            answers, stream = pd.factorize(group["formula_form"], sort=True)[0], seeds.generator("vote", seed, problem)
            row[:] = majority_chances(answers, group["correct"].to_numpy(), draws, stream, resamples)
        parts += [
            _long(values, problems, draws, method).assign(policy=policy)
            for method, values in (("best", best), ("majority", vote))
        ]
    return _sorted(parts)


def spread_chances(samples: int, correct: np.ndarray, draws: Sequence[int]) -> np.ndarray:
    """Chance that n samples, spread over a problem's entrances as evenly as possible, hold a correct one:
    (len(draws),), NaN where n exceeds what there is.

    samples: continuations of each of E entrances. correct: how many of them were correct, (E,). Each entrance gets
    ⌊n/E⌋ and n mod E of them, drawn at random, one more; the mean over these choices is exact. Entrances are drawn from
    independently and without replacement, so that the product of their chances is unbiased.
    """
    correct = np.asarray(correct, dtype=np.int64)
    entrances = len(correct)
    taken = np.arange(samples + 1)[:, None]
    fail = 1 - estimators.seen_probability(total=samples, marked=correct[None, :], draws=taken)
    chances = np.full(len(draws), np.nan)
    for i, n in enumerate(draws):
        if n > samples * entrances:
            continue
        each, over = divmod(n, entrances)
        # Sum over the sets of entrances that get one more, by their number: coefficients of ∏(f(each) + f(each+1)·z)
        sums = np.zeros(over + 1)
        sums[0] = 1.0
        for e in range(entrances):
            more = sums[:-1] * fail[each + 1, e] if over else sums[:0]
            sums = sums * fail[each, e]
            sums[1:] += more
        chances[i] = 1 - sums[over] / comb(entrances, over)
    return np.clip(chances, 0.0, 1.0)


def stratified_values(clamps: pd.DataFrame, scores: pd.DataFrame, draws: Sequence[int]) -> pd.DataFrame:
    """Best of n samples that are spread over the menu: columns policy, problem_id, measure (`stratified@16`,
    `stratified_floor@16`), value.

    clamps: CLAMPS of the menu; those of rung `entrance` without a scaffold count. scores: SCORES of the clamped samples
    of any number of policies. draws: the n, from 1. Problems without a clamp have no row, and stratified none where n
    exceeds what was sampled. Raises UserError where an entrance has no samples or another number of them.
    """
    entrances = clamps[(clamps["rung"] == "entrance") & (clamps["scaffold"] == "neutral")]
    entrances = entrances[["problem_id", "family", "prefix"]].drop_duplicates()
    if entrances.empty:
        raise UserError("none of the clamps is a bare entrance: rung entrance, scaffold neutral")
    counts = scores.groupby(["policy", "problem_id", "prefix"])["correct"].agg(["sum", "size"]).reset_index()
    policies = pd.DataFrame({"policy": sorted(scores["policy"].unique())})
    table = policies.merge(entrances, how="cross").merge(counts, how="left", on=["policy", "problem_id", "prefix"])
    missing = table["size"].isna()
    if missing.any():
        row = table[missing].iloc[0]
        raise UserError(f"{row['policy']} has no samples of {row['problem_id']} after {row['prefix']!r}")
    if table["size"].nunique() > 1:
        least, most = table["size"].agg(["min", "max"])
        raise UserError(f"entrances need one number of samples, there are {least:g} to {most:g}")
    samples, draws, parts = int(table["size"].iloc[0]), list(draws), []
    for policy, rows in table.groupby("policy", sort=True):
        groups = rows.groupby("problem_id", sort=True)["sum"]
        exact = np.stack([spread_chances(samples, group.to_numpy(), draws) for _, group in groups])
        ends = np.array([spread_chances(samples, group.to_numpy(), [samples * len(group)])[0] for _, group in groups])
        floor = np.where(np.isnan(exact), ends[:, None], exact)
        problems = list(groups.groups)
        parts += [
            _long(values, problems, draws, method).assign(policy=policy)
            for method, values in (("stratified", exact), ("stratified_floor", floor))
        ]
    return _sorted(parts)


def with_gain(values: pd.DataFrame) -> pd.DataFrame:
    """The rows of sampling_values and stratified_values together, and `stratified_gain@n` from them."""
    parts = values["measure"].str.split("@", expand=True)
    wide = values.assign(method=parts[0], n=parts[1]).pivot(
        index=["policy", "problem_id", "n"], columns="method", values="value"
    )
    gain = (wide["stratified"] - wide["best"]).dropna().rename("value").reset_index()
    gain["measure"] = "stratified_gain@" + gain["n"]
    return _sorted([values, gain])


def _sorted(parts: Sequence[pd.DataFrame]) -> pd.DataFrame:
    columns = ["policy", "problem_id", "measure", "value"]
    table = pd.concat([part[columns] for part in parts], ignore_index=True).dropna(subset="value")
    return table.sort_values(columns[:3], ignore_index=True)


def cost_curves(
    values: pd.DataFrame, problems: Sequence[str], bootstrap: Bootstrap, points: Mapping[str, Sequence[str]]
) -> pd.DataFrame:
    """Mean of every method over problems by n: columns entry, measure (METHODS), n, estimate, low, high, problems.

    values: from the functions above. problems: all of the set. points: base, early, late to policies.
    """
    return curve_frame(summary(values_of(values, problems), bootstrap, points))


def cost_changes(
    values: pd.DataFrame,
    problems: Sequence[str],
    bootstrap: Bootstrap,
    points: Mapping[str, Sequence[str]],
    pairs: Sequence[tuple[str, str]] = PAIRS,
) -> pd.DataFrame:
    """What training changed in every method by n, paired by problem: columns before, after, measure, n, start, end,
    estimate, low, high, problems."""
    frame = contrasts(values_of(values, problems), bootstrap, points, pairs)
    parts = frame["measure"].str.split("@", expand=True)
    frame = frame.assign(measure=parts[0])
    frame.insert(3, "n", parts[1].astype(int))
    return frame.sort_values(["before", "after", "measure", "n"], ignore_index=True)


def crossings(
    frame: pd.DataFrame,
    bootstrap: Bootstrap,
    points: Mapping[str, Sequence[str]],
    pairs: Sequence[tuple[str, str]] = PAIRS,
) -> pd.DataFrame:
    """From which n on the earlier policy beats the later one in best of n: columns before, after, crossing, low, high,
    never, problems.

    frame: PROBLEM_BREADTH of the policies, N samples each. crossing: the smallest n such that the earlier mean is the
    larger one there and at every larger n up to N; infinite where there is none. low, high: its interval over resamples
    of problems. never: share of resamples without a crossing up to N.
    """
    total = frame["samples"].unique()
    if len(total) != 1:
        raise UserError(f"best of n needs one number of samples for all; found {sorted(total)[:3]}")
    ns = np.arange(1, int(total[0]) + 1)
    wide = frame.pivot(index="policy", columns="problem_id", values="correct").sort_index(axis=1)
    if wide.isna().any(axis=None):
        raise UserError(f"policy {wide.isna().any(axis=1).idxmax()} lacks problems that others have")
    curves = {
        policy: estimators.pass_at_k(samples=int(total[0]), correct=row.to_numpy(dtype=int), ks=ns)
        for policy, row in wide.iterrows()
    }
    rows = []
    for before, after in pairs:
        first, last = (np.stack([curves[policy] for policy in points[end]]) for end in (before, after))
        # Differences below rounding are none: where all is solved neither is ahead
        difference = np.round(first - last, 12)
        found = _crossing(difference.mean(axis=(0, 1))[None])[0]
        resampled = _crossing(np.round(bootstrap.means(difference), 12))
        tails = [(1 - bootstrap.confidence) / 2, (1 + bootstrap.confidence) / 2]
        # an order statistic: between a number and infinity nothing can be interpolated
        low, high = np.quantile(resampled, tails, method="inverted_cdf")
        rows.append(
            {"before": before, "after": after, "crossing": found, "low": low, "high": high}
            | {"never": float(np.isinf(resampled).mean()), "problems": wide.shape[1]}
        )
    return pd.DataFrame(rows)


def _crossing(difference: np.ndarray) -> np.ndarray:
    """Of each row (n = 1, 2, …) the first n from which on all are above 0, infinite where the last is not."""
    ahead = np.logical_and.accumulate((difference > 0)[:, ::-1], axis=1).sum(axis=1)
    return np.where(ahead > 0, difference.shape[1] - ahead + 1.0, np.inf)
