"""Ladder texts as golden strings; which clamps a problem gets; what is refused."""

import pandas as pd
import pytest

from workflow_scripts.records.errors import UserError
from workflow_scripts.records.schemas import CLAMPS, OPENINGS, SOLUTIONS
from workflow_scripts.tasks.countdown import clamps
from workflow_scripts.tasks.countdown.chance import chance
from workflow_scripts.tasks.countdown.problems import table
from workflow_scripts.tasks.countdown.solver import solve_many
from workflow_scripts.tasks.countdown.text import VOCABULARY
from workflow_scripts.tasks.countdown.wording import LAPTOP

INSTANCES = [([4, 5, 7, 9], 24), ([1, 1, 2], 3), ([2, 2], 4)]

SCAFFOLD = "try 5 + 9 = 14 , 14 + 7 = 21 , 21 + 4 = 25 no ."


@pytest.fixture(scope="module")
def frames():
    solved = solve_many(INSTANCES)
    openings = [(s.problem_id, *entry) for s in solved for entry in s.openings]
    solutions = [(s.problem_id, *solution) for s in solved for solution in s.solutions]
    return (
        table(INSTANCES, "held_out"),
        pd.DataFrame(openings, columns=OPENINGS.names),
        pd.DataFrame(solutions, columns=SOLUTIONS.names),
    )


def scaffolds(*rows):
    return pd.DataFrame(list(rows), columns=["problem_id", "family", "scaffold", "scaffold_id", "text"])


def texts(frame, **wanted):
    for column, value in wanted.items():
        frame = frame[frame[column] == value]
    return dict(zip(frame["rung"], frame["prefix"]))


GOLDEN = {
    "nothing": "",
    "first_number": "try 4",
    "entrance": "try 4 *",
    "first_calculation": "try 4 * 7 = 28",
    "generic_plan": "* + - .",
    "misleading_plan": "try 4 +",
    "wrong_value": "try 4 * 7 = 29",
}


@pytest.mark.parametrize("rung", clamps.RUNGS)
def test_texts_of_the_published_example(frames, rung):
    problems, openings, _ = frames
    problem = clamps.problems_of(problems, openings)["4_5_7_9-24"]
    given = clamps.rung_text(
        rung, problem.witness("4*"), numbers=problem.numbers, target=problem.target, menu=problem.menu
    )
    assert given == GOLDEN[rung]
    assert set(given.split()) <= set(VOCABULARY)


@pytest.mark.parametrize(
    ("witness", "target", "rung", "expected"),
    [
        ("9 - (7 - 4) * 1", 6, "entrance", "try 7 -"),  # the step that is executed first, not the one read first
        ("9 - (7 - 4) * 1", 6, "generic_plan", "* - - ."),
        ("10 * 10 - 5 - 5", 90, "wrong_value", "try 10 * 10 = 99"),  # 101 has no word
        ("10 * 10 - 1 - 0", 99, "wrong_value", "try 10 * 10 = 98"),  # 99 is the target
        ("4 * 7 + 1", 29, "wrong_value", "try 4 * 7 = 27"),  # 29 is the target
        ("5 - 5 + 1", 1, "wrong_value", "try 5 - 5 = 2"),  # 1 is the target, -1 has no word
        ("6 / 3", 2, "first_calculation", "try 6 / 3 = 2"),
    ],
)
def test_texts_at_the_edges(witness, target, rung, expected):
    assert clamps.rung_text(rung, witness, numbers=[1, 2], target=target, menu=()) == expected


def test_a_plan_misleads_only_where_some_entrance_leads_nowhere():
    every = [f"2{operator}" for operator in "+-*/"]
    given = {"witness": "2 + 2", "numbers": [2, 2], "target": 4}
    assert clamps.rung_text("misleading_plan", menu=every, **given) is None
    # An entrance of a solution that the text cannot say is no misleading one.
    assert clamps.rung_text("misleading_plan", menu=["2*", "2+"], **given) == "try 2 -"


def test_menu_clamps(frames):
    problems, openings, _ = frames
    found = clamps.menu_clamps(problems, openings)
    assert list(found.columns) == CLAMPS.names
    of_first = found[found["problem_id"] == "4_5_7_9-24"]
    assert dict(zip(of_first["family"], of_first["prefix"])) == {
        "4*": "try 4 *",
        "7*": "try 7 *",
        "7-": "try 7 -",
        "9*": "try 9 *",
        "9-": "try 9 -",
    }
    assert set(found["rung"]) == {"entrance"}
    assert set(found["scaffold"]) == {"neutral"}
    assert of_first["chance"].tolist() == [chance([4, 5, 7, 9], 24, family) for family in of_first["family"]]


