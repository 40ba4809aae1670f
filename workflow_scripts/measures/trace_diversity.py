"""How many different numeric traces a policy writes, by how many samples are drawn (claim C28).

The expected number of distinct traces in n of a problem's N samples is exact (rarefaction), so that policies are
compared at every depth without drawing subsamples. A text without a number has no trace; it stays among the N samples.
"""

from collections.abc import Sequence

import numpy as np
import pandas as pd

from workflow_scripts.measures import estimators
from workflow_scripts.measures.first_calculations import checked, long
from workflow_scripts.records.errors import UserError

CURVES = {
    "traces": "expected number of distinct numeric traces in n samples, drawn without replacement",
    "traces_correct": "the same of correct samples' traces, in n samples of which others are wrong",
}

_KEY = ["policy", "benchmark", "problem_id"]


def depths(most: int) -> list[int]:
    """1, 2, 4, … and `most`."""
    return sorted({*(2**power for power in range(most.bit_length()) if 2**power <= most), most})


def curve_values(scores: pd.DataFrame, draws: Sequence[int]) -> pd.DataFrame:
    """Measures `traces@n` and `traces_correct@n` of every policy and problem, `distinct_traces` at the deepest n, and
    `traceless`, the share of samples without a trace: columns policy, benchmark, problem_id, measure, value.

    scores: MATHS_SCORES. draws: each 1 … the number of samples. Raises UserError for draws beyond a problem's samples,
    and as first_calculations.checked.
    """
    checked(scores)
    groups = scores.groupby(_KEY, sort=True)
    totals = groups.size()
    if not len(draws) or min(draws) < 1 or max(draws) > totals.min():
        raise UserError(f"traces need depths from 1 to {int(totals.min())}, the fewest samples of a problem: {draws}")
    wide = pd.DataFrame(index=totals.index)
    wide["traceless"] = scores[_KEY].assign(none=scores["numeric_trace"].isna()).groupby(_KEY)["none"].mean()
    for name, rows in (("traces", scores), ("traces_correct", scores[scores["correct"]])):
        hits = rows.dropna(subset=["numeric_trace"]).groupby([*_KEY, "numeric_trace"]).size()
        places = totals.index.get_indexer(hits.index.droplevel("numeric_trace"))
        for depth in draws:
            wide[f"{name}@{depth}"] = estimators.rarefied_distinct(
                hits=hits.to_numpy(),
                groups=places,
                totals=totals.to_numpy(),
                draws=np.full(len(totals), depth),
            )
    wide["distinct_traces"] = wide[f"traces@{max(draws)}"]
    return long(wide)
