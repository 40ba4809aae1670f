"""What a program may return to be judged right, to raise or to stop whoever judges it: nothing of it does."""

import json
import time

import pytest
import sympy
from hypothesis import given
from hypothesis import strategies as st

from workflow_scripts.records.errors import UserError
from workflow_scripts.tasks.scicode import expressions
from workflow_scripts.tasks.scicode.comparison import Compared, compare
from workflow_scripts.tasks.scicode.expressions import Same
from workflow_scripts.tasks.scicode.functions import FUNCTIONS
from workflow_scripts.tasks.scicode.pairing import key_of
from workflow_scripts.tasks.scicode.problems import Check
from workflow_scripts.tasks.scicode.values import Expression, decode, encode

x = sympy.Symbol("x")
EXPECTED = {
    "exact": ["3", "true", '"a"', '[1,{"$fraction":["1","3"]}]', '{"$set":[1,2]}', '{"$dict":[[1,1],["a",[2]]]}',
              '{"$expr":["Add",["Symbol","x"],["Integer","1"]]}', '{"$expr":["Integer","3"]}'],
    "numeric": ["1.5", "0", '{"$complex":[1.0,2.0]}', '{"$expr":["pi"]}', '{"$decimal":"1E+99999"}'],
    "sequence": ["[1.5,2]", '[{"$expr":["Symbol","x"]},"a"]', '[{"$set":[1,2]},{"$dict":[["a",1.0]]}]', "[]"],
    "set": ["[1,2]", '{"$set":[1.5,{"$fraction":["1","3"]}]}', '[[1,2],["a",{"$set":[1]}]]', "[]"],
    "symbolic": ['"x+1"', '"0"', '"Abs(x)"', '"x<1"', '"Eq(x,1)"', '["x","y"]', "3",
                 '{"$expr":["zeta",["Symbol","x"]]}'],
}  # fmt: skip
CHECKS = [Check(kind, expected) for kind, kinds in EXPECTED.items() for expected in kinds]

HEADS = [
    "Symbol", "Dummy", "Function", "Integer", "Rational", "Float", "Other", "Noncommutative", "Add", "Mul", "Pow",
    "pi", "I", "oo", "zoo", "nan", "true", "Piecewise", "ExprCondPair", "Equality", "StrictLessThan", "And", "Not",
    "Integral", "UnevaluatedExpr", *FUNCTIONS,
]  # fmt: skip
digits = st.sampled_from(
    ["1", "0", "-2", "0x1f", "abc", "", ".", "-", "1e9", "1e-400", "1e99999999999", "nan", "9" * 5000, "\ud800", "x"]
)
tags = st.sampled_from(
    [f"${tag}" for tag in ("int", "float", "decimal", "complex", "fraction", "tuple", "set", "other")]
)


@st.composite
def trees(draw, depth=3):
    parts = st.one_of(digits, trees(depth=depth - 1)) if depth else digits
    return [draw(st.sampled_from(HEADS)), *draw(st.lists(parts, max_size=3))]


@st.composite
def sensible(draw, depth=3):
    """A tree whose form is right, whatever it says."""
    leaves = [["Symbol", "x"], ["Symbol", "y"], ["Integer", "2"], ["Float", "49.9"], ["Float", "-1e-30"], ["I"], ["oo"]]
    heads = ["Add", "Mul", "Pow", "Min", "StrictLessThan", "And", "h", *FUNCTIONS]
    if not depth or not draw(st.booleans()):
        return draw(st.sampled_from(leaves))
    head = draw(st.sampled_from(heads))
    counts = getattr(FUNCTIONS.get(head), "counts", (2,))
    return [head, *(draw(sensible(depth=depth - 1)) for _ in range(min(max(counts), draw(st.integers(1, 2)))))]


nodes = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | digits | st.text(max_size=3)
    | st.builds(lambda tree: {"$expr": tree}, trees() | sensible()),
    lambda inner: st.lists(inner, max_size=3)
    | st.builds(lambda tag, body: {tag: body}, tags, st.lists(inner, max_size=3))
    | st.builds(lambda key, item: {"$dict": [[key, item]]}, inner, inner)
    | st.builds(lambda tag, text: {tag: text}, tags, digits) | st.dictionaries(digits, inner, max_size=2),
    max_leaves=8,
)  # fmt: skip


@given(nodes, st.sampled_from(CHECKS))
def test_whatever_json_is_returned_it_is_compared(node, check):
    try:
        returned = json.dumps(node)
    except ValueError:
        return
    found = compare(check, returned)
    assert isinstance(found, Compared)
    assert found.typed or found.same is Same.NO


