"""Quantities that belong to two points of a line together: their cells side by side, and rows for what they tell.

Rows have the columns of comparison.contrasts, so that the scorecard reads them alike.
"""

from collections.abc import Callable, Sequence

import numpy as np
import pandas as pd

from workflow_scripts.measures.comparison import Values
from workflow_scripts.measures.long_values import values_of
from workflow_scripts.measures.statistics import Bootstrap
from workflow_scripts.records.errors import UserError

ROWS = ("before", "after", "measure", "start", "end", "estimate", "low", "high", "problems")
"""Columns of comparison.contrasts."""


def paired(frame: pd.DataFrame, before: Sequence[str], after: Sequence[str]) -> pd.DataFrame:
    """Every cell at both ends: columns policy (the later one), problem_id, opening, and each other column twice, with
    the suffixes `_before` and `_after`.

    frame: access.cells. before, after: policies, one per training seed; one `before` may serve all. Raises UserError,
    naming it, for a policy without cells and for a cell that only one end has.
    """
    before = list(before) * (len(after) if len(before) == 1 else 1)
    missing = sorted({*before, *after} - set(frame["policy"].unique()))
    if missing:
        raise UserError(f"there are no access cells of {', '.join(missing)}")
    parts = []
    for first, last in zip(before, after, strict=True):
        ends = [frame[frame["policy"] == policy].drop(columns="policy") for policy in (first, last)]
        both = ends[0].merge(
            ends[1],
            on=["problem_id", "opening"],
            how="outer",
            suffixes=("_before", "_after"),
            indicator="found",
            validate="one_to_one",
        )
        alone = both[both["found"] != "both"]
        if len(alone):
            row = alone.iloc[0]
            raise UserError(
                f"{first} and {last} differ in their cells: {row['opening']} of problem {row['problem_id']} is in one"
            )
        parts.append(both.drop(columns="found").assign(policy=last))
    return pd.concat(parts, ignore_index=True)


def seed_values(frame: pd.DataFrame, problems: Sequence[str], policies: Sequence[str]) -> Values:
    """long_values.values_of with exactly these policies in this order, NaN for one that the frame has no row of.

    One training seed may have nothing to measure (no extinct family, say) where the others have.
    """
    known = values_of(frame, problems)
    array = np.full((len(policies), *known.array.shape[1:]), np.nan)
    for place, policy in enumerate(policies):
        if policy in known.policies:
            array[place] = known.array[known.policies.index(policy)]
    return Values(list(policies), known.problems, known.measures, known.samples, array)


def pair_rows(
    frame: pd.DataFrame,
    problems: Sequence[str],
    policies: Sequence[str],
    bootstrap: Bootstrap,
    pair: tuple[str, str],
) -> pd.DataFrame:
    """Means over problems of measures that a pair has, with interval; no rows where there is nothing to measure.

    frame: long, columns policy (the later one of the pair), problem_id, measure, value, start, end; start and end may
    be missing. policies: one per training seed. Returns ROWS.
    """
    if frame.empty:
        return pd.DataFrame(columns=list(ROWS))
    values = seed_values(frame, problems, policies)
    result = bootstrap.estimate(values.array)
    rows = {"before": pair[0], "after": pair[1], "measure": values.measures}
    for end in ("start", "end"):
        known = frame.reindex(columns=["measure", end]).astype({end: float}).groupby("measure")[end].mean()
        rows[end] = known.reindex(values.measures).to_numpy(dtype=float)
    rows |= {"estimate": result.value, "low": result.low, "high": result.high, "problems": result.problems}
    return pd.DataFrame(rows)


def statistic_row(
    measure: str,
    values: np.ndarray,
    statistic: Callable[[np.ndarray], np.ndarray],
    bootstrap: Bootstrap,
    pair: tuple[str, str],
) -> pd.DataFrame:
    """One row for a function of several means over problems, recomputed on every resample.

    values: (seeds, problems, columns), NaN where a problem has none. statistic: from means (…, columns) to (…).
    start and end are NaN: the estimate is no difference.
    """
    found = bootstrap.estimate(values)
    low, high = bootstrap.interval(statistic(bootstrap.means(values))[:, None])
    row = {"before": pair[0], "after": pair[1], "measure": measure, "start": np.nan, "end": np.nan}
    row |= {"estimate": float(statistic(found.value)), "low": low[0], "high": high[0]}
    return pd.DataFrame([row | {"problems": int(found.problems.max())}])
