"""Symbolic values without a computer algebra system: two trees (see `values`) are the same when they agree at points.

The points are fixed and look random, and values have 50 digits, more where these cancel: one difference settles that
two expressions differ. What rounding leaves is forgiven in the expected expression, never in the found one.
Which points, depends on what an expression speaks of:

* by default positive ones: what holds for positive quantities holds (sqrt(x**2) = x, log(x*y) = log(x) + log(y),
  sqrt(-x) = I*sqrt(x)). Expressions that differ there may agree at complex points close by instead: on a branch cut
  each has a convention of its own, beside it they are the same;
* all over the complex plane where it takes conjugates, arguments, real or imaginary parts;
* real ones of both signs where it compares (relations, Abs, Min, floor, …): between and on the numbers that stand in
  its comparisons, and where two symbols are equal.

Nothing here takes long: the size of a tree, magnitudes and the work are bounded. What cannot be told is UNDECIDED.
"""

from collections.abc import Mapping, Sequence
from enum import StrEnum
from itertools import islice
from typing import Any, NamedTuple

from workflow_scripts.tasks.scicode.evaluation import value_of
from workflow_scripts.tasks.scicode.functions import CONDITIONS, OTHERS
from workflow_scripts.tasks.scicode.points import PARTS, POINTS, Point, Round, Survey, rounds, survey, whole_points
from workflow_scripts.tasks.scicode.precision import (
    DIGITS,
    ImpreciseError,
    MissingBranchError,
    UndefinedError,
    UnknownError,
    Work,
    context,
    precision,
    rounding,
)

__all__ = ["PARTS", "POINTS", "WORK", "Answer", "Same", "constant", "is_condition", "same", "unmet"]

WORK = 200_000
"""Units of work for one comparison: 1 for a part of a tree, more for functions."""
LEAST = 1e-40
"""Relative differences below this are rounding, of the expected expression and where no tolerance is left."""

_MORE_DIGITS = (DIGITS, 2 * DIGITS, 6 * DIGITS)
_VAGUE = "vague"


class Same(StrEnum):
    """Whether two symbolic values are the same."""

    YES = "yes"
    NO = "no"
    UNDECIDED = "undecided"


class Answer(NamedTuple):
    """detail: where they differ, or why it cannot be told."""

    same: Same
    detail: str = ""


def same(expected: tuple, found: tuple, *, tolerance: float = 1e-8, work: Work | None = None) -> Answer:
    """Whether two trees are equal as expressions, equations or conditions; symbols are told by their names.

    tolerance: relative to the expected value at a point, absolute where that is 0. work: that this may use, at most
    WORK of it. Never raises on trees of `values`.
    """
    if expected == found:
        return Answer(Same.YES)
    if "Equality" in (expected[0], found[0]):
        if expected[0] != found[0] or len(expected) != 3 or len(found) != 3:
            return Answer(Same.NO, "one of them is no equation")
        # a = b and b = a
        found = _difference(found)
        first = same(_difference(expected), found, tolerance=tolerance, work=work)
        if first.same is Same.YES:
            return first
        return same(_difference(expected, -1), found, tolerance=tolerance, work=work)
    try:
        with (work or Work(WORK)).part(WORK) as own:
            return _compared(expected, found, tolerance, own)
    except UnknownError as error:
        return Answer(Same.UNDECIDED, str(error))


def constant(tree: tuple, work: Work | None = None) -> Any:
    """The number that a tree without symbols stands for (mpmath); None where it has symbols or no finite value.

    Raises UnknownError where it cannot be evaluated.
    """
    with (work or Work(WORK)).part(WORK) as own:
        if survey(tree, own).names:
            return None
        for digits in _MORE_DIGITS:
            value, scale = _at(tree, {}, digits, own)
            if value is not _VAGUE and (value is None or isinstance(value, bool | str)):
                return None
            if value is not _VAGUE and rounding(digits) * scale <= (1e-30 * abs(value) if value else LEAST):
                return value
    return None


def unmet(tree: tuple) -> str:
    """Why no other expression could be found to be the same as this one; '' where one could."""
    try:
        own = Work(WORK)
        found = survey(tree, own)
        if others := sorted(found.functions & OTHERS):
            return f"{others[0]} is not evaluated"
        best = 0
        for points, needed, _ in rounds([found], own):
            valued = 0
            for point in points:
                values = (_at(tree, point, digits, own)[0] for digits in _MORE_DIGITS)
                value = next((value for value in values if value is not _VAGUE), None)
                valued += value is not None
                if valued >= needed:
                    return ""
            best = max(best, valued)
        return "it has values at too few points" if best else "it has no finite value"
    except UnknownError as error:
        return str(error)


