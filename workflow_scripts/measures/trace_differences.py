"""Same-trace difference in differences: does training suppress how a solution begins more than how it goes on? (C26)

The same tokens are scored under the policy before training and the policy after it. For every trace

    difference = [mean of (before − after) over the tokens up to P1] − [mean of (before − after) over the rest]

in nats a token, before and after being log-probabilities. **Positive: the later policy suppresses the commitment
more.** There is one sign in all of this package. (The paper's code has this one in its main analysis and the opposite
one in its semantic audit; reference protocol, sections 7.4 and 7.6.)

A trace without a calculation, or with nothing after P1, has no difference: it is left out and counted, never zero.
Means over a problem's traces, then over problems, then over benchmarks, apart for traces of either origin.
"""

from collections.abc import Mapping, Sequence

import numpy as np
import pandas as pd

from workflow_scripts.measures.benchmark_means import MEAN
from workflow_scripts.records import seeds
from workflow_scripts.records.errors import UserError

PLACEMENTS: Mapping[str, str] = {
    "did": "cut at P1, the end of the unit that holds the first calculation",
    "did_sentence_end": "placebo: cut at the nearest other unit end",
    "did_second": "placebo: cut at the end of the unit of the second calculation",
    "did_permuted": "placebo: cut where another trace of the same benchmark and origin has P1, as a part of its length",
    "did_anywhere": "placebo: mean over all cuts of the trace",
}
"""Measure and where the trace is cut. Where all traces have P1 at one part of their length, a permuted cut is no other
cut, and did_anywhere is the placebo to look at."""

MEASURES: Mapping[str, str] = {
    **PLACEMENTS,
    "commitment": "before − after up to P1, nats a token",
    "execution": "before − after from P1 on, nats a token",
    "did_over_permuted": "did − did_permuted",
    "placebos_same": "share of traces that did_sentence_end and did_second cut at one place, of those that have both",
}

EXCLUSIONS = ("traces", "used", "no_boundary", "no_execution", "split")
"""Counts: all traces, those with a difference, those without a calculation, those with nothing after P1, and those used
whose P1 falls inside a token."""

BOTH = "both"
"""Stands for traces of either origin in a column `policy`."""

_TRACE = ["origin", "benchmark", "problem_id", "sample"]
_BOUNDARIES = {"did": "boundary", "did_sentence_end": "boundary_sentence", "did_second": "boundary_second"}


def select_traces(scores: pd.DataFrame, *, per_branch: int = 1, most: int | None = None) -> pd.DataFrame:
    """The traces to score, rows of MATHS_SCORES: correct and finished ones, of each policy and problem the first
    `per_branch` samples of every first calculation (and of none), so that no common one drowns the rest.

    most: of all, evenly at random by a hash of their keys (None: all). Raises UserError where nothing is left.
    """
    chosen = scores[scores["correct"] & scores["finish_reason"].ne("length")].sort_values(
        ["policy", "benchmark", "problem_id", "sample"], ignore_index=True
    )
    branch = chosen["first_calculation"].fillna("")
    rank = chosen.assign(branch=branch).groupby(["policy", "benchmark", "problem_id", "branch"]).cumcount()
    chosen = chosen[rank < per_branch]
    if chosen.empty:
        raise UserError("no policy has a correct, finished sample: there are no traces to score")
    if most is not None and len(chosen) > most:
        keys = [
            seeds.key("trace", row.policy, row.problem_id, int(row.sample)) for row in chosen.itertuples(index=False)
        ]
        chosen = chosen.iloc[np.sort(np.argsort(np.array(keys, dtype=np.uint64), kind="stable")[:most])]
    return chosen.reset_index(drop=True)


def paired(likelihoods: pd.DataFrame, before: str, after: str) -> pd.DataFrame:
    """One row per trace: its key, boundaries, and `gap`, before − after of every token (nats).

    likelihoods: TRACE_LIKELIHOODS with rows of both policies. Raises UserError, naming the trace, unless each policy
    has every trace once, with as many tokens.
    """
    ends = []
    for policy in (before, after):
        rows = likelihoods[likelihoods["policy"] == policy]
        if rows.empty:
            scored = ", ".join(sorted(set(likelihoods["policy"])))
            raise UserError(f"no trace is scored under {policy}, only under {scored}")
        if rows.duplicated(_TRACE).any():
            row = rows[rows.duplicated(_TRACE)].iloc[0]
            raise UserError(f"{policy} scores sample {row['sample']} of {row['origin']} on {row['problem_id']} twice")
        ends.append(rows.set_index(_TRACE).sort_index())
    if not ends[0].index.equals(ends[1].index):
        odd = ends[0].index.symmetric_difference(ends[1].index)[0]
        raise UserError(f"sample {odd[3]} of {odd[0]} on {odd[2]} is not scored under both {before} and {after}")
    gaps = []
    for key, first, last in zip(ends[0].index, ends[0]["log_probs"], ends[1]["log_probs"]):
        if len(first) != len(last):
            raise UserError(
                f"sample {key[3]} of {key[0]} on {key[2]} has {len(first)} tokens under {before} and {len(last)} under "
                f"{after}: policies with different tokenizers cannot be compared so"
            )
        gaps.append(np.asarray(first, dtype=float) - np.asarray(last, dtype=float))
    columns = [*_BOUNDARIES.values(), "split"]
    return ends[0][columns].assign(gap=gaps).reset_index()


