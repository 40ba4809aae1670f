"""Entrance mass: how a policy's samples spread over a problem's entrances, the most used one against all others."""

from collections.abc import Sequence

import numpy as np
import pandas as pd

from workflow_scripts.measures.comparison import Values, problem_values
from workflow_scripts.records.errors import UserError

MASSES = ("mass_first", "mass_others", "mass_elsewhere")
"""Shares of a problem's samples, which add up to 1: in its most used entrance among those that open a solution, in all
others of these, and in none of them (nothing stated, or no solution starts so)."""


def mass_values(frame: pd.DataFrame, counts: pd.DataFrame, solution_set: str = "expressible") -> Values:
    """MASSES of every policy and problem, by the opening that the think part states.

    frame, counts: PROBLEM_BREADTH and FORM_COUNTS of the policies. solution_set: `expressible` or `full`, which
    openings count as opening a solution. The most used entrance is each policy's own, so that mass_first rises when
    samples gather in one entrance, whichever it is. Raises UserError as comparison.problem_values does, and where
    counts lack a policy of the frame that states a step anywhere.
    """
    known = problem_values(frame, [1], solution_set)
    missing = set(frame.loc[frame["entropy_think"].notna(), "policy"]) - set(counts["policy"].unique())
    if missing:
        raise UserError(f"there are no form counts of {', '.join(sorted(missing))}")
    flag = "expressible" if solution_set == "expressible" else "feasible"
    opened = counts[(counts["kind"] == "think") & counts[flag]]
    by_problem = opened.groupby(["policy", "problem_id"])["samples"].agg(["max", "sum"])
    return Values(known.policies, known.problems, list(MASSES), known.samples, _shares(by_problem, known))


def _shares(by_problem: pd.DataFrame, known: Values) -> np.ndarray:
    every: Sequence = pd.MultiIndex.from_product([known.policies, known.problems])
    first, all_opened = by_problem.reindex(every, fill_value=0).to_numpy(dtype=float).T / known.samples
    array = np.stack([first, all_opened - first, 1 - all_opened], axis=-1)
    return array.reshape(len(known.policies), len(known.problems), len(MASSES))
