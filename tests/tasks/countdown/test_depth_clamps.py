"""tasks/countdown/depth_clamps.py: texts at every depth, and what can be done next."""

import itertools

import pandas as pd
import pytest

from workflow_scripts.records.errors import UserError
from workflow_scripts.records.schemas import CLAMPS, OPENINGS
from workflow_scripts.tasks.countdown import problems as problem_sets
from workflow_scripts.tasks.countdown.chance import chance
from workflow_scripts.tasks.countdown.depth_clamps import depth_clamps, next_menus, remaining_values
from workflow_scripts.tasks.countdown.solver import solve_many


def opening_rows(*rows):
    """OPENINGS of one problem from (opening, solutions, expressible, witness)."""
    return pd.DataFrame([("4_5_7_9-24", *row) for row in rows], columns=OPENINGS.names)


PROBLEM = problem_sets.table([([4, 5, 7, 9], 24)], "depth")
MENU = opening_rows(
    ("5+", 3, True, "5 + 4 * 7 - 9"), ("4*", 7, True, "4 * 7 - 9 + 5"), ("9/", 9, False, "9 / 4 * 7 + 5")
)


def test_texts_at_every_depth():
    frame = depth_clamps(PROBLEM, MENU)
    assert list(frame.columns) == CLAMPS.names
    assert list(zip(frame["rung"], frame["prefix"])) == [
        ("depth0", ""),
        ("depth1", "try 4 * 7 = 28 ,"),
        ("depth2", "try 4 * 7 = 28 , 28 - 9 = 19 ,"),
        ("depth3", "try 4 * 7 = 28 , 28 - 9 = 19 , 19 + 5 = 24 </think> <answer>"),
    ]
    assert set(frame["family"]) == {"4*"}  # 9/ has more solutions, but none that can be said
    assert set(frame["scaffold"]) == {"solution"}
    assert set(frame["scaffold_id"]) == {0}
    assert frame["chance"].tolist() == [chance([4, 5, 7, 9], 24, "4*")] * 4


def test_equals_are_taken_alphabetically():
    menu = opening_rows(("7*", 7, True, "7 * 4 - 9 + 5"), ("4*", 7, True, "4 * 7 - 9 + 5"))
    assert set(depth_clamps(PROBLEM, menu)["family"]) == {"4*"}


def test_a_problem_that_cannot_be_said_is_left_out():
    assert depth_clamps(PROBLEM, MENU.assign(expressible=False)).empty


@pytest.mark.parametrize(
    ("numbers", "menu", "message"),
    [
        ([4, 5, 7], MENU, "4_5_7-24 has 3 numbers; depth is studied on 4"),
        ([4, 5, 7, 8], MENU, "4_5_7_8-24 has no row in the table of openings"),
    ],
)
def test_refused(numbers, menu, message):
    with pytest.raises(UserError, match=message):
        depth_clamps(problem_sets.table([(numbers, 24)], "depth"), menu)


@pytest.mark.parametrize(
    ("numbers", "prefix", "left"),
    [
        ([9, 5, 7, 4], "", [4, 5, 7, 9]),
        ([9, 5, 7, 4], "try 4 * 7 = 28 ,", [5, 9, 28]),
        ([9, 5, 7, 4], "try 4 * 7 = 28 , 9 + 5 = 14 ,", [14, 28]),
        ([7, 7, 7, 1], "try 7 / 7 = 1 ,", [1, 1, 7]),
    ],
)
def test_remaining_values(numbers, prefix, left):
    assert remaining_values(numbers, prefix) == left


@pytest.mark.parametrize(
    ("prefix", "message"),
    [
        ("try 4 * 4 = 16 ,", "uses 4, which is not left"),
        ("try 4 * 7 = 28 , 7 + 9 = 16 ,", "uses 7, which is not left"),
        ("try 4 * 7", "no step"),
    ],
)
def test_steps_that_cannot_be(prefix, message):
    with pytest.raises(UserError, match=message):
        remaining_values([4, 5, 7, 9], prefix)


def reachable(values, target):
    """Whether some order of whole steps in 0…100 over all values ends at the target: brute force."""
    if len(values) == 1:
        return values[0] == target
    return any(reachable(rest, target) for _, _, rest in steps_from(values))


def steps_from(values):
    """(first operand, operator, values left) of every whole step in 0…100."""
    for i, j in itertools.permutations(range(len(values)), 2):
        a, b = values[i], values[j]
        rest = [v for at, v in enumerate(values) if at not in (i, j)]
        results = {"+": a + b, "-": a - b, "*": a * b, "/": a // b if b and a % b == 0 else -1}
        for operator, result in results.items():
            if 0 <= result <= 100:
                yield a, operator, [*rest, result]


def test_next_openings_are_the_menu_at_first_and_then_what_brute_force_finds():
    drawn = problem_sets.draw("depth", count=12, sizes=(4,))
    problems = problem_sets.table(drawn, "depth")
    openings = pd.DataFrame(
        [{"problem_id": found.problem_id, **row._asdict()} for found in solve_many(drawn) for row in found.openings]
    )
    menus = next_menus(problems, depth_clamps(problems, openings))
    given = dict(zip(problems["problem_id"], zip(problems["numbers"], problems["target"])))
    assert menus["rung"].tolist() == ["depth0", "depth1", "depth2"] * 12
    for row in menus.itertuples():
        numbers, target = given[row.problem_id]
        values = remaining_values(numbers, row.prefix)
        expected = {f"{a}{operator}" for a, operator, rest in steps_from(values) if reachable(rest, target)}
        if row.rung == "depth0":  # writings are carried out from the left, so that fewer steps can come first
            menu = set(openings.loc[(openings["problem_id"] == row.problem_id) & openings["expressible"], "opening"])
            assert menu <= expected
            expected = menu
        assert set(row.feasible) == expected, row
        assert row.operands == sorted(set(values))


def test_menus_of_an_unknown_problem():
    with pytest.raises(UserError, match="4_5_7_9-24 of the clamps is not in the problem set"):
        next_menus(PROBLEM.iloc[:0], depth_clamps(PROBLEM, MENU))
