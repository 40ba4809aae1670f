"""Failed answers, kept to be read: a few of each policy and reason, chosen by a key that no result has a part in."""

from collections.abc import Callable

import pandas as pd

from workflow_scripts.records import seeds
from workflow_scripts.records.errors import UserError

COLUMNS = [
    "policy",
    "benchmark",
    "reason",
    "count",
    "problem_id",
    "sample",
    "question",
    "gold",
    "extracted",
    "completion",
]


def failed_examples(
    scores: pd.DataFrame,
    rollouts: pd.DataFrame,
    problems: pd.DataFrame,
    *,
    each: int,
    seed: int,
    reason: Callable[[str, str], str] = lambda status, completion: status,
) -> pd.DataFrame:
    """Up to `each` wrong samples of every policy, benchmark and reason: COLUMNS, in that order.

    scores: MATHS_SCORES. rollouts: their ROLLOUTS. problems: MATHS_PROBLEMS. reason: of (status, completion); the
    status by default, for the word problems `tasks.maths.word_faults.fault`. count: all wrong samples with that
    policy, benchmark and reason. Which are shown depends on (seed, policy, problem, sample) alone; equal completions of
    one problem are shown once. Raises UserError where a scored sample has no rollout or no problem.
    """
    wrong = scores.loc[
        ~scores["correct"].astype(bool), ["policy", "benchmark", "problem_id", "sample", "status", "extracted"]
    ]
    said = rollouts.loc[rollouts["prefix"] == "", ["policy", "problem_id", "sample", "completion"]]
    table = wrong.merge(said, how="left", on=["policy", "problem_id", "sample"], validate="one_to_one")
    table = table.merge(
        problems[["problem_id", "question", "gold"]], how="left", on="problem_id", validate="many_to_one"
    )
    for column, what in (("completion", "rollout"), ("gold", "problem")):
        if table[column].isna().any():
            row = table[table[column].isna()].iloc[0]
            raise UserError(f"sample {row['sample']} of {row['policy']} on {row['problem_id']} has no {what}")
    table["reason"] = [reason(*row) for row in zip(table["status"], table["completion"])]
    groups = ["policy", "benchmark", "reason"]
    table["count"] = table.groupby(groups)["sample"].transform("size")
    keys = zip(table["policy"], table["problem_id"], table["sample"])
    table["order"] = [seeds.key("failed", seed, *map(str, key)) for key in keys]
    table = table.sort_values([*groups, "order"]).drop_duplicates([*groups, "problem_id", "completion"])
    return table.groupby(groups, sort=True).head(each)[COLUMNS].reset_index(drop=True)
