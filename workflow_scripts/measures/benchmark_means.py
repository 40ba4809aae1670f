"""Means over the problems of each benchmark, then over benchmarks, with intervals; and paired differences of them.

The problem is the unit and every benchmark counts alike, however many problems it has (paper, Figure 3 and Table 5).
Benchmarks are resampled independently of each other; training seeds are resampled for all of them at once.
"""

from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np
import pandas as pd

from workflow_scripts.measures.long_values import values_of
from workflow_scripts.measures.statistics import Bootstrap
from workflow_scripts.records import seeds
from workflow_scripts.records.errors import UserError

MEAN = "mean"
"""Stands for the mean over benchmarks in a column `benchmark`."""

_ESTIMATE = ["estimate", "low", "high", "problems", "benchmarks"]


def summary(
    frame: pd.DataFrame, entries: Mapping[str, Sequence[str]], *, seed: int, draws: int, confidence: float = 0.95
) -> pd.DataFrame:
    """Columns entry, benchmark, measure, estimate, low, high, problems, benchmarks; the rows of MEAN last.

    frame: columns policy, benchmark, problem_id, measure, value; a problem without a value is left out of its mean, a
    benchmark without any out of the mean over benchmarks (`problems` and `benchmarks` count those that are in).
    entries: name to policies, one per training seed. seed, draws, confidence: of the study's bootstrap.
    Raises UserError for a policy of `entries` that the frame does not have.
    """
    arrays, boots = _prepared(frame, entries, seed, draws, confidence)
    parts = []
    for entry, policies in entries.items():
        found = {name: (values.of(policies), values.measures) for name, values in arrays.items()}
        parts.append(_estimated(found, boots).assign(entry=entry))
    return pd.concat(parts, ignore_index=True)[["entry", "benchmark", "measure", *_ESTIMATE]]


def contrasts(
    frame: pd.DataFrame,
    entries: Mapping[str, Sequence[str]],
    pairs: Sequence[tuple[str, str]],
    *,
    seed: int,
    draws: int,
    confidence: float = 0.95,
) -> pd.DataFrame:
    """Differences after − before, paired by problem: columns before, after, benchmark, measure, start, end, estimate,
    low, high, problems, benchmarks.

    pairs: (before, after) entries. start, end: means over the problems that have a value at both ends, so that
    estimate = end − start. The rest as in `summary`.
    """
    arrays, boots = _prepared(frame, entries, seed, draws, confidence)
    parts = []
    for before, after in pairs:
        found, ends = {}, []
        for name, values in arrays.items():
            first, last = values.of(entries[before]), values.of(entries[after])
            # Differences below rounding are none: a verdict must not hang on the last bit of a mean.
            difference = np.round(last - first, 12)
            found[name] = difference, values.measures
            both = [np.where(np.isnan(difference), np.nan, np.broadcast_to(v, difference.shape)) for v in (first, last)]
            ends.append((both, values.measures))
        rows = _estimated(found, boots)
        for place, column in enumerate(("start", "end")):
            same = {name: (part[0][place], part[1]) for name, part in zip(found, ends)}
            rows[column] = _estimated(same, None)["estimate"]
        parts.append(rows.assign(before=before, after=after))
    columns = ["before", "after", "benchmark", "measure", "start", "end", *_ESTIMATE]
    return pd.concat(parts, ignore_index=True)[columns]


def claim_rows(rows: pd.DataFrame, line: str, *, per_benchmark: Sequence[str] = ()) -> pd.DataFrame:
    """Rows for the scorecard (verdicts.ESTIMANDS) from `contrasts`: the means over benchmarks under their measure's
    name, and those of the measures `per_benchmark` as `measure_benchmark` too."""
    single = rows[(rows["benchmark"] != MEAN) & rows["measure"].isin(per_benchmark)]
    single = single.assign(measure=single["measure"] + "_" + single["benchmark"])
    chosen = pd.concat([rows[rows["benchmark"] == MEAN], single], ignore_index=True).assign(line=line)
    columns = ["line", "before", "after", "measure", "start", "end", "estimate", "low", "high", "problems"]
    return chosen[columns]


