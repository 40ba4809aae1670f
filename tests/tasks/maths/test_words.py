"""Word problems: answers counted out a second way from the question's text, routes complete, sets disjoint."""

import itertools
import re
from collections import Counter
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from workflow_scripts.records.errors import UserError
from workflow_scripts.tasks.maths.word_families import BY_NAME, FAMILIES
from workflow_scripts.tasks.maths.words import LARGEST, SEEN_LARGEST, Opening, Step, menu, problem_set, routes, step

# --- a second implementation: things are counted out one by one, from the numbers as the question says them ----------


def paid(*pairs):
    return sum(price for count, price in pairs for _ in range(count))


def taken_from(pile, *parts):
    things = list(range(pile))
    for part in parts:
        assert len(things) >= part
        del things[:part]
    return len(things)


def dealt(bags, each, people):
    hands = [0] * people
    for number in range(sum(1 for _ in itertools.product(range(bags), range(each)))):
        hands[number % people] += 1
    assert len(set(hands)) == 1
    return hands[0]


def ahead(fast, slow, days):
    first = second = 0
    for _ in range(days):
        first, second = first + fast, second + slow
    return first - second


def walked(*sides):
    return len([side for side in sides for _ in range(side)])


def counted(*sizes):
    return len(list(itertools.product(*map(range, sizes))))


# (family, wording) -> from the numbers in the order of the text
COUNTED_OUT = {
    "shopping": {0: lambda a, b, c, d: paid((a, b), (c, d)), 1: ..., -1: ...},
    "groups": {0: lambda a, b, c: walked(*[c] * a, *[c] * b), 1: ..., -1: ...},
    "left": {0: taken_from, 1: ..., -1: ...},
    "together": {0: walked, 1: ..., -1: ...},
    "sharing": {0: dealt, 1: lambda c, a, b: dealt(a, b, c), -1: dealt},
    "rates": {0: ahead, 1: ..., -1: lambda c, a, b: ahead(a, b, c)},
    "perimeter": {0: lambda a, b: walked(a, b, a, b), 1: ..., -1: ...},
    "change": {
        0: lambda a, b, c, d: taken_from(a, *[c] * b, d),
        1: lambda b, c, d, a: taken_from(a, d, *[c] * b),
        -1: lambda a, d, b, c: taken_from(a, d, *[c] * b),
    },
    "ages": {0: lambda a, b: walked(a, a, b), 1: ..., -1: lambda b, a: walked(a, a, b)},
    "exchange": {
        0: lambda a, b, c: walked(taken_from(a, b), c),
        1: lambda a, c, b: taken_from(walked(a, c), b),
        -1: lambda a, c, b: taken_from(walked(a, c), b),
    },
    "boxes": {0: counted, 1: ..., -1: ...},
    "net": {
        0: lambda a, b, c, d: taken_from(counted(a, b), counted(c, d)),
        1: ...,
        -1: lambda c, d, a, b: taken_from(counted(a, b), counted(c, d)),
    },
}


def counted_out(problem):
    ways = COUNTED_OUT[problem.family]
    way = ways[0] if ways[problem.wording] is ... else ways[problem.wording]
    return way(*map(int, re.findall(r"\d+", problem.question)))


@pytest.fixture(scope="module")
def sets():
    words = problem_set("words", 120, seed=1)
    taken = {problem.key for problem in words}
    shifted = problem_set("shifted", 120, seed=1, excluded=taken, shifted=True)
    taken |= {problem.key for problem in shifted}
    return words, shifted, problem_set("training", 600, seed=1, excluded=taken, distinct_keys=False)


def test_every_family_and_wording_is_counted_out(sets):
    assert set(COUNTED_OUT) == set(BY_NAME)
    seen = Counter()
    for problem in itertools.chain(*sets):
        assert counted_out(problem) == problem.gold, problem
        seen[problem.family, problem.wording] += 1
    assert len(seen) == 3 * len(FAMILIES)


def test_sets_are_disjoint_and_without_repeats(sets):
    words, shifted, _ = sets
    keys = [{problem.key for problem in part} for part in sets]
    assert not keys[0] & keys[1] and not keys[2] & (keys[0] | keys[1])
    assert len(keys[0]) == len(words) and len(keys[1]) == len(shifted)
    for part in sets:
        assert len({problem.question for problem in part}) == len(part)
        assert len({problem.problem_id for problem in part}) == len(part)


