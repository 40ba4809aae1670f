"""Values as text: what each is written as, that it is read back, and what hostile objects are told for."""

import collections
import enum
import json
from decimal import Decimal
from fractions import Fraction

import numpy as np
import pytest
import sympy
from hypothesis import given
from hypothesis import strategies as st

from workflow_scripts.tasks.scicode.encoding import DECIMAL_BITS
from workflow_scripts.tasks.scicode.values import Expression, Other, TooLargeError, decode, encode

x, y = sympy.Symbol("x", positive=True), sympy.Symbol("y")
f = sympy.Function("f")
Pair = collections.namedtuple("Pair", "a b")


class Colour(enum.Enum):
    RED = 1


class Level(enum.IntEnum):
    LOW = 3


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (None, "null"),
        (True, "true"),
        (3, "3"),
        (3.0, "3.0"),
        (-0.0, "-0.0"),
        (1e300, "1e+300"),
        (2**53 - 1, "9007199254740991"),
        (-(2**53), '{"$int":"-9007199254740992"}'),
        (float("inf"), '{"$float":"inf"}'),
        (1 + 2j, '{"$complex":[1.0,2.0]}'),
        (complex(0, float("nan")), '{"$complex":[0.0,{"$float":"nan"}]}'),
        ("é\ud800", r'"\u00e9\ud800"'),
        ([1, [2.5]], "[1,[2.5]]"),
        ((1,), '{"$tuple":[1]}'),
        ({3, 1, 20}, '{"$set":[1,20,3]}'),
        ({"b": 1, "a": (2,)}, '{"$dict":[["a",{"$tuple":[2]}],["b",1]]}'),
        ({"$int": "3"}, '{"$dict":[["$int","3"]]}'),
        (Fraction(-1, 3), '{"$fraction":["-1","3"]}'),
        (Decimal("0.10"), '{"$decimal":"0.10"}'),
        (range(3), '{"$other":"range"}'),
        ((n for n in "a"), '{"$other":"generator"}'),
        (b"raw", '{"$other":"bytes"}'),
        # Subclasses are written as their base
        (Pair(1, 2), '{"$tuple":[1,2]}'),
        (collections.Counter("aab"), '{"$dict":[["a",2],["b",1]]}'),
        (collections.OrderedDict(), '{"$dict":[]}'),
        (Level.LOW, "3"),
        (Colour.RED, '{"$other":"Colour"}'),
        # numpy
        (np.float64(0.5), "0.5"),
        (np.float32(0.1), "0.10000000149011612"),
        (np.int64(7), "7"),
        (np.bool_(True), "true"),
        (np.longdouble("0.5"), "0.5"),
        (np.complex64(1j), '{"$complex":[0.0,1.0]}'),
        (np.arange(4).reshape(2, 2), "[[0,1],[2,3]]"),
        (np.array(5), "5"),
        (np.array([x], dtype=object), '[{"$expr":["Symbol","x"]}]'),
        # sympy
        (x**2 + 3, '{"$expr":["Add",["Integer","3"],["Pow",["Symbol","x"],["Integer","2"]]]}'),
        (sympy.Rational(1, 3), '{"$expr":["Rational","1","3"]}'),
        (sympy.Float(0.1), '{"$expr":["Float","0.1"]}'),
        (sympy.Float("0.1", 30), '{"$expr":["Float","0.0999999999999999999999999999999951"]}'),
        (sympy.sin(sympy.pi * x), '{"$expr":["sin",["Mul",["pi"],["Symbol","x"]]]}'),
        (sympy.exp(1), '{"$expr":["E"]}'),
        (sympy.I, '{"$expr":["I"]}'),
        (-sympy.oo, '{"$expr":["-oo"]}'),
        (sympy.GoldenRatio, '{"$expr":["GoldenRatio"]}'),
        (sympy.Eq(x, 1), '{"$expr":["Equality",["Symbol","x"],["Integer","1"]]}'),
        (sympy.true, '{"$expr":["true"]}'),
        (f(x), '{"$expr":["Function","f",["Symbol","x"]]}'),
        (
            sympy.Piecewise((x, y > 1), (0, True)),
            '{"$expr":["Piecewise",["ExprCondPair",["Symbol","x"],'
            '["StrictGreaterThan",["Symbol","y"],["Integer","1"]]],["ExprCondPair",["Integer","0"],["true"]]]}',
        ),
        (sympy.Matrix([[1, y]]), '[[{"$expr":["Integer","1"]},{"$expr":["Symbol","y"]}]]'),
        (sympy.FiniteSet(1), '{"$set":[{"$expr":["Integer","1"]}]}'),
        (sympy.Tuple(y), '{"$tuple":[{"$expr":["Symbol","y"]}]}'),
        (sympy.EmptySet, '{"$expr":["EmptySet"]}'),
    ],
)
def test_a_value_has_this_text_and_the_text_is_read_back(value, text):
    assert encode(value) == text
    assert encode(decode(text)) == text


plain = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats(allow_nan=False)
    | st.complex_numbers(allow_nan=False)
    | st.text()
    | st.fractions()
    | st.decimals(allow_nan=False),
    lambda inner: st.lists(inner) | st.lists(inner).map(tuple) | st.dictionaries(st.text() | st.integers(), inner),
    max_leaves=20,
)


