"""Short scientific problems drawn from families: a training wording, or official-style.

Official-style problems ask the same ten things in a wording that training does not have, between a setup and a
distractor with decoy numbers, and want a second step: the value times a gain plus an offset.
"""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from math import ceil
from typing import Any, NamedTuple

from workflow_scripts.records.errors import UserError
from workflow_scripts.records.seeds import generator
from workflow_scripts.tasks.scicode.problems import Check, Problem
from workflow_scripts.tasks.scicode.short_families import BY_NAME, DISTRACTORS, SHORT_FAMILIES, Body, ShortFamily
from workflow_scripts.tasks.scicode.short_programs import completion_of, rendered
from workflow_scripts.tasks.scicode.values import encode

END = "?"
"""Last word of every prompt: what follows is the completion."""
LARGEST = 100
"""Largest number that a text can say."""

_PATIENCE = 20_000
_GAIN, _OFFSET = (2, 9), (1, 20)
_DECOYS = (2, 60)

Key = tuple[str, tuple[int, ...]]


class Drawn(NamedTuple):
    """A problem before it has an id. numbers: by letter. second: gain and offset of the second step, None without one.
    bodies: right programs, the reference first. answer: worked out apart from them."""

    family: ShortFamily
    numbers: Mapping[str, int]
    second: tuple[int, int] | None
    prompt: str
    bodies: tuple[Body, ...]
    answer: Any

    @property
    def key(self) -> Key:
        """What no two disjoint sets share: the family and its numbers, whatever the wording or the second step."""
        return self.family.name, tuple(self.numbers.values())


def key_of(problem: Problem) -> Key:
    """`Drawn.key` of a problem of a table. Raises UserError for one that is not of these families."""
    if problem.family not in BY_NAME or "numbers" not in problem.parameters:
        raise UserError(f"problem {problem.problem_id} of the family {problem.family!r} is no short problem")
    return problem.family, tuple(int(number) for number in problem.parameters["numbers"].values())


def drawn(family: ShortFamily, draws: Iterator[float], *, shifted: bool) -> Drawn:
    """One problem. draws: uniform in [0, 1). shifted: official-style."""

    def between(low: int, high: int) -> int:
        return low + int(next(draws) * (high - low + 1))

    numbers = {letter: between(*ends) for letter, ends in family.ranges.items()}
    answer = family.value(**numbers)
    if not shifted:
        wording = family.wordings[between(0, len(family.wordings) - 1)]
        bodies = tuple(filled(body, numbers) for body in family.bodies)
        return Drawn(family, numbers, None, wording.format(**numbers), bodies, answer)
    gain, offset = between(*_GAIN), between(*_OFFSET)
    distractor = DISTRACTORS[between(0, len(DISTRACTORS) - 1)].format(p=between(*_DECOYS), q=between(*_DECOYS))
    many = isinstance(answer, list)
    task = f"report {'each' if many else 'it'} times {gain} plus {offset}"
    prompt = f"## setup {family.unseen.format(**numbers)} . {distractor} ## task {task} {END}"
    bodies = tuple(stepped(filled(body, numbers), gain, offset, many=many) for body in family.bodies)
    answer = [item * gain + offset for item in answer] if many else answer * gain + offset
    return Drawn(family, numbers, (gain, offset), prompt, bodies, answer)


def filled(body: Body, numbers: Mapping[str, int]) -> Body:
    """A program with its numbers in place."""
    return tuple(line.format(**numbers) for line in body)


def stepped(body: Body, gain: int, offset: int, *, many: bool) -> Body:
    """The program that returns `gain` times what `body` returns plus `offset`, of each item where there are many."""
    value = body[-1].removeprefix("return ")
    if many:
        return *body[:-1], f"return [ {gain} * y + {offset} for y in {value} ]"
    value = value if value.isidentifier() else f"( {value} )"
    return *body[:-1], f"return {gain} * {value} + {offset}"


def short_problem(found: Drawn, problem_id: str) -> Problem:
    """The problem as tables have it; its reference is laid out as the small policy writes, so that lengths compare."""
    reference = rendered(completion_of(found.bodies[0], fenced=False))
    step = [] if found.second is None else list(found.second)
    return Problem(
        problem_id=problem_id,
        family=found.family.name,
        topic=found.family.topic,
        prompt=found.prompt,
        template="def answer():\n    ...",
        reference=reference,
        checks=(Check(found.family.kind, encode(found.answer)),),
        parameters={"numbers": dict(found.numbers), "second": step},
        core=" ".join([found.family.name, *map(str, [*found.numbers.values(), *step])]),
    )


def short_set(
    name: str, count: int, *, seed: int, excluded: Iterable[Key] = (), shifted: bool = False
) -> list[Problem]:
    """`count` problems, as many of each family as of any other (to within one), in a drawn order.

    name: of the set; begins the ids and keys the draws, with `seed`. excluded: keys that must not occur.
    No two share a key, and no answer makes up more than a tenth of a family's (or two problems).
    Raises UserError, naming the family, where there are not enough such problems.
    """
    taken, found = set(excluded), []
    for place, family in enumerate(SHORT_FAMILIES):
        wanted = count // len(SHORT_FAMILIES) + (place < count % len(SHORT_FAMILIES))
        most, answers, kept = max(2, ceil(wanted / 10)), Counter(), 0
        draws = uniforms("short problems", name, seed, family.name)
        for _ in range(_PATIENCE):
            if kept == wanted:
                break
            problem = drawn(family, draws, shifted=shifted)
            answer = encode(problem.answer)
            if problem.key in taken or answers[answer] >= most:
                continue
            taken.add(problem.key)
            answers[answer] += 1
            found.append(problem)
            kept += 1
        if kept < wanted:
            raise UserError(
                f"the set {name} wants {wanted} problems of the family {family.name}, only {kept} could be made; "
                "ask for fewer"
            )
    order = generator("order of short problems", name, seed).permutation(len(found)).tolist()
    width = len(str(max(count - 1, 0)))
    return [short_problem(found[place], f"{name}-{number:0{width}}") for number, place in enumerate(order)]


def uniforms(*parts: int | str) -> Iterator[float]:
    """Numbers in [0, 1) without end, from the stream of this identity."""
    rng = generator(*parts)
    while True:
        yield from rng.random(1024).tolist()
