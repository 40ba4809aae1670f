"""Expression trees (see `values`) as numbers of 50 digits at a point, with bounds on work and size.

Every value comes with its scale: the size of the largest term that went into its sums, which says what rounding left.
"""

from collections.abc import Mapping
from functools import lru_cache
from typing import Any

from workflow_scripts.records import seeds
from workflow_scripts.tasks.scicode.functions import (
    CONDITIONS,
    CONNECTIVES,
    FUNCTIONS,
    LARGEST_EXPONENT,
    RELATIONS,
    UNSURE,
    MissingBranchError,
    UndefinedError,
    UnknownError,
    context,
    real,
)

LOST = 1e25
"""A product or function of what lost more of its size than this has no value."""

_CONSTANTS = {"pi": "pi", "E": "e", "GoldenRatio": "phi", "EulerGamma": "euler", "Catalan": "catalan"}
_NO_NUMBERS = ("oo", "-oo", "zoo", "nan")


@lru_cache(maxsize=4096)
def number_of(leaf: tuple) -> Any:
    """An Integer, Rational or Float as an mpmath number. Raises UndefinedError, UnknownError where there is none."""
    mp, (head, *texts) = context(), leaf
    try:
        if head == "Float":
            if set(texts[0]) <= set("0123456789.e+-") and len(texts[0]) < 10_000:
                return mp.mpf(texts[0])
            raise UndefinedError  # nan, inf
        top, bottom = (int(text, 16 if "0x" in text[:3] else 10) for text in (*texts, "1")[:2])
    except ValueError as error:
        raise UnknownError(f"{head} of {texts[0][:40]!r}") from error
    if not bottom:
        raise UndefinedError
    return mp.mpf(top) / bottom


def value_of(tree: tuple, point: Mapping[str, Any], left: list[int]) -> tuple[Any, Any]:
    """The value of a tree and its scale: an mpmath number, or a bool for conditions.

    point: values of its symbols. left: one number, the work that may still be done; it is counted down.
    Raises UndefinedError, MissingBranchError or UnknownError where there is none.
    """
    head, *parts = tree
    mp = context()
    left[0] -= 1
    if left[0] < 0:
        raise UnknownError("the comparison takes too much work")
    if head in ("Symbol", "Dummy"):
        return point[parts[0]], abs(point[parts[0]])
    if head in ("Integer", "Rational", "Float"):
        value = number_of(tree)
        return value, abs(value)
    if head in _CONSTANTS:
        value = +getattr(mp, _CONSTANTS[head])
        return value, value
    if head == "I":
        return mp.j, mp.one
    if head in _NO_NUMBERS:
        raise UndefinedError
    if head == "Piecewise":
        return _piecewise(parts, point, left)
    if head in CONDITIONS:
        return _holds(head, parts, point, left), mp.zero
    if head == "Function":
        return _some_function(parts[0], [_quantity(part, point, left)[0] for part in parts[1:]])
    if head not in FUNCTIONS and head not in ("Add", "Mul", "Pow"):
        raise UnknownError(f"{head} is not evaluated")
    given = [_quantity(part, point, left) for part in parts]
    try:
        return _sum(given) if head == "Add" else _made(head, given, left)
    except (ValueError, ArithmeticError, TypeError, NotImplementedError, mp.NoConvergence) as error:
        raise UndefinedError from error


def _quantity(tree: tuple, point: Mapping[str, Any], left: list[int]) -> tuple[Any, Any]:
    value, scale = value_of(tree, point, left)
    if isinstance(value, bool):
        raise UnknownError(f"{tree[0]} stands where a number should")
    return value, scale


def _sum(given: list[tuple[Any, Any]]) -> tuple[Any, Any]:
    value = sum((part for part, _ in given), context().zero)
    scale = max((scale for _, scale in given), default=context().zero)
    return (value if abs(value) > UNSURE * scale else context().zero), scale


def _made(head: str, given: list[tuple[Any, Any]], left: list[int]) -> tuple[Any, Any]:
    """A product, power or function, of as many digits as the worst of what it is made of."""
    mp, values = context(), [value for value, _ in given]
    if head == "Mul":
        value = mp.one
        for part in values:
            value = value * part
    elif head == "Pow":
        value = _power(*values)
    else:
        function, work, largest = FUNCTIONS[head]
        left[0] -= work
        if any(abs(part) > largest for part in values):
            raise UndefinedError
        value = function(*values)
    if not mp.isfinite(value):
        raise UndefinedError
    lost = max([scale / abs(part) for part, scale in given if part], default=1)
    if lost > LOST:
        raise UndefinedError
    return value, abs(value) * max(lost, 1)


def _power(base: Any, exponent: Any) -> Any:
    mp = context()
    if not exponent:
        return mp.one
    if not base:
        if real(exponent) < 0:
            raise UndefinedError
        return mp.zero
    whole = not exponent.imag and exponent.real == mp.floor(exponent.real)
    if whole and abs(exponent) < 64:
        return base ** int(exponent.real)
    if abs(exponent) > LARGEST_EXPONENT or abs(mp.log(base) * exponent) > LARGEST_EXPONENT:
        raise UndefinedError
    return base ** int(exponent.real) if whole else mp.power(base, exponent)


def _piecewise(parts: list, point: Mapping[str, Any], left: list[int]) -> tuple[Any, Any]:
    for part in parts:
        if part[0] != "ExprCondPair" or len(part) != 3:
            raise UnknownError("a branch has no condition")
        if _condition(part[2], point, left):
            return value_of(part[1], point, left)
    raise MissingBranchError


def _condition(tree: tuple, point: Mapping[str, Any], left: list[int]) -> bool:
    value, _ = value_of(tree, point, left)
    if not isinstance(value, bool):
        raise UnknownError(f"{tree[0]} stands where a condition should")
    return value


def _holds(head: str, parts: list, point: Mapping[str, Any], left: list[int]) -> bool:
    if head in CONNECTIVES:
        return CONNECTIVES[head]([_condition(part, point, left) for part in parts])
    if len(parts) != 2:
        raise UnknownError(f"{head} has {len(parts)} sides")
    (one, scale), (other, other_scale) = (_quantity(part, point, left) for part in parts)
    near = abs(one - other) <= UNSURE * max(scale, other_scale)
    return bool(RELATIONS[head](one, one if near else other))


def _some_function(name: str, values: list) -> tuple[Any, Any]:
    """Some function of that name: smooth, the same every time, and like no other."""
    key = seeds.sample_keys("function", name, samples=range(len(values) + 1))
    first, *weights = (0.4 + float(weight) for weight in seeds.uniforms(key, 0))
    inner = first + sum(weight * value for weight, value in zip(weights, values, strict=True))
    if abs(inner) > LARGEST_EXPONENT:
        raise UndefinedError
    value = context().cos(inner) + inner**2 / 7
    return value, abs(value)
