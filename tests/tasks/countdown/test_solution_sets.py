"""Solution sets: published counts, an independent slow enumerator, the fields of each row."""

import json
import random
from fractions import Fraction
from itertools import combinations

import numpy as np
import pytest

from workflow_scripts.records.errors import UserError
from workflow_scripts.records.schemas import OPENINGS, SOLUTIONS
from workflow_scripts.tasks.countdown.enumeration import TooLarge
from workflow_scripts.tasks.countdown.expressions import evaluate, formula_form, paper_family, paper_form, parse
from workflow_scripts.tasks.countdown.solution_sets import Opening, Solution
from workflow_scripts.tasks.countdown.solver import formula_count, solve, solve_many


def slow_leaves(numbers: list[int]) -> dict[Fraction, set[str]]:
    """Canonical strings of every expression by value: pairs of items merged one by one, as the paper's code does.

    Independent of the package: own canonical form, Fractions, no sharing of work.
    """
    found: dict[Fraction, set[str]] = {}

    def joined(sign, left, right):
        """Item (operator, terms): the terms of a sum or product are canonical strings."""
        terms = []
        for operator, parts in (left, right):
            terms += parts if operator == sign else [text((operator, parts))]
        return sign, terms

    def text(item):
        operator, parts = item
        return parts[0] if operator == "" else f"({operator.join(sorted(parts) if operator in '+*' else parts)})"

    def search(items):
        if len(items) == 1:
            found.setdefault(items[0][0], set()).add(text(items[0][1]))
            return
        for i, j in combinations(range(len(items)), 2):
            rest = [item for k, item in enumerate(items) if k not in (i, j)]
            (a, x), (b, y) = items[i], items[j]
            merged = [(a + b, joined("+", x, y)), (a * b, joined("*", x, y))]
            merged += [(a - b, ("-", [text(x), text(y)])), (b - a, ("-", [text(y), text(x)]))]
            merged += [(a / b, ("/", [text(x), text(y)]))] if b else []
            merged += [(b / a, ("/", [text(y), text(x)]))] if a else []
            for item in merged:
                search([*rest, item])

    search([(Fraction(v), ("", [str(v)])) for v in numbers])
    return found


def test_agrees_with_a_slow_enumerator_on_500_instances():
    rng = random.Random(1729)
    instances, expected = [], []
    for size, sets, targets in ((4, 90, 4), (3, 60, 2), (2, 20, 1)):
        for index in range(sets):
            high = (10, 25, 99)[index % 3]
            numbers = [rng.randint(0 if index % 5 == 0 else 1, high) for _ in range(size)]
            if index % 2 == 0:
                numbers[-1] = numbers[0]  # repeats
            leaves = slow_leaves(numbers)
            whole = sorted(int(v) for v in leaves if v.denominator == 1)
            for _ in range(targets):
                target = rng.choice(whole) if rng.random() < 0.8 else rng.randint(-20, 120)
                instances.append((numbers, target))
                expected.append(leaves.get(Fraction(target), set()))
    assert len(instances) == 500
    solved = solve_many(instances)
    assert [{s.paper_form for s in one.solutions} for one in solved] == expected
    assert sum(map(len, expected)) > 1500
    assert all(len({s.paper_form for s in one.solutions}) == len(one.solutions) for one in solved)


def test_published_example():
    solved = solve([4, 5, 7, 9], 24)
    assert solved.counts == {"paper": 11, "formula": 4, "families": 4, "openings": 7}
    assert solved.expressible == {"paper": 8, "formula": 4, "families": 3, "openings": 5}
    assert solved.families == {"4*": 7, "9-": 2, "5-": 1, "7-": 1}
    assert {s.rendering for s in solved.solutions if s.witness} == {
        "4 * 7 + 5 - 9",
        "9 - (4 - 7) * 5",
        "5 - (9 - 4 * 7)",
        "(7 - 4) * 5 + 9",
    }


def test_equal_numbers_are_one_variable():
    assert solve([6, 6, 6, 6], 24).counts == {"paper": 3, "formula": 2, "families": 2, "openings": 2}


@pytest.mark.parametrize(("count", "formulas"), [(1, 1), (2, 6), (3, 68), (4, 1170)])
def test_formula_counts_of_generic_numbers(count, formulas):
    assert formula_count(count) == formulas


def test_rows_agree_with_their_expressions():
    problems = [([4, 5, 7, 9], 24), ([2, 2, 3, 10], 17), ([1, 2, 3, 4, 5], 24), ([7, 8, 3], 24), ([10, 9, 10, 1], 19)]
    for (numbers, target), solved in zip(problems, solve_many(problems)):
        assert (list(solved.numbers), solved.target) == (numbers, target)
        assert [s.paper_form for s in solved.solutions] == sorted(s.paper_form for s in solved.solutions)
        for solution in solved.solutions:
            expression = parse(solution.rendering)
            assert evaluate(expression) == target
            assert paper_form(expression) == solution.paper_form
            assert formula_form(expression) == solution.formula_form
            assert paper_family(expression) == solution.paper_family
            assert solution.rendering.lstrip("(").startswith(
                " ".join([solution.paper_family[:-1], solution.paper_family[-1]])
            )
        assert len({s.paper_family for s in solved.solutions if s.witness}) == solved.counts["families"]
        assert sum(s.witness for s in solved.solutions) == solved.counts["families"]


def test_columns_are_those_of_the_records():
    assert ["problem_id", *Solution._fields] == SOLUTIONS.names
    assert ["problem_id", *Opening._fields] == OPENINGS.names


def test_order_repeats_and_misses():
    first, again, none, single = solve_many([([9, 4, 7, 5], 24), ([4, 5, 7, 9], 24), ([1, 1], 50), ([24], 24)])
    assert first.solutions == again.solutions
    assert first.numbers == (9, 4, 7, 5)
    assert first.problem_id == again.problem_id == "4_5_7_9-24"
    assert none.counts == {"paper": 0, "formula": 0, "families": 0, "openings": 0}
    assert [s.rendering for s in single.solutions] == ["24"]
    assert solve_many([]) == []
    (numpy_kinds,) = solve_many([(np.array([4, 5, 7, 9]), np.int64(24))])
    assert numpy_kinds == again


def test_json_is_plain():
    shown = json.loads(json.dumps(solve([4, 5, 7, 9], 24).to_json()))
    assert shown["counts"]["paper"] == len(shown["solutions"]) == 11
    assert shown["families"]["4*"] == 7
    assert shown["openings"][0] == {"opening": "4*", "solutions": 8, "expressible": True, "witness": "4 * 7 + 5 - 9"}


@pytest.mark.parametrize(
    ("numbers", "target", "error", "message"),
    [
        ([], 24, UserError, "integers"),
        ([1.5, 2], 24, UserError, "integers"),
        ([True, 2], 24, UserError, "integers"),
        ([3, -8], 24, UserError, "negative"),
        ([3, 8], "24", UserError, "integers"),
        (list(range(1, 8)), 24, TooLarge, "at most 6"),
    ],
)
def test_refusals(numbers, target, error, message):
    with pytest.raises(error, match=message):
        solve(numbers, target)


def test_too_many_solutions_are_refused():
    with pytest.raises(TooLarge, match="4_5_7_9-24 has more than 10 solutions"):
        solve_many([([4, 5, 7, 9], 24)], most_solutions=10)


def test_six_numbers():
    solved = solve([7, 50, 25, 75, 3, 9], 952)
    assert solved.counts["paper"] == 3
    assert {evaluate(parse(s.rendering)) for s in solved.solutions} == {952}
