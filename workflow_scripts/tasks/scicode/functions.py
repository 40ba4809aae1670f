"""What the names in expression trees mean: sympy's classes as functions of numbers with many digits."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

from workflow_scripts.tasks.scicode.precision import UndefinedError, UnknownError, context

LARGEST_EXPONENT = 1 << 40
"""Powers and exponentials whose logarithm is larger have no value."""
QUICK, MOST_DIGITS = 50, 100
"""Functions of more work are not evaluated with more digits."""


class Function(NamedTuple):
    """call: of numbers. counts: how many it takes. work: its units. largest: argument, beyond it there is no value."""

    call: Callable
    counts: Sequence[int]
    work: int
    largest: float = float("inf")


def real(value: Any) -> Any:
    """The value as a real number; UndefinedError where it is none, but for rounding."""
    mp = context()
    if not isinstance(value, mp.mpc):
        return value
    if abs(value.imag) > abs(value.real) * mp.unsure:
        raise UndefinedError
    return value.real


def evaluated(name: str, values: Sequence[Any], work: Any) -> Any:
    """A function's value. Raises UndefinedError, UnknownError where there is none."""
    function, mp = FUNCTIONS[name], context()
    if len(values) not in function.counts:
        raise UnknownError(f"{name} of {len(values)} numbers is not evaluated")
    if function.work > QUICK and mp.digits > MOST_DIGITS:
        raise UnknownError(f"{name} is not evaluated with {mp.digits} digits")
    work.take(function.work)
    if any(abs(value) > function.largest for value in values):
        raise UndefinedError
    try:
        return function.call(*values)
    except (UndefinedError, UnknownError):
        raise
    except Exception as error:  # mpmath says in many ways that there is no value
        mp.dps = mp.digits
        raise UndefinedError from error


def _of_reals(function: Callable) -> Callable:
    return lambda *values: function(*map(real, values))


def _mpmath(name: str) -> Callable:
    return lambda *values: getattr(context(), name)(*values)


def _sign(value: Any) -> Any:
    return value / abs(value) if value else value


def _mod(value: Any, by: Any) -> Any:
    return value - by * context().floor(value / by)


def _heaviside(value: Any, at_zero: Any = 0.5) -> Any:
    return context().mpf(at_zero if not value else value > 0)


def _log(value: Any, base: Any = None) -> Any:
    log = context().log
    return log(value) if base is None else log(value) / log(base)


def _whole_first(name: str) -> Callable:
    """Polynomials and derivatives: of a whole order alone are they meant, and quick."""
    return lambda order, value: getattr(context(), name)(_whole(order), value)


def _lambertw(value: Any, branch: Any = 0) -> Any:
    return context().lambertw(value, _whole(branch))


def _whole(value: Any) -> int:
    value = real(value)
    if value != context().floor(value):
        raise UndefinedError
    return int(value)


_ONE, _TWO, _EITHER, _ANY = (1,), (2,), (1, 2), range(1, 1 << 20)
_ELEMENTARY = (
    "sin", "cos", "tan", "cot", "sec", "csc", "asin", "acos", "atan", "acot", "asec", "acsc", "sinh", "cosh", "tanh",
    "coth", "sech", "csch", "asinh", "acosh", "atanh", "acoth", "asech", "acsch", "exp", "sinc",
)  # fmt: skip
_OF_GAMMA = {
    "gamma": "gamma", "loggamma": "loggamma", "factorial": "factorial", "harmonic": "harmonic", "erf": "erf",
    "erfc": "erfc",
}  # fmt: skip
_OF_TWO_GAMMAS = {"binomial": "binomial", "beta": "beta", "RisingFactorial": "rf", "FallingFactorial": "ff"}
_SPECIAL = {"erfi": "erfi", "factorial2": "fac2", "digamma": "digamma", "elliptic_k": "ellipk"}
_SPECIAL_OF_TWO = {
    "besselj": "besselj", "besseli": "besseli", "hermite": "hermite", "legendre": "legendre",
    "chebyshevt": "chebyt", "chebyshevu": "chebyu",
}  # fmt: skip
_SLOW = {"airyai": "airyai", "airybi": "airybi"}
_SLOW_OF_TWO = {"polylog": "polylog", "bessely": "bessely", "besselk": "besselk"}

