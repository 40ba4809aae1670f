"""Returned values against expected ones: equivalent forms accepted, common wrong ones refused, types told apart."""

import json
from decimal import Decimal
from fractions import Fraction as Q
from itertools import pairwise

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from workflow_scripts.records.errors import UserError
from workflow_scripts.tasks.scicode.comparison import compare
from workflow_scripts.tasks.scicode.expressions import Same
from workflow_scripts.tasks.scicode.formulas import formula
from workflow_scripts.tasks.scicode.problems import KINDS, Check
from workflow_scripts.tasks.scicode.values import Expression, Other, encode

YES, NO, TYPE, UNDECIDED = "yes", "no", "type", "undecided"
PLANCK = 6.62607015e-34
BIG = 10**400


def f(text):
    return Expression(formula(text))


def said(kind, expected, returned, tolerance=1e-8):
    found = compare(Check(kind, encode(expected), tolerance=tolerance), encode(returned))
    assert found.typed or found.same is Same.NO
    assert bool(found.detail) == (found.same is not Same.YES)
    return found.same.value if found.typed else TYPE


EXACT = [
    (3, 3, YES), (3, 4, NO), (3, 3.0, TYPE), (3, "3", TYPE), (3, True, TYPE), (1, True, TYPE), (3, Q(3), YES),
    (3, Decimal("3.0"), YES), (3, f("3"), YES), (3, f("x"), TYPE), (3, [3], TYPE), (3, None, TYPE), (BIG, BIG, YES),
    (BIG, BIG + 1, NO), (Q(1, 3), Q(2, 6), YES), (Q(1, 3), 1 / 3, TYPE),
    (Q(1, 3), Expression(("Rational", "1", "3")), YES), (0.5, 0.5, YES), (0.5, Q(1, 2), TYPE), (0.1 + 0.2, 0.3, NO),
    (0.0, -0.0, YES), (2.0, 2, TYPE), (1j, 1j, YES), (1j, 2j, NO), (1j, 1, TYPE), (True, True, YES), (True, False, NO),
    (True, 1, TYPE), (True, Expression(("true",)), YES), (False, Expression(("true",)), NO), (False, None, TYPE),
    (None, None, YES), (None, 0, TYPE), ("ab", "ab", YES), ("ab", "Ab", NO), ("ab", "ab ", NO), ("1", 1, TYPE),
    ("", None, TYPE), ([1, 2], [1, 2], YES), ([1, 2], (1, 2), TYPE), ((1, 2), (1, 2), YES), ((1, 2), [1, 2], TYPE),
    ([1, 2], [2, 1], NO), ([1, 2], [1, 2, 3], NO), ([1], [1.0], TYPE), ([], [], YES), ([], [0], NO),
    ([[1], "a"], [[1], "a"], YES), ([(1,)], [[1]], TYPE), ({1, 2}, {2, 1}, YES), ({1, 2}, [1, 2], TYPE),
    ({3}, {3.0}, NO), ({(1, 2)}, {(1, 2)}, YES), ({"a": 1}, {"a": 1}, YES), ({"a": 1}, {"a": 2}, NO),
    ({"a": 1}, {"b": 1}, NO), ({"a": 1}, {"a": "1"}, TYPE), ({"a": 1}, [("a", 1)], TYPE), ({1: [2]}, {1: (2,)}, TYPE),
    (f("x + 1"), f("x + 1"), YES), (f("x + 1"), f("x + 2"), NO), (f("x < 1"), f("x < 1"), YES), (f("x"), "x", TYPE),
    (3, Other("generator"), TYPE), ("a", Other("str"), TYPE),
]  # fmt: skip

