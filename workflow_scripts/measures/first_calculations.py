"""Precision and breadth of maths policies: how many first calculations a problem's samples begin with.

Per problem, over its samples; then means over problems and over benchmarks (measures.benchmark_means). A sample without
a calculation is no category of its own: it is left out of the entropies, and `none_share` says how many there are
(`entropy_with_none` counts it as one, as the paper's code does, to be set beside published numbers).
"""

from collections.abc import Mapping, Sequence

import numpy as np
import pandas as pd

from workflow_scripts.measures import estimators
from workflow_scripts.measures.statistics import Bootstrap
from workflow_scripts.records import seeds
from workflow_scripts.records.errors import UserError
from workflow_scripts.tasks.maths.first_calculation import order_free

MEASURES: Mapping[str, str] = {
    "entropy": "entropy of the first calculation as written, nats, plug-in: −Σ p log p over the samples that have one",
    "entropy_corrected": "the same with the Miller–Madow correction, + (categories − 1) / (2 samples)",
    "entropy_unordered": "plug-in, 4 * 3 and 3 * 4 being one",
    "entropy_correct": "plug-in, over correct samples",
    "entropy_with_none": "plug-in, samples without a calculation being one more category (the paper's way)",
    "effective_count": "exp(entropy), first calculations that are used as if evenly",
    "none_share": "share of samples without a calculation",
    "format_rate": "share of samples in the asked format",
    "truncated": "share of samples without an end",
    "tokens": "mean length of a sample, tokens",
}
"""Measure and how it is computed; `pass@k` beside them."""

_KEY = ["policy", "benchmark", "problem_id"]


def problem_values(scores: pd.DataFrame, pass_at: Sequence[int]) -> pd.DataFrame:
    """MEASURES and pass@k of every policy and problem: columns policy, benchmark, problem_id, measure, value.

    scores: MATHS_SCORES of one or more policies. Entropies of a problem without a sample that counts are NaN. Raises
    UserError for a k beyond a problem's samples, for samples given twice, and for policies with other problems than the
    first one's.
    """
    checked(scores)
    groups = scores.groupby(_KEY, sort=True)
    wide = groups.agg(
        samples=("sample", "size"),
        correct=("correct", "sum"),
        format_rate=("format_ok", "mean"),
        tokens=("tokens", "mean"),
    )
    flags = scores[_KEY].assign(none=scores["first_calculation"].isna(), cut=scores["finish_reason"].eq("length"))
    wide[["none_share", "truncated"]] = flags.groupby(_KEY)[["none", "cut"]].mean()
    labels = scores["first_calculation"]
    unordered = labels.map({label: order_free(label) for label in labels.dropna().unique()})
    plug_in, corrected = _entropies(scores, labels, wide.index)
    wide["entropy"], wide["entropy_corrected"], wide["effective_count"] = plug_in, corrected, np.exp(plug_in)
    wide["entropy_unordered"] = _entropies(scores, unordered, wide.index)[0]
    wide["entropy_correct"] = _entropies(scores, labels.where(scores["correct"]), wide.index)[0]
    wide["entropy_with_none"] = _entropies(scores, labels.fillna(""), wide.index)[0]
    passes = estimators.pass_at_k(
        samples=wide["samples"].to_numpy(), correct=wide["correct"].to_numpy(), ks=list(pass_at)
    )
    wide[[f"pass@{k}" for k in pass_at]] = passes
    return long(wide.drop(columns=["samples", "correct"]))


def long(wide: pd.DataFrame) -> pd.DataFrame:
    """A frame indexed by policy, benchmark and problem_id, a column a measure, in long form: columns policy, benchmark,
    problem_id, measure, value."""
    return wide.reset_index().melt(_KEY, var_name="measure", value_name="value").astype({"value": float})


