"""Values of mpmath, masked arrays and symbols that do not commute: what they are written as, and judged."""

import mpmath
import numpy as np
import pytest
import sympy

from workflow_scripts.tasks.scicode.comparison import compare
from workflow_scripts.tasks.scicode.expressions import Same
from workflow_scripts.tasks.scicode.problems import Check
from workflow_scripts.tasks.scicode.values import TooLargeError, decode, encode

many = mpmath.MPContext()
many.dps = 50
A, B = sympy.symbols("A B", commutative=False)
G = sympy.Function("G", commutative=False)


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (mpmath.mpf(0.1), "0.1"),
        (mpmath.mpf(3), "3.0"),
        (mpmath.mpf(0), "0.0"),
        (mpmath.inf, '{"$float":"inf"}'),
        (-mpmath.inf, '{"$float":"-inf"}'),
        (mpmath.nan, '{"$float":"nan"}'),
        (+mpmath.pi, "3.141592653589793"),
        (mpmath.pi, "3.141592653589793"),
        (many.mpf(1) / 3, '{"$expr":["Float","0.33333333333333333333333333333333333333333333333333311"]}'),
        (many.mpf("0.5"), "0.5"),
        (mpmath.mpf(2) ** 2000, '{"$expr":["Float","1.1481306952742545e+602"]}'),
        (mpmath.mpc(1, 2), '{"$complex":[1.0,2.0]}'),
        (many.mpc(many.mpf(1) / 3, 0), '{"$complex":[0.3333333333333333,0.0]}'),
        (mpmath.matrix([[1, 2], [3, 4]]), "[[1.0,2.0],[3.0,4.0]]"),
        ([mpmath.matrix([1, mpmath.mpc(0, 1)])], '[[[1.0],[{"$complex":[0.0,1.0]}]]]'),
        (mpmath.mpi(1, 2), '{"$other":"ivmpf"}'),
        (np.ma.array([1.0, 2.0], mask=[1, 0]), "[null,2.0]"),
        (np.ma.array([[1, 2]], mask=[[0, 0]]), "[[1,2]]"),
        (np.ma.masked, "null"),
        (A, '{"$expr":["Noncommutative","A"]}'),
        (G(A), '{"$expr":["NoncommutativeFunction","G",["Noncommutative","A"]]}'),
        (2 * B * A, '{"$expr":["Mul",["Integer","2"],["Noncommutative","B"],["Noncommutative","A"]]}'),
    ],
)
def test_a_value_has_this_text_and_the_text_is_read_back(value, text):
    assert encode(value) == text
    assert encode(decode(text)) == text


def test_a_large_matrix_is_not_written():
    with pytest.raises(TooLargeError):
        encode(mpmath.matrix(10_000, 10_000))


@pytest.mark.parametrize(
    ("kind", "expected", "returned", "verdict"),
    [
        ("numeric", np.pi, many.mpf(many.pi), (True, Same.YES)),
        ("numeric", np.pi, mpmath.mpf("3.15"), (True, Same.NO)),
        ("numeric", 1 + 2j, mpmath.mpc(1, 2), (True, Same.YES)),
        ("exact", 0.1, mpmath.mpf(0.1), (True, Same.YES)),
        ("sequence", [[1, 0], [0, 1]], mpmath.eye(2), (True, Same.YES)),
        ("sequence", [1.0, 2.0, 3.0], np.ma.array([1.0, 2.0, 3.0], mask=[1, 1, 1]), (False, Same.NO)),
        ("sequence", [1.0, 2.0, 3.0], np.ma.array([1.0, 2.0, 3.0]), (True, Same.YES)),
        ("symbolic", A * B, A * B, (True, Same.YES)),
        ("symbolic", A * B, B * A, (True, Same.UNDECIDED)),
        ("symbolic", 0, A * B - B * A, (True, Same.UNDECIDED)),
        ("symbolic", "A*B", B * A, (True, Same.UNDECIDED)),
        ("symbolic", "h(x)", sympy.Function("h", commutative=False)(sympy.Symbol("x")), (True, Same.UNDECIDED)),
        ("numeric", 0, A * B - B * A, (False, Same.NO)),
    ],
    ids=str,
)
def test_what_it_is_judged(kind, expected, returned, verdict):
    assert compare(Check(kind, encode(expected)), encode(returned))[:2] == verdict
