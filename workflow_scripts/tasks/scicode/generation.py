"""Sets of problems from the families: no content twice, no parameters of another set, no answer that is common.

Every draw has a random stream of its own, named by seed, set, family and try, so that the first problems of a larger
set are those of a smaller one.
"""

from collections import Counter
from collections.abc import Iterable, Sequence
from hashlib import blake2b
from typing import Any

from workflow_scripts.records import seeds
from workflow_scripts.records.errors import UserError, closest
from workflow_scripts.tasks.scicode.families import FAMILIES, LEVELS, Family, made
from workflow_scripts.tasks.scicode.families.kinds import parameters_text
from workflow_scripts.tasks.scicode.judging import judge_code
from workflow_scripts.tasks.scicode.problems import Problem, checks_text
from workflow_scripts.tasks.scicode.sandbox import Sandbox
from workflow_scripts.tasks.scicode.values import decode
from workflow_scripts.tasks.scicode.wrapping import wrapped as wrapped_problem

COMMONEST = 0.1
"""Largest share of a family's problems that have one answer; what is below one problem is one."""
TINY = 1e-5
"""Expected numbers below this, other than 0, are left out: the tolerance is relative, and rounding is not."""
_TRIES = 400


def generate(
    name_of_set: str,
    *,
    count: int,
    seed: int,
    families: Iterable[str] | None = None,
    wrapped: bool = False,
    exclude: Iterable[str] = frozenset(),
    levels: Sequence[int] = LEVELS,
) -> list[Problem]:
    """`count` problems, going through the families in turn.

    families: names to draw from (all). wrapped: with the benchmark-style prompt of `wrapping`. exclude: keys
    (`keys_of`) of sets that share neither content nor parameters with this one. levels: of difficulty, drawn evenly.
    Deterministic. Raises UserError for an unknown family and for one that has too few problems.
    """
    chosen = _chosen(families)
    taken, answers = set(exclude), {family.name: Counter() for family in chosen}
    tries = dict.fromkeys(answers, 0)
    problems: list[Problem] = []
    while len(problems) < count:
        family = chosen[len(problems) % len(chosen)]
        problem = _next(family, name_of_set, seed, levels, taken, answers[family.name], tries)
        taken |= keys_of([problem])
        answers[family.name][_answer(problem)] += 1
        problems.append(wrapped_problem(problem, seed) if wrapped else problem)
    return problems


def keys_of(problems: Iterable[Problem]) -> frozenset[str]:
    """Keys of the problems' contents and of their parameter tuples, to exclude them elsewhere."""
    return frozenset(key for problem in problems for key in (content_key(problem), parameter_key(problem)))


def content_key(problem: Problem) -> str:
    """Digest of the core text, without differences in white space, and the checks; wrappers do not change it."""
    core = " ".join((problem.core or problem.prompt).split())
    return _digest("content", core, checks_text(problem.checks))


def parameter_key(problem: Problem) -> str:
    """Digest of the family and its parameters; of the content where a problem has no parameters."""
    told = parameters_text(problem.parameters)
    return _digest("parameters", problem.family, told if told != "{}" else content_key(problem))


def confirmed(problems: Sequence[Problem], sandbox: Sandbox) -> None:
    """Run every reference in the sandbox against its checks, whose values come from the families' second solutions.

    Raises UserError naming family and parameters where they disagree.
    """
    for problem, verdict in zip(
        problems, judge_code([(problem.reference, problem) for problem in problems], sandbox), strict=True
    ):
        if not verdict.correct:
            raise UserError(
                f"the two solutions of family {problem.family} disagree for {parameters_text(problem.parameters)}: the "
                f"reference gives {verdict.value or verdict.error} ({verdict.status}), the second solution "
                f"{problem.checks[0].expected[:200]}; correct the family"
            )


def _chosen(families: Iterable[str] | None) -> list[Family]:
    names = list(FAMILIES) if families is None else list(families)
    for name in names:
        if name not in FAMILIES:
            known = ", ".join(FAMILIES)
            raise UserError(f"there is no family {name!r}{closest(name, list(FAMILIES))}; choose from {known}")
    if not names:
        raise UserError("a set of problems needs one family or more; there are " + ", ".join(FAMILIES))
    return [FAMILIES[name] for name in names]


def _next(family: Family, name: str, seed: int, levels, taken, answers: Counter, tries: dict[str, int]) -> Problem:
    most = max(1, int(COMMONEST * (answers.total() + 1)))
    for _ in range(_TRIES):
        stream = seeds.generator(seed, "scicode", name, family.name, tries[family.name])
        tries[family.name] += 1
        problem = made(family, family.draw(stream, int(stream.choice(levels))))
        if taken.isdisjoint(keys_of([problem])) and answers[_answer(problem)] < most and not _fragile(problem):
            return problem
    raise UserError(
        f"family {family.name} has no further problem for the set {name} after {answers.total()}: each would repeat a "
        "problem, or an answer too often; ask for fewer problems, more families or higher levels"
    )


def _answer(problem: Problem) -> tuple[str, ...]:
    return tuple(check.expected for check in problem.checks)


def _fragile(problem: Problem) -> bool:
    return any(_tiny(decode(check.expected)) for check in problem.checks)


def _tiny(value: Any) -> bool:
    if isinstance(value, list | tuple | frozenset):
        return any(map(_tiny, value))
    return isinstance(value, float) and 0 < abs(value) < TINY


def _digest(*parts: str) -> str:
    return blake2b("\x1f".join(parts).encode(), digest_size=16).hexdigest()
