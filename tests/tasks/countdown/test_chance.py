"""Path-enumeration chance against every ordered tree."""

from collections import Counter

import pytest
from countdown_oracles import all_trees, value

from workflow_scripts.records.errors import UserError
from workflow_scripts.tasks.countdown.chance import chance, chances
from workflow_scripts.tasks.countdown.enumeration import TooLarge
from workflow_scripts.tasks.countdown.expressions import opening
from workflow_scripts.tasks.countdown.solver import solve


def slow_chances(numbers, target):
    """Over distinct orders, where chances() tells equal numbers apart: the shares must be the same."""
    every, hits = Counter(), Counter()
    for tree in all_trees(tuple(numbers)):
        first = opening(tree)
        every[first] += 1
        hits[first] += value(tree) == target
    return {first: hits[first] / every[first] for first in every}


@pytest.mark.parametrize(
    ("numbers", "target"),
    [
        ([4, 5, 7, 9], 24),
        ([3, 3, 8, 8], 24),
        ([6, 6, 6, 6], 24),
        ([0, 4, 6], 24),  # some writings divide by zero: they miss, and are counted
        ([1, 1, 2], 1),
        ([10, 2], 5),
        ([7, 8, 3], 1000),
        ([9, 1, 2], -10),
    ],
)
def test_every_opening_agrees_with_every_tree(numbers, target):
    found, expected = chances(numbers, target), slow_chances(numbers, target)
    for first, share in expected.items():
        assert found[first] == pytest.approx(share, abs=1e-12), first
    # Two equal numbers are the same pair; a pair that no tree opens with does not exist.
    assert set(found) == set(expected)
    assert list(found) == sorted(found)


def test_by_hand():
    # Two numbers: 10+2, 10-2, 10*2, 10/2 and the same from 2; each opening has one writing.
    assert chances([10, 2], 12) == {
        **dict.fromkeys(["10*", "10+", "10-", "10/", "2*", "2+", "2-", "2/"], 0.0),
        "10+": 1.0,
        "2+": 1.0,
    }
    # Three numbers opening with 4*: first step 4 * 6 or 4 * 1, then the third number on either side of 4 operators: 16.
    # 24 is (4 * 6) * 1, / 1, and 1 * (4 * 6) of the first, (4 * 1) * 6 and 6 * (4 * 1) of the second.
    assert chance([1, 4, 6], 24, "4*") == 5 / 16


def test_the_first_executed_step_counts_not_the_first_operator_read():
    # 14 is 2 * (3 + 4) and (3 + 4) * 2, two of 16 writings that open with 3+. One reads 2 * first, none executes it so.
    assert chance([2, 3, 4], 14, "3+") == 2 / 16
    assert chance([2, 3, 4], 14, "2*") == 0


@pytest.mark.parametrize(("numbers", "target"), [([4, 5, 7, 9], 24), ([1, 2, 3, 4, 5], 24), ([2, 3, 10, 10], 17)])
def test_not_zero_exactly_where_a_solution_opens_so(numbers, target):
    menu = {entry.opening for entry in solve(numbers, target).openings}
    assert {first for first, share in chances(numbers, target).items() if share > 0} == menu


def test_large_numbers_stay_exact():
    numbers = [10**6 + 3, 10**6 - 1, 10**6 + 7]
    target = numbers[0] * numbers[1] * numbers[2]
    assert chance(numbers, target, f"{numbers[0]}*") == slow_chances(numbers, target)[f"{numbers[0]}*"] > 0


def test_refusals():
    with pytest.raises(UserError, match=r"'3\*' opens no writing of 4 5 7 9.*7\*"):
        chance([4, 5, 7, 9], 24, "3*")
    with pytest.raises(TooLarge, match="7 numbers"):
        chances([1, 2, 3, 4, 5, 6, 7], 24)
    assert chances([24], 24) == {}
