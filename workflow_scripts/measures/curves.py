"""Coverage and pass@k against the number of samples, and coverage at equal numbers of correct samples.

Both come from the counts of each form, exactly: a smaller sample is a draw without replacement from the one at hand.
"""

from collections.abc import Callable, Sequence

import numpy as np
import pandas as pd

from workflow_scripts.measures import estimators
from workflow_scripts.measures.breadth import SOLUTION_KINDS
from workflow_scripts.measures.comparison import SOLUTION_SETS, Values, problem_values
from workflow_scripts.records.errors import UserError


def _found(
    counts: pd.DataFrame, policy: str, kind: str, solution_set: str, problems: Sequence[str]
) -> tuple[np.ndarray, np.ndarray]:
    """Hits and problem index of each form of one kind that a correct sample of the policy has."""
    flag = "expressible" if solution_set == "expressible" else "feasible"
    chosen = counts[(counts["policy"] == policy) & (counts["kind"] == kind) & counts[flag]]
    chosen = chosen[chosen["correct"] > 0]
    return chosen["correct"].to_numpy(), pd.Index(problems).get_indexer(chosen["problem_id"])


def _sizes(frame: pd.DataFrame, kind: str, solution_set: str) -> np.ndarray:
    size = frame[f"size_{kind}{SOLUTION_SETS[solution_set]}"].to_numpy(dtype=float)
    return np.where(size > 0, size, np.nan)


def _assembled(
    frame: pd.DataFrame, names: list[str], columns: Callable[[str, pd.DataFrame, list[str]], np.ndarray]
) -> Values:
    # problem_values checks that the policies are comparable, and fixes the order of policies and problems.
    known = problem_values(frame, [1])
    by_policy = {p: rows.set_index("problem_id").loc[known.problems] for p, rows in frame.groupby("policy")}
    array = np.stack([columns(policy, by_policy[policy], known.problems) for policy in known.policies])
    return Values(known.policies, known.problems, names, known.samples, array)


def curve_values(
    frame: pd.DataFrame, counts: pd.DataFrame, draws: Sequence[int], solution_set: str = "expressible"
) -> Values:
    """Expected coverage and pass@k at each number of samples in `draws`, per problem.

    frame, counts: PROBLEM_BREADTH and FORM_COUNTS of the policies. draws: each 1 … n. Measures are named
    `coverage_paper@16`, `coverage_formula@16`, `pass@16`; comparison.summary gives means and intervals. Raises
    UserError for draws beyond n.
    """
    draws = np.asarray(draws)
    names = [f"{what}@{n}" for what in ("coverage_paper", "coverage_formula", "pass") for n in draws]

    def columns(policy: str, rows: pd.DataFrame, problems: list[str]) -> np.ndarray:
        samples = int(rows["samples"].iloc[0])
        passes = estimators.pass_at_k(samples=samples, correct=rows["correct"].to_numpy(), ks=draws)
        parts = []
        for kind in SOLUTION_KINDS:
            hits, groups = _found(counts, policy, kind, solution_set, problems)
            distinct = estimators.distinct_curve(
                hits=hits, groups=groups, size=len(problems), total=samples, draws=draws
            )
            parts.append(distinct / _sizes(rows, kind, solution_set)[:, None])
        return np.hstack([*parts, passes])

    return _assembled(frame, names, columns)


def rarefied_values(frame: pd.DataFrame, counts: pd.DataFrame, solution_set: str = "expressible") -> Values:
    """Coverage that each policy would show with as many correct samples as the least successful of them, per problem.

    Coverage at fixed n mixes breadth with success rate; this one does not. frame, counts: of the policies to compare,
    and of no other, since m is the smallest number of correct samples among them. Measures: rarefied_paper,
    rarefied_formula, matched_correct (that m). A problem with m = 0 has none of them (NaN).
    """
    least = frame.groupby("problem_id")["correct"].min()

    def columns(policy: str, rows: pd.DataFrame, problems: list[str]) -> np.ndarray:
        draws = least.loc[problems].to_numpy()
        parts = []
        for kind in SOLUTION_KINDS:
            hits, groups = _found(counts, policy, kind, solution_set, problems)
            distinct = estimators.rarefied_distinct(
                hits=hits, groups=groups, totals=rows["correct"].to_numpy(), draws=draws
            )
            parts.append(distinct / _sizes(rows, kind, solution_set))
        return np.stack([*parts, np.where(draws > 0, draws, np.nan)], axis=1)

    return _assembled(frame, ["rarefied_paper", "rarefied_formula", "matched_correct"], columns)


def curve_frame(summary: pd.DataFrame) -> pd.DataFrame:
    """comparison.summary of curve_values as columns entry, measure, n, estimate, low, high, problems."""
    parts = summary["measure"].str.rsplit("@", n=1, expand=True)
    if parts.shape[1] != 2:
        raise UserError("this summary does not hold a curve: its measures carry no number of samples")
    frame = summary.assign(measure=parts[0], n=parts[1].astype(int))
    return frame[["entry", "measure", "n", "estimate", "low", "high", "problems"]]
