"""Exact algebra for answers: quotients of polynomials over the rationals, with square roots of integers and i.

A polynomial is a dict from monomial to non-zero Fraction. A monomial is (radicand, imaginary, powers): a square-free
positive integer under the root, whether i stands beside it, and the sorted (name, exponent) pairs of variables. pi, e
and infinity are variables like any other. Square roots of different square-free integers are independent over the
rationals, so that equal values have equal polynomials: comparing decides, and never guesses.
"""

from fractions import Fraction
from math import gcd

from workflow_scripts.tasks.maths.numbers import checked, power_of, square_free
from workflow_scripts.tasks.maths.verdicts import Rejected, Status

MAX_TERMS = 200
"""Of a polynomial, and of the pairs multiplied for one."""
MAX_EXPONENT = 32
"""Of a polynomial with more than one term."""

Monomial = tuple[int, bool, tuple[tuple[str, int], ...]]
Polynomial = dict[Monomial, Fraction]
Quotient = tuple[Polynomial, Polynomial]
"""Numerator and denominator; the denominator is not zero."""

_UNIT: Monomial = (1, False, ())
ONE: Polynomial = {_UNIT: Fraction(1)}


def constant(value: Fraction) -> Quotient:
    """A number as a quotient."""
    return ({_UNIT: value} if value else {}), ONE


def variable(name: str) -> Quotient:
    """A name; `i` is the imaginary unit."""
    monomial: Monomial = (1, True, ()) if name == "i" else (1, False, ((name, 1),))
    return {monomial: Fraction(1)}, ONE


def rational(value: Quotient) -> Fraction | None:
    """The value where it is a rational number, else None."""
    top, bottom = value
    if not top:
        return Fraction(0)
    if top.keys() == bottom.keys() == {_UNIT}:
        return top[_UNIT] / bottom[_UNIT]
    return None


def add(left: Quotient, right: Quotient) -> Quotient:
    """left + right.  Every operation raises `Rejected` (TOO_LARGE, UNSUPPORTED) beyond the limits."""
    if left[1] == right[1]:
        return _reduced(_sum(left[0], right[0]), left[1])
    top = _sum(_product(left[0], right[1]), _product(right[0], left[1]))
    return _reduced(top, _product(left[1], right[1]))


def negative(value: Quotient) -> Quotient:
    """-value."""
    return {monomial: -factor for monomial, factor in value[0].items()}, value[1]


def multiply(left: Quotient, right: Quotient) -> Quotient:
    """left · right."""
    return _reduced(_product(left[0], right[0]), _product(left[1], right[1]))


def divide(left: Quotient, right: Quotient) -> Quotient:
    """left / right."""
    if not right[0]:
        raise Rejected(Status.UNSUPPORTED, "division by zero")
    return multiply(left, (right[1], right[0]))


def power(base: Quotient, exponent: Quotient) -> Quotient:
    """base ^ exponent: whole exponents, and 1/2 of a rational."""
    times = rational(exponent)
    if times is None:
        raise Rejected(Status.UNSUPPORTED, "an exponent that is no number")
    value = rational(base)
    if times.denominator == 2 and value is not None:
        return power(root(base), constant(Fraction(times.numerator)))
    if times.denominator != 1:
        raise Rejected(Status.UNSUPPORTED, "a fractional exponent")
    if value is not None:
        return constant(power_of(value, times.numerator))
    if abs(times) > MAX_EXPONENT:
        raise Rejected(Status.UNSUPPORTED, f"an exponent beyond {MAX_EXPONENT}")
    result = (ONE, ONE)
    for _ in range(abs(times.numerator)):
        result = multiply(result, base)
    return divide((ONE, ONE), result) if times < 0 else result


def root(base: Quotient) -> Quotient:
    """The square root of a rational number; i times a root for a negative one."""
    value = rational(base)
    if value is None:
        raise Rejected(Status.UNSUPPORTED, "a root of what is no rational number")
    if not value:
        return constant(value)
    parts = square_free(abs(value.numerator) * value.denominator)
    if parts is None:
        raise Rejected(Status.UNSUPPORTED, "a root of a large number")
    return {(parts[1], value < 0, ()): Fraction(parts[0], value.denominator)}, ONE


def equal(left: Quotient, right: Quotient) -> bool:
    """Whether two quotients are the same; decided exactly."""
    if left[1] == right[1]:
        return left[0] == right[0]
    return _product(left[0], right[1]) == _product(right[0], left[1])


def proportional(left: Polynomial, right: Polynomial) -> bool:
    """Whether left = c · right for a number c that is not zero."""
    if not left or not right:
        return not left and not right
    name = next(iter(left))[2]
    ours, theirs = _numbers_at(left, name), _numbers_at(right, name)
    return bool(theirs) and _product(left, theirs) == _product(right, ours)


def real(value: Quotient) -> float | None:
    """The value in floating point where it is a real number (pi counted), else None."""
    try:
        top, bottom = (_float(polynomial) for polynomial in value)
        return None if top is None or not bottom else top / bottom
    except OverflowError:
        return None


def _numbers_at(polynomial: Polynomial, name: tuple) -> Polynomial:
    return {(key[0], key[1], ()): factor for key, factor in polynomial.items() if key[2] == name}


def _float(polynomial: Polynomial) -> float | None:
    from math import pi, sqrt

    total = 0.0
    for (radicand, imaginary, powers), factor in polynomial.items():
        if imaginary or any(name != "pi" for name, _ in powers):
            return None
        total += float(factor) * sqrt(radicand) * pi ** (powers[0][1] if powers else 0)
    return total


def _sum(left: Polynomial, right: Polynomial) -> Polynomial:
    result = dict(left)
    for monomial, factor in right.items():
        total = result.get(monomial, 0) + factor
        if total:
            result[monomial] = checked(total)
        else:
            del result[monomial]
    if len(result) > MAX_TERMS:
        raise Rejected(Status.UNSUPPORTED, f"more than {MAX_TERMS} terms")
    return result


def _product(left: Polynomial, right: Polynomial) -> Polynomial:
    if left is ONE or right is ONE:
        return right if left is ONE else left
    if len(left) * len(right) > 2 * MAX_TERMS:
        raise Rejected(Status.UNSUPPORTED, f"more than {MAX_TERMS} terms")
    result: Polynomial = {}
    for (radicand, imaginary, powers), factor in left.items():
        for (other_radicand, other_imaginary, other_powers), other in right.items():
            shared = gcd(radicand, other_radicand)
            value = factor * other * shared
            if imaginary and other_imaginary:
                value = -value
            key = (
                (radicand // shared) * (other_radicand // shared),
                imaginary != other_imaginary,
                _joined(powers, other_powers) if powers and other_powers else powers or other_powers,
            )
            total = result.get(key, 0) + value
            if total:
                result[key] = checked(total)
            else:
                del result[key]
    if len(result) > MAX_TERMS:
        raise Rejected(Status.UNSUPPORTED, f"more than {MAX_TERMS} terms")
    return result


def _joined(left: tuple[tuple[str, int], ...], right: tuple[tuple[str, int], ...]) -> tuple[tuple[str, int], ...]:
    powers = dict(left)
    for name, exponent in right:
        powers[name] = powers.get(name, 0) + exponent
    return tuple(sorted(powers.items()))


def _reduced(top: Polynomial, bottom: Polynomial) -> Quotient:
    """Divides by a denominator that is one rational number, so that numbers stay numbers."""
    if bottom is not ONE and bottom.keys() == {_UNIT}:
        number = bottom[_UNIT]
        return {monomial: checked(factor / number) for monomial, factor in top.items()}, ONE
    return top, bottom