def difference(gap: np.ndarray, boundary: float | None) -> float:
    """Mean of `gap` (tokens,) before the boundary − mean from it on; NaN where there is none or one side is empty."""
    if boundary is None or not 0 < boundary < len(gap):  # NaN compares false
        return np.nan
    cut = int(boundary)
    return float(gap[:cut].mean() - gap[cut:].mean())


def everywhere(gap: np.ndarray) -> np.ndarray:
    """The difference at every cut that leaves a token on either side: (tokens − 1,), nats a token."""
    before = np.cumsum(gap)
    cuts = np.arange(1, len(gap))
    return before[:-1] / cuts - (before[-1] - before[:-1]) / (len(gap) - cuts)


def trace_values(traces: pd.DataFrame, *, seed: int, permutations: int = 20) -> pd.DataFrame:
    """MEASURES of every trace: its key and one column each, NaN where it is not defined.

    traces: of `paired`. The permuted cut exchanges the relative places of P1 among the traces of one benchmark and
    origin that have a difference; its mean over `permutations` seeded exchanges is taken.
    """
    values = traces[_TRACE].copy()
    for measure, column in _BOUNDARIES.items():
        values[measure] = [difference(gap, cut) for gap, cut in zip(traces["gap"], _numbers(traces[column]))]
    used = values["did"].notna().to_numpy()
    cuts = _numbers(traces["boundary"])
    for name, part in (("commitment", slice(None, 1)), ("execution", slice(1, None))):
        values[name] = [
            np.split(gap, [int(cut)])[part][0].mean() if good else np.nan
            for gap, cut, good in zip(traces["gap"], cuts, used)
        ]
    values["did_permuted"] = _permuted(traces, cuts, used, seed, permutations)
    values["did_anywhere"] = [everywhere(gap).mean() if good else np.nan for gap, good in zip(traces["gap"], used)]
    other, second = (_numbers(traces[_BOUNDARIES[name]]) for name in ("did_sentence_end", "did_second"))
    both = values[["did", "did_sentence_end", "did_second"]].notna().all(axis=1)
    values["placebos_same"] = np.where(both, other == second, np.nan)
    # Differences below rounding are none.
    values["did_over_permuted"] = (values["did"] - values["did_permuted"]).round(12)
    return values


def problem_values(values: pd.DataFrame, measures: Sequence[str] = tuple(MEASURES)) -> pd.DataFrame:
    """Means over a problem's traces: columns policy (an origin, or BOTH), benchmark, problem_id, measure, value, as
    benchmark_means reads them.

    values: of trace_values. BOTH: the mean of the two origins' means, where a problem has both, else of the one it has.
    """
    long = values.melt(_TRACE, list(measures), "measure", "value").dropna(subset=["value"])
    means = long.groupby(["origin", "benchmark", "problem_id", "measure"])["value"].mean().reset_index()
    either = means.groupby(["benchmark", "problem_id", "measure"])["value"].mean().reset_index()
    return pd.concat([means.rename(columns={"origin": "policy"}), either.assign(policy=BOTH)], ignore_index=True)[
        ["policy", "benchmark", "problem_id", "measure", "value"]
    ]


