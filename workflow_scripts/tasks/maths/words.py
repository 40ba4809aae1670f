"""Word problems: drawn from families, with their answers, their routes, and the menu of calculations that open them.

A route is a way to work a problem out: the steps of one of its formulas in an order in which they can be carried out.
All values on the way are whole and in 0…LARGEST. The gold answer is what the family's first formula gives; tests count
it out a second way.
"""

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from math import ceil
from typing import NamedTuple

import numpy as np

from workflow_scripts.records.errors import UserError, closest
from workflow_scripts.records.seeds import generator
from workflow_scripts.tasks.maths.word_families import (
    BY_NAME,
    FAMILIES,
    NAMES,
    THINGS,
    UNSEEN_NAMES,
    UNSEEN_THINGS,
    Family,
    Tree,
)

LARGEST = 100
"""Largest number that a text can say."""

SEEN_LARGEST = 60
"""Largest number and value of problems like those of training; a shifted problem goes beyond it."""

_PATIENCE = 20_000
"""Draws in a row without a new problem after which there is none."""


class Step(NamedTuple):
    """One calculation. The text of its left side, `4 * 3`, is the label of a route that begins with it."""

    left: int
    operator: str
    right: int
    result: int

    @property
    def label(self) -> str:
        return f"{self.left} {self.operator} {self.right}"


Route = tuple[Step, ...]


class WordProblem(NamedTuple):
    """A problem. numbers: in the order of the family's letters. question: text, without the opening of the think part.
    wording: which of the family's, -1 for the unseen one."""

    problem_id: str
    family: str
    numbers: tuple[int, ...]
    wording: int
    question: str
    gold: int

    @property
    def key(self) -> tuple[tuple[int, ...], int]:
        """Sorted numbers and answer: what no two disjoint sets share, whatever the wording or the family."""
        return tuple(sorted(self.numbers)), self.gold


class Opening(NamedTuple):
    """A first calculation that leads to the answer. routes: how many begin with it."""

    label: str
    routes: int


def step(left: int, operator: str, right: int) -> Step | None:
    """The calculation, or None where its result isn't whole and in 0…LARGEST."""
    if operator == "/":
        value = left // right if right and left % right == 0 else -1
    else:
        value = left + right if operator == "+" else left - right if operator == "-" else left * right
    return Step(left, operator, right, value) if 0 <= value <= LARGEST else None


def routes(family: str, numbers: Sequence[int]) -> list[Route]:
    """All routes of a problem, those of the first formula first, each once.

    Two that differ only in the order of a sum's or a product's operands are one, written as the family declares it.
    Raises UserError for an unknown family and another number of numbers.
    """
    declared = _family(family)
    if len(numbers) != len(declared.ranges):
        raise UserError(f"a problem of the family {family} has {len(declared.ranges)} numbers, not {len(numbers)}")
    values = dict(zip(declared.ranges, numbers, strict=True))
    found = {route: None for formula in declared.formulas for _, route in _carried_out(formula, values)}
    return list(found)


def menu(family: str, numbers: Sequence[int]) -> list[Opening]:
    """First calculations of all routes, sorted by label. Raises UserError as `routes`."""
    counted = Counter(route[0].label for route in routes(family, numbers))
    return [Opening(label, count) for label, count in sorted(counted.items())]


def _family(name: str) -> Family:
    if name not in BY_NAME:
        raise UserError(f"there is no family {name!r} of word problems{closest(name, list(BY_NAME))}")
    return BY_NAME[name]


def _carried_out(tree: Tree, values: dict[str, int]) -> list[tuple[int, Route]]:
    """The value of a tree, once with every order of its steps; empty where one of them cannot be said."""
    if isinstance(tree, int):
        return [(tree, ())]
    if isinstance(tree, str):
        return [(values[tree], ())]
    operator, left, right = tree
    found = []
    for a, first in _carried_out(left, values):
        for b, second in _carried_out(right, values):
            last = step(a, operator, b)
            if last:
                found += [(last.result, (*order, last)) for order in _interleaved(first, second)]
    return found