def checked(scores: pd.DataFrame) -> None:
    """Raises UserError, naming the rows, unless every policy has the same problems and each sample once."""
    twice = scores.duplicated([*_KEY, "sample"])
    if twice.any():
        row = scores[twice].iloc[0]
        raise UserError(f"sample {row['sample']} of {row['policy']} on {row['problem_id']} is given twice")
    first = None
    for policy, rows in scores.groupby("policy"):
        problems = set(rows["problem_id"])
        first = first or (policy, problems)
        odd = sorted(problems ^ first[1])
        if odd:
            raise UserError(f"policies {first[0]} and {policy} do not have the same problems; only one has {odd[0]}")


def worked_example(scores: pd.DataFrame, problem_id: str) -> pd.DataFrame:
    """How each policy begins one problem (claim C34, Table 6): columns policy, problem_id, first_calculation, samples,
    correct, share.

    One row per first calculation, the most frequent first; samples without one are the row with an empty label and
    stand last. share: of the policy's samples. Raises UserError where a policy has no sample of the problem.
    """
    chosen = scores[scores["problem_id"] == problem_id]
    lacking = sorted(set(scores["policy"]) - set(chosen["policy"]))
    if lacking:
        raise UserError(f"{lacking[0]} has no sample of problem {problem_id}")
    labels = chosen["first_calculation"].fillna("")
    groups = chosen.assign(first_calculation=labels).groupby(["policy", "problem_id", "first_calculation"])
    table = groups["correct"].agg(samples="size", correct="sum").reset_index()
    table["share"] = table["samples"] / table.groupby("policy")["samples"].transform("sum")
    table = table.assign(none=table["first_calculation"].eq(""), order=-table["samples"])
    table = table.sort_values(["policy", "none", "order", "first_calculation"], ignore_index=True)
    return table.drop(columns=["none", "order"])


def typical_problem(values: pd.DataFrame, before: Sequence[str], after: Sequence[str], measure: str = "entropy") -> str:
    """The problem whose change of a measure is the median of all changes: an example that nobody picked.

    values: of problem_values. before, after: policies, one per training seed, averaged; a problem that one of them has
    no value for is none. Of two as near to the median the one whose id comes first.
    """
    chosen = values[values["measure"] == measure].pivot(index="problem_id", columns="policy", values="value")
    ends = [chosen.reindex(columns=list(end)).mean(axis=1, skipna=False) for end in (before, after)]
    change = (ends[1] - ends[0]).dropna().sort_index()
    if change.empty:
        raise UserError(f"no problem has {measure} for {before[0]} and {after[0]}: no worked example can be chosen")
    return str((change - change.median()).abs().round(12).idxmin())


def chosen_example(values: pd.DataFrame, pairs: Sequence[Mapping], asked: str | None, benchmarks: Sequence[str]) -> str:
    """The problem of the worked example: the one that is asked for, else `typical_problem` of the first benchmark.

    values: of problem_values. pairs: rows with `policies`, a (before, after) per training seed; the first one's change
    counts, and without pairs the first problem is taken for which every policy has an entropy. benchmarks: all that are
    asked. Raises UserError, naming the benchmark, where it does not hold the problem, or has none to choose.
    """
    if asked is not None:
        there = values.drop_duplicates("problem_id").set_index("problem_id")["benchmark"]
        if asked in there.index:
            return asked
        named = [name for name in benchmarks if asked.startswith(f"{name}-")]
        known = sorted(there.index[there.isin(named)] if named else there.index)
        place = f"benchmark {named[-1]}" if named else f"the benchmarks {', '.join(benchmarks)}"
        raise UserError(f"maths.example: {asked} is no problem of {place}; its problems are {known[0]} … {known[-1]}")
    rows = values[values["benchmark"] == benchmarks[0]]
    ends = list(zip(*pairs[0]["policies"])) if pairs else [sorted(set(rows["policy"]))] * 2
    try:
        return typical_problem(rows, *(list(dict.fromkeys(end)) for end in ends))
    except UserError as error:
        raise UserError(f"benchmark {benchmarks[0]}: {error}") from None


