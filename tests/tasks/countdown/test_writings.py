"""Menus and expressibility against brute force over all ordered binary trees."""

from functools import cache

import pytest

from workflow_scripts.tasks.countdown.expressions import opening, paper_family, paper_form, parse, render
from workflow_scripts.tasks.countdown.solver import solve
from workflow_scripts.tasks.countdown.writings import canonical, family_of, said, said_and_openings, written


@cache
def all_writings(numbers: tuple[int, ...]) -> list[tuple[int, int, bool, object]]:
    """(numerator, denominator, all values whole and 0…100, expression) of every ordered binary tree with a value."""
    if len(numbers) == 1:
        return [(numbers[0], 1, 0 <= numbers[0] <= 100, numbers[0])]
    found = []
    splits = set()
    for mask in range(1, 2 ** len(numbers) - 1):
        left = tuple(x for i, x in enumerate(numbers) if mask >> i & 1)
        splits.add((left, tuple(x for i, x in enumerate(numbers) if not mask >> i & 1)))
    for left, right in splits:
        for a, b, ok_left, x in all_writings(left):
            for c, d, ok_right, y in all_writings(right):
                ok = ok_left and ok_right
                for sign, p, q in (("+", a * d + c * b, b * d), ("-", a * d - c * b, b * d), ("*", a * c, b * d)):
                    found.append((p, q, ok and p % q == 0 and 0 <= p // q <= 100, (sign, x, y)))
                if c:
                    p, q = a * d, b * c
                    found.append((p, q, ok and p % q == 0 and 0 <= p // q <= 100, ("/", x, y)))
    return found


CASES = [
    ([4, 5, 7, 9], 24),
    ([6, 6, 6, 6], 24),
    ([3, 3, 8, 8], 24),  # one solution, through fractions
    ([2, 2, 3, 10], 17),
    ([1, 1, 5, 8], 5),
    ([0, 4, 6], 24),  # nothing may be divided by zero
    ([0, 50, 60, 3], 3),  # 50 * 60 is out of range, 0 * 50 * 60 is not
    ([0, 50, 60, 70], 0),
    ([50, 60, 7, 7], 0),
    ([99, 1, 2], 101),  # the target itself cannot be said
    ([12, 9], 3),
]


@pytest.mark.parametrize(
    ("numbers", "target"), [*CASES, ([1, 2, 2, 3, 10], 24), ([2, 3, 5, 7, 10], 24), ([0, 0, 20, 30, 40], 10)]
)
def test_menu_is_that_of_all_writings(numbers, target):
    leaves: dict[str, bool] = {}
    menu: dict[str, tuple[set[str], bool]] = {}
    for p, q, sayable, expression in all_writings(tuple(sorted(numbers))):
        if p == target * q:
            form, first = paper_form(expression), opening(expression)
            leaves[form] = leaves.get(form, False) or sayable
            forms, said_so = menu.get(first, (set(), False))
            menu[first] = forms | {form}, said_so or sayable
    solved = solve(numbers, target)
    assert {s.paper_form: s.expressible for s in solved.solutions} == leaves
    assert {o.opening: (o.solutions, o.expressible) for o in solved.openings} == {
        first: (len(forms), sayable) for first, (forms, sayable) in menu.items()
    }
    sayable_texts = {render(x) for p, q, sayable, x in all_writings(tuple(sorted(numbers))) if sayable}
    for entry in solved.openings:
        witness = parse(entry.witness)
        assert opening(witness) == entry.opening
        assert paper_form(witness) in leaves
        assert (entry.witness in sayable_texts) == entry.expressible


@pytest.mark.parametrize("numbers", [(2, 3, 5), (0, 60, 70), (0, 2, 50, 60), (9, 9, 10, 100)])
def test_written_has_the_opening_and_the_leaf(numbers):
    for p, q, _, expression in all_writings(numbers):
        text, node, line = canonical(expression)
        assert text == paper_form(expression) == paper_form(line)
        assert parse(text) == line
        assert family_of(line) == paper_family(expression)
        value, menu = said_and_openings(node)
        assert value == said(node)
        assert value is None or value * q == p
        assert paper_form(written(node)) == paper_form(expression)
        assert opening(expression) in menu
        for first in menu:
            text = written(node, first)
            assert opening(text) == first
            assert paper_form(text) == paper_form(expression)


@pytest.mark.parametrize("leaf", [("+", 4, 5), ("-", 4, 5), ("-", ("*", 2, 3), 5), ("*", 4, ("-", 5, 2))])
def test_foreign_opening_is_an_error(leaf):
    with pytest.raises(ValueError, match=r"9\+"):
        written(leaf, "9+")
