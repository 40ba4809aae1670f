r"""Exact rationals from literals, with limits: no literal and no operation can cost more than microseconds.

Read: ``12``, ``007``, ``1,234``, ``.5``, ``3.``, ``4.5e33``; a comma separates thousands only where every group after
the first has three digits (``1,234`` but not ``12,34``).
"""

import re
from fractions import Fraction

from workflow_scripts.tasks.maths.verdicts import Rejected, Status

MAX_BITS = 4_096
"""Of a numerator or denominator: some 1,200 digits. Beyond: `Status.TOO_LARGE`."""
MAX_LITERAL = 1_000
"""Characters of one literal."""
MAX_FACTORIAL = 500

PLAIN = re.compile(r"[-+]?\d{1,18}").fullmatch
"""A whole number that needs no care at all: most answers are one."""
_LITERAL = re.compile(r"(?P<whole>\d{1,3}(?:,\d{3})+|\d*)(?:\.(?P<part>\d*))?(?:[eE](?P<power>[-+]?\d+))?").fullmatch


def literal(text: str) -> Fraction | None:
    """The value of an unsigned literal (see above); None where `text` is none.

    Raises `Rejected`: TOO_LONG, TOO_LARGE.
    """
    if len(text) > MAX_LITERAL:
        raise Rejected(Status.TOO_LONG, f"a literal of {len(text)} characters, at most {MAX_LITERAL}")
    found = _LITERAL(text)
    if not found or not text.isascii() or not (found["whole"] or found["part"]):
        return None
    part = found["part"] or ""
    digits = int((found["whole"].replace(",", "") or "0") + part)
    power = found["power"] or "0"
    if len(power) > 6:
        if not digits:
            return Fraction(0)
        raise Rejected(Status.TOO_LARGE, f"an exponent of {len(power)} characters")
    return times_power_of_ten(Fraction(digits), int(power) - len(part))


def times_power_of_ten(value: Fraction, power: int) -> Fraction:
    """value · 10^power.  Raises `Rejected` (TOO_LARGE)."""
    if not value:
        return value
    if abs(power) * 3.33 > MAX_BITS:
        raise Rejected(Status.TOO_LARGE, f"a power of ten of {power}")
    return checked(value * 10**power if power >= 0 else value / 10**-power)


def checked(value: Fraction) -> Fraction:
    """The value itself.  Raises `Rejected` (TOO_LARGE) beyond `MAX_BITS`."""
    if value.numerator.bit_length() > MAX_BITS or value.denominator.bit_length() > MAX_BITS:
        raise Rejected(Status.TOO_LARGE, f"more than {MAX_BITS} bits")
    return value


def power_of(base: Fraction, exponent: int) -> Fraction:
    """base ** exponent.  Raises `Rejected`: TOO_LARGE before anything large is computed, UNSUPPORTED for 0 ** -n."""
    if not base and exponent < 0:
        raise Rejected(Status.UNSUPPORTED, "division by zero")
    bits = max(base.numerator.bit_length(), base.denominator.bit_length())
    if abs(base) != 1 and base and bits * abs(exponent) > 2 * MAX_BITS:
        raise Rejected(Status.TOO_LARGE, f"an exponent of {exponent:.0e}" if abs(exponent) < 1e300 else "an exponent")
    if abs(base) == 1:
        return base if exponent % 2 else Fraction(1)
    return checked(base**exponent)


def square_free(number: int) -> tuple[int, int] | None:
    """(a, b) with number = a² · b and b without square factors; None where that would take long.

    number: positive.  Trial division up to 10,000: exact up to 10^8, and for perfect squares of any size.
    """
    from math import isqrt

    root = isqrt(number)
    if root * root == number:
        return root, 1
    if number > 10**8:
        return None
    outside, inside, factor = 1, 1, 2
    while factor * factor <= number:
        power = 0
        while number % factor == 0:
            number //= factor
            power += 1
        outside *= factor ** (power // 2)
        inside *= factor ** (power % 2)
        factor += 1 if factor == 2 else 2
    return outside, inside * number