def is_condition(tree: tuple) -> bool:
    """Whether a tree is a relation or a truth value, not a quantity."""
    return tree[0] in CONDITIONS


def _difference(equation: tuple, sign: int = 1) -> tuple:
    left, right = equation[1:]
    return ("Add", ("Mul", ("Integer", str(sign)), left), ("Mul", ("Integer", str(-sign)), right))


def _compared(expected: tuple, found: tuple, tolerance: float, work: Work) -> Answer:
    surveys = survey(expected, work), survey(found, work)
    answers = []
    for where in rounds(surveys, work):
        answers.append(_over(where, expected, found, tolerance, work))
        if answers[-1].same is Same.YES:
            return answers[-1]
    answer = next((answer for answer in answers if answer.same is Same.NO), answers[0])
    if answer.same is Same.NO and len(answers) > 1 and _agree_at_whole(expected, found, surveys, tolerance, work):
        return Answer(Same.UNDECIDED, "they agree for whole numbers, and not for others")
    return answer


def _over(where: Round, expected: tuple, found: tuple, tolerance: float, work: Work) -> Answer:
    """Whether they agree at the points of a round."""
    agreed = only_one = 0
    for point in where.points:
        agree = _agree_at(point, expected, found, tolerance, work)
        if agree is None or agree is Same.UNDECIDED:
            only_one += agree is Same.UNDECIDED
            continue
        if agree is Same.NO:
            return Answer(Same.NO, _told(point))
        agreed += 1
        if agreed >= where.needed and not where.complete:
            break
    if only_one >= where.needed:
        return Answer(Same.NO, "it has no finite value")
    if agreed >= where.needed:
        return Answer(Same.YES)
    if where.needed == 1:
        return Answer(Same.NO, "nothing equals what has no finite value")
    return Answer(Same.UNDECIDED, "the two have values at too few points")


def _agree_at_whole(expected: tuple, found: tuple, surveys: Sequence[Survey], tolerance: float, work: Work) -> bool:
    """(-1)**n and cos(pi*n) do: whether they are the same depends on what n stands for, which trees do not tell."""
    names = sorted(surveys[0].names | surveys[1].names)
    return all(_agree_at(point, expected, found, tolerance, work) is Same.YES for point in whole_points(names))


def _told(point: Mapping[str, Any]) -> str:
    shown = ", ".join(f"{name} = {context().nstr(value, 4)}" for name, value in islice(point.items(), 3))
    return f"they differ at {shown}" if shown else "they differ"


def _agree_at(point: Point, expected: tuple, found: tuple, tolerance: float, work: Work) -> Same | None:
    """Whether both have the same value; None where the expected one has none, UNDECIDED where only the found has none.

    Digits are added until what rounding may have left of the found value is too small to be forgiven.
    """
    for digits in _MORE_DIGITS:
        ours, scale = _at(expected, point, digits, work)
        if ours is None:
            return None
        theirs, other_scale = _at(found, point, digits, work) if ours is not _VAGUE else (_VAGUE, 0)
        if theirs is None:
            return Same.UNDECIDED
        if theirs is _VAGUE:
            continue
        if isinstance(ours, bool | str) or isinstance(theirs, bool | str):
            return Same.YES if type(ours) is type(theirs) and ours == theirs else Same.NO
        allowed = max(max(tolerance, LEAST) * (abs(ours) or 1), LEAST * scale)
        gap, unsure = abs(ours - theirs), rounding(digits) * other_scale
        if unsure <= allowed or gap > allowed + unsure:
            return Same.YES if gap <= allowed else Same.NO
    return None if ours is _VAGUE else Same.UNDECIDED if theirs is _VAGUE else Same.NO


def _at(tree: tuple, point: Point, digits: int, work: Work) -> tuple[Any, Any]:
    """Value and scale; texts for a piecewise expression without branch there and for a value lost to rounding, None for
    no value."""
    try:
        with precision(digits, work):
            return value_of(tree, point, work)
    except MissingBranchError:
        return "no branch", 0
    except ImpreciseError:
        return _VAGUE, 0
    except UndefinedError:
        return None, 0