FUNCTIONS: Mapping[str, Function] = {
    **{name: Function(_mpmath(name), _ONE, 10, LARGEST_EXPONENT) for name in _ELEMENTARY},
    **{name: Function(_mpmath(made), _ONE, 50, 1e4) for name, made in _OF_GAMMA.items()},
    **{name: Function(_mpmath(made), _TWO, 50, 1e4) for name, made in _OF_TWO_GAMMAS.items()},
    **{name: Function(_mpmath(made), _ONE, 200, 50) for name, made in _SPECIAL.items()},
    **{name: Function(_mpmath(made), _TWO, 200, 50) for name, made in _SPECIAL_OF_TWO.items()},
    **{name: Function(_mpmath(made), _ONE, 1000, 50) for name, made in _SLOW.items()},
    **{name: Function(_mpmath(made), _TWO, 1000, 50) for name, made in _SLOW_OF_TWO.items()},
    **{name: Function(_mpmath(made), _ONE, 5) for name, made in
       {"re": "re", "im": "im", "conjugate": "conj", "arg": "arg"}.items()},
    "polygamma": Function(_whole_first("polygamma"), _TWO, 200, 50),
    "LambertW": Function(_lambertw, _EITHER, 200, 50),
    "elliptic_e": Function(_mpmath("ellipe"), _EITHER, 200, 50),
    "zeta": Function(_mpmath("zeta"), _EITHER, 1000, 50),
    "log": Function(_log, _EITHER, 10),
    "Abs": Function(abs, _ONE, 2),
    "sign": Function(_sign, _ONE, 2),
    "Min": Function(_of_reals(lambda *values: min(values)), _ANY, 2),
    "Max": Function(_of_reals(lambda *values: max(values)), _ANY, 2),
    "floor": Function(_of_reals(_mpmath("floor")), _ONE, 2, LARGEST_EXPONENT),
    "ceiling": Function(_of_reals(_mpmath("ceil")), _ONE, 2, LARGEST_EXPONENT),
    "frac": Function(_of_reals(lambda value: _mod(value, 1)), _ONE, 2, LARGEST_EXPONENT),
    "Mod": Function(_of_reals(_mod), _TWO, 2, LARGEST_EXPONENT),
    "atan2": Function(_of_reals(_mpmath("atan2")), _TWO, 10),
    "Heaviside": Function(_of_reals(_heaviside), _EITHER, 2),
    "KroneckerDelta": Function(lambda one, other: context().mpf(one == other), _TWO, 2),
    "UnevaluatedExpr": Function(lambda value: value, _ONE, 1),
}  # fmt: skip
"""By sympy's class."""

OTHERS = frozenset((
    "subfactorial", "carmichael", "fibonacci", "lucas", "motzkin", "tribonacci", "bernoulli", "bell", "euler",
    "catalan", "genocchi", "andre", "partition", "divisor_sigma", "udivisor_sigma", "legendre_symbol",
    "jacobi_symbol", "kronecker_symbol", "mobius", "primenu", "primeomega", "totient", "reduced_totient", "primepi",
    "root", "real_root", "Rem", "polar_lift", "periodic_argument", "principal_branch", "transpose", "adjoint",
    "exp_polar", "erf2", "erfinv", "erfcinv", "erf2inv", "Ei", "expint", "E1", "li", "Li", "Si", "Ci", "Shi", "Chi",
    "fresnels", "fresnelc", "lowergamma", "uppergamma", "trigamma", "multigamma", "dirichlet_eta", "lerchphi",
    "stieltjes", "riemann_xi", "Eijk", "LeviCivita", "SingularityFunction", "DiracDelta", "hankel1", "hankel2",
    "jn", "yn", "hn1", "hn2", "airyaiprime", "airybiprime", "marcumq", "hyper", "meijerg", "appellf1",
    "assoc_legendre", "hermite_prob", "laguerre", "assoc_laguerre", "gegenbauer", "jacobi", "Ynm", "Ynm_c", "Znm",
    "elliptic_f", "elliptic_pi", "betainc", "betainc_regularized", "mathieus", "mathieuc", "mathieusprime",
    "mathieucprime", "Sum", "Product", "Integral", "Derivative", "Limit", "diff", "integrate",
))  # fmt: skip
"""Functions of sympy that are not evaluated here: in a formula they are not some function of that name."""

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