def test_cells_choose_among_the_menu(frames):
    problems, openings, _ = frames
    cells = pd.DataFrame([("4_5_7_9-24", "9-"), ("4_5_7_9-24", "9-")], columns=["problem_id", "family"])
    assert clamps.menu_clamps(problems, openings, cells)["prefix"].tolist() == ["try 9 -"]
    for family in ("5-", "9/"):  # a solution opens with 5- but none that the text can say; none opens with 9/
        with pytest.raises(UserError, match=rf"'{family}' is not in the menu of 4_5_7_9-24: it has 4\*, 7\*"):
            clamps.menu_clamps(problems, openings, cells.assign(family=family))
    with pytest.raises(UserError, match="1_2-3"):
        clamps.menu_clamps(problems, openings, cells.assign(problem_id="1_2-3"))


def test_ladder_takes_the_largest_openings_and_every_scaffold(frames):
    problems, openings, solutions = frames
    own = scaffolds(("4_5_7_9-24", "4*", "retry_closed", 0, SCAFFOLD), ("4_5_7_9-24", "9*", "retry_closed", 1, "no ."))
    found = clamps.ladder_clamps(problems, openings, own, solutions)
    first = found[found["problem_id"] == "4_5_7_9-24"]
    assert sorted(first["family"].unique()) == ["4*", "7*"]  # 8 and 5 solutions; 9* has 3, its scaffold is not needed
    assert texts(first, family="4*", scaffold="neutral") == GOLDEN
    behind = texts(first, family="4*", scaffold="retry_closed")
    assert behind == {rung: f"{SCAFFOLD} {text}".strip() for rung, text in GOLDEN.items()}
    assert behind["entrance"] == "try 5 + 9 = 14 , 14 + 7 = 21 , 21 + 4 = 25 no . try 4 *"
    assert list(texts(first, family="4*", scaffold="neutral")) == list(clamps.RUNGS)
    assert first["chance"].groupby(first["family"]).nunique().eq(1).all()


def test_ties_are_alphabetical(frames):
    _, openings, _ = frames
    tied = openings.assign(solutions=1)
    assert clamps.largest_openings(tied).query("problem_id == '4_5_7_9-24'")["family"].tolist() == ["4*", "7*"]
    assert clamps.largest_openings(openings, 1)["problem_id"].is_unique


def test_same_clamps_whatever_the_order_of_rows(frames):
    problems, openings, solutions = frames
    own = scaffolds(
        ("4_5_7_9-24", "4*", "retry_closed", 0, SCAFFOLD), ("4_5_7_9-24", "7*", "retry_closed", 0, SCAFFOLD)
    )
    once = clamps.ladder_clamps(problems, openings, own, solutions)
    again = clamps.ladder_clamps(problems[::-1], openings[::-1], own[::-1], solutions[::-1])
    pd.testing.assert_frame_equal(once, again)


@pytest.mark.parametrize(
    ("family", "text", "message"),
    [
        ("5-", SCAFFOLD, "'5-' is not in the menu"),
        ("4*", "try 4 * 5 = 20 , 20 + 4 = 24 no .", "scaffold 0 of 4_5_7_9-24 holds the answer .'= 24'"),
        ("4*", "so 4 * 7 + 5 - 9 no .", "holds the answer"),
        ("4*", "so 5 + 4 * 7 - 9 <answer> no .", "holds the answer .'<answer>'"),
    ],
)
def test_refused_scaffolds(frames, family, text, message):
    problems, openings, solutions = frames
    with pytest.raises(UserError, match=message):
        clamps.ladder_clamps(problems, openings, scaffolds(("4_5_7_9-24", family, "retry", 0, text)), solutions)


def test_a_longer_number_is_not_the_answer():
    assert LAPTOP.holds_answer("try 9 - 5 = 2 no .", 24) == ""
    assert LAPTOP.holds_answer("try 60 + 4 = 64 no .", 6) == ""
    assert LAPTOP.holds_answer("try 9 + 15 = 24", 24) == "= 24"


def test_refusals(frames):
    problems, openings, _ = frames
    with pytest.raises(UserError, match="no rung 'second_number': use nothing"):
        clamps.rung_text("second_number", "2 + 2", numbers=[2, 2], target=4, menu=())
    with pytest.raises(UserError, match="openings have a problem 1_1_2-3"):
        clamps.menu_clamps(problems[:1], openings)
    with pytest.raises(UserError, match="given twice: p, 4"):
        clamps.clamp_frame([("p", "4*", "neutral", 0, "entrance", "try 4 *", 0.1)] * 2)
