"""Leak screening: does the text around a rung tell what comes after it, beyond the problem and the family?

A clamp gives an entrance, `try 4 *`, inside a scaffold: nothing, a failed attempt, a cut from a successful run. A
scaffold that carries the plan measures copying, not execution. So scaffolds are screened, not rungs: y is the second
operand of the first step, candidates are the other given numbers (and `other`), and a classifier that sees the scaffold
is compared with one that sees only (problem, family).

The classifier is described in scaffold_classifier. Mutual information is estimated by the drop of its cross-fitted
log-loss from not seeing to seeing the scaffold, nats.
"""

from collections.abc import Callable

import numpy as np
import pandas as pd

from workflow_scripts.measures.scaffold_classifier import OTHER, Design
from workflow_scripts.measures.statistics import Bootstrap
from workflow_scripts.records.errors import UserError
from workflow_scripts.records.seeds import generator

ROWS = ("policy", "problem_id", "family", "scaffold", "scaffold_id", "before", "after", "y", "candidates")
"""Columns of the rows: one continuation each. before, after: scaffold text around the rung. y: a number, OTHER if none.
candidates: tuple of distinct numbers, ascending."""

SCREENED_RUNGS = ("entrance", "before_last_step")
"""One rung of each kind of scaffold: a cut before the answer holds the cut before the last step of the same run."""

FAILS_BELOW = 0.05
"""Permutation p under which a kind of scaffold fails."""

FEWEST_PROBLEMS = 10
"""Problems whose scaffolds differ, below which nothing is decided."""

_EMPTY = {"nats": np.nan, "low": np.nan, "high": np.nan, "p": np.nan}


def rows_of(
    clamps: pd.DataFrame,
    rollouts: pd.DataFrame,
    problems: pd.DataFrame,
    in_words: Callable[[str], str] = str,
) -> pd.DataFrame:
    """Rows to screen, columns ROWS, in the order of clamps and rollouts.

    clamps: CLAMPS, of which SCREENED_RUNGS are taken. rollouts: ROLLOUTS of one or more policies on their prefixes.
    problems: PROBLEMS. in_words: puts a text into the laptop's words (Wording.in_words). Raises UserError where a clamp
    has no rollouts, its problem is unknown, or its prefix does not hold its family's `try a op`.
    """
    chosen = clamps[clamps["rung"].isin(SCREENED_RUNGS)]
    numbers = {name: sorted(map(int, given)) for name, given in zip(problems["problem_id"], problems["numbers"])}
    parts = []
    for row in chosen.itertuples():
        if row.problem_id not in numbers:
            raise UserError(f"problem {row.problem_id} of the clamps is not in the problem set")
        before, after = _split(in_words(row.prefix), row.family, row.problem_id)
        others = list(numbers[row.problem_id])
        if int(row.family[:-1]) not in others:
            raise UserError(f"family {row.family} begins with no number of problem {row.problem_id}")
        others.remove(int(row.family[:-1]))
        parts.append((before, after, tuple(sorted(set(others)))))
    texts = pd.DataFrame(parts, columns=["before", "after", "candidates"], index=chosen.index)
    keys = ["problem_id", "prefix"]
    joined = chosen.join(texts).merge(rollouts[["policy", *keys, "completion"]], on=keys, how="left")
    if joined["policy"].isna().any():
        missing = joined[joined["policy"].isna()].iloc[0]
        raise UserError(f"there are no rollouts of problem {missing['problem_id']} with prefix {missing['prefix']!r}")
    texts = joined["after"] + " " + joined["completion"].map(in_words)
    joined["y"] = [_following(text, known) for text, known in zip(texts, joined["candidates"])]
    return joined[list(ROWS)]


def _following(text: str, candidates: tuple[int, ...]) -> int:
    """The candidate that a text begins with, else OTHER."""
    word = (text.split() or [""])[0]
    return int(word) if word.isdecimal() and int(word) in candidates else OTHER


def _split(prefix: str, family: str, problem_id: str) -> tuple[str, str]:
    """Scaffold text before and after the last `try a op` of a prefix, or its first `a op` where no `try` is written."""
    step = f" {family[:-1]} {family[-1]} "
    before, found, after = f" {prefix} ".rpartition(f" try{step}")
    if not found:
        before, found, after = f" {prefix} ".partition(step)
    if not found:
        raise UserError(f"problem {problem_id}: the prefix {prefix!r} does not give the family {family}")
    return before.strip(), after.strip()


