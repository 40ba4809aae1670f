"""Symbolic values written as trees (see `values`), so that expected formulas need no computer algebra."""

from collections.abc import Sequence
from fractions import Fraction

from workflow_scripts.tasks.scicode.values import Expression

Tree = tuple


def symbol(name: str) -> Expression:
    """A symbol, as an argument of `answer`."""
    return Expression(("Symbol", name))


def rational(value: int | Fraction) -> Tree:
    """A whole number or a fraction."""
    exact = Fraction(value)
    if exact.denominator == 1:
        return ("Integer", str(exact.numerator))
    return ("Rational", str(exact.numerator), str(exact.denominator))


def add(*terms: Tree) -> Tree:
    """A sum of one or more terms."""
    return terms[0] if len(terms) == 1 else ("Add", *terms)


def multiply(*factors: Tree) -> Tree:
    """A product of one or more factors."""
    return factors[0] if len(factors) == 1 else ("Mul", *factors)


def power(base: Tree, exponent: int) -> Tree:
    """A whole power."""
    return ("Pow", base, rational(exponent))


def divide(top: Tree, bottom: Tree) -> Tree:
    """A quotient."""
    return multiply(top, power(bottom, -1))


def polynomial(coefficients: Sequence[int | Fraction], variable: Tree) -> Tree:
    """c_0 + c_1 x + c_2 x² + …"""
    terms = [multiply(rational(c), power(variable, n)) for n, c in enumerate(coefficients) if c]
    return add(*terms) if terms else rational(0)
