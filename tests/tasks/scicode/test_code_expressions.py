"""Expression trees and formulas: what is the same, against sympy, and what ends quickly whatever it says."""

import pytest
import sympy
from hypothesis import given, settings
from hypothesis import strategies as st

from workflow_scripts.tasks.scicode.expressions import PARTS, Same, constant, same
from workflow_scripts.tasks.scicode.formulas import FormulaError, formula
from workflow_scripts.tasks.scicode.functions import CONDITIONS, FUNCTIONS
from workflow_scripts.tasks.scicode.precision import UnknownError, context
from workflow_scripts.tasks.scicode.values import decode, encode

x, y, n = sympy.symbols("x y n")


def tree(expression):
    return decode(encode(expression)).tree


# What sympy makes of a formula is the same as what is read here
READ = [
    "x**2 + 2*x + 1", "-x**2", "2**-x", "2**3**2", "-2**-x**2", "x - y - 1", "x/y/2", "x/y*2", "x*-y", "+x - -y",
    "1.5e-3*x", ".5*x", "sqrt(x)", "cbrt(x)", "exp(-x)*log(y)", "ln(x)", "log(x, 2)", "sin(x)/cos(y)*tan(x)",
    "asin(x/9) + acos(x/9)", "atan2(x, y)", "Abs(x - y)", "Min(x, y, 1)", "Max(x, y)", "floor(x) + ceiling(y)",
    "Piecewise((x, x < 1), (y, True))", "pi*E + I", "gamma(x) + factorial(y)", "erf(x)", "besselj(0, x)",
    "binomial(x, 2)", "Heaviside(x)", "sign(x)", "conjugate(x) + re(x)*im(y)", "LambertW(x)", "zeta(x + 2)",
    "sinh(x) + cosh(y) - tanh(x)", "Rational(1, 3)*x", "g(x, y)",
]  # fmt: skip


@pytest.mark.parametrize("text", READ)
def test_formulas_are_what_sympy_reads(text):
    names = {"x": x, "y": y, "g": sympy.Function("g")}
    theirs = sympy.sympify(text, locals=names)
    assert same(tree(theirs), formula(text)).same is Same.YES
    assert same(tree(theirs + 1), formula(text)).same is Same.NO


NO_FORMULA = [
    "", " ", "x +", "2x", "x y", "(x", "x)", "x, y", "(1, 2)", "f((1, 2))", "f()", "Piecewise(1)", "a.b", "x[0]",
    "x = 1", "x²", "__import__('os')", "lambda x: x", "1..2", "x if y", "else", "if", "Integer(3)", "x;y", "'x'",
    "x % y", "\0", "(" * 100 + "x", "-" * 100 + "x", "x**" * 100 + "x", "f(" * 100, "x" * 20_000, "not",
    "x if x<1 else", "1e", "a.b.c(x)",
]  # fmt: skip


@pytest.mark.parametrize("text", NO_FORMULA, ids=range(len(NO_FORMULA)))
def test_texts_that_are_no_formula(text):
    with pytest.raises(FormulaError):
        formula(text)


@given(st.text("x1.+-*/^()<>=,& fif else", max_size=40))
def test_any_text_is_read_or_refused(text):
    try:
        found = formula(text)
    except FormulaError:
        return
    assert same(found, found).same in Same


numbers = st.integers(-9, 9).map(sympy.Integer) | st.fractions(-3, 3, max_denominator=9).map(sympy.Rational)
quantities = st.recursive(
    numbers | st.sampled_from([x, y, sympy.pi]),
    lambda inner: st.builds(lambda a, b: a + b, inner, inner) | st.builds(lambda a, b: a * b, inner, inner)
    | st.builds(lambda a, b: sympy.sin(a) * b, inner, inner)
    | st.builds(lambda a, b: sympy.exp(a / 50) + b, inner, inner),
    max_leaves=6,
)  # fmt: skip


@settings(max_examples=40)
@given(quantities)
def test_expanding_changes_nothing_and_its_square_does(quantity):
    assert same(tree(quantity), tree(sympy.expand(quantity))).same is Same.YES
    assert same(tree(quantity), tree(quantity + quantity**2 + 1)).same is Same.NO


@settings(max_examples=40)
@given(quantities, quantities)
def test_the_order_of_two_does_not_matter(one, other):
    assert same(tree(one), tree(other), tolerance=0).same == same(tree(other), tree(one), tolerance=0).same