def _interleaved(first: Route, second: Route) -> Iterator[Route]:
    if not first or not second:
        yield first + second
        return
    for rest in _interleaved(first[1:], second):
        yield first[0], *rest
    for rest in _interleaved(first, second[1:]):
        yield second[0], *rest


def drawn_problem(family: Family, draws: Iterator[float], *, wide: bool, unseen: bool) -> WordProblem | None:
    """One problem without id, or None where the numbers drawn make none that can be said.

    draws: uniform in [0, 1). wide: larger numbers, with a number or value above SEEN_LARGEST; else all are below.
    unseen: the wording, names and things that training problems don't have.
    """

    def pick(size: int) -> int:
        return int(next(draws) * size)

    ranges = (family.wide if wide else family.ranges).values()
    numbers = tuple(low + pick(high - low + 1) for low, high in ranges)
    values = dict(zip(family.ranges, numbers, strict=True))
    worked = _carried_out(family.formulas[0], values)
    if not worked or worked[0][0] < 1:
        return None
    largest = max(*numbers, *(taken.result for taken in worked[0][1]))
    if (largest > SEEN_LARGEST) != wide:
        return None
    wording = -1 if unseen else pick(len(family.wordings))
    names, things = (UNSEEN_NAMES, UNSEEN_THINGS) if unseen else (NAMES, THINGS)
    first, thing = pick(len(names)), pick(len(things))
    people = [names[(first + place) % len(names)] for place in range(3)]
    words = dict(zip("XYZ", people if pick(2) else people[::-1], strict=True))
    words |= {"O": things[thing], "P": things[(thing + 1 + pick(len(things) - 1)) % len(things)]}
    template = family.unseen if unseen else family.wordings[wording]
    return WordProblem("", family.name, numbers, wording, template.format(**words, **values), worked[0][0])


def problem_set(
    name: str,
    count: int,
    *,
    seed: int,
    excluded: Iterable[tuple[tuple[int, ...], int]] = (),
    shifted: bool = False,
    distinct_keys: bool = True,
) -> list[WordProblem]:
    """`count` problems, as many of each family as of any other (to within one), in a drawn order.

    name: of the set; begins the ids and keys the draws, with `seed`. excluded: keys of problems that must not occur.
    shifted: unseen wordings, names and things, and larger numbers. distinct_keys: no two problems share a key; else no
    two share their text (a training set, larger than the keys of the smaller families).
    Every problem can be opened in two ways or more, and no answer makes up more than a tenth of a family (or two).
    Raises UserError, naming the family, where there are not enough such problems.
    """
    taken = set(excluded)
    contents: set[str] = set()
    found: list[WordProblem] = []
    for place, family in enumerate(FAMILIES):
        wanted = count // len(FAMILIES) + (place < count % len(FAMILIES))
        most, answers, kept, idle = max(2, ceil(wanted / 10)), Counter(), 0, 0
        draws = _uniforms(generator("word problems", name, seed, family.name))
        while kept < wanted:
            idle += 1
            if idle > _PATIENCE:
                raise UserError(
                    f"the set {name} wants {wanted} problems of the family {family.name}, only {kept} could be made; "
                    "ask for fewer"
                )
            problem = drawn_problem(family, draws, wide=shifted, unseen=shifted)
            if problem is None or problem.key in taken or answers[problem.gold] >= most:
                continue
            if problem.question in contents or len(menu(problem.family, problem.numbers)) < 2:
                continue
            contents.add(problem.question)
            if distinct_keys:
                taken.add(problem.key)
            answers[problem.gold] += 1
            found.append(problem)
            kept, idle = kept + 1, 0
    order = generator("order of word problems", name, seed).permutation(len(found)).tolist()
    width = len(str(max(count - 1, 0)))
    return [found[place]._replace(problem_id=f"{name}-{number:0{width}}") for number, place in enumerate(order)]


def _uniforms(rng: np.random.Generator) -> Iterator[float]:
    while True:
        yield from rng.random(1024).tolist()