@given(sensible())
def test_whatever_tree_is_returned_it_is_compared_with_every_kind(tree):
    for check in CHECKS:
        assert compare(check, json.dumps({"$expr": tree})).same in Same


MALFORMED = [
    ["Float"], ["Float", "abc"], ["Float", "nan"], ["Float", "1e1e1"], ["Integer"], ["Integer", "1.5"],
    ["Rational", "1"], ["Rational", "1", "0"], ["Rational", "1", "0x0"], ["Symbol"], ["Symbol", "x", ["pi"]],
    ["Symbol", "x" * 101], ["Symbol", "\ud800"], ["pi", ["pi"]], ["pi", "x"], ["Add", "x"], ["Pow", ["pi"]],
    ["Pow", ["pi"], ["pi"], ["pi"]],
    ["Abs", ["Rational", "1", "0"]], ["Abs", ["Float", "abc"]], ["Abs"], ["Abs", ["pi"], ["pi"]], ["Function"],
    ["Equality", ["pi"]], ["StrictLessThan", ["Symbol", "x"], ["Float", "--"]], ["Piecewise"], ["Piecewise", ["pi"]],
    ["Add", ["ExprCondPair", ["pi"], ["true"]]], ["ExprCondPair", ["pi"]], ["Not", ["true"], ["true"]],
    ["true", ["pi"]],
]  # fmt: skip


@pytest.mark.parametrize("tree", MALFORMED, ids=str)
def test_malformed_trees_have_no_type(tree):
    with pytest.raises(ValueError):
        decode(json.dumps({"$expr": tree}))
    for check in CHECKS:
        assert compare(check, json.dumps({"$expr": tree}))[:2] == (False, Same.NO)


NOTHING = [
    "1e60 - 1e60", "1e240 - 1e240", "1e300 - 1e300", "1e4000 - 1e4000", "(1e60 - 1e60)*q", "exp(q)*1e70 - exp(q)*1e70",
    "1e50*sin(q)**2 + 1e50*cos(q)**2 - 1e50", "(1e60 - 1e60)**2", "sqrt(1e60 - 1e60)", "h(1e70 - 1e70) - h(0)",
    "1e200*(sqrt(2)*sqrt(3) - sqrt(6))",
]  # fmt: skip


@pytest.mark.parametrize("text", NOTHING)
@pytest.mark.parametrize("expected", ["m*c**2 + 7", "Abs(x) + 3", "x", "1", "x*conjugate(x)", "1 if x < 1 else 2"])
def test_what_cancels_equals_nothing_but_0(text, expected):
    assert compare(Check("symbolic", f'"{expected}"'), f'"{text}"').same is Same.NO


def test_a_cancelled_sum_is_not_taken_for_0():
    large = sympy.Integer(10) ** 60
    for value in (0, 1):
        made = sympy.Add(large, -large, value, evaluate=False)
        for expected in ("0", "1", "1.5"):
            found = compare(Check("numeric", expected), encode(made)).same is Same.YES
            assert found == (float(expected) == value)
    for text in (
        "(1e60 - 1e60 + 1)*x",
        "(1e60 - 1e60 + 1)/x",
        "sin(1e60 - 1e60 + 1)",
        "0 if 1e60 + 1 - 1e60 <= 0 else 1",
    ):
        assert compare(Check("symbolic", '"0"'), f'"{text}"').same is Same.NO
    for text in ("1e60 + x - 1e60", "(x + 1e30)**2/1e30 - 1e30 - x**2/1e30 - x"):
        assert compare(Check("symbolic", '"x"'), f'"{text}"').same is Same.YES


def _seconds(check, returned):
    start = time.thread_time()
    found = compare(check, returned)
    return time.thread_time() - start, found


COLLIDING = [k * (2**61 - 1) for k in range(1, 40_000)]
FORGED = [
    COLLIDING, [float(n) for n in COLLIDING[:20_000]] + COLLIDING, [(n,) for n in COLLIDING], {"$set": COLLIDING},
    {"$dict": [[n, 1] for n in COLLIDING]}, {"$set": [{"$tuple": [n]} for n in COLLIDING]},
]  # fmt: skip


def _plain(node):
    """JSON with whole numbers as they are encoded."""
    if isinstance(node, dict):
        return {tag: [_plain(item) for item in body] for tag, body in node.items()}
    if isinstance(node, list | tuple):
        return [_plain(item) for item in node]
    return {"$int": str(node)} if isinstance(node, int) and node > 2**53 else node


