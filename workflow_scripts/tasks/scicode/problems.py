"""A scientific coding problem: a prompt, a reference program, and typed checks on what `answer()` returns.

Values travel as JSON text in the form of `values`: what a program returns is compared with what is expected without
either being Python source. Arguments go into the sandbox; expected values never do.
"""

import json
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass, field
from typing import Any

import pandas as pd

from workflow_scripts.records.errors import UserError

KINDS = ("exact", "numeric", "sequence", "set", "symbolic")
"""How a returned value is compared with the expected one; see `comparison`."""


@dataclass(frozen=True)
class Check:
    """One call of `answer` and what it must return.

    kind: one of KINDS. expected: encoded value (`values`). args: encoded positional arguments, `[]` for `answer()`.
    tolerance: of numbers, relative to the expected one, absolute where that is 0.
    """

    kind: str
    expected: str
    args: str = "[]"
    tolerance: float = 1e-8

    def __post_init__(self) -> None:
        if self.kind not in KINDS:
            raise UserError(f"a check's kind is {self.kind!r}; choose from {', '.join(KINDS)}")
        if not 0 <= self.tolerance < 1:
            raise UserError(f"a check's tolerance is {self.tolerance!r}; it must be at least 0 and below 1")


@dataclass(frozen=True)
class Problem:
    """What is asked, how it is judged, and where it came from.

    topic: of the science. family: the declarative family that made it, or `external`. prompt: what a policy reads,
    without any chat template. template: the code that the answer is to complete. reference: a right program.
    parameters: what the family drew. core: the task without wrappers and distractors, what duplicates are told by.
    """

    problem_id: str
    family: str
    topic: str
    prompt: str
    template: str
    reference: str
    checks: tuple[Check, ...]
    parameters: Mapping[str, Any] = field(default_factory=dict)
    core: str = ""


def checks_text(checks: Iterable[Check]) -> str:
    """Checks as JSON text, for tables."""
    return json.dumps([asdict(check) for check in checks], sort_keys=True)


def checks_of(text: str) -> tuple[Check, ...]:
    """Checks that `checks_text` wrote. Raises UserError for anything else."""
    try:
        return tuple(Check(**row) for row in json.loads(text))
    except (ValueError, TypeError) as error:
        raise UserError(f"these are no checks: {text[:80]!r} ({error})") from error


def problem_frame(problems: Iterable[Problem], name: str) -> pd.DataFrame:
    """Rows of records.scicode_schemas.SCICODE_PROBLEMS; name: of the set."""
    rows = [
        {
            "set": name,
            "problem_id": problem.problem_id,
            "family": problem.family,
            "topic": problem.topic,
            "prompt": problem.prompt,
            "template": problem.template,
            "reference": problem.reference,
            "checks": checks_text(problem.checks),
            "parameters": json.dumps(dict(problem.parameters), sort_keys=True),
            "core": problem.core or problem.prompt,
        }
        for problem in problems
    ]
    return pd.DataFrame(rows)


def problems_of(frame: pd.DataFrame) -> list[Problem]:
    """The problems of a table that `problem_frame` made."""
    return [
        Problem(
            row.problem_id, row.family, row.topic, row.prompt, row.template, row.reference,
            checks_of(row.checks), json.loads(row.parameters), row.core,
        )
        for row in frame.itertuples()
    ]  # fmt: skip
