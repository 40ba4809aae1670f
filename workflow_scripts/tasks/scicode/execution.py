"""Verdicts: extraction, parsing, one run in the sandbox for all programs, then comparison of what they returned.

A program gets a verdict whatever it says or does; nothing here executes it, and expected values stay here.
"""

from collections.abc import Iterable, Sequence
from typing import NamedTuple

from workflow_scripts.records.errors import UserError
from workflow_scripts.tasks.scicode import extraction
from workflow_scripts.tasks.scicode.comparison import compare
from workflow_scripts.tasks.scicode.expected import expected_of
from workflow_scripts.tasks.scicode.expressions import Same
from workflow_scripts.tasks.scicode.extraction import Extraction, Form, Parsed
from workflow_scripts.tasks.scicode.problems import Check, Problem
from workflow_scripts.tasks.scicode.sandbox import Outcome, Program, Sandbox
from workflow_scripts.tasks.scicode.sandbox import Status as Ended
from workflow_scripts.tasks.scicode.verdicts import SHOWN_VALUE, Status, Verdict

BATCH = 512
"""Different programs that are run before what they returned is compared and forgotten, fewer where it is large."""

_FAILED = {
    Ended.ERROR: Status.ERROR, Ended.TIMEOUT: Status.TIMEOUT, Ended.MEMORY: Status.MEMORY,
    Ended.OUTPUT: Status.OUTPUT, Ended.KILLED: Status.KILLED,
}  # fmt: skip
_LONGEST_ERROR = 300


class _Task(NamedTuple):
    """A program and the checks on it: what is judged once."""

    code: str
    checks: tuple[Check, ...]


def judge(pairs: Sequence[tuple[str, Problem]], sandbox: Sandbox, *, form: Form = "any") -> list[Verdict]:
    """Verdicts on completions, in order: pairs of what a policy wrote after its prompt and its problem.

    form: how the program stands in the text, see `extraction`. Equal programs with equal checks are run once.
    Raises UserError, naming the problem, for one without checks or with a check that nothing could pass.
    """
    known = {text: extraction.extract(text, form) for text in {text for text, _ in pairs}}
    return _judged([(known[text], problem) for text, problem in pairs], sandbox)


def judge_code(pairs: Sequence[tuple[str, Problem]], sandbox: Sandbox) -> list[Verdict]:
    """Verdicts on bare programs, in order; the rest as in `judge`. Of an empty text the status is EMPTY."""
    found = [
        (Extraction(code, formed=True) if code.strip() else Extraction(None, Status.EMPTY), problem)
        for code, problem in pairs
    ]
    return _judged(found, sandbox)


def _judged(pairs: Sequence[tuple[Extraction, Problem]], sandbox: Sandbox) -> list[Verdict]:
    checked: set[tuple[Check, ...]] = set()
    for _, problem in pairs:
        if problem.checks not in checked:
            _checked(problem)
            checked.add(problem.checks)
    parsed = {code: extraction.parsed(code) for code in {found.code for found, _ in pairs if found.code is not None}}
    tasks = dict.fromkeys(
        _Task(found.code, problem.checks)
        for found, problem in pairs
        if found.code is not None and parsed[found.code].definitions
    )
    verdicts: dict[_Task, Verdict] = {}
    waiting = list(tasks)
    while waiting:
        outcomes = sandbox.run([Program(task.code, calls_of(task.checks)) for task in waiting[:BATCH]])
        verdicts |= {task: _verdict(task, outcome) for task, outcome in zip(waiting, outcomes)}
        del waiting[: len(outcomes)]
    return [
        _completed(found, parsed.get(found.code), verdicts.get(_Task(found.code, problem.checks)), len(problem.checks))
        for found, problem in pairs
    ]


def calls_of(checks: Iterable[Check]) -> tuple[str, ...]:
    """The different calls that checks make, in their order."""
    return tuple(dict.fromkeys(check.args for check in checks))


def _checked(problem: Problem) -> None:
    """Raises UserError where a problem cannot be judged: without checks every program would pass."""
    if not problem.checks:
        raise UserError(f"problem {problem.problem_id} has no checks, so that nothing says what is right")
    for number, check in enumerate(problem.checks, start=1):
        try:
            expected_of(check)
        except UserError as error:
            raise UserError(f"problem {problem.problem_id}, check {number}: {error}") from None


def _completed(found: Extraction, parsed: Parsed | None, verdict: Verdict | None, total: int) -> Verdict:
    """The verdict with what is known from the text; where no program ran, that alone."""
    if parsed is None:
        return Verdict(found.status, total=total, error=found.detail)
    if verdict is None:
        parses = parsed.status is Status.OK
        status = Status.NO_ANSWER if parses else parsed.status
        error = parsed.error or "no definition of answer"
        return Verdict(status, extracted=True, parses=parses, total=total, code=found.code, error=error)
    return verdict._replace(format_ok=found.formed and verdict.defines and parsed.definitions == 1)


def _verdict(task: _Task, outcome: Outcome) -> Verdict:
    """The verdict on a program that parses and defines `answer`, as far as its text tells."""
    start = Verdict(Status.OK, extracted=True, total=len(task.checks), code=task.code)
    if outcome.status is Ended.SYNTAX:  # what a parser does not see: `return` outside a function
        return start._replace(status=Status.SYNTAX, error=outcome.error[:_LONGEST_ERROR])
    start = start._replace(parses=True)
    if outcome.status is Ended.NO_ANSWER:
        return start._replace(status=Status.NO_ANSWER, error=outcome.error[:_LONGEST_ERROR])
    returned = dict(zip(calls_of(task.checks), outcome.calls, strict=True))
    first = outcome.calls[0].value
    start = start._replace(defines=True, value=None if first is None else first[:SHOWN_VALUE])
    compared = [
        None if (value := returned[check.args].value) is None else compare(check, value) for check in task.checks
    ]
    start = start._replace(passed=sum(item is not None and item.same is Same.YES for item in compared))
    failed = next((call for call in outcome.calls if call.status is not Ended.OK), None)
    if failed is not None:
        return start._replace(status=_FAILED[failed.status], error=failed.error[:_LONGEST_ERROR])
    typed = all(item.typed for item in compared)
    start = start._replace(runs=True, typed=typed)
    if start.passed == start.total:
        return start._replace(correct=True)
    reasons = [
        (Status.WRONG_TYPE, lambda item: not item.typed),
        (Status.WRONG_VALUE, lambda item: item.same is Same.NO),
        (Status.UNDECIDED, lambda item: item.same is Same.UNDECIDED),
    ]
    for status, holds in reasons:
        for number, item in enumerate(compared, start=1):
            if holds(item):
                where = f"check {number}: " if len(compared) > 1 else ""
                return start._replace(status=status, error=(where + item.detail)[:_LONGEST_ERROR])
    raise AssertionError("a check that does not pass has a reason")
