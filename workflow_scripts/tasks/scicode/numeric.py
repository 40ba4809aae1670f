"""Returned numbers, of whatever type, against expected ones."""

from decimal import Decimal
from fractions import Fraction
from math import isfinite
from typing import Any

from workflow_scripts.tasks.scicode.expressions import constant, is_condition
from workflow_scripts.tasks.scicode.precision import Work, context
from workflow_scripts.tasks.scicode.values import Expression

_PLAIN = (int, float, complex, Fraction, Decimal)
_SMALL = 1 << 53
_SYMBOLIC = ("Symbol", "Dummy", "Noncommutative", "Function", "NoncommutativeFunction")


def is_number(value: Any) -> bool:
    """Whether a decoded value is a number: no truth value, no text; an expression without conditions may be one."""
    if isinstance(value, Expression):
        return not is_condition(value.tree)
    return isinstance(value, _PLAIN) and not isinstance(value, bool)


def is_finite(value: Any) -> bool:
    """Whether a plain number is neither infinite nor not a number."""
    if isinstance(value, complex):
        return isfinite(value.real) and isfinite(value.imag)
    return value.is_finite() if isinstance(value, Decimal) else not isinstance(value, float) or isfinite(value)


def tree_of(value: Any) -> tuple:
    """A plain number as an expression tree."""
    if not is_finite(value):
        return ("nan",)
    if isinstance(value, complex):
        return ("Add", tree_of(value.real), ("Mul", ("I",), tree_of(value.imag)))
    if isinstance(value, Fraction):
        return ("Rational", _digits(value.numerator), _digits(value.denominator))
    if isinstance(value, int):
        return ("Integer", _digits(value))
    return ("Float", str(value).lower())


def _digits(value: int) -> str:
    return str(value) if value.bit_length() < 13_000 else hex(value)


def near(expected: Any, found: Any, tolerance: float, work: Work | None = None) -> bool:
    """Whether a number is within the tolerance: relative to the expected one, absolute where that is 0.

    expected, found: decoded numbers; expressions without symbols. What is infinite or undefined is near nothing.
    work: that evaluating expressions may use.
    Raises UnknownError for an expression that cannot be evaluated.
    """
    if _floats(expected, found):
        return abs(found - expected) <= tolerance * (abs(expected) or 1)
    if not tolerance and _rational(expected) and _rational(found):
        return expected == found
    ours, theirs = _precise(expected, work), _precise(found, work)
    if ours is None or theirs is None:
        return False
    # Exact values of 50 digits, of which the last may be rounded.
    least = 1e-45 if not tolerance and Expression in (type(expected), type(found)) else 0
    return bool(abs(theirs - ours) <= max(tolerance, least) * (abs(ours) or 1))


def exactly(expected: Any, found: Any) -> bool | None:
    """Whether two numbers are equal and of one type, where all exact types (int, Fraction, Decimal, sympy's Integer and
    Rational) are one; None where the types differ."""
    ours, theirs = _unwrapped(expected), _unwrapped(found)
    if _rational(ours) and _rational(theirs):
        return ours == theirs
    if type(ours) is not type(theirs):
        return None
    return ours == theirs if is_finite(ours) else False


def _floats(*values: Any) -> bool:
    """Whether all are finite floats, or whole numbers that floats hold."""
    return all(isfinite(v) if type(v) is float else type(v) is int and -_SMALL < v < _SMALL for v in values)


def _rational(value: Any) -> bool:
    """Whether == is exact and quick: of decimals, of those with few places."""
    if isinstance(value, Decimal):
        return value.is_finite() and abs(value.adjusted()) < 5000
    return isinstance(value, int | Fraction) and not isinstance(value, bool)


def _unwrapped(value: Any) -> Any:
    """Integers, rationals and floats of sympy as Python's."""
    if not isinstance(value, Expression):
        return value
    head, *texts = value.tree
    if head not in ("Integer", "Rational", "Float"):
        return value
    try:
        if head == "Float":
            return float(texts[0])
        return Fraction(*(int(text, 16 if "0x" in text[:3] else 10) for text in texts))
    except (ValueError, ZeroDivisionError):
        return value


def _precise(value: Any, work: Work | None) -> Any:
    """The number with 50 digits; None where it is infinite, undefined, or an expression with symbols."""
    mp = context()
    if isinstance(value, Expression):
        return constant(value.tree, work)
    if not is_finite(value):
        return None
    if isinstance(value, Fraction):
        return mp.mpf(value.numerator) / value.denominator
    return mp.mpmathify(str(value) if isinstance(value, Decimal) else value)


def has_symbols(value: Any) -> bool:
    """Whether an expression has no single value: it speaks of symbols."""
    waiting = [value.tree] if isinstance(value, Expression) else []
    while waiting:
        node = waiting.pop()
        if node[0] in _SYMBOLIC:
            return True
        waiting += [part for part in node[1:] if isinstance(part, tuple)]
    return False
