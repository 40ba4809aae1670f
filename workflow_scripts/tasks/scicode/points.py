"""Where two expressions are compared: fixed points that look random, by what the expressions speak of."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import lru_cache
from itertools import chain, combinations, islice
from typing import Any, NamedTuple

from workflow_scripts.records import seeds
from workflow_scripts.tasks.scicode.evaluation import number_of
from workflow_scripts.tasks.scicode.functions import COMPARING, OF_COMPLEX
from workflow_scripts.tasks.scicode.precision import UndefinedError, UnknownError, Work, context

POINTS = 8
"""Points at which both expressions must have a value and agree."""
TRIES = 40
"""Points tried until then; of comparing expressions all are."""
MARKS = 12
"""Numbers in comparisons that are taken for points themselves."""
PARTS = 4_000
"""Of the largest tree."""

Point = Mapping[str, Any]

_PER_VALUE = 4
_TEXTS = {"Symbol": 1, "Dummy": 1, "Function": 1, "Integer": 1, "Float": 1, "Rational": 2}


class Survey(NamedTuple):
    """What stands in a tree. functions: names of functions without a meaning. marks: numbers in comparisons."""

    names: frozenset[str]
    functions: frozenset[str]
    comparing: bool
    of_complex: bool
    marks: frozenset[tuple]


def survey(tree: tuple, work: Work) -> Survey:
    """What stands in a tree. Raises UnknownError for one that is too large, or none."""
    names, functions, marks, comparing, of_complex, size = set(), set(), set(), False, False, 0
    waiting = [(tree, False)]
    while waiting:
        node, inside = waiting.pop()
        head, *parts = node
        size += 1
        if size > PARTS:
            raise UnknownError(f"the expression has more than {PARTS} parts")
        work.take()
        texts = [part for part in parts if isinstance(part, str)]
        if len(texts) != _TEXTS.get(head, 0):
            raise UnknownError(f"{head} is not evaluated")
        if head in ("Symbol", "Dummy"):
            names.add(texts[0])
        elif head == "Function":
            functions.add(texts[0])
        elif inside and head in ("Integer", "Rational", "Float") and sum(map(len, texts)) < 40:
            marks.add(node)
        comparing |= head in COMPARING
        of_complex |= head in OF_COMPLEX
        waiting += [(part, inside or head in COMPARING) for part in parts if isinstance(part, tuple)]
    return Survey(frozenset(names), frozenset(functions), comparing, of_complex, frozenset(marks))


class Round(NamedTuple):
    """Points to compare at. needed: how many must agree. complete: all of them must."""

    points: Iterator[Point]
    needed: int
    complete: bool


def rounds(surveys: Sequence[Survey], work: Work) -> list[Round]:
    """Points for expressions like these, the same every time: those of the first round, and, where expressions differ
    there, of the next, at which they may agree instead."""
    names = sorted(frozenset().union(*(found.names for found in surveys)))
    if not names:
        return [Round(iter([{}]), 1, True)]
    if any(found.comparing for found in surveys):
        marks = frozenset().union(*(found.marks for found in surveys))
        work.take(_PER_VALUE * TRIES * len(names))
        return [Round(islice(_comparing(names, marks), TRIES), POINTS, True)]
    values = [_anywhere] if any(found.of_complex for found in surveys) else [_positive, _near_positive]
    return [Round(_drawn(names, value, work), POINTS, False) for value in values]


def _drawn(names: list[str], value: Callable[[str, int], Any], work: Work) -> Iterator[Point]:
    for draw in range(TRIES):
        work.take(_PER_VALUE * len(names))
        yield {name: value(name, draw) for name in names}


def whole_points(names: Iterable[str]) -> Iterator[Point]:
    """Small whole numbers."""
    for shift in range(4):
        yield {name: context().mpf(2 + (5 * rank + 3 * shift) % 7) for rank, name in enumerate(names)}


def _comparing(names: list[str], numbers: frozenset) -> Iterator[Point]:
    marks = sorted({context().mpf(0)} | {sign * mark for mark in map(_mark, numbers) for sign in (1, -1)})
    drawn = [{name: _real_value(name, draw, marks) for name in names} for draw in range(TRIES)]
    nearest = sorted(marks, key=abs)[:MARKS]
    # On the numbers themselves `<` and `<=` differ; where two symbols are equal, Kronecker's delta is not 0.
    on_marks = [drawn[place] | {names[place % len(names)]: mark} for place, mark in enumerate(nearest)]
    equal = [drawn[0] | {one: drawn[0][other]} for one, other in islice(combinations(names, 2), MARKS)]
    yield from chain(drawn[:POINTS], on_marks, equal, drawn[POINTS:])


def _mark(number: tuple) -> Any:
    try:
        return number_of(number)
    except UndefinedError:
        return context().mpf(0)


@lru_cache(maxsize=4096)
def _uniform(name: str, draw: int, which: int) -> float:
    return float(seeds.uniforms(seeds.sample_keys("expression", name, samples=range(which, which + 1)), draw)[0])


def _positive(name: str, draw: int) -> Any:
    return context().mpf(0.2 + 2 * _uniform(name, draw, 0))


def _near_positive(name: str, draw: int) -> Any:
    return context().mpc(0.2 + 2 * _uniform(name, draw, 0), 0.1 * (2 * _uniform(name, draw, 1) - 1))


def _anywhere(name: str, draw: int) -> Any:
    return context().mpc(4 * _uniform(name, draw, 0) - 2, 4 * _uniform(name, draw, 1) - 2)


def _real_value(name: str, draw: int, marks: list) -> Any:
    """From an interval between two neighbouring marks, beyond them, or of -3 to 3."""
    mp, first, second = context(), _uniform(name, draw, 0), _uniform(name, draw, 1)
    if draw % 3 == 0:
        return mp.mpf(6 * first - 3)
    place = int(second * (len(marks) + 1))
    low = marks[place - 1] if place else marks[0] - 2 - abs(marks[0])
    high = marks[place] if place < len(marks) else marks[-1] + 2 + abs(marks[-1])
    return low + (high - low) * (0.01 + 0.98 * mp.mpf(first))