@pytest.mark.parametrize("node", FORGED, ids=range(len(FORGED)))
def test_numbers_whose_hashes_collide_take_no_time(node):
    returned = json.dumps(_plain(node))
    for kind, expected in (("set", "[1,2,3]"), ("exact", '{"$set":[1]}'), ("exact", '{"$dict":[[1,2]]}')):
        seconds, found = _seconds(Check(kind, expected), returned)
        assert seconds < 6 and found.same is Same.NO


def test_a_set_of_colliding_numbers_is_compared_in_no_time():
    seconds, found = _seconds(Check("set", encode(COLLIDING)), encode(COLLIDING[::-1]))
    assert seconds < 6 and found.same is Same.YES


def test_keys_tell_numbers_by_value():
    one = [1, 1.0, sympy.Integer(1), "1"]
    keys = [key_of(decode(encode(value))) for value in one]
    assert keys[0] == keys[1] == keys[2] != keys[3]
    different = [3, 3.5, -3, 10**400, 1e300, 5e-324, True, None, "3", (3,), (3, 3), ((3,), 3), 3j, Expression(("pi",))]
    assert len({key_of(value) for value in different}) == len(different)
    assert key_of(3, exact=True) != key_of(3.0, exact=True)


SLOW = [
    *(f"airyai(49.9{k}*{{}})" for k in range(2)), "polylog(-28.3-7*I{}, 1e-30-49.9*I)", "zeta(-49.9{}, 0.99999)",
    "besselk(40+1e-40{}, 49.9)", "bessely(-7{}, 0.9999999)", "hermite(40{}, 49.9*I)", "legendre(49.5{}, 49.9)",
    "polygamma(49{}, 0.3)", "LambertW(-0.3678794411714423{})", "elliptic_e(49.9{}, 1+1e-30)", "erfc(25+I{})",
    "besseli(1e70-1e70+3{}, 49.9)",
]  # fmt: skip


@pytest.mark.parametrize("text", SLOW)
def test_slow_functions_end(text):
    many = "+".join(text.format(f"+{k}e-9" if "*{" not in text else f"(1+{k}e-9)") for k in range(1, 90))
    seconds, found = _seconds(Check("symbolic", '"x"'), json.dumps(many))
    assert seconds < 5 and found.same is not Same.YES


def test_many_pairs_of_slow_expressions_end():
    items = [f'{{"$expr":["polylog",["Float","-28.{k}"],["Add",["I"],["Symbol","x"]]]}}' for k in range(10, 50)]
    others = [item.replace("-28", "-27") for item in items]
    seconds, found = _seconds(Check("set", f"[{','.join(items)}]"), f"[{','.join(others)}]")
    assert seconds < 6 and found.same is not Same.YES


def test_long_numbers_are_not_kept():
    import tracemalloc

    check = Check("symbolic", '"x"')
    tracemalloc.start()
    try:
        for k in range(100):
            compare(check, json.dumps({"$expr": ["Add", ["Symbol", "x"], ["Integer", "0x1" + f"{k:03}" * 20_000]]}))
        kept, _ = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert kept < 3e6


def test_two_numbers_where_a_function_takes_one_are_no_formula():
    assert compare(Check("symbolic", '"x"'), '"airyai(49.9, 3)"')[:2] == (False, Same.NO)
    assert compare(Check("symbolic", '"x"'), encode(Expression(("airyai", ("pi",), ("pi",))))).same is Same.UNDECIDED


UNMET = ["laguerre(2, x)", "Ei(x)", "1/0", "x + Si(1)", "nan", "sqrt(x)/(x - x)", "zeta(x, 2, 3)"]


@pytest.mark.parametrize("text", UNMET)
def test_a_formula_that_nothing_could_meet_is_an_error(text):
    for expected in (f'"{text}"', f'["x","{text}"]'):
        with pytest.raises(UserError, match="expected"):
            compare(Check("symbolic", expected), "3")
    assert expressions.unmet(("Add", ("Symbol", "x"), ("Function", "h", ("Symbol", "x")))) == ""


def test_equal_trees_are_the_same_without_evaluation():
    for tree in (sympy.laguerre(x, x), sympy.Ei(x), sympy.Integral(sympy.exp(x), x), sympy.zeta(x, 2)):
        assert compare(Check("symbolic", encode(tree)), encode(tree)).same is Same.YES
