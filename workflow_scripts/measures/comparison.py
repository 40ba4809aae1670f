"""Policies side by side: every measure with its interval, and paired differences between two points of a line.

One set of resampled problems serves all policies, so that what is printed as a difference is paired by problem.
"""

from collections.abc import Callable, Mapping, Sequence
from typing import NamedTuple

import numpy as np
import pandas as pd

from workflow_scripts.measures import estimators
from workflow_scripts.measures.statistics import Bootstrap
from workflow_scripts.records.errors import UserError


class Measure(NamedTuple):
    """A number per problem. label: heading, with {n} for the samples per problem. how: one sentence for below a
    table."""

    label: str
    unit: str
    how: str
    values: Callable[[pd.DataFrame], np.ndarray]


def _rate(column: str) -> Callable[[pd.DataFrame], np.ndarray]:
    return lambda frame: (frame[column] / frame["samples"]).to_numpy(dtype=float)


def _share(column: str, kind: str, part: str) -> Callable[[pd.DataFrame], np.ndarray]:
    def values(frame: pd.DataFrame) -> np.ndarray:
        size = frame[f"size_{kind}{part}"].to_numpy(dtype=float)
        # A problem with nothing expressible has no coverage of it: left out, which the count of problems shows.
        return np.divide(
            frame[f"{column}_{kind}{part}"].to_numpy(dtype=float), size, out=np.full(len(size), np.nan), where=size > 0
        )

    return values


def _column(name: str) -> Callable[[pd.DataFrame], np.ndarray]:
    return lambda frame: frame[name].to_numpy(dtype=float)


def _unseen(kind: str) -> Callable[[pd.DataFrame], np.ndarray]:
    return lambda frame: estimators.unseen_mass(singletons=frame[f"singletons_{kind}"], samples=frame["correct"])


SOLUTION_SETS = {"expressible": "_expressible", "full": ""}
"""Which solutions a share is taken of: those that the text of the policy can express, or all over the rationals."""


def _coverages(part: str, suffix: str, of: str) -> dict[str, Measure]:
    rows = {
        "coverage_paper": (
            "Cov@{n} (paper)",
            "found",
            "paper",
            f"share of the {of} solutions, one per paper leaf, that a correct sample gave",
        ),
        "coverage_formula": (
            "Cov@{n} (formula)",
            "found",
            "formula",
            f"the same, one per rational function of the numbers ({of})",
        ),
        "family_coverage": (
            "families",
            "found",
            "family",
            f"share of the {of} paper families that a correct answer's canonical form has",
        ),
        "family_coverage_all": (
            "families (all answers)",
            "visited",
            "family",
            f"share of the {of} paper families that any answer's form has",
        ),
        "opening_coverage": (
            "openings",
            "found",
            "opening",
            f"share of the {of} openings that a correct answer starts with",
        ),
        "opening_coverage_all": (
            "openings (all answers)",
            "visited",
            "opening",
            f"share of the {of} openings that any answer starts with",
        ),
        "opening_coverage_think": (
            "openings (think)",
            "visited",
            "think",
            f"share of the {of} openings that any think part starts with",
        ),
    }
    return {
        f"{name}{suffix}": Measure(label, "share", how, _share(column, kind, part))
        for name, (label, column, kind, how) in rows.items()
    }


def measures(pass_at: Sequence[int], solution_set: str = "expressible") -> dict[str, Measure]:
    """All measures of a PROBLEM_BREADTH frame by name.

    pass_at: the ks of pass@k. solution_set: what the unsuffixed coverages are shares of, a key of SOLUTION_SETS;
    those over all solutions are there too, suffixed `_full`. Raises UserError for another solution_set.
    """
    if solution_set not in SOLUTION_SETS:
        raise UserError(f"solution_set must be one of {', '.join(SOLUTION_SETS)}, not {solution_set!r}")

    def at(k: int) -> Callable[[pd.DataFrame], np.ndarray]:
        return lambda f: estimators.pass_at_k(samples=f["samples"], correct=f["correct"], ks=[k])[:, 0]

    entropy = "entropy of the first step over a problem's samples"
    return {
        **{
            f"pass@{k}": Measure(f"pass@{k}", "probability", "1 − C(n−c, k)/C(n, k), c of n samples correct", at(k))
            for k in pass_at
        },
        **_coverages(SOLUTION_SETS[solution_set], "", "expressible" if solution_set == "expressible" else "listed"),
        "entropy_think": Measure(
            "entrance entropy", "nats", f"{entropy}, as stated in the think part", _column("entropy_think")
        ),
        "entropy_answer": Measure(
            "answer entropy", "nats", f"{entropy}, as written in the answer", _column("entropy_answer")
        ),
        "entropy_think_correct": Measure(
            "entrance entropy (correct)", "nats", f"{entropy}, correct ones only", _column("entropy_think_correct")
        ),
        "entropy_answer_correct": Measure(
            "answer entropy (correct)",
            "nats",
            f"{entropy} as answered, correct ones only",
            _column("entropy_answer_correct"),
        ),
        **_coverages("", "_full", "listed"),
        "unseen_paper": Measure(
            "unseen mass (paper)", "probability", "Good–Turing f1/c over correct samples", _unseen("paper")
        ),
        "unseen_formula": Measure(
            "unseen mass (formula)", "probability", "Good–Turing f1/c over correct samples", _unseen("formula")
        ),
        "solved": Measure(
            "solved", "share", "problems with a correct sample", lambda f: (f["correct"] > 0).to_numpy(dtype=float)
        ),
        "format_rate": Measure("format", "share", "samples in the asked format", _rate("format_ok")),
        "truncated": Measure("truncated", "share", "samples without an end", _rate("truncated")),
        "off_menu_think": Measure(
            "off menu", "share", "samples whose think part opens no solution", _rate("off_menu_think")
        ),
        "tokens": Measure("tokens", "tokens", "mean length of a sample, end included", _column("mean_tokens")),
    }