def test_sets_are_balanced(sets):
    for part in sets:
        families = Counter(problem.family for problem in part)
        assert max(families.values()) - min(families.values()) <= 1
        for family, count in families.items():
            answers = Counter(problem.gold for problem in part if problem.family == family)
            assert max(answers.values()) <= max(2, -(-count // 10))


def test_the_shifted_set_is_larger_and_unseen(sets):
    def values(problem):
        return [*problem.numbers, *(one.result for one in routes(problem.family, problem.numbers)[0])]

    words, shifted, training = sets
    assert all(SEEN_LARGEST < max(values(problem)) <= LARGEST for problem in shifted)
    assert all(max(values(problem)) <= SEEN_LARGEST for problem in [*words, *training])
    texts = [set(problem.question.split()) for problem in shifted]
    for problem in [*words, *training]:
        assert not {"ben", "kim", "lea", "coins", "eggs"} & set(problem.question.split())
        assert problem.wording >= 0
    assert all(problem.wording == -1 for problem in shifted)
    assert sum(bool({"ben", "kim", "lea", "coins", "eggs"} & words) for words in texts) > 100


def test_routes_hold_and_reach_the_answer(sets):
    for problem in itertools.chain(*sets):
        found = routes(problem.family, problem.numbers)
        assert len(set(found)) == len(found) >= 1
        for route in found:
            at_hand = {*problem.numbers, 2}
            for one in route:
                assert one == step(one.left, one.operator, one.right)
                assert {one.left, one.right} <= at_hand
                at_hand.add(one.result)
            assert route[-1].result == problem.gold
        openings = menu(problem.family, problem.numbers)
        assert len(openings) >= 2
        assert sum(opening.routes for opening in openings) == len(found)


def trees(letters):
    """All trees over these letters, each once, sums and products in one order of their operands."""
    if len(letters) == 1:
        yield letters[0]
        return
    for size in range(1, len(letters)):
        for left in itertools.combinations(letters, size):
            right = tuple(letter for letter in letters if letter not in left)
            for operator, a, b in itertools.product("+-*/", trees(left), trees(right)):
                if operator in "-/" or str(a) < str(b):
                    yield operator, a, b


def exact(tree, values):
    """Value over the rationals, None after a division by zero."""
    if isinstance(tree, int):
        return Fraction(tree)
    if isinstance(tree, str):
        return values[tree]
    operator, left, right = tree
    a, b = exact(left, values), exact(right, values)
    if a is None or b is None or (operator == "/" and b == 0):
        return None
    return a + b if operator == "+" else a - b if operator == "-" else a * b if operator == "*" else a / b


def leaves(tree):
    return leaves(tree[1]) + leaves(tree[2]) if isinstance(tree, tuple) else [tree]


def ordered(tree):
    """The tree with the operands of its sums and products in one order."""
    if not isinstance(tree, tuple):
        return tree
    left, right = ordered(tree[1]), ordered(tree[2])
    return (tree[0], *sorted([left, right], key=str)) if tree[0] in "+*" else (tree[0], left, right)


@pytest.mark.parametrize("family", FAMILIES, ids=lambda family: family.name)
def test_no_formula_that_uses_each_number_once_is_missing(family):
    rng = np.random.default_rng(1)
    letters = tuple(family.ranges)
    draws = [dict(zip(letters, (Fraction(int(n)) for n in rng.integers(2, 60, len(letters))))) for _ in range(4)]
    gold = [exact(family.formulas[0], values) for values in draws]
    equal = {ordered(tree) for tree in trees(letters) if [exact(tree, values) for values in draws] == gold}
    once = [formula for formula in family.formulas if sorted(map(str, leaves(formula))) == sorted(letters)]
    assert {ordered(formula) for formula in once} == equal


@pytest.mark.parametrize("family", FAMILIES, ids=lambda family: family.name)
def test_formulas_are_equal_whatever_the_numbers(family):
    rng = np.random.default_rng(2)
    for _ in range(5):
        values = {letter: Fraction(int(n)) for letter, n in zip(family.ranges, rng.integers(3, 50, len(family.ranges)))}
        assert len({exact(formula, values) for formula in family.formulas}) == 1


def test_a_worked_example():
    # (3 + 5) * 4 = 3 * 4 + 5 * 4 = 32: one route by the sum, two by the products
    assert menu("groups", (3, 5, 4)) == [Opening("3 * 4", 1), Opening("3 + 5", 1), Opening("5 * 4", 1)]
    assert routes("groups", (3, 5, 4))[0] == (Step(3, "+", 5, 8), Step(8, "*", 4, 32))
    # 4 * 6 / 3: 6 / 3 is whole, 4 / 3 is not
    assert [opening.label for opening in menu("sharing", (4, 6, 3))] == ["4 * 6", "6 / 3"]
    # a total less two parts
    assert menu("left", (40, 12, 9)) == [Opening("12 + 9", 1), Opening("40 - 12", 1), Opening("40 - 9", 1)]
    # 90 - 9 * 9 - 5: any order of the two differences, or the costs first
    assert menu("change", (95, 9, 9, 5)) == [Opening("9 * 9", 2 + 1), Opening("95 - 5", 1)]


@given(st.integers(-5, 130), st.sampled_from("+-*/"), st.integers(-5, 130))
def test_a_step_is_whole_and_sayable_or_none(left, operator, right):
    one = step(left, operator, right)
    value = exact((operator, "a", "b"), {"a": Fraction(left), "b": Fraction(right)})
    if one is None:
        assert value is None or value.denominator > 1 or not 0 <= value <= LARGEST
    else:
        assert one.result == value and 0 <= one.result <= LARGEST


def test_sets_depend_on_their_name_and_seed_alone():
    assert problem_set("words", 24, seed=3) == problem_set("words", 24, seed=3)
    assert problem_set("words", 24, seed=3) != problem_set("words", 24, seed=4)


def test_what_cannot_be_made_is_refused():
    with pytest.raises(UserError, match=r"family sharing, only \d+"):
        problem_set("words", 1200, seed=1)
    with pytest.raises(UserError, match=r"no family 'shoping'.*shopping"):
        routes("shoping", (1, 2, 3, 4))
    with pytest.raises(UserError, match="left has 3 numbers, not 2"):
        menu("left", (4, 2))
