"""Value, canonical forms and entrances of expressions, against exhaustive trees, polynomials and Python's parser."""

from collections import Counter, defaultdict
from fractions import Fraction
from itertools import combinations

import pytest
from countdown_oracles import all_trees, python_canonical, rational_function, same_function, value
from hypothesis import given
from hypothesis import strategies as st

from workflow_scripts.tasks.countdown.expressions import (
    MODULUS,
    Rejected,
    evaluate,
    formula_form,
    formula_residue,
    literals,
    opening,
    paper_family,
    paper_form,
    paper_form_and_family,
    parse,
    render,
    residue,
)
from workflow_scripts.tasks.countdown.verdicts import Status

trees = st.recursive(st.integers(0, 30), lambda inner: st.tuples(st.sampled_from("+-*/"), inner, inner), max_leaves=12)


def commuted(tree, swaps):
    """`tree` with the terms of + and * swapped wherever the next of `swaps` says so."""
    if isinstance(tree, int):
        return tree
    left, right = commuted(tree[1], swaps), commuted(tree[2], swaps)
    if tree[0] in "+*" and next(swaps):
        left, right = right, left
    return tree[0], left, right


@pytest.mark.parametrize(
    ("text", "paper", "family", "first"),
    [
        ("24", "24", None, None),
        ("4*7-9+5", "(((4*7)-9)+5)", "4*", "4*"),
        ("5+4*7-9", "(((4*7)+5)-9)", "4*", "4*"),
        ("5+7*4-9", "(((4*7)+5)-9)", "4*", "7*"),
        ("(4*7)-(9-5)", "((4*7)-(9-5))", "4*", "4*"),
        ("8/(3-8/3)", "(8/(3-(8/3)))", "8/", "8/"),
        ("9+10", "(10+9)", "10+", "9+"),  # sorted as strings
        ("2+(3+4)", "(2+3+4)", "2+", "3+"),
        ("2*(3*(4*5))", "(2*3*4*5)", "2*", "4*"),
        ("2+(4-3)", "((4-3)+2)", "4-", "4-"),
        ("1-(2+3)*4", "(1-((2+3)*4))", "1-", "2+"),
        ("6-(6-6)/6", "(6-((6-6)/6))", "6-", "6-"),
    ],
)
def test_forms_and_entrances(text, paper, family, first):
    tree = parse(text)
    assert paper_form_and_family(tree) == (paper, family)
    assert (paper_form(tree), paper_family(tree), opening(tree)) == (paper, family, first)


def test_the_papers_example_has_its_counts():
    solutions = [tree for tree in all_trees((4, 5, 7, 9)) if value(tree) == 24]
    families = dict(paper_form_and_family(tree) for tree in solutions)
    assert len(families) == 11
    assert len({formula_form(tree) for tree in solutions}) == 4
    assert len(set(families.values())) == 4 and Counter(families.values())["4*"] == 7


def test_four_sixes_are_two_formulas():
    assert len({formula_form(tree) for tree in all_trees((6, 6, 6, 6)) if value(tree) == 24}) == 2


@pytest.mark.parametrize(
    ("numbers", "count"), [((11,), 1), ((11, 13), 6), ((11, 13, 17), 68), ((11, 13, 17, 19), 1170)]
)
def test_number_of_formulas_of_generic_numbers(numbers, count):
    assert len({formula_form(tree) for tree in all_trees(numbers)}) == count


@pytest.mark.parametrize("numbers", [(4, 5, 7), (6, 6, 4), (6, 6, 6), (1, 0, 2)])
def test_formula_form_is_equality_of_rational_functions(numbers):
    classes = defaultdict(list)
    for tree in all_trees(numbers):
        function = rational_function(tree)
        assert (formula_form(tree) is None) == (function is None)
        if function:
            classes[formula_form(tree)].append(function)
    assert all(same_function(functions[0], other) for functions in classes.values() for other in functions)
    firsts = [functions[0] for functions in classes.values()]
    assert not any(same_function(one, other) for one, other in combinations(firsts, 2))


@given(trees, st.data())
def test_forms_do_not_see_commuting(tree, data):
    swaps = iter(data.draw(st.lists(st.booleans(), min_size=12, max_size=12)))
    other = commuted(tree, swaps)
    assert paper_form_and_family(other) == paper_form_and_family(tree)
    assert formula_form(other) == formula_form(tree)


@given(trees)
def test_rendering_reads_back_to_the_same_tree(tree):
    text = render(tree)
    assert parse(text) == tree
    assert parse(text.replace(" ", "")) == tree
    assert paper_form(parse(paper_form(tree))) == paper_form(tree)


@given(trees)
def test_rendering_has_no_bracket_to_spare(tree):
    text = render(tree)
    for start, character in enumerate(text):
        if character == "(":
            depth, end = 1, start
            while depth:
                end += 1
                depth += {"(": 1, ")": -1}.get(text[end], 0)
            assert parse(text[:start] + text[start + 1 : end] + text[end + 1 :]) != tree


@given(trees)
def test_paper_form_is_the_references(tree):
    assert paper_form(tree) == python_canonical(render(tree))


@given(trees)
def test_value_is_exact(tree):
    expected = value(tree)
    if expected is None:
        with pytest.raises(Rejected) as refusal:
            evaluate(tree)
        assert refusal.value.status is Status.DIVISION_BY_ZERO
    else:
        assert evaluate(tree) == expected


@given(trees)
def test_entrances_name_a_literal_and_an_operator_of_the_tree(tree):
    numbers = {str(number) for number in literals(tree)}
    for entrance in (opening(tree), paper_family(tree)):
        assert (entrance is None) == isinstance(tree, int)
        assert entrance is None or (entrance[:-1] in numbers and entrance[-1] in "+-*/")


def test_residues_are_fixed_and_in_range():
    # Forms are stored in records: the values behind them may never change.
    assert [f"{residue(number):016x}" for number in (0, 1, 24)] == [
        "15dfcd439d7d2b87",
        "1637ba9f0342fcf9",
        "09857af78e1b9002",
    ]
    assert len({residue(number) for number in range(1000)}) == 1000
    assert all(0 < residue(number) < MODULUS for number in range(1000))


def test_formula_residue_is_the_value_at_the_residues():
    top = (residue(8) - residue(3)) * pow(residue(2), -1, MODULUS) % MODULUS
    assert formula_residue(parse("(8-3)/2")) == top
    assert formula_form(parse("(8-3)/2")) == f"{top:016x}"
    assert formula_form(parse("8/2-3/2")) == f"{top:016x}"


def test_signs_and_floats_of_the_paper_contracts_have_forms():
    minus = ("+", ("-", 3), 8)
    assert paper_form_and_family(minus) == ("((-3)+8)", "-3+")
    assert evaluate(minus) == 5 and opening(minus) == "-3+" and render(minus) == "-3 + 8"
    assert formula_form(minus) == formula_form(parse("8-3"))
    assert formula_form(("+", ("+", 8), ("-", ("-", 3)))) == formula_form(parse("8+3"))
    assert paper_form(("*", 2.5, 4.0)) == "(2.5*4)"


def test_values_are_fractions():
    assert evaluate(parse("1/3*72")) == 24 and evaluate(parse("1/3")) == Fraction(1, 3)