def _prepared(frame, entries, seed, draws, confidence):
    missing = [policy for policies in entries.values() for policy in policies if policy not in set(frame["policy"])]
    if missing:
        raise UserError(f"there are no values of {missing[0]}; known: {', '.join(sorted(frame['policy'].unique()))}")
    policies, measures = sorted(frame["policy"].unique()), sorted(frame["measure"].unique())
    arrays, boots = {}, {}
    most = max(len(chosen) for chosen in entries.values())
    shared = Bootstrap.over(1, seed=seed, draws=draws, seeds_per_line=most, confidence=confidence).seed_weights
    for name, rows in frame.groupby("benchmark"):
        problems = sorted(rows["problem_id"].unique())
        # Every benchmark gets every policy and measure, so that all arrays have the same axes.
        there = set(zip(rows["policy"], rows["measure"]))
        absent = [(p, m) for p in policies for m in measures if (p, m) not in there]
        blank = pd.DataFrame(absent, columns=["policy", "measure"]).assign(problem_id=problems[0], value=np.nan)
        rows = rows[["policy", "problem_id", "measure", "value"]]
        arrays[name] = values_of(pd.concat([rows, blank], ignore_index=True) if absent else rows, problems)
        own = Bootstrap.over(len(problems), seed=seeds.key("benchmark", name, seed), draws=draws, confidence=confidence)
        boots[name] = replace(own, seed_weights=shared)
    return arrays, boots


def _estimated(
    found: Mapping[str, tuple[np.ndarray, list[str]]], boots: Mapping[str, Bootstrap] | None
) -> pd.DataFrame:
    """benchmark, measure and _ESTIMATE of arrays (seeds, problems, measures); estimates alone without `boots`."""
    rows, drawn, means, counts = [], [], [], []
    for name, (array, measures) in found.items():
        present = ~np.isnan(array)
        with np.errstate(invalid="ignore", divide="ignore"):
            mean = np.where(present, array, 0.0).sum(axis=(0, 1)) / present.sum(axis=(0, 1))
        problems = present.any(axis=0).sum(axis=0)
        means.append(mean)
        counts.append(problems)
        low = high = np.full(len(measures), np.nan)
        if boots is not None:
            boot = _narrowed(boots[name], len(array))
            drawn.append(boot.means(array))
            low, high = boot.interval(drawn[-1])
        rows.append(_frame(name, measures, mean, low, high, problems, (problems > 0).astype(int)))
    means, counts = np.array(means), np.array(counts)
    used = counts > 0
    with np.errstate(invalid="ignore", divide="ignore"):
        mean = np.where(used, means, 0.0).sum(axis=0) / used.sum(axis=0)
    low = high = np.full(len(measures), np.nan)
    if boots is not None:
        stacked = np.where(used[:, None, :], np.array(drawn), 0.0)
        with np.errstate(invalid="ignore", divide="ignore"):
            low, high = boot.interval(stacked.sum(axis=0) / used.sum(axis=0))
    rows.append(_frame(MEAN, measures, mean, low, high, counts.sum(axis=0), used.sum(axis=0)))
    return pd.concat(rows, ignore_index=True)


def _narrowed(boot: Bootstrap, policies: int) -> Bootstrap:
    """For an entry of fewer seeds than the others (one, such as the base, fits any)."""
    if policies in (1, boot.seed_weights.shape[1]):
        return boot
    raise UserError(f"entries need one policy or as many as others have ({boot.seed_weights.shape[1]}), not {policies}")


def _frame(name, measures, mean, low, high, problems, benchmarks) -> pd.DataFrame:
    columns = {"benchmark": name, "measure": measures, "estimate": mean, "low": low, "high": high}
    return pd.DataFrame(columns | {"problems": problems, "benchmarks": benchmarks})