def line_values(
    likelihoods: pd.DataFrame, pairs: Sequence[tuple[str, str]], *, seed: int
) -> tuple[pd.DataFrame, dict[str, list[str]], pd.DataFrame]:
    """A training line's differences: (problem values, entries, exclusions).

    likelihoods: TRACE_LIKELIHOODS. pairs: (before, after) policies, one pair per training seed; traces of these two are
    used. problem values and entries are for benchmark_means.summary, with entries `before`, `after` (the origin of the
    traces) and BOTH. A seed without a usable trace of an origin has no value there and keeps its place (exclusions has
    its counts, 0 without any trace); an origin without one in any seed is no entry. Raises UserError as `paired`.
    """
    frames, counts, entries = [], [], {"before": [], "after": [], BOTH: []}
    benchmarks = sorted(set(likelihoods["benchmark"]))
    for before, after in pairs:
        traces = paired(likelihoods[likelihoods["origin"].isin([before, after])], before, after)
        names = {before: f"before {after}", after: f"after {after}", BOTH: f"{BOTH} {after}"}
        frame = problem_values(trace_values(traces, seed=seed))
        frames.append(frame.assign(policy=frame["policy"].map(names)))
        cells = pd.MultiIndex.from_product([[before, after], benchmarks], names=["origin", "benchmark"])
        found = exclusions(traces).set_index(cells.names).reindex(cells, fill_value=0)
        counts.append(found.reset_index().assign(before=before, after=after))
        for entry, name in zip(entries, names.values()):
            entries[entry].append(name)
    present = {name for frame in frames for name in frame["policy"]}
    found = {entry: policies for entry, policies in entries.items() if present & set(policies)}
    blank = [name for policies in found.values() for name in policies if name not in present]
    frames += [pd.concat(frames).iloc[:1].assign(policy=name, value=np.nan) for name in blank]
    return pd.concat(frames, ignore_index=True), found, pd.concat(counts, ignore_index=True)


def claim_rows(
    summary: pd.DataFrame, line: str, before: str, after: str, measures: Sequence[str] = tuple(MEASURES)
) -> pd.DataFrame:
    """Rows for the scorecard (verdicts.ESTIMANDS): each measure's mean over benchmarks and BOTH origins under its name,
    that of each benchmark as `did_gsm8k`, and those of either origin's traces as `did_of_before` and `did_of_after`.

    summary: benchmark_means.summary of line_values, or of segmentation_effect's with its measures.
    """
    chosen = summary[summary["measure"].isin(measures)]
    mean = chosen[chosen["benchmark"] == MEAN]
    single = chosen[(chosen["entry"] == BOTH) & (chosen["benchmark"] != MEAN)]
    origin = mean[mean["entry"] != BOTH]
    parts = [
        mean[mean["entry"] == BOTH],
        single.assign(measure=single["measure"] + "_" + single["benchmark"]),
        origin.assign(measure=origin["measure"] + "_of_" + origin["entry"]),
    ]
    rows = pd.concat(parts, ignore_index=True)
    rows = rows.assign(line=line, before=before, after=after, start=np.nan, end=np.nan)
    columns = ["line", "before", "after", "measure", "start", "end", "estimate", "low", "high", "problems"]
    return rows[columns].reset_index(drop=True)


def exclusions(traces: pd.DataFrame) -> pd.DataFrame:
    """How many traces have a difference and why others do not: columns origin, benchmark, EXCLUSIONS."""
    cuts = _numbers(traces["boundary"])
    lengths = traces["gap"].map(len).to_numpy()
    missing = np.isnan(cuts)
    with np.errstate(invalid="ignore"):
        used = (cuts > 0) & (cuts < lengths)
    counts = traces[["origin", "benchmark"]].assign(
        traces=1,
        used=used.astype(int),
        no_boundary=missing.astype(int),
        no_execution=(~missing & ~used).astype(int),
        split=(traces["split"].astype("boolean").fillna(False).to_numpy(dtype=bool) & used).astype(int),
    )
    return counts.groupby(["origin", "benchmark"], as_index=False)[list(EXCLUSIONS)].sum()


def _numbers(column: pd.Series) -> np.ndarray:
    return pd.to_numeric(column).astype("Float64").to_numpy(dtype=float, na_value=np.nan)


def _permuted(traces: pd.DataFrame, cuts: np.ndarray, used: np.ndarray, seed: int, permutations: int) -> np.ndarray:
    sums = np.full(len(traces), np.nan)
    gaps = traces["gap"].to_numpy()
    for (origin, benchmark), rows in traces[used].groupby(["origin", "benchmark"]).groups.items():
        places = traces.index.get_indexer(rows)
        lengths = np.array([len(gaps[i]) for i in places])
        relative = cuts[places] / lengths
        running = [np.concatenate([[0.0], np.cumsum(gaps[i])]) for i in places]
        totals = np.array([sums_[-1] for sums_ in running])
        stream = seeds.generator("permuted boundaries", origin, benchmark, seed)
        found = np.zeros(len(places))
        for _ in range(permutations):
            moved = np.clip(np.rint(relative[stream.permutation(len(places))] * lengths), 1, lengths - 1).astype(int)
            first = np.array([sums_[cut] for sums_, cut in zip(running, moved)])
            found += first / moved - (totals - first) / (lengths - moved)
        sums[places] = found / permutations
    return sums
