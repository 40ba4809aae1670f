"""How much of a change in solve probability is access, and how much execution: the two-factor Shapley split.

Solve probability is Σ q μ over the cells of a problem (measures/access.py). The access part ½ Σ Δq (μ0 + μ1) is the
mean of moving q first and of moving q last; the execution part ½ Σ Δμ (q0 + q1) likewise; they add up exactly.
Paper, section on access and execution; reference protocol, section 4.3.
"""

from collections.abc import Mapping, Sequence

import numpy as np
import pandas as pd

from workflow_scripts.measures.pairs import pair_rows, paired, seed_values, statistic_row
from workflow_scripts.measures.statistics import Bootstrap
from workflow_scripts.records.schemas import OUTSIDE

SHARES = ("shapley_access_share", "shapley_execution_share")
"""Parts as shares of the mean change; they need not lie in [0, 1], and mean little where the change is near 0."""


def split(both: pd.DataFrame, *, carry: bool = False) -> pd.DataFrame:
    """The split of every problem: columns policy, problem_id, start, end, access, execution (all probabilities).

    both: pairs.paired of access.cells; q under the study's decoding, μ any valid answer. access + execution = end −
    start. carry: where no free sample of one end opens `outside`, its μ there is unknown; False takes 0, True the
    other end's, so that nothing of the change is laid to its execution.
    """
    q0, q1, mu0, mu1 = (
        both[name].to_numpy(dtype=float)
        for name in ("decoded_before", "decoded_after", "any_valid_before", "any_valid_after")
    )
    if carry:
        outside = (both["opening"] == OUTSIDE).to_numpy()
        unknown0, unknown1 = (outside & (both[f"samples_{end}"] == 0).to_numpy() for end in ("before", "after"))
        mu0, mu1 = np.where(unknown0, mu1, mu0), np.where(unknown1, mu0, mu1)
    terms = pd.DataFrame(
        {
            "start": q0 * mu0,
            "end": q1 * mu1,
            "access": (q1 - q0) * (mu0 + mu1) / 2,
            "execution": (mu1 - mu0) * (q0 + q1) / 2,
        }
    )
    return terms.groupby([both["policy"], both["problem_id"]]).sum().reset_index()


def shapley_rows(
    frame: pd.DataFrame,
    problems: Sequence[str],
    bootstrap: Bootstrap,
    entries: Mapping[str, Sequence[str]],
    pair: tuple[str, str] = ("early", "late"),
) -> pd.DataFrame:
    """The split with intervals: rows as comparison.contrasts gives.

    frame: access.cells of both ends. Measures shapley_access, shapley_execution (probability), shapley_total (their
    sum, start and end being Σ q μ), SHARES, and shapley_execution_lead (execution − access). With the suffix
    `_carried`: access and execution when μ of an unvisited `outside` is carried over (see `split`).
    """
    both = paired(frame, entries[pair[0]], entries[pair[1]])
    parts = split(both)
    total = parts["access"] + parts["execution"]
    named = [
        ("shapley_access", parts["access"]),
        ("shapley_execution", parts["execution"]),
        ("shapley_execution_lead", parts["execution"] - parts["access"]),
    ]
    carried = split(both, carry=True)
    named += [(f"shapley_{part}_carried", carried[part]) for part in ("access", "execution")]
    key = ["policy", "problem_id"]
    long = [parts[key].assign(measure=name, value=value) for name, value in named]
    long.append(parts[[*key, "start", "end"]].assign(measure="shapley_total", value=total))
    policies = entries[pair[1]]
    rows = [pair_rows(pd.concat(long, ignore_index=True), problems, policies, bootstrap, pair)]
    values = seed_values(
        pd.concat(long[:2], ignore_index=True), problems, policies
    ).array  # access, execution: in that order
    for at, name in enumerate(SHARES):

        def share(means: np.ndarray, at: int = at) -> np.ndarray:
            with np.errstate(invalid="ignore", divide="ignore"):
                return means[..., at] / means.sum(axis=-1)

        rows.append(statistic_row(name, values, share, bootstrap, pair))
    return pd.concat(rows, ignore_index=True)