NUMERIC = [
    (2.5, 2.5, YES), (2.5, 2.5 * (1 + 5e-9), YES), (2.5, 2.5 * (1 + 2e-8), NO), (2.5, -2.5, NO), (3, 3.0, YES),
    (3.0, 3, YES), (2.5, Q(5, 2), YES), (2.5, Decimal("2.5"), YES), (2.5, f("5/2"), YES), (2.5, "2.5", TYPE),
    (2.5, "2.5 m/s", TYPE), (1, True, TYPE), (0, False, TYPE), (2.5, [2.5], TYPE), (2.5, None, TYPE),
    (2.5, 2.5 + 0j, TYPE), (2.5, f("x"), TYPE), (2.5, f("5/2 + 0*x"), TYPE), (2.5, float("nan"), NO),
    (2.5, float("inf"), NO), (2.5, f("oo"), NO), (2.5, f("1/0"), NO), (2.5, Decimal("NaN"), NO),
    (2.5, Decimal("sNaN"), NO), (2.5, f("x < 1"), TYPE), (PLANCK, PLANCK, YES), (PLANCK, 0, NO), (PLANCK, 0.0, NO),
    (PLANCK, PLANCK * 1.001, NO), (PLANCK, 1e-9, NO), (0, 1e-9, YES), (0, 1e-7, NO), (0.0, -0.0, YES),
    (1e300, 1e300, YES), (1e300, -1e300, NO), (BIG, BIG, YES), (BIG, 1e300, NO), (BIG, float("inf"), NO),
    (BIG, 10**401, NO), (1, Decimal("1e999999999999"), NO), (1, Decimal("1e-999999999999"), NO),
    (Q(1, 3), 0.3333333333, YES), (Q(1, 3), 0.333, NO), (3.141592653589793, f("pi"), YES),
    (f("pi"), 3.141592653589793, YES), (f("pi"), 22 / 7, NO), (f("sqrt(2)"), f("2/sqrt(2)"), YES),
    (1.4142135623730951, f("sqrt(2)"), YES), (1 + 2j, 1 + 2j, YES), (1 + 2j, 1 - 2j, NO), (2j, f("2*I"), YES),
    (1 + 0j, 1, YES), (2.5, f("5/2 + I"), NO), (1 + 2j, complex("nan"), NO),
    (2.5, Expression(("Integral", ("Symbol", "x"))), TYPE),
    (2.5, Expression(("Integral", ("Integer", "1"))), UNDECIDED), (2.5, f("g(1)"), TYPE), (2.5, Other("ndarray"), TYPE),
]  # fmt: skip

SEQUENCE = [
    ([1, 2, 3], [1, 2, 3], YES), ([1, 2, 3], (1, 2, 3), YES), ((1, 2, 3), [1, 2, 3], YES),
    ([1, 2, 3], [1.0, 2.0, 3.0], YES), ([1.5], [1.5 * (1 + 5e-9)], YES), ([1.5], [1.6], NO), ([1, 2, 3], [1, 2], NO),
    ([1, 2, 3], [1, 2, 3, 4], NO), ([1, 2, 3], [], NO), ([1, 2, 3], [3, 2, 1], NO), ([1, 2, 3], {1, 2, 3}, TYPE),
    ([1, 2, 3], "123", TYPE), ([1, 2], ["1", "2"], TYPE), ([1, 0], [True, False], TYPE), ([1, 2], {1: 2}, TYPE),
    ([1], 1, TYPE), ([], [], YES), ([], [1], NO), ([], (), YES), ([], 0, TYPE),
    ([[1, 2], [3, 4]], ((1, 2), (3, 4)), YES), ([[1, 2], [3, 4]], [[1, 2], [3, 5]], NO),
    ([[1, 2], [3, 4]], [1, 2, 3, 4], TYPE), (["a", "b"], ["a", "b"], YES), (["a", "b"], ["a", "B"], NO),
    (["a b"], ["ab"], NO), (["a", 1], ["a", 1.0], YES), ([None], [None], YES), ([True, 1], [True, 1], YES),
    ([True, 1], [1, 1], TYPE), ([{1, 2}], [{2.0, 1.0}], YES), ([f("x**2")], [f("x*x")], YES),
    ([f("x**2")], [f("2*x")], NO), ([f("x")], ["x"], TYPE), ([1.5, 2], [Q(3, 2), f("2")], YES),
    ([1, 2], [float("nan"), 2], NO), ([1, 2], [2, "b"], TYPE), ([1j], [1j], YES), ([{"a": 1}], [{"a": 1.0}], YES),
    ([[]], [[]], YES), ([[]], [()], YES), ([0, 1], [1e-9, 1], YES), ([f("(-1)**n"), 1], [f("cos(pi*n)"), 2], NO),
    ([f("(-1)**n")], [f("cos(pi*n)")], UNDECIDED),
]  # fmt: skip