SYMPYS = [
    (sympy.Piecewise((x, x < 1), (1, True)), sympy.Min(x, 1), Same.YES),
    (sympy.Piecewise((1, sympy.Eq(x, 0)), (0, True)), sympy.Integer(0), Same.NO),
    (sympy.Piecewise((1, (x > 0) & (x < 1)), (0, True)), sympy.Heaviside(x) * sympy.Heaviside(1 - x), Same.NO),
    (sympy.KroneckerDelta(x, y), sympy.Piecewise((1, sympy.Eq(x, y)), (0, True)), Same.YES),
    (sympy.Sum(n, (n, 0, x)), x * (x + 1) / 2, Same.UNDECIDED),
    (sympy.Integral(sympy.exp(-(x**2)), x), x, Same.UNDECIDED),
    (sympy.Derivative(sympy.Function("f")(x), x), sympy.Derivative(sympy.Function("f")(x), x), Same.YES),
    (sympy.factorial(n) / sympy.factorial(n - 2), n * (n - 1), Same.YES),
    (sympy.besselj(sympy.Rational(1, 2), x), sympy.sqrt(2 / (sympy.pi * x)) * sympy.sin(x), Same.YES),
    (sympy.legendre(2, x), (3 * x**2 - 1) / 2, Same.YES), (sympy.Not(x < 1), x >= 1, Same.YES),
    (sympy.And(x < 1, y < 1), sympy.Or(x < 1, y < 1), Same.NO), (sympy.oo * x, x, Same.UNDECIDED),
    (sympy.Symbol("x", positive=True), x, Same.YES), (sympy.sqrt(2) * sympy.sqrt(3), sympy.sqrt(6), Same.YES),
    (sympy.GoldenRatio, (1 + sympy.sqrt(5)) / 2, Same.YES),
    (sympy.Float("0.1", 30) + 0 * x, sympy.Rational(1, 10), Same.YES),
    # What holds for positive quantities holds, whatever the branch
    (sympy.sqrt(-x), sympy.I * sympy.sqrt(x), Same.YES), (sympy.sqrt(-x), -sympy.I * sympy.sqrt(x), Same.NO),
    (sympy.log(-x), sympy.log(x) + sympy.I * sympy.pi, Same.YES),
    (sympy.log(-x), sympy.log(x) - sympy.I * sympy.pi, Same.NO), (sympy.sqrt(x**2), x, Same.YES),
    (sympy.sqrt(x**2), -x, Same.NO), (sympy.sqrt(x * y), sympy.sqrt(x) * sympy.sqrt(y), Same.YES),
    (sympy.sqrt(-x * y), sympy.sqrt(-x) * sympy.sqrt(y), Same.YES), (sympy.cbrt(-x), -sympy.cbrt(x), Same.NO),
    (sympy.sqrt(sympy.exp(sympy.I * sympy.pi) * x), sympy.I * sympy.sqrt(x), Same.YES),
    (sympy.sqrt(x**2 - 1), sympy.I * sympy.sqrt(1 - x**2), Same.NO),
    # On a cut both sides of which are positive, each class has its own convention
    (sympy.atanh(x), (sympy.log(1 + x) - sympy.log(1 - x)) / 2, Same.YES),
    (sympy.acosh(x), sympy.log(x + sympy.sqrt(x**2 - 1)), Same.YES),
    (sympy.asin(x), sympy.atan(x / sympy.sqrt(1 - x**2)), Same.YES),
    (sympy.asin(x), sympy.acos(sympy.sqrt(1 - x**2)) + sympy.pi / 50, Same.NO),
]  # fmt: skip


@pytest.mark.parametrize(("one", "other", "verdict"), SYMPYS, ids=str)
def test_expressions_of_sympy(one, other, verdict):
    assert same(tree(one), tree(other)).same is verdict


TOWERS = [
    "9**9**9", "9**9**9**9", "x**9**9**9", "exp(exp(exp(exp(exp(x)))))", "gamma(10**9 + x)",
    "factorial(factorial(20*x))", "besselj(10**6, x)", "zeta(10**9*x)", "binomial(10**9, 10**8)", "sin(10**10**6)",
    "exp(10**10**3)", "log(10**10**9)", "(1 + 1e-30)**10**18", "tan(9**9**9)", "floor(exp(10**9))", "hermite(10**7, x)",
    "polylog(x, 10**6)", "0**x", "0**-1", "Mod(9**9**6, x)", "besselk(40*x, 1)", "2**2**2**2**2**2**2",
    "1e99999999999999999999", "1e-99999999999999999999",
]  # fmt: skip


@pytest.mark.parametrize("text", TOWERS)
def test_towers_of_powers_end(text):
    found = formula(text)
    assert same(found, ("Symbol", "q")).same is not Same.YES
    assert same(found, found).same in Same  # and this ends too


def test_large_trees_are_undecided_or_decided():
    long = ("Add", *[("Pow", ("Symbol", "x"), ("Integer", str(place % 50))) for place in range(600)])
    assert same(long, long).same is Same.YES
    assert same(long, ("Add", *long[:0:-1])).same is Same.YES
    huge = ("Add", *[("Symbol", "x")] * PARTS)
    assert same(huge, ("Symbol", "x")) == (Same.UNDECIDED, f"the expression has more than {PARTS} parts")
    heavy = ("Add", *[("besselj", ("Integer", str(place)), ("Symbol", "x")) for place in range(1000)])
    assert same(heavy, ("Symbol", "x")) == (Same.UNDECIDED, "the comparison takes too much work")


@pytest.mark.parametrize("name", sorted(FUNCTIONS))
def test_every_function_has_values_where_it_takes_so_many_numbers(name):
    for count in (1, 2, 3):
        arguments = [("Integer", "1"), ("Rational", "3", "4"), ("Integer", "1")][:count]
        if count not in FUNCTIONS[name].counts:
            with pytest.raises(UnknownError, match=f"{name} of {count}"):
                constant((name, *arguments))
            continue
        value = constant((name, *arguments))
        assert value is None or context().isfinite(value)
    given = [("Rational", "3", "4")] * min(FUNCTIONS[name].counts)
    assert any(constant((name, *arguments)) is not None for arguments in (given, [("Integer", "1"), *given[1:]]))


def test_constants_are_numbers_without_symbols():
    assert constant(formula("sqrt(2)*pi")) == pytest.approx(2**0.5 * 3.141592653589793)
    assert constant(formula("x")) is None and constant(formula("1/0")) is None and constant(formula("1 < 2")) is None
    with pytest.raises(UnknownError, match="Integral"):
        constant(("Integral", ("Integer", "1")))


def test_conditions_are_no_functions():
    assert not CONDITIONS & set(FUNCTIONS)
