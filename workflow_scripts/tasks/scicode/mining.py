"""Problems that a policy fails at, from its rollouts, and a training set that dwells on them.

Problems are told by their ids, not by their prompts. What is mined never holds a problem of an evaluation set: those
that fail there lend their families alone.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd

from workflow_scripts.records.errors import UserError
from workflow_scripts.tasks.scicode.families import FAMILIES
from workflow_scripts.tasks.scicode.generation import generate, keys_of
from workflow_scripts.tasks.scicode.problems import Problem
from workflow_scripts.tasks.scicode.rewards.text_shape import FENCE

COLUMNS = (
    "set", "problem_id", "family", "samples",
    "accuracy",  # share of samples that are right
    "all_wrong", "useful",  # no sample right; samples with more than one score, to six decimals
    "mean_score", "lowest_score",
    "unclosed", "thinking",  # share of samples with an odd number of fences; that hold a mark of thinking
    "severity", "selected",
)  # fmt: skip


@dataclass(frozen=True)
class Severity:
    """Weights of what makes a problem worth dwelling on (the reference system's V19), and what is asked of a score.

    all_wrong, useful: where no sample is right, where scores differ. wrong: times the share that is not right.
    mean_at_least, lowest_at_least: what mean and lowest score fall short of is added. unclosed: times the share of
    unclosed blocks. thinking: where at least half of the samples think.
    """

    all_wrong: float = 3.0
    wrong: float = 1.5
    mean_at_least: float = 0.92
    lowest_at_least: float = 0.88
    useful: float = 0.35
    unclosed: float = 0.2
    thinking: float = 0.15


def failures(
    rollouts: pd.DataFrame,
    scores: pd.DataFrame,
    rewards: pd.DataFrame | None = None,
    weights: Severity = Severity(),
) -> pd.DataFrame:
    """Columns COLUMNS, one row a problem, the most severe first.

    rollouts: ROLLOUTS. scores: SCICODE_SCORES of the same samples. rewards: SCICODE_REWARDS of one reward, whose score
    counts; else the share of checks that hold. selected: all wrong, scores that differ, a sample that is not right, a
    lowest score below `lowest_at_least`, or much thinking.
    Raises UserError where samples are without scores, or rewards of several kinds are given.
    """
    key = ["policy", "problem_id", "sample"]
    joined = scores.merge(rollouts[[*key, "completion"]], on=key, how="outer", validate="one_to_one", indicator=True)
    _require_all(joined, "a score and a rollout")
    joined = joined.drop(columns="_merge")
    if rewards is None:
        joined["score"] = joined["passed"] / joined["checks"].clip(lower=1)
    else:
        if rewards["reward"].nunique() > 1:
            kinds = ", ".join(sorted(rewards["reward"].unique()))
            raise UserError(f"problems are mined by one reward, not by {kinds}; choose one")
        joined = joined.merge(rewards[[*key, "score"]], on=key, how="outer", validate="one_to_one", indicator=True)
        _require_all(joined, "a score and a reward")
    joined["unclosed"] = joined["completion"].str.count(FENCE) % 2 == 1
    joined["thinking"] = joined["completion"].str.contains("<think>|</think>", regex=True)
    joined["rounded"] = joined["score"].round(6)
    table = (
        joined.groupby(["set", "problem_id", "family"])
        .agg(
            samples=("sample", "size"),
            accuracy=("correct", "mean"),
            distinct=("rounded", "nunique"),
            mean_score=("score", "mean"),
            lowest_score=("score", "min"),
            unclosed=("unclosed", "mean"),
            thinking=("thinking", "mean"),
        )
        .reset_index()
    )
    return _ranked(table, weights)


def _ranked(table: pd.DataFrame, weights: Severity) -> pd.DataFrame:
    table["all_wrong"], table["useful"] = table["accuracy"] == 0, table["distinct"] > 1
    thinks = table["thinking"] > 0.5
    table["severity"] = (
        weights.all_wrong * table["all_wrong"]
        + weights.wrong * (1 - table["accuracy"])
        + (weights.mean_at_least - table["mean_score"]).clip(lower=0)
        + (weights.lowest_at_least - table["lowest_score"]).clip(lower=0)
        + weights.useful * table["useful"]
        + weights.unclosed * table["unclosed"]
        + weights.thinking * thinks
    )
    low = table["lowest_score"] < weights.lowest_at_least
    table["selected"] = table["all_wrong"] | table["useful"] | (table["accuracy"] < 1) | low | thinks
    # Severities that are equal but for rounding are ordered by name.
    order = np.lexsort((table["problem_id"], table["set"], -table["severity"].round(9)))
    return table.iloc[order].reset_index(drop=True)[list(COLUMNS)]


def mined(
    problems: Sequence[Problem],
    table: pd.DataFrame,
    *,
    count: int,
    seed: int,
    share: float = 0.75,
    wrapped: bool = False,
    exclude: Iterable[str] = frozenset(),
) -> list[Problem]:
    """`count` problems to train on: the most severe ones that were selected, at most `share` of them, and fresh ones.

    problems: those that the rollouts answer. table: of `failures`. wrapped: whether fresh ones are benchmark-style.
    exclude: keys (`generation.keys_of`) of evaluation sets; a problem among them is never kept. The fresh problems come
    from the families of selected problems, one for each in order of severity and again from the first, and repeat none
    of `problems`.
    Raises UserError for a problem that is not given, and where no family of ours is left to draw from.
    """
    known = {problem.problem_id: problem for problem in problems}
    selected = table.loc[table["selected"], "problem_id"].tolist()
    unknown = [name for name in selected if name not in known]
    if unknown:
        raise UserError(f"there are rollouts of {unknown[0]}, which is in none of the problem tables")
    excluded = frozenset(exclude)
    trainable = [known[name] for name in selected if excluded.isdisjoint(keys_of([known[name]]))]
    kept = trainable[: int(share * count)]
    if len(kept) == count:
        return kept
    families = [known[name].family for name in selected if known[name].family in FAMILIES]
    if not families:
        raise UserError(
            f"of {len(selected)} problems that fail, none is of a family that is generated here, so that there are no "
            "fresh problems; give rollouts of generated problems"
        )
    fresh = generate(
        "mined",
        count=count - len(kept),
        seed=seed,
        families=families,
        wrapped=wrapped,
        exclude=excluded | keys_of(problems),
    )
    return kept + fresh


def _require_all(joined: pd.DataFrame, both: str) -> None:
    lone = joined[joined["_merge"] != "both"]
    if len(lone):
        first = lone.iloc[0]
        raise UserError(
            f"sample {first['sample']} of {first['problem_id']} ({first['policy']}) does not have {both}; give tables "
            "of the same samples"
        )