SETS = [
    ({1, 2, 3}, {3, 2, 1}, YES), ({1, 2, 3}, [3, 1, 2], YES), ({1, 2, 3}, (3, 1, 2), YES),
    ({1, 2, 3}, [1, 2, 3, 3], NO), ({1, 2}, [1, 1.0], NO), ({1, 2, 3}, {1, 2}, NO), ({1, 2, 3}, {1, 2, 4}, NO),
    ({1, 2}, {1.0, 2.0}, YES), ({0.5, 2}, {Q(1, 2), 2}, YES), ({1, 2}, {"1", "2"}, TYPE), ({1, 2}, {1: 2}, TYPE),
    ({1, 2}, "12", TYPE), ({1, 2}, 12, TYPE), ({1, 0}, {True, False}, TYPE), (set(), set(), YES), (set(), [], YES),
    (set(), {0}, NO), ({0}, set(), NO), ({"a", "b"}, ["b", "a"], YES), ({"a"}, {"A"}, NO),
    ({(1, 2), (3, 4)}, [[3, 4], [1, 2]], YES), ({(1, 2)}, {(2, 1)}, NO), ({(1, 2)}, {1}, TYPE), ([1, 2], {2, 1}, YES),
    ({0.3}, {0.1 + 0.2}, YES), ({0.3, 0.3 + 2e-9}, {0.3 + 1e-9, 0.3 + 3e-9}, YES),
    ({1.0, 2.0}, {1.0 + 5e-9, 2.0 - 5e-9}, YES), ({1.0, 2.0}, {1.0, 2.1}, NO), ({(0.1, 1)}, {(0.1 + 1e-10, 1)}, YES),
    ({(0.1, 1)}, {(0.2, 1)}, NO), ({f("x**2"), f("x")}, {f("x"), f("x*x")}, YES),
    ({f("x**2"), f("x")}, {f("x"), f("2*x")}, NO), ({1}, {Decimal("NaN")}, NO), ({1}, {float("nan")}, NO),
    ({1j, 2j}, {2j, 1j * (1 + 1e-10)}, YES), ({f("(-1)**n")}, {f("cos(pi*n)")}, UNDECIDED),
    ({frozenset({1})}, {frozenset({1.0})}, YES),
]  # fmt: skip