class Values(NamedTuple):
    """Measures of many policies on the same problems. array: (policies, problems, measures)."""

    policies: list[str]
    problems: list[str]
    measures: list[str]
    samples: int
    array: np.ndarray

    def of(self, policies: Sequence[str]) -> np.ndarray:
        """(len(policies), problems, measures)."""
        return self.array[[self.policies.index(name) for name in policies]]


def problem_values(frame: pd.DataFrame, pass_at: Sequence[int], solution_set: str = "expressible") -> Values:
    """Every measure of every policy and problem.

    frame: PROBLEM_BREADTH rows of one or more policies. Raises UserError, naming the policy, unless all have the same
    problems and the same number of samples for each: Cov@n at different n is not comparable.
    """
    if frame["samples"].nunique() != 1:
        numbers = frame.groupby("policy")["samples"].agg(["min", "max"])
        raise UserError(
            f"policies to compare need one number of samples for every problem; found:\n{numbers.to_string()}"
        )
    frame = frame.sort_values(["policy", "problem_id"], ignore_index=True)
    policies, problems = sorted(frame["policy"].unique()), sorted(frame["problem_id"].unique())
    for policy, rows in frame.groupby("policy"):
        if sorted(rows["problem_id"]) != problems:
            missing = sorted(set(problems) - set(rows["problem_id"]))
            raise UserError(
                f"policy {policy} lacks {len(missing)} of {len(problems)} problems {missing[:1]}, or holds one twice"
            )
    wanted = measures(pass_at, solution_set)
    array = np.stack([measure.values(frame) for measure in wanted.values()], axis=-1)
    return Values(
        policies,
        problems,
        list(wanted),
        int(frame["samples"].iloc[0]),
        array.reshape(len(policies), len(problems), len(wanted)),
    )


def bootstrap_of(
    values: Values, *, seed: int, draws: int, confidence: float = 0.95, seeds_per_line: int = 1
) -> Bootstrap:
    """The study's resamples for these problems: the same in every job that has the same problems, seed and draws."""
    return Bootstrap.over(
        len(values.problems), seed=seed, draws=draws, confidence=confidence, seeds_per_line=seeds_per_line
    )


def summary(values: Values, bootstrap: Bootstrap, entries: Mapping[str, Sequence[str]] | None = None) -> pd.DataFrame:
    """Mean over problems of each measure, with interval: columns entry, measure, estimate, low, high, problems.

    entries: name to policies, one per training seed (default: each policy by itself). problems: those with a value.
    """
    entries = entries or {policy: [policy] for policy in values.policies}
    frames = []
    for entry, policies in entries.items():
        result = bootstrap.estimate(values.of(policies))
        frames.append(
            pd.DataFrame(
                {
                    "entry": entry,
                    "measure": values.measures,
                    "estimate": result.value,
                    "low": result.low,
                    "high": result.high,
                    "problems": result.problems,
                }
            )
        )
    return pd.concat(frames, ignore_index=True)


def contrasts(
    values: Values, bootstrap: Bootstrap, entries: Mapping[str, Sequence[str]], pairs: Sequence[tuple[str, str]]
) -> pd.DataFrame:
    """Paired differences after − before of each measure: columns before, after, measure, start, end, estimate, low,
    high, problems.

    entries: as in summary; the policies of two compared entries go by training seed, one against one. pairs: (before,
    after) entries. start, end: the two means over the problems that have a value at both ends (so estimate = end −
    start).
    """
    frames = []
    for before, after in pairs:
        first, last = values.of(entries[before]), values.of(entries[after])
        # Differences below rounding are none: a verdict must not hang on the last bit of a mean.
        difference = np.round(last - first, 12)
        both = ~np.isnan(difference)
        result = bootstrap.estimate(difference)
        count = np.maximum(both.sum(axis=(0, 1)), 1)
        start, end = (
            np.where(both, np.broadcast_to(v, difference.shape), 0.0).sum(axis=(0, 1)) / count for v in (first, last)
        )
        frames.append(
            pd.DataFrame(
                {"before": before, "after": after, "measure": values.measures, "start": start, "end": end}
                | {"estimate": result.value, "low": result.low, "high": result.high, "problems": result.problems}
            )
        )
    return pd.concat(frames, ignore_index=True)
