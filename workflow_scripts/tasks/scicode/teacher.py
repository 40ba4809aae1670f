"""Problem specifications written by a language model, taken only where running them in the sandbox bears them out.

Nothing is sent here: a stage hands `requests` to an endpoint's client and the replies back. What a solver must return
never goes into the sandbox with it. Expected values and solvers come from the same writer: that they agree on four or
more cases says that they are of one mind, a second solver that agrees says more, and neither says that both are right.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from hashlib import blake2b
from pathlib import Path
from typing import Any, NamedTuple

import pandas as pd

from workflow_scripts.records import seeds
from workflow_scripts.records.errors import UserError
from workflow_scripts.tasks.scicode.families.kinds import FILL_IN, parameters_text
from workflow_scripts.tasks.scicode.generation import keys_of
from workflow_scripts.tasks.scicode.judging import judge_code
from workflow_scripts.tasks.scicode.problems import Check, Problem
from workflow_scripts.tasks.scicode.sandbox import Sandbox
from workflow_scripts.tasks.scicode.specifications import SCHEMA, Case, Fault, Reason, cases_of, fault_of, filled
from workflow_scripts.tasks.scicode.values import encode
from workflow_scripts.tasks.scicode.verdicts import Verdict

INSTRUCTIONS = Path(__file__).resolve().parents[3] / "resources" / "scicode" / "teacher.txt"
PREFIX = "teacher_"
"""Of the families' names."""
TOLERANCE = 1e-6
"""Of expected numbers, which are asked for to ten digits."""
TOPICS = (
    "quantum mechanics of few levels", "statistical mechanics", "chemical kinetics", "wave optics", "lattice models",
    "recurrences and generating functions", "operators and commutators", "celestial mechanics", "electric circuits",
    "population dynamics", "error-correcting codes", "diffusion and random walks",
)  # fmt: skip
SHAPES = (
    "a single number", "a list of numbers in a stated order", "a whole number that is counted", "a set of labels",
    "the result of a minimisation on a finite grid, with a rule for ties", "a list that mixes numbers and texts",
)  # fmt: skip
COLUMNS = ("specification", "family", "topic", "accepted", "reason", "detail", "problems", "second_solver")
"""Of the table: one row a reply, reason and detail empty for those that are taken."""


class Written(NamedTuple):
    """problems: of the specifications that were taken, one for each of their cases. table: columns COLUMNS."""

    problems: list[Problem]
    table: pd.DataFrame