SYMBOLIC = [
    (f("(x + 1)**2"), f("x**2 + 2*x + 1"), YES), (f("(x + 1)**2"), f("x**2 + 1"), NO), (f("x + 1"), "x + 1", TYPE),
    (f("x + 1"), 3, NO), (f("x + 1"), None, TYPE), (f("x + 1"), [f("x + 1")], TYPE), (f("x + 1"), f("x + 1 < 2"), TYPE),
    (f("x"), f("y"), NO), (f("x"), f("X"), NO), ("x**2+1", "1 +  x * x", YES), ("x**2+1", f("x**2 + 1"), YES),
    ("x**2+1", "x^2 + 1", YES), ("x**2+1", "x**2 + 2", NO), ("x**2+1", "the square", TYPE),
    ("x**2+1", "x**2 + 1; import os", TYPE), ("x**2+1", ["x**2+1"], TYPE), ("2", 2, YES), ("2", "4/2", YES),
    ("1/3", 0.3333333333333333, YES), ("1/3", 0.33, NO), (2, f("4/2"), YES), (2, 2.0, YES), (2, "2", TYPE),
    (2, True, TYPE), (0.5, f("1/2"), YES), (f("0"), f("sin(x)**2 + cos(x)**2 - 1"), YES),
    (f("sin(2*x)"), f("2*sin(x)*cos(x)"), YES), (f("sin(2*x)"), f("2*sin(x)"), NO),
    (f("sin(x)**2"), f("(1 - cos(2*x))/2"), YES), (f("sin(x)**2"), f("sin(x**2)"), NO),
    (f("exp(a + b)"), f("exp(a)*exp(b)"), YES), (f("exp(a + b)"), f("exp(a) + exp(b)"), NO),
    (f("log(a*b)"), f("log(a) + log(b)"), YES), (f("log(a*b)"), f("log(a)*log(b)"), NO), (f("sqrt(x**2)"), f("x"), YES),
    (f("sqrt(a**2 + b**2)"), f("a + b"), NO), (f("a/b/c"), f("a/(b*c)"), YES), (f("a/b*c"), f("a/(b*c)"), NO),
    (f("-x**2"), f("(-x)**2"), NO), (f("1/(1 + x)"), f("1 - x + x**2 - x**3"), NO),
    (f("tanh(x)"), f("(exp(2*x) - 1)/(exp(2*x) + 1)"), YES), (f("cosh(x)"), f("(exp(x) - exp(-x))/2"), NO),
    (f("(x**2 - 1)/(x - 1)"), f("x + 1"), YES), (f("x**3"), f("3*x**2"), NO), (f("k*T*log(2)"), f("T*k*ln(2)"), YES),
    (f("k*T*log(2)"), f("k*T*log10(2)"), NO), (f("gamma(n + 1)"), f("factorial(n)"), YES),
    (f("gamma(n)"), f("factorial(n)"), NO), (f("binomial(n, 2)"), f("n*(n - 1)/2"), YES),
    (f("n*(n + 1)/2"), f("n*(n - 1)/2"), NO), (f("Abs(x)"), f("sqrt(x**2)"), YES), (f("Abs(x)"), f("x"), NO),
    (f("Abs(x)"), f("Max(x, -x)"), YES), (f("x*conjugate(x)"), f("re(x)**2 + im(x)**2"), YES),
    (f("x*conjugate(x)"), f("x**2"), NO), (f("x if x < 1 else 1"), f("Min(x, 1)"), YES),
    (f("1 if x < 1 else 2"), f("1 if x <= 1 else 2"), NO), (f("1 if x < 1 else 2"), f("2 if x >= 1 else 1"), YES),
    (f("x if x < 1 else 1"), f("x if x <= 1 else 1"), YES), (f("1 if x < 1 else 2"), f("1 if x < 1.5 else 2"), NO),
    (f("1 if x < a else 2"), f("1 if x < 2*a else 2"), NO),
    ("Piecewise((x, x<1), (1, True))", "Piecewise( (x , x < 1), (1,x>=1) )", YES),
    ("Piecewise((x, x<1), (1, True))", "Piecewise((x, x<1))", NO), (f("KroneckerDelta(i, j)"), f("0"), NO),
    (f("KroneckerDelta(i, j)"), f("KroneckerDelta(j, i)"), YES),
    (f("Heaviside(x)"), f("1 if x > 0 else (0 if x < 0 else 1/2)"), YES), (f("x < 1"), f("1 > x"), YES),
    (f("x < 1"), f("x <= 1"), NO), (f("Eq(y, x + 1)"), f("Eq(x + 1, y)"), YES),
    (f("Eq(y, x + 1)"), f("Eq(y - x, 1)"), YES), (f("Eq(y, x + 1)"), f("Eq(y, x)"), NO),
    (f("Eq(y, x + 1)"), f("x + 1"), TYPE), (f("(-1)**n"), f("cos(pi*n)"), UNDECIDED),
    (f("h(x + 1)"), f("h(1 + x)"), YES), (f("h(x)"), f("h(x + 1)"), NO), (f("h(x)"), f("g(x)"), NO),
    (f("x"), f("x + 1e-12"), YES), (f("x"), f("1.001*x"), NO), (f("x"), f("oo"), NO), (f("x"), f("nan"), NO),
    (f("x"), float("nan"), NO), (f("x"), f("1/(1/x)"), YES), (f("x"), f("x**9**9**9"), NO),
    (f("x"), Expression(("Integral", ("Symbol", "x"))), UNDECIDED),
    (Expression(("Integral", ("Symbol", "x"))), Expression(("Integral", ("Symbol", "x"))), YES),
    ([f("x"), f("y")], [f("2*x/2"), f("y")], YES), ([f("x"), f("y")], [f("y"), f("x")], NO),
    (["x", "y**2"], ("x", "y*y"), YES), (["x", "y"], [f("x")], NO), ([f("x")], f("x"), TYPE),
    (f("x"), Other("Matrix"), TYPE), (f("2**0.5*x"), f("sqrt(2)*x"), YES),
    (f("0"), f("1/(sin(x)**2 + cos(x)**2 - 1)"), NO),
    (f("(1/sqrt(1 - v**2/299792458**2) - 1)*m*299792458**2"), f("m*v**2/2"), YES),
    (f("(1/sqrt(1 - v**2/299792458**2) - 1)*m*299792458**2"), f("m*v**2"), NO), (f("0.1*x + 0.2*x"), f("0.3*x"), YES),
]  # fmt: skip

TABLES = dict(zip(KINDS, (EXACT, NUMERIC, SEQUENCE, SETS, SYMBOLIC), strict=True))
ROWS = [(kind, *row) for kind, rows in TABLES.items() for row in rows]


@pytest.mark.parametrize(("kind", "expected", "returned", "verdict"), ROWS, ids=range(len(ROWS)))
def test_conformance(kind, expected, returned, verdict):
    assert said(kind, expected, returned) == verdict


HOPELESS = [
    ("numeric", '"3"'), ("numeric", "[3]"), ("numeric", "true"), ("numeric", '{"$float":"nan"}'), ("sequence", "3"),
    ("sequence", '{"$set":[1]}'), ("sequence", '[{"$float":"inf"}]'), ("set", "3"), ("set", "[1,1.0]"),
    ("symbolic", "null"), ("symbolic", '"2x"'), ("symbolic", '["x","2x"]'), ("symbolic", '{"$expr":["oo"]}'),
    ("exact", '{"$other":"generator"}'), ("exact", '{"$dict":[["a",{"$float":"nan"}]]}'), ("exact", "{}"),
    ("exact", "nan"), ("numeric", '{"$expr":["Symbol","x"]}'),
]  # fmt: skip


