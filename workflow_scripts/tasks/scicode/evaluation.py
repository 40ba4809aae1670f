"""Expression trees (see `values`) as numbers at a point, with bounds on work and size.

Every value comes with its scale: the size of the largest term that went into its sums, which says what rounding left.
The number of digits is that of the context (`precision`).
"""

from collections.abc import Mapping
from typing import Any

from workflow_scripts.records import seeds
from workflow_scripts.tasks.scicode.functions import (
    CONDITIONS,
    CONNECTIVES,
    FUNCTIONS,
    LARGEST_EXPONENT,
    RELATIONS,
    evaluated,
    real,
)
from workflow_scripts.tasks.scicode.precision import (
    ImpreciseError,
    MissingBranchError,
    UndefinedError,
    UnknownError,
    Work,
    context,
)

LOST = 1e15
"""What is made of a number of which rounding left fewer of its digits (as a factor of its size) has no value."""

_CONSTANTS = {"pi": "pi", "E": "e", "GoldenRatio": "phi", "EulerGamma": "euler", "Catalan": "catalan"}
_NO_NUMBERS = ("oo", "-oo", "zoo", "nan")
_PER_CHARACTERS = 50


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


def value_of(tree: tuple, point: Mapping[str, Any], work: Work) -> tuple[Any, Any]:
    """The value of a tree and its scale: an mpmath number, or a bool for conditions.

    point: values of its symbols. Raises UndefinedError, MissingBranchError or UnknownError where there is none.
    """
    head, *parts = tree
    mp = context()
    work.take()
    if head in ("Symbol", "Dummy"):
        return point[parts[0]], abs(point[parts[0]])
    if head in ("Integer", "Rational", "Float"):
        work.take(sum(map(len, parts)) // _PER_CHARACTERS)
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
        return _piecewise(parts, point, work)
    if head in CONDITIONS:
        return _holds(head, parts, point, work), mp.zero
    if head == "Function":
        return _some_function(parts[0], [_quantity(part, point, work) for part in parts[1:]])
    if head not in FUNCTIONS and head not in ("Add", "Mul", "Pow"):
        raise UnknownError(f"{head} is not evaluated")
    given = [_quantity(part, point, work) for part in parts]
    try:
        return _sum(given) if head == "Add" else _made(head, given, work)
    except (ValueError, ArithmeticError, TypeError) as error:
        raise UndefinedError from error


def _quantity(tree: tuple, point: Mapping[str, Any], work: Work) -> tuple[Any, Any]:
    value, scale = value_of(tree, point, work)
    if isinstance(value, bool):
        raise UnknownError(f"{tree[0]} stands where a number should")
    return value, scale


def _sum(given: list[tuple[Any, Any]]) -> tuple[Any, Any]:
    value = sum((part for part, _ in given), context().zero)
    return _tidy(value, max((scale for _, scale in given), default=context().zero))


def _tidy(value: Any, scale: Any) -> tuple[Any, Any]:
    """The value without what is but rounding: on a branch cut, its sign would decide."""
    mp = context()
    least = mp.unsure * scale
    if isinstance(value, mp.mpc):
        if abs(value.imag) <= least:
            value = value.real
        elif abs(value.real) <= least:
            return mp.mpc(0, value.imag), scale
    return (value if abs(value) > least else mp.zero), scale


def _made(head: str, given: list[tuple[Any, Any]], work: Work) -> tuple[Any, Any]:
    """A product, power or function, of as many digits as the worst of what it is made of."""
    mp, values = context(), [value for value, _ in given]
    lost = _lost(given)
    if head == "Mul":
        value = mp.one
        for part in values:
            value = value * part
        if not value:
            scale = mp.one
            for part, own in given:
                scale = scale * (abs(part) or own)
            return value, scale
    _enough(lost)
    if head == "Pow":
        if not values[0] and values[1] and real(values[1]) > 0:
            return mp.zero, _scale_of_power(given[0][1], real(values[1]))
        value = _power(*values)
    elif head != "Mul":
        value = evaluated(head, values, work)
    if not mp.isfinite(value):
        raise UndefinedError
    if head in ("re", "im"):
        return _tidy(value, given[0][1])
    return _tidy(value, abs(value) * max(lost, 1) if value else lost)


def _lost(given: list[tuple[Any, Any]]) -> Any:
    """The largest scale, as a factor of its value; of a 0 that a sum came to, rounding may have made anything below."""
    return max([scale / abs(part) if part else scale for part, scale in given], default=0)


def _enough(lost: Any) -> None:
    if lost * context().unsure * LOST > 1:
        raise ImpreciseError


def _scale_of_power(scale: Any, exponent: Any) -> Any:
    """Of 0**exponent, where the 0 is a sum of that scale."""
    mp = context()
    return scale if exponent >= 1 or not scale else mp.power(mp.unsure * scale, exponent) / mp.unsure


def _power(base: Any, exponent: Any) -> Any:
    mp = context()
    if not exponent:
        return mp.one
    if not base:
        raise UndefinedError
    whole = not exponent.imag and exponent.real == mp.floor(exponent.real)
    if whole and abs(exponent) < 64:
        return base ** int(exponent.real)
    if abs(exponent) > LARGEST_EXPONENT or abs(mp.log(base) * exponent) > LARGEST_EXPONENT:
        raise UndefinedError
    return base ** int(exponent.real) if whole else mp.power(base, exponent)


def _piecewise(parts: list, point: Mapping[str, Any], work: Work) -> tuple[Any, Any]:
    for part in parts:
        if part[0] != "ExprCondPair" or len(part) != 3:
            raise UnknownError("a branch has no condition")
        if _condition(part[2], point, work):
            return value_of(part[1], point, work)
    raise MissingBranchError


def _condition(tree: tuple, point: Mapping[str, Any], work: Work) -> bool:
    value, _ = value_of(tree, point, work)
    if not isinstance(value, bool):
        raise UnknownError(f"{tree[0]} stands where a condition should")
    return value


def _holds(head: str, parts: list, point: Mapping[str, Any], work: Work) -> bool:
    if head in CONNECTIVES:
        return CONNECTIVES[head]([_condition(part, point, work) for part in parts])
    if len(parts) != 2:
        raise UnknownError(f"{head} has {len(parts)} sides")
    (one, scale), (other, other_scale) = (_quantity(part, point, work) for part in parts)
    least = context().unsure * max(scale, other_scale)
    near = abs(one - other) <= least
    if near and least * LOST > max(abs(one), abs(other), 1):
        raise ImpreciseError
    return bool(RELATIONS[head](one, one if near else other))


def _some_function(name: str, given: list[tuple[Any, Any]]) -> tuple[Any, Any]:
    """Some function of that name: smooth, the same every time, and like no other."""
    lost, values = _lost(given), [value for value, _ in given]
    _enough(lost)
    key = seeds.sample_keys("function", name, samples=range(len(values) + 1))
    first, *weights = (0.4 + float(weight) for weight in seeds.uniforms(key, 0))
    inner = first + sum(weight * value for weight, value in zip(weights, values, strict=True))
    if abs(inner) > LARGEST_EXPONENT:
        raise UndefinedError
    value = context().cos(inner) + inner**2 / 7
    return value, abs(value) * max(lost, 1)