def requests(count: int, seed: int) -> list[dict[str, Any]]:
    """`messages`, `schema` and `copy` of each request: the arguments of an endpoint's Request.

    Topics and shapes of answers are drawn by the seed, so that every combination comes once before one is repeated.
    """
    pairs = [(topic, shape) for topic in TOPICS for shape in SHAPES]
    order = seeds.generator(seed, "scicode teacher").permutation(len(pairs))
    instructions = INSTRUCTIONS.read_text(encoding="utf-8").strip()
    found = []
    for number in range(count):
        topic, shape = pairs[order[number % len(pairs)]]
        question = f"Topic: {topic}. The answer is {shape}. Reply with the JSON object and nothing else."
        messages = [{"role": "system", "content": instructions}, {"role": "user", "content": question}]
        found.append({"messages": messages, "schema": SCHEMA, "copy": number // len(pairs)})
    return found


def written(
    count: int,
    ask: Callable[[Sequence[Mapping[str, Any]]], Sequence[Any]],
    sandbox: Sandbox,
    *,
    seed: int,
    exclude: Iterable[str] = frozenset(),
) -> Written:
    """Ask for `count` specifications and validate what comes back.

    ask: from `requests` to replies, each with a `value` (the JSON, None without one). exclude: as in `validated`.
    """
    replies = ask(requests(count, seed))
    if len(replies) != count:
        raise UserError(f"{count} specifications were asked for and {len(replies)} replies came back")
    return validated([reply.value for reply in replies], sandbox, exclude=exclude)


def validated(values: Sequence[Any], sandbox: Sandbox, *, exclude: Iterable[str] = frozenset()) -> Written:
    """The specifications that hold, as problems, and a reason for every other.

    values: as parsed from JSON, None for a reply without one. exclude: keys (`generation.keys_of`) of problems that
    must not be repeated. Solvers run on every case, in one batch.
    """
    faults: dict[int, Fault] = {}
    problems: dict[int, list[Problem]] = {}
    taken = set(exclude)
    for number, value in enumerate(values):
        fault = Fault(Reason.NO_REPLY, "") if value is None else fault_of(value)
        if fault is None:
            problems[number] = [_problem(value, case) for case in cases_of(value)]
        else:
            faults[number] = fault
    faults |= _ran(values, problems, sandbox)
    for number, made in problems.items():
        if number not in faults and not taken.isdisjoint(keys_of(made)):
            faults[number] = Fault(Reason.DUPLICATE, made[0].problem_id)
        elif number not in faults:
            taken |= keys_of(made)
    rows = [_row(number, value, faults.get(number), problems) for number, value in enumerate(values)]
    kept = [problem for number, made in problems.items() if number not in faults for problem in made]
    return Written(kept, pd.DataFrame(rows, columns=COLUMNS))


def _ran(values: Sequence[Any], problems: Mapping[int, list[Problem]], sandbox: Sandbox) -> dict[int, Fault]:
    """Faults that show when the solvers run."""
    asked = [(number, "solver", problem.reference, problem) for number, made in problems.items() for problem in made]
    for number, made in problems.items():
        if second := values[number]["second_solver"]:
            asked += [(number, "second", _program(second, problem.parameters), problem) for problem in made]
    verdicts = judge_code([(code, problem) for _, _, code, problem in asked], sandbox)
    faults: dict[int, Fault] = {}
    for (number, solver, _, problem), verdict in zip(asked, verdicts, strict=True):
        if number not in faults and not verdict.correct:
            faults[number] = _solver_fault(solver, problem, verdict)
    return faults


def _solver_fault(solver: str, problem: Problem, verdict: Verdict) -> Fault:
    fails, disagrees = {
        "solver": (Reason.SOLVER_FAILS, Reason.SOLVER_DISAGREES),
        "second": (Reason.SECOND_FAILS, Reason.SECOND_DISAGREES),
    }[solver]
    told = parameters_text(problem.parameters)[:80]
    if not verdict.runs:
        return Fault(fails, f"{told}: {verdict.status} {verdict.error}"[:200])
    return Fault(disagrees, f"{told}: {(verdict.value or '')[:50]}, not {problem.checks[0].expected[:50]}")


def _problem(specification: Mapping[str, Any], case: Case) -> Problem:
    template = specification["template"].strip("\n") + "\n"
    core = filled(specification["prompt"], case.parameters).strip()
    # Two specifications may give their families one name.
    family = f"{PREFIX}{specification['family']}_{_digest(specification['prompt'], 3)}"
    return Problem(
        problem_id=f"{family}-{_digest(parameters_text(case.parameters), 6)}",
        family=family,
        topic=specification["topic"],
        prompt=f"{core}\n\n{FILL_IN}\n\n```python\n{template}```",
        template=template,
        reference=_program(specification["solver"], case.parameters),
        checks=(Check(specification["kind"], encode(case.expected), tolerance=TOLERANCE),),
        parameters=case.parameters,
        core=core,
    )


def _digest(text: str, size: int) -> str:
    return blake2b(text.encode(errors="replace"), digest_size=size).hexdigest()


def _program(solver: str, parameters: Mapping[str, Any]) -> str:
    return f"{solver.rstrip()}\n\n\ndef answer():\n    return solve({dict(parameters)!r})\n"


def _row(number: int, value: Any, fault: Fault | None, problems: Mapping[int, list[Problem]]) -> dict[str, Any]:
    known = value if isinstance(value, Mapping) else {}
    return {
        "specification": number,
        "family": str(known.get("family", ""))[:40],
        "topic": str(known.get("topic", ""))[:60],
        "accepted": fault is None,
        "reason": "" if fault is None else fault.reason.value,
        "detail": "" if fault is None else " ".join(fault.detail.split()),
        "problems": 0 if fault is not None else len(problems[number]),
        "second_solver": bool(known.get("second_solver")),
    }