def example_rows(
    scores: pd.DataFrame, problem_id: str, entries: Mapping[str, Sequence[str]], pairs: Sequence[tuple[str, str]],
    *, seed: int, draws: int, confidence: float = 0.95,
) -> pd.DataFrame:  # fmt: skip
    """The change of one problem's entropy, with an interval from resampling its samples: columns as of
    benchmark_means.contrasts, measure `example_entropy`.

    One problem says nothing of others, so here the samples are resampled, and the training seeds where there are
    several. entries: name to policies, one per training seed; of their entropies the mean is taken, never the entropy
    of all samples together: seeds that each hold to a beginning of their own are no broad policy. A resample has fewer
    different labels than its sample, so that its entropy is too low by about (labels − 1) / (2 samples); the resamples
    are moved to have the estimate as their mean, without which the interval could leave it out.
    """
    rows = []
    for pair in pairs:
        found = [
            [_resampled(scores, policy, problem_id, seed=seed, draws=draws) for policy in entries[entry]]
            for entry in pair
        ]
        several = max(map(len, found))
        if any(len(part) not in (1, several) for part in found):
            raise UserError(f"{pair[0]} and {pair[1]} need one policy each, or as many as the other")
        (first, first_drawn), (last, last_drawn) = (map(np.array, zip(*part)) for part in found)
        start, end = float(first.mean()), float(last.mean())
        # Differences below rounding are none: a verdict must not hang on the last bit of an entropy.
        estimate = round(end - start, 12)
        moved = np.broadcast_to(last_drawn - first_drawn, (several, draws))
        moved = moved - moved.mean(axis=1, keepdims=True) + np.broadcast_to(last - first, several)[:, None]
        boot = Bootstrap.over(1, seed=seed, draws=draws, seeds_per_line=several, confidence=confidence)
        low, high = boot.interval(np.round((boot.seed_weights.T * moved).mean(axis=0), 12)[:, None])
        row = {"before": pair[0], "after": pair[1], "benchmark": "mean", "measure": "example_entropy"}
        row |= {"start": start, "end": end, "estimate": estimate, "low": low[0], "high": high[0]}
        rows.append(row | {"problems": 1, "benchmarks": 1})
    return pd.DataFrame(rows)


def _resampled(
    scores: pd.DataFrame, policy: str, problem_id: str, *, seed: int, draws: int
) -> tuple[float, np.ndarray]:
    """Plug-in entropy of a policy's first calculations on one problem, and those (draws,) of its samples resampled."""
    chosen = scores[(scores["problem_id"] == problem_id) & (scores["policy"] == policy)]
    counts = chosen["first_calculation"].value_counts().sort_index().to_numpy()
    if not counts.sum():
        raise UserError(f"{policy} has no calculation in its samples of {problem_id}; choose another maths.example")
    stream = seeds.generator("example", policy, problem_id, seed)
    drawn = stream.multinomial(counts.sum(), counts / counts.sum(), size=draws)
    return float(_entropy(counts[None])[0]), _entropy(drawn)


def _entropy(counts: np.ndarray) -> np.ndarray:
    """Plug-in entropies, nats, of rows of counts."""
    size = counts.shape[0]
    groups = np.repeat(np.arange(size), counts.shape[1])
    return estimators.entropies(counts=counts.ravel(), groups=groups, size=size)


def _entropies(scores: pd.DataFrame, labels: pd.Series, index: pd.MultiIndex) -> tuple[np.ndarray, np.ndarray]:
    """(Plug-in, Miller–Madow) entropy of the labels of each group of `index`, missing ones left out."""
    counts = scores[_KEY].assign(label=labels).dropna(subset=["label"]).groupby([*_KEY, "label"]).size()
    groups = index.get_indexer(counts.index.droplevel("label"))
    plug_in = estimators.entropies(counts=counts.to_numpy(), groups=groups, size=len(index))
    total = np.bincount(groups, weights=counts, minlength=len(index))
    kinds = np.bincount(groups, minlength=len(index))
    return plug_in, plug_in + np.where(total > 0, (kinds - 1) / (2 * np.maximum(total, 1)), np.nan)
