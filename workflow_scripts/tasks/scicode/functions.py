"""What the names in expression trees mean: sympy's classes as functions of numbers with 50 digits."""

from collections.abc import Callable, Mapping, Sequence
from functools import cache
from typing import Any

DIGITS = 50
UNSURE = 1e-40
"""Of its scale, a sum's value that is smaller is rounding, and 0."""
LARGEST_EXPONENT = 1 << 40
"""Powers and exponentials whose logarithm is larger have no value."""


class UndefinedError(Exception):
    """There is no value at this point."""


class MissingBranchError(Exception):
    """No branch of a piecewise expression holds at this point."""


class UnknownError(Exception):
    """This cannot be evaluated anywhere: a name without meaning, or too much work."""


@cache
def context() -> Any:
    """An mpmath context of DIGITS digits of its own, so that nobody else changes its precision."""
    from mpmath.ctx_mp import MPContext

    mp = MPContext()
    mp.dps = DIGITS
    return mp


def real(value: Any) -> Any:
    """The value as a real number; UndefinedError where it is none, but for rounding."""
    if not isinstance(value, context().mpc):
        return value
    if abs(value.imag) > abs(value.real) * UNSURE:
        raise UndefinedError
    return value.real


def _of_reals(function: Callable) -> Callable:
    return lambda *values: function(*map(real, values))


def _mpmath(name: str) -> Callable:
    def function(first: Any, *second: Any) -> Any:
        if len(second) > 1:  # what a third argument means to mpmath is something else
            raise TypeError(f"{name} takes one or two numbers")
        return getattr(context(), name)(first, *second)

    return function


def _sign(value: Any) -> Any:
    return value / abs(value) if value else value


def _mod(value: Any, by: Any) -> Any:
    return value - by * context().floor(value / by)


def _heaviside(value: Any, at_zero: Any = 0.5) -> Any:
    return context().mpf(at_zero if not value else value > 0)


def _log(value: Any, base: Any = None) -> Any:
    log = context().log
    return log(value) if base is None else log(value) / log(base)


_ELEMENTARY = (
    "sin", "cos", "tan", "cot", "sec", "csc", "asin", "acos", "atan", "acot", "asec", "acsc", "sinh", "cosh", "tanh",
    "coth", "sech", "csch", "asinh", "acosh", "atanh", "acoth", "asech", "acsch", "exp", "sinc",
)  # fmt: skip
_OF_GAMMA = {
    "gamma": "gamma", "loggamma": "loggamma", "factorial": "factorial", "binomial": "binomial", "beta": "beta",
    "RisingFactorial": "rf", "FallingFactorial": "ff", "harmonic": "harmonic", "erf": "erf", "erfc": "erfc",
}  # fmt: skip
_SPECIAL = {
    "erfi": "erfi", "factorial2": "fac2", "digamma": "digamma", "polygamma": "polygamma",
    "LambertW": "lambertw", "besselj": "besselj", "besseli": "besseli", "hermite": "hermite", "legendre": "legendre",
    "chebyshevt": "chebyt", "chebyshevu": "chebyu", "elliptic_k": "ellipk", "elliptic_e": "ellipe",
}  # fmt: skip
_SLOW = {
    "zeta": "zeta", "polylog": "polylog", "bessely": "bessely", "besselk": "besselk", "airyai": "airyai",
    "airybi": "airybi",
}  # fmt: skip

FUNCTIONS: Mapping[str, tuple[Callable, int, float]] = {
    **{name: (_mpmath(name), 10, LARGEST_EXPONENT) for name in _ELEMENTARY},
    **{name: (_mpmath(made), 50, 1e4) for name, made in _OF_GAMMA.items()},
    **{name: (_mpmath(made), 200, 50) for name, made in _SPECIAL.items()},
    **{name: (_mpmath(made), 2000, 50) for name, made in _SLOW.items()},
    **{name: (_mpmath(made), 5, float("inf")) for name, made in
       {"re": "re", "im": "im", "conjugate": "conj", "arg": "arg"}.items()},
    "log": (_log, 10, float("inf")),
    "Abs": (abs, 2, float("inf")),
    "sign": (_sign, 2, float("inf")),
    "Min": (_of_reals(min), 2, float("inf")),
    "Max": (_of_reals(max), 2, float("inf")),
    "floor": (_of_reals(_mpmath("floor")), 2, LARGEST_EXPONENT),
    "ceiling": (_of_reals(_mpmath("ceil")), 2, LARGEST_EXPONENT),
    "frac": (_of_reals(lambda value: _mod(value, 1)), 2, LARGEST_EXPONENT),
    "Mod": (_of_reals(_mod), 2, LARGEST_EXPONENT),
    "atan2": (_of_reals(_mpmath("atan2")), 10, float("inf")),
    "Heaviside": (_of_reals(_heaviside), 2, float("inf")),
    "KroneckerDelta": (lambda one, other: context().mpf(one == other), 2, float("inf")),
    "UnevaluatedExpr": (lambda value: value, 1, float("inf")),
}  # fmt: skip
"""Class -> what it does to numbers, its work, and the size of its largest argument."""

RELATIONS: Mapping[str, Callable[[Any, Any], bool]] = {
    "StrictLessThan": lambda a, b: real(a) < real(b),
    "LessThan": lambda a, b: real(a) <= real(b),
    "StrictGreaterThan": lambda a, b: real(a) > real(b),
    "GreaterThan": lambda a, b: real(a) >= real(b),
    "Equality": lambda a, b: a == b,
    "Unequality": lambda a, b: a != b,
}
CONNECTIVES: Mapping[str, Callable[[Sequence[bool]], bool]] = {
    "And": all, "Or": any, "Not": lambda held: not all(held), "Xor": lambda held: sum(held) % 2 == 1,
    "true": lambda held: True, "false": lambda held: False,
}  # fmt: skip
CONDITIONS = frozenset({*RELATIONS, *CONNECTIVES})

COMPARING = frozenset(
    {*RELATIONS, "Abs", "sign", "Min", "Max", "floor", "ceiling", "frac", "Mod", "atan2", "Heaviside", "KroneckerDelta"}
)
"""What speaks of real numbers."""
OF_COMPLEX = frozenset({"re", "im", "conjugate", "arg"})
"""What speaks of complex numbers."""
