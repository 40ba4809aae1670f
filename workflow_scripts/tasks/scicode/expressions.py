"""Symbolic values without a computer algebra system: two trees (see `values`) are the same when they agree at points.

The points are fixed and look random, and values have 50 digits: one difference settles that two expressions differ.
Which points, depends on what an expression speaks of:

* by default complex ones with positive real part, close to the real axis: what holds for positive quantities holds
  (sqrt(x**2) = x, log(x*y) = log(x) + log(y));
* all over the complex plane where it takes conjugates, arguments, real or imaginary parts;
* real ones of both signs where it compares (relations, Abs, Min, floor, …): between and on the numbers that stand in
  its comparisons, and where two symbols are equal.

Nothing here takes long: the size of a tree, magnitudes and the work are bounded. What cannot be told is UNDECIDED.
"""

from collections.abc import Iterator, Mapping
from enum import StrEnum
from functools import lru_cache
from itertools import chain, combinations, islice
from typing import Any, NamedTuple

from workflow_scripts.records import seeds
from workflow_scripts.tasks.scicode.evaluation import number_of, value_of
from workflow_scripts.tasks.scicode.functions import (
    COMPARING,
    CONDITIONS,
    OF_COMPLEX,
    UNSURE,
    MissingBranchError,
    UndefinedError,
    UnknownError,
    context,
)

POINTS = 8
"""Points at which both expressions must have a value and agree."""
TRIES = 40
"""Points tried until then; of comparing expressions all are."""
MARKS = 12
"""Numbers in comparisons that are taken for points themselves."""
PARTS = 4_000
"""Of the largest tree."""
WORK = 80_000
"""Units of work for one comparison: 1 for a part of a tree, more for functions."""


class Same(StrEnum):
    """Whether two symbolic values are the same."""

    YES = "yes"
    NO = "no"
    UNDECIDED = "undecided"


class Answer(NamedTuple):
    """detail: where they differ, or why it cannot be told."""

    same: Same
    detail: str = ""


def same(expected: tuple, found: tuple, *, tolerance: float = 1e-8) -> Answer:
    """Whether two trees are equal as expressions, equations or conditions; symbols are told by their names.

    tolerance: relative to the expected value at a point, absolute where that is 0. Never raises on trees of `values`.
    """
    if "Equality" in (expected[0], found[0]):
        if expected[0] != found[0] or len(expected) != 3 or len(found) != 3:
            return Answer(Same.NO, "one of them is no equation")
        # a = b and b = a
        found = _difference(found)
        first = same(_difference(expected), found, tolerance=tolerance)
        return first if first.same is Same.YES else same(_difference(expected, -1), found, tolerance=tolerance)
    try:
        return _compared(expected, found, tolerance)
    except UnknownError as error:
        return Answer(Same.YES) if expected == found else Answer(Same.UNDECIDED, str(error))


def constant(tree: tuple) -> Any:
    """The number that a tree without symbols stands for (mpmath); None where it has symbols or no finite value.

    Raises UnknownError where it cannot be evaluated.
    """
    if _survey(tree).names:
        return None
    try:
        value, _ = value_of(tree, {}, [WORK])
    except (UndefinedError, MissingBranchError):
        return None
    return None if isinstance(value, bool) else value


def is_condition(tree: tuple) -> bool:
    """Whether a tree is a relation or a truth value, not a quantity."""
    return tree[0] in CONDITIONS


def _difference(equation: tuple, sign: int = 1) -> tuple:
    left, right = equation[1:]
    return ("Add", ("Mul", ("Integer", str(sign)), left), ("Mul", ("Integer", str(-sign)), right))


def _compared(expected: tuple, found: tuple, tolerance: float) -> Answer:
    surveys = _survey(expected), _survey(found)
    names = sorted(surveys[0].names | surveys[1].names)
    comparing = any(survey.comparing for survey in surveys)
    whole_plane = any(survey.of_complex for survey in surveys)
    marks = frozenset().union(*(survey.marks for survey in surveys)) if comparing else frozenset()
    needed, left = POINTS if names and expected != found else 1, [WORK]
    agreed = only_one = 0
    for point in islice(_points(names, comparing, whole_plane, marks), TRIES if names else 1):
        ours, scale = _at(expected, point, left)
        theirs, other_scale = _at(found, point, left) if ours is not None else (None, 0)
        if ours is None or theirs is None:
            only_one += ours is not None
            continue
        if not _agree(ours, theirs, tolerance, max(scale, other_scale)):
            if not comparing and not whole_plane and _agree_at_whole(expected, found, names, tolerance):
                return Answer(Same.UNDECIDED, "they agree for whole numbers, and not for others")
            return Answer(Same.NO, _where(point))
        agreed += 1
        if agreed >= needed and (expected == found or not comparing):
            break
    if only_one >= needed or not (names or agreed):
        return Answer(Same.NO, "it has no finite value" if only_one else "nothing equals what has no finite value")
    if agreed >= needed:
        return Answer(Same.YES)
    return Answer(Same.UNDECIDED, "the two have values at too few points")


