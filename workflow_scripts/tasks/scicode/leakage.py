"""What can be had without solving a problem: repeated problems, common answers, policies that never read the question.

Every set of problems is held against the training set; shares are of the problems of one set and family, in [0, 1].
"""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from statistics import fmean

import pandas as pd

from workflow_scripts.tasks.maths.contamination import WORDS, normalised
from workflow_scripts.tasks.scicode.generation import content_key, parameter_key
from workflow_scripts.tasks.scicode.judging import judge
from workflow_scripts.tasks.scicode.problems import Problem
from workflow_scripts.tasks.scicode.sandbox import Sandbox
from workflow_scripts.tasks.scicode.trivial import TRIVIAL, commonest
from workflow_scripts.tasks.scicode.values import decode

ALL = "all"
"""The row of all families of a set."""
TRAINING = "training"
"""The set that the others are held against."""
POLICIES = ("return []", "return 0", "return None", "commonest value", "number of the prompt")
"""Trivial policies (`trivial.TRIVIAL`) whose right answers are counted; the commonest value is that of training."""
COLUMNS = (
    "set", "family", "problems",
    "distinct",  # contents, as a share of the problems
    "content_in_training", "parameters_in_training",  # problems that training holds too
    "prompt_overlap",  # mean share of a prompt's runs of eight words that some training prompt holds
    "commonest",  # problems with the commonest answer of their family in this set
    "empty",  # problems whose answers are all empty: a list, a set, …, without items, or nothing
    *POLICIES,  # problems that the policy solves
)  # fmt: skip
"""Of the report. In the rows of the training set, what training holds too is left empty."""


def report(training: Sequence[Problem], others: Mapping[str, Sequence[Problem]], sandbox: Sandbox) -> pd.DataFrame:
    """Columns COLUMNS; per set a row of all families, then one a family; the training set first.

    others: sets of problems by name. The trivial policies are judged by the study's own verdict, in one batch.
    """
    sets = {TRAINING: training, **others}
    solved = _solved(sets, commonest(training), sandbox)
    known = {key: {digest(problem) for problem in training} for key, digest in _KEYS.items()}
    runs = frozenset().union(*(_runs(problem.prompt) for problem in training))
    rows = []
    for name, problems in sets.items():
        kept = [problem for problem in problems if problem.checks]
        families = sorted({problem.family for problem in kept})
        for family in (ALL, *families):
            of_family = [problem for problem in kept if family in (ALL, problem.family)]
            row = {"set": name, "family": family, "problems": len(of_family)}
            if of_family:
                row |= _shares(of_family, solved[name])
            if of_family and name != TRAINING:
                row |= _shared(of_family, known, runs)
            rows.append(row)
    return pd.DataFrame(rows, columns=COLUMNS)


_KEYS = {"content_in_training": content_key, "parameters_in_training": parameter_key}


def _shares(problems: Sequence[Problem], solved: Mapping[str, Mapping[str, int]]) -> dict[str, float]:
    count = len(problems)
    answers: dict[str, Counter[tuple[str, ...]]] = {}
    for problem in problems:
        answers.setdefault(problem.family, Counter())[_answer(problem)] += 1
    return {
        "distinct": len({content_key(problem) for problem in problems}) / count,
        "commonest": sum(max(counts.values()) for counts in answers.values()) / count,
        "empty": fmean(all(_empty(decode(check.expected)) for check in problem.checks) for problem in problems),
        **{policy: fmean(solved[policy][problem.problem_id] for problem in problems) for policy in POLICIES},
    }


def _shared(problems: Sequence[Problem], known: Mapping[str, set[str]], runs: frozenset) -> dict[str, float]:
    found = {key: fmean(digest(problem) in known[key] for problem in problems) for key, digest in _KEYS.items()}
    return found | {"prompt_overlap": fmean(_overlap(problem.prompt, runs) for problem in problems)}


def _solved(
    sets: Mapping[str, Sequence[Problem]], common: Mapping[str, str], sandbox: Sandbox
) -> dict[str, dict[str, dict[str, int]]]:
    """Whether a policy solves a problem: by set, policy, problem_id; it does not where it has nothing to write."""
    found = {
        name: {policy: {problem.problem_id: 0 for problem in problems} for policy in POLICIES}
        for name, problems in sets.items()
    }
    asked = []
    for name, problems in sets.items():
        for policy in POLICIES:
            for problem in problems:
                text = TRIVIAL[policy].write(problem, common.get(problem.family, "null"))
                if text is not None and problem.checks:
                    asked.append((name, policy, problem, text))
    verdicts = judge([(text, problem) for _, _, problem, text in asked], sandbox)
    for (name, policy, problem, _), verdict in zip(asked, verdicts, strict=True):
        found[name][policy][problem.problem_id] = int(verdict.correct)
    return found


def _runs(prompt: str) -> frozenset[tuple[str, ...]]:
    words = normalised(prompt).split()
    return frozenset(tuple(words[place : place + WORDS]) for place in range(len(words) - WORDS + 1))


def _overlap(prompt: str, runs: frozenset) -> float:
    own = _runs(prompt)
    return len(own & runs) / len(own) if own else 0.0


def _answer(problem: Problem) -> tuple[str, ...]:
    return tuple(check.expected for check in problem.checks)


def _empty(value: object) -> bool:
    return value is None or (isinstance(value, list | tuple | frozenset | dict | str) and not value)


def worst(found: pd.DataFrame, columns: Iterable[str] = ("content_in_training", "parameters_in_training")) -> float:
    """The largest share in these columns over all sets; 0 where nothing is shared."""
    values = found[list(columns)].max(axis=None, skipna=True)
    return 0.0 if pd.isna(values) else float(values)
