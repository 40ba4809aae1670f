"""The same-trace difference where a blind judge puts the boundary, and how far the judge agrees with the rule (C27).

Signs and means are those of trace_differences. The judge's cut, like the rule's, is the end of a unit. Where a judge
gave nothing that could be located, the cut is assumed that makes the difference smallest: `did_semantic_worst` holds
for every reading of those traces. A trace that the judge finds without a calculation has no difference and is counted.
"""

from collections.abc import Mapping, Sequence

import numpy as np
import pandas as pd

from workflow_scripts.measures.trace_differences import BOTH, difference, everywhere, paired, problem_values
from workflow_scripts.records.errors import UserError
from workflow_scripts.tasks.maths.segmentation import UNRESOLVED, Status

MEASURES: Mapping[str, str] = {
    "did_semantic": "cut at the judge's boundary, resolved traces alone",
    "did_semantic_worst": "the same, and unresolved traces at the cut that makes their difference smallest",
    "did_rule": "cut at P1, on the traces of did_semantic",
}
"""Measure and where the trace is cut."""

_TRACE = ["origin", "benchmark", "problem_id", "sample"]


def smallest_difference(gap: np.ndarray) -> float:
    """The smallest difference over all cuts that leave a token on either side; NaN for fewer than two tokens."""
    return float(everywhere(gap).min()) if len(gap) > 1 else np.nan


def trace_values(traces: pd.DataFrame, judged: pd.DataFrame) -> pd.DataFrame:
    """MEASURES of every judged trace: its key and one column each, NaN where it is not defined.

    traces: of trace_differences.paired. judged: JUDGEMENTS with a column `boundary_tokens` (the boundary in tokens,
    null without one); first copies count. Raises UserError for a judged trace that is not among the scored ones.
    """
    first = judged[judged["copy"] == 0]
    joined = first.merge(traces, on=_TRACE, how="left", suffixes=("_judged", ""), validate="one_to_one")
    lost = joined["gap"].isna()
    if lost.any():
        row = joined[lost].iloc[0]
        raise UserError(
            f"sample {row['sample']} of {row['origin']} on {row['problem_id']} was judged but has no likelihoods"
        )
    resolved = (joined["status"] == Status.RESOLVED).to_numpy()
    unresolved = joined["status"].isin(UNRESOLVED).to_numpy()
    cuts, rule = (_numbers(joined[column]) for column in ("boundary_tokens", "boundary"))
    semantic = np.array([difference(g, c) if r else np.nan for g, c, r in zip(joined["gap"], cuts, resolved)])
    worst = [smallest_difference(gap) if bad else found for gap, bad, found in zip(joined["gap"], unresolved, semantic)]
    ours = [difference(gap, cut) if r else np.nan for gap, cut, r in zip(joined["gap"], rule, ~np.isnan(semantic))]
    return joined[_TRACE].assign(did_semantic=semantic, did_semantic_worst=worst, did_rule=ours)


def line_values(
    likelihoods: pd.DataFrame, judged: pd.DataFrame, pairs: Sequence[tuple[str, str]]
) -> tuple[pd.DataFrame, dict[str, list[str]]]:
    """(Problem values, entries) of a training line for benchmark_means.summary; the entry is BOTH origins together.

    pairs: (before, after) policies, one pair per training seed. Others as in trace_values.
    """
    frames, names = [], []
    for before, after in pairs:
        traces = paired(likelihoods[likelihoods["origin"].isin([before, after])], before, after)
        values = trace_values(traces, judged[judged["origin"].isin([before, after])])
        frame = problem_values(values, tuple(MEASURES))
        names.append(f"{BOTH} {after}")
        frames.append(frame[frame["policy"] == BOTH].assign(policy=names[-1]))
    return pd.concat(frames, ignore_index=True), {BOTH: names}


def agreement(judged: pd.DataFrame, rule: pd.DataFrame) -> pd.DataFrame:
    """How the judge did, one row per origin and one for all (`all`): columns origin, items, the share of every status,
    unresolved (share), the agreement with itself and with the rule.

    judged: JUDGEMENTS. rule: columns origin, benchmark, problem_id, sample, p1 (characters, null without one).
    repeated: items asked twice; repeated_same_status, repeated_same_boundary: shares of them that got the same.
    rule_same_unit: share of resolved items whose boundary is P1; rule_distance: median |boundary − P1|, characters,
    where both exist; rule_same_none: share of the items without P1 that the judge finds without a calculation.
    """
    groups = [(name, rows) for name, rows in judged.groupby("origin")]
    return pd.DataFrame([_agreement(name, rows, rule) for name, rows in [*groups, ("all", judged)]])


def _agreement(name: str, judged: pd.DataFrame, rule: pd.DataFrame) -> dict[str, object]:
    first, again = judged[judged["copy"] == 0], judged[judged["copy"] == 1]
    row: dict[str, object] = {"origin": name, "items": len(first)}
    row |= {status.lower(): _share(first["status"] == status) for status in map(str, Status)}
    row["unresolved"] = _share(first["status"].isin(UNRESOLVED))
    twice = again.merge(first, on="item_id", suffixes=("", "_first"))
    same = twice["status"] == twice["status_first"]
    boundary = _numbers(twice["boundary"]), _numbers(twice["boundary_first"])
    alike = (boundary[0] == boundary[1]) | (np.isnan(boundary[0]) & np.isnan(boundary[1]))
    row |= {
        "repeated": len(twice),
        "repeated_same_status": _share(same),
        "repeated_same_boundary": _share(same & alike),
    }
    joined = first.merge(rule[[*_TRACE, "p1"]], on=_TRACE, how="left")
    judge, ours = _numbers(joined["boundary"]), _numbers(joined["p1"])
    both = ~np.isnan(judge) & ~np.isnan(ours)
    row["rule_same_unit"] = _share(judge[~np.isnan(judge)] == ours[~np.isnan(judge)])
    row["rule_distance"] = float(np.median(np.abs(judge - ours)[both])) if both.any() else np.nan
    row["rule_same_none"] = _share(joined["status"][np.isnan(ours)] == Status.NO_CALCULATION)
    return row


def _share(flags: pd.Series | np.ndarray) -> float:
    return float(np.mean(flags)) if len(flags) else np.nan


def _numbers(column: pd.Series) -> np.ndarray:
    return pd.to_numeric(column).astype("Float64").to_numpy(dtype=float, na_value=np.nan)