def same(one, other):
    """Equal, and of equal types all the way down."""
    if type(one) is not type(other):
        return False
    if isinstance(one, list | tuple):
        return len(one) == len(other) and all(map(same, one, other))
    if isinstance(one, dict):
        return one.keys() == other.keys() and all(same(one[key], other[key]) for key in one)
    return repr(one) == repr(other)


@given(plain)
def test_plain_values_come_back_as_they_were(value):
    text = encode(value)
    assert same(decode(text), value)
    assert json.dumps(json.loads(text), separators=(",", ":"), sort_keys=True) == text


@given(st.sets(st.integers() | st.text() | st.tuples(st.integers())))
def test_sets_come_back_whatever_their_order(value):
    assert decode(encode(value)) == value
    assert encode(frozenset(value)) == encode({*list(value)[::-1]})


@given(st.integers(-(2**80), 2**80), st.integers(0, 20_000))
def test_whole_numbers_of_any_size(start, shift):
    value = start << shift
    assert decode(encode(value)) == value


def test_large_numbers_take_the_notation_that_is_linear():
    assert encode(1 << DECIMAL_BITS - 1).startswith('{"$int":"1')
    assert encode(-1 << DECIMAL_BITS).startswith('{"$int":"-0x1')
    with pytest.raises(TooLargeError, match="bits"):
        encode(1 << (1 << 21))


@given(st.text() | st.binary().map(lambda raw: raw.decode("latin-1")))
def test_any_text_is_read_or_refused(text):
    try:
        value = decode(text)
    except ValueError:
        return
    assert same(decode(encode(value)), value)


@pytest.mark.parametrize(
    "text",
    [
        "", "nan", "NaN", "Infinity", "1e999", "{}", '{"a":1}', '{"$int":3}', '{"$int":" 3"}', '{"$int":"1_0"}',
        '{"$int":"0xZ"}', '{"$float":"1.0"}', '{"$complex":[1,2]}', '{"$complex":[1.0]}', '{"$fraction":["1","0"]}',
        '{"$fraction":[1,3]}', '{"$decimal":"x"}', '{"$decimal":"1_0"}', '{"$set":[[1]]}', '{"$dict":[[1]]}',
        '{"$dict":[[[1],2]]}', '{"$expr":[]}', '{"$expr":[["x"]]}', '{"$expr":["Add",3]}', '{"$expr":"x"}',
        '{"$other":1}', '{"$tuple":3}', '{"$int":"1","$float":"nan"}', "[" * 200 + "]" * 200, "[" * 100_000,
        '{"$expr":' + '["f",' * 200 + '["x"]' + "]" * 200 + "}", "9" * 5000, '{"$int":"' + "9" * 5000 + '"}',
        '{"$int":"0x' + "f" * 300_000 + '"}',
    ],
)  # fmt: skip
def test_texts_that_are_no_values_are_refused(text):
    with pytest.raises(ValueError):
        decode(text)


def test_a_long_text_is_not_even_read():
    with pytest.raises(TooLargeError):
        decode('"aaaaaaaaaa"', largest=10)


@pytest.mark.parametrize(
    "value", ["a" * 1000, [0] * 1000, np.zeros(1000), {n: n for n in range(500)}, set(range(1000)), 1 << 8000]
)
def test_what_is_too_large_is_not_written(value):
    with pytest.raises(TooLargeError):
        encode(value, largest=500)
    assert len(encode(value)) > 500


def test_shared_and_cyclic_values_end():
    wide, cyclic = [], []
    for _ in range(60):
        wide = [wide, wide]
    cyclic.append(cyclic)
    with pytest.raises(TooLargeError):
        encode(wide, largest=10_000)
    with pytest.raises(ValueError, match="deeper"):
        encode(cyclic)


class Liar(int):
    """Says of itself what pays."""

    __class__ = float

    def __eq__(self, other):
        return True

    __hash__ = int.__hash__

    def __repr__(self):
        return "42"

    def __index__(self):
        return 42

    __int__ = __index__


class FalseList(list):
    def __iter__(self):
        return iter([42])

    def __len__(self):
        return 1


class FalseText(str):
    def __str__(self):
        return "42"

    __repr__ = __str__

    def __getitem__(self, place):
        return "42"


class Pretender:
    __class__ = int

    def __eq__(self, other):
        return True

    __hash__ = None


class Namer(type):
    @property
    def __mro__(cls):
        return (int, object)

    @property
    def __name__(cls):
        return "int"


class Named(metaclass=Namer):
    pass


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (Liar(7), "7"),
        (FalseList([1, 2]), "[1,2]"),
        (FalseText("no"), '"no"'),
        (Pretender(), '{"$other":"Pretender"}'),
        (Named(), '{"$other":"Named"}'),
        ([Liar(1), Pretender()], '[1,{"$other":"Pretender"}]'),
    ],
)
def test_what_an_object_says_of_itself_is_not_asked(value, text):
    assert encode(value) == text


def test_a_fraction_that_was_written_into_is_no_fraction():
    value = Fraction(1, 3)
    value._numerator = FalseText("1")
    assert encode(value) == '{"$other":"Fraction"}'


def test_expressions_and_others_can_be_made_by_hand():
    tree = ("Mul", ("Integer", "2"), ("Symbol", "x"))
    assert encode(Expression(tree)) == encode(2 * sympy.Symbol("x"))
    assert decode(encode(2 * x)) == Expression(tree)
    assert decode('{"$other":"generator"}') == Other("generator")