@pytest.mark.parametrize(("kind", "expected"), HOPELESS)
def test_a_check_that_nothing_could_pass_is_an_error(kind, expected):
    with pytest.raises(UserError, match="expect"):
        compare(Check(kind, expected), "3")


FORGED = ["", "nan", "{}", '{"$set":[[1]]}', '{"$float":"1"}', '{"$expr":[]}', "[" * 200, '{"$int":"x"}', "3 3"]


@pytest.mark.parametrize("returned", FORGED)
def test_what_is_no_encoded_value_has_no_type(returned):
    assert compare(Check("numeric", "3"), returned)[:2] == (False, Same.NO)


ODD = [
    ["Symbol"], ["Symbol", ["x"]], ["Integer"], ["Integer", "x"], ["Rational", "1", "0"], ["Float", "x"],
    ["Float", "--"], ["Pow", ["pi"]], ["Add"], ["Mul", "pi"], ["Function"], ["Function", ["pi"]], ["Piecewise"],
    ["Piecewise", ["pi"]], ["Piecewise", ["ExprCondPair", ["pi"]]], ["Piecewise", ["ExprCondPair", ["pi"], ["pi"]]],
    ["Add", ["true"], ["pi"]], ["And"], ["Not"], ["StrictLessThan", ["pi"]], ["StrictLessThan", ["I"], ["pi"]], ["log"],
    ["sin", ["pi"], ["pi"]], ["besselj", ["pi"]], ["Equality", ["pi"]], ["Other", "Dyadic"], ["KroneckerDelta", ["pi"]],
    ["Integer", "9" * 5000],
]  # fmt: skip


@pytest.mark.parametrize("tree", ODD, ids=str)
def test_trees_that_make_no_sense_are_not_right(tree):
    returned = json.dumps({"$expr": tree})
    for check in (Check("symbolic", '"x"'), Check("numeric", "3.5"), Check("exact", "3"), Check("set", "[3]")):
        assert compare(check, returned).same is not Same.YES


@given(st.floats(allow_nan=False, allow_infinity=False), st.floats(0, 3))
def test_the_tolerance_is_relative(value, times):
    assume(abs(times - 1) > 1e-3 and (value == 0 or 1e-290 < abs(value) < 1e300))
    moved = value + times * 1e-6 * (abs(value) or 1)
    assert said("numeric", value, moved, 1e-6) == (YES if times < 1 else NO)


plain = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=4) | st.lists(inner, max_size=4).map(tuple)
    | st.dictionaries(st.text(max_size=3), inner, max_size=3),
    max_leaves=12,
)  # fmt: skip


@given(plain)
def test_everything_equals_itself(value):
    assert said("exact", value, value) == YES
    assert said("sequence", [value], (value,)) == YES


@given(plain, plain)
def test_exact_is_equality_within_types(one, other):
    assert (said("exact", one, other) == YES) == (encode(one) == encode(other) or _alike(one, other))


def _alike(one, other):
    """Python's equality where types are the same all the way down: 0.0 and -0.0 are equal and have two texts."""
    if type(one) is not type(other):
        return False
    if isinstance(one, list | tuple):
        return len(one) == len(other) and all(map(_alike, one, other))
    if isinstance(one, dict):
        return one.keys() == other.keys() and all(_alike(one[key], other[key]) for key in one)
    return one == other


@given(st.lists(st.floats(-1e6, 1e6) | st.fractions() | st.integers(), min_size=1, max_size=30), st.randoms())
def test_sets_of_numbers_in_any_order_and_rounded(numbers, random):
    expected = sorted({float(number) for number in numbers})
    assume(all(high - low > 1e-4 * (1 + abs(low)) for low, high in pairwise(expected)))
    returned = [number * (1 + 1e-10 * random.random()) for number in expected]
    random.shuffle(returned)
    assert said("set", set(expected), returned) == YES
    wrong = returned[-1] + 1 + abs(returned[-1]) / 1000
    assert said("set", set(expected), [*returned[:-1], wrong]) == NO


def test_pairs_too_many_to_compare_are_undecided():
    expected = {(float(place), 0.5) for place in range(60)}
    moved = {(place * (1 + 1e-10), 0.5) for place, _ in expected}
    assert said("set", expected, moved) == UNDECIDED
    assert said("set", expected, expected) == YES