def _agree_at_whole(expected: tuple, found: tuple, names: list[str], tolerance: float) -> bool:
    """(-1)**n and cos(pi*n) do: whether they are the same depends on what n stands for, which trees do not tell."""
    left = [WORK]
    for shift in range(4):
        point = {name: context().mpf(2 + (5 * rank + 3 * shift) % 7) for rank, name in enumerate(names)}
        (ours, scale), (theirs, other_scale) = _at(expected, point, left), _at(found, point, left)
        if ours is None or theirs is None or not _agree(ours, theirs, tolerance, max(scale, other_scale)):
            return False
    return bool(names)


def _where(point: Mapping[str, Any]) -> str:
    shown = ", ".join(f"{name} = {context().nstr(value, 4)}" for name, value in islice(point.items(), 3))
    return f"they differ at {shown}" if shown else "they differ"


def _at(tree: tuple, point: Mapping[str, Any], left: list[int]) -> tuple[Any, Any]:
    """Value and scale; a text for a piecewise expression without branch there, None for no value."""
    try:
        return value_of(tree, point, left)
    except MissingBranchError:
        return "no branch", 0
    except UndefinedError:
        return None, 0


def _agree(ours: Any, theirs: Any, tolerance: float, scale: Any) -> bool:
    if isinstance(ours, bool | str) or isinstance(theirs, bool | str):
        return type(ours) is type(theirs) and ours == theirs
    gap = abs(ours - theirs)
    return bool(gap <= tolerance * (abs(ours) if ours else 1) or gap <= UNSURE * scale)


class _Survey(NamedTuple):
    names: frozenset[str]
    comparing: bool
    of_complex: bool
    marks: frozenset[tuple]  # numbers in comparisons


_TEXTS = {"Symbol": 1, "Dummy": 1, "Function": 1, "Integer": 1, "Float": 1, "Rational": 2}


def _survey(tree: tuple) -> _Survey:
    """What stands in a tree. Raises UnknownError for one that is too large, or none."""
    names, marks, comparing, of_complex, size = set(), set(), False, False, 0
    waiting = [(tree, False)]
    while waiting:
        node, inside = waiting.pop()
        head, *parts = node
        size += 1
        if size > PARTS:
            raise UnknownError(f"the expression has more than {PARTS} parts")
        texts = [part for part in parts if isinstance(part, str)]
        if len(texts) != _TEXTS.get(head, 0):
            raise UnknownError(f"{head} is not evaluated")
        if head in ("Symbol", "Dummy"):
            names.add(texts[0])
        elif inside and head in ("Integer", "Rational", "Float") and sum(map(len, texts)) < 40:
            marks.add(node)
        comparing |= head in COMPARING
        of_complex |= head in OF_COMPLEX
        waiting += [(part, inside or head in COMPARING) for part in parts if isinstance(part, tuple)]
    return _Survey(frozenset(names), comparing, of_complex, frozenset(marks))


def _points(names: list[str], comparing: bool, whole_plane: bool, numbers: frozenset) -> Iterator[dict[str, Any]]:
    """Values of all symbols, the same every time."""
    if not names:
        yield {}
        return
    if not comparing:
        for draw in range(TRIES):
            yield {name: _complex_value(name, draw, whole_plane) for name in names}
        return
    mp = context()
    marks = sorted({mp.mpf(0)} | {sign * number_of(number) for number in numbers for sign in (1, -1)})
    drawn = [{name: _real_value(name, draw, marks) for name in names} for draw in range(TRIES)]
    nearest = sorted(marks, key=abs)[:MARKS]
    # On the numbers themselves `<` and `<=` differ; where two symbols are equal, Kronecker's delta is not 0.
    on_marks = [drawn[place] | {names[place % len(names)]: mark} for place, mark in enumerate(nearest)]
    equal = [drawn[0] | {one: drawn[0][other]} for one, other in islice(combinations(names, 2), MARKS)]
    yield from chain(drawn[:POINTS], on_marks, equal, drawn[POINTS:])


@lru_cache(maxsize=4096)
def _uniform(name: str, draw: int, which: int) -> float:
    return float(seeds.uniforms(seeds.sample_keys("expression", name, samples=range(which, which + 1)), draw)[0])


def _complex_value(name: str, draw: int, whole_plane: bool) -> Any:
    first, second = 2 * _uniform(name, draw, 0), 2 * _uniform(name, draw, 1) - 1
    if whole_plane:
        return context().mpc(2 * first - 2, 2 * second)
    return context().mpc(0.2 + first, 0.1 * second)


def _real_value(name: str, draw: int, marks: list) -> Any:
    """From an interval between two neighbouring marks, beyond them, or of -3 to 3."""
    mp, first, second = context(), _uniform(name, draw, 0), _uniform(name, draw, 1)
    if draw % 3 == 0:
        return mp.mpf(6 * first - 3)
    place = int(second * (len(marks) + 1))
    low = marks[place - 1] if place else marks[0] - 2 - abs(marks[0])
    high = marks[place] if place < len(marks) else marks[-1] + 2 + abs(marks[-1])
    return low + (high - low) * (0.01 + 0.98 * mp.mpf(first))