def screen(
    rows: pd.DataFrame, *, seed: int, permutations: int = 200, confidence: float = 0.95, draws: int = 2000
) -> pd.DataFrame:
    """One row per kind of scaffold: scaffold, scaffolds, continuations, problems, nats, low, high, p, verdict.

    rows: as from `rows_of`. nats: mean over problems of the mean gain per continuation in log-probability of y from
    seeing the scaffold, cross-fitted (can be below 0), with its problem-bootstrap interval. p: (1 + permutations with
    at least this gain)/(1 + permutations), where scaffold texts change places among the scaffolds of a (problem,
    family), and the classifier is fitted anew each time. Cuts, which hold text after the rung, change places within the
    problem where a family has only one.
    verdict: `fail` (p < FAILS_BELOW), `pass`; `constant` where a (problem, family) always has the same text, so that
    there is nothing to predict from (0 nats, passes); `too few` under FEWEST_PROBLEMS problems.
    scaffolds, continuations, problems: those compared, all of them where nothing is. Raises UserError where a scaffold
    has two texts in one family.
    """
    bootstrap = Bootstrap.over(rows["problem_id"].nunique(), seed=seed, draws=draws, confidence=confidence)
    everything = pd.Index(sorted(rows["problem_id"].unique()))
    found = []
    for kind in sorted(rows["scaffold"].unique()):
        chosen = rows[rows["scaffold"] == kind]
        varied = _varied(chosen)
        known = varied if len(varied) else chosen
        row = {
            "scaffold": kind,
            "scaffolds": len(known.drop_duplicates(["problem_id", "before", "after"])),
            "continuations": len(known),
            "problems": known["problem_id"].nunique(),
        }
        if varied.empty:
            row |= {"nats": 0.0, "low": 0.0, "high": 0.0, "p": 1.0, "verdict": "constant"}
        elif row["problems"] < FEWEST_PROBLEMS:
            row |= _EMPTY | {"verdict": "too few"}
        else:
            design = Design(varied, rows[rows["scaffold"].isin([kind, "neutral"])])
            gains = design.gains(design.own)
            stream = generator("screening", kind, seed)
            shuffled = [design.gains(design.shuffled(stream)).mean() for _ in range(permutations)]
            # Equal up to rounding counts as equal
            p = (1 + sum(value >= gains.mean() - 1e-12 for value in shuffled)) / (1 + permutations)
            result = bootstrap.estimate(gains.reindex(everything).to_numpy()[:, None])
            row |= {"nats": result.value[0], "low": result.low[0], "high": result.high[0], "p": p}
            row["verdict"] = "fail" if p < FAILS_BELOW else "pass"
        found.append(row)
    return pd.DataFrame(found)


def leak_rows(screened: pd.DataFrame, pair: tuple[str, str] = ("early", "late")) -> pd.DataFrame:
    """Estimand rows as of comparison.contrasts, measures `leak_<kind>` (nats); start and end are NaN."""
    return pd.DataFrame(
        {"before": pair[0], "after": pair[1], "measure": "leak_" + screened["scaffold"], "start": np.nan, "end": np.nan}
        | {"estimate": screened["nats"], "low": screened["low"], "high": screened["high"]}
        | {"problems": screened["problems"]}
    )


def failing(screened: pd.DataFrame) -> list[str]:
    """Kinds of scaffold that a ladder must leave out."""
    return screened.loc[screened["verdict"] == "fail", "scaffold"].tolist()


def _varied(rows: pd.DataFrame) -> pd.DataFrame:
    """The rows whose scaffold can change places with another text, with a column `group` that says among which."""
    units = rows.drop_duplicates(["problem_id", "family", "scaffold_id", "before", "after"]).copy()
    twice = units.duplicated(["problem_id", "family", "scaffold_id"])
    if twice.any():
        bad = units[twice].iloc[0]
        raise UserError(
            f"problem {bad['problem_id']}: scaffold {bad['scaffold']} {bad['scaffold_id']} has two texts for family "
            f"{bad['family']}; screen one rung at a time"
        )
    units["text"] = units["before"] + "\n" + units["after"]
    alone = units.groupby(["problem_id", "family"])["text"].transform("nunique") == 1
    # A failed attempt may have been chosen to suit its family, so that it cannot stand for another family's.
    units["group"] = units["problem_id"] + " " + units["family"].mask(alone & (units["after"] != ""), "")
    units = units[units.groupby("group")["text"].transform("nunique") > 1]
    return rows.merge(units[["problem_id", "family", "scaffold_id", "group"]])
