from collections import Counter

import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from workflow_scripts.records.errors import UserError
from workflow_scripts.tasks.countdown.requests import (
    COLUMNS,
    agreed_entrances,
    allocated_requests,
    forced_operator_requests,
    plain_requests,
    reordered_requests,
    seen_entrances,
    solver_entrances,
)
from workflow_scripts.tasks.countdown.wording import LAPTOP

PROBLEMS = pd.DataFrame(
    {"problem_id": ["2_3_4-24", "4_5_7_9-24"], "numbers": [[3, 2, 4], [9, 4, 5, 7]], "target": [24, 24]}
)


@pytest.mark.parametrize(("opening", "prefix"), [("4*", "try 4 *"), ("10-", "try 10 -"), ("100/", "try 100 /")])
def test_the_minimal_entrance(opening, prefix):
    assert LAPTOP.entrance(opening) == prefix


def test_plain_requests():
    frame = plain_requests(PROBLEMS, 2)
    assert list(frame.columns) == COLUMNS
    assert frame.values.tolist() == [
        ["2_3_4-24", "3 2 4 -> 24 <think>", "", 0],
        ["2_3_4-24", "3 2 4 -> 24 <think>", "", 1],
        ["4_5_7_9-24", "9 4 5 7 -> 24 <think>", "", 0],
        ["4_5_7_9-24", "9 4 5 7 -> 24 <think>", "", 1],
    ]
    assert plain_requests(PROBLEMS, range(5, 7))["sample"].tolist() == [5, 6, 5, 6]


def test_every_sample_has_an_order_of_its_own():
    frame = reordered_requests(PROBLEMS, 200, seed=1)
    for problem in PROBLEMS.itertuples():
        mine = frame[frame["problem_id"] == problem.problem_id]
        orders = Counter(mine["text"])
        numbers = {tuple(text.split(" -> ")[0].split()) for text in orders}
        assert all(sorted(map(int, order)) == sorted(problem.numbers) for order in numbers)
        assert len(orders) == {3: 6, 4: 24}[len(problem.numbers)]  # all of them turn up
        assert max(orders.values()) < 3 * 200 / len(orders)
        assert mine["text"].str.endswith("-> 24 <think>").all() and (mine["prefix"] == "").all()
    # an order belongs to its sample, whatever else is asked for
    few = reordered_requests(PROBLEMS[1:], 3, seed=1)
    assert few["text"].tolist() == frame[(frame["problem_id"] == "4_5_7_9-24") & (frame["sample"] < 3)]["text"].tolist()
    assert reordered_requests(PROBLEMS, 200, seed=2)["text"].tolist() != frame["text"].tolist()


def test_the_operator_is_another_and_all_others_take_turns():
    stated = ["4*"] * 6 + ["9+"] * 3 + [None]
    openings = pd.DataFrame({"problem_id": "4_5_7_9-24", "sample": range(10), "think_opening": stated})
    frame = forced_operator_requests(PROBLEMS, openings)
    assert frame["sample"].tolist() == list(range(10)) and set(frame["text"]) == {"9 4 5 7 -> 24 <think>"}
    prefixes = frame["prefix"].tolist()
    assert Counter(prefixes[:6]) == {"try 4 +": 2, "try 4 -": 2, "try 4 /": 2}
    assert Counter(prefixes[6:9]) == {"try 9 *": 1, "try 9 -": 1, "try 9 /": 1}
    assert prefixes[9] == ""  # nothing to replace
    shuffled = forced_operator_requests(PROBLEMS, openings.sample(frac=1, random_state=0))
    assert shuffled.equals(frame)


def test_samples_are_dealt_out_in_turn():
    entrances = pd.DataFrame({"problem_id": ["4_5_7_9-24"] * 3, "opening": ["7*", "4*", "9-"]})
    frame = allocated_requests(PROBLEMS, entrances, 8)
    free, dealt = frame[frame["problem_id"] == "2_3_4-24"], frame[frame["problem_id"] == "4_5_7_9-24"]
    assert (free["prefix"] == "").all() and len(free) == 8
    assert dealt["prefix"].tolist() == ["try 7 *", "try 4 *", "try 9 -"] * 2 + ["try 7 *", "try 4 *"]
    assert dealt["sample"].tolist() == list(range(8))
    with pytest.raises(UserError, match="entrance 7\\* of problem 4_5_7_9-24 is given twice"):
        allocated_requests(PROBLEMS, pd.concat([entrances, entrances[:1]]), 8)


@given(st.integers(1, 9), st.integers(1, 64))
@settings(max_examples=30)
def test_every_first_part_is_even(entrances, samples):
    menu = pd.DataFrame({"problem_id": "4_5_7_9-24", "opening": [f"{i}+" for i in range(entrances)]})
    prefixes = allocated_requests(PROBLEMS[1:], menu, samples)["prefix"].tolist()
    for first in range(1, samples + 1):
        counts = [prefixes[:first].count(f"try {i} +") for i in range(entrances)]
        assert max(counts) - min(counts) <= 1 and sum(counts) == first


def test_the_solvers_menu_is_the_expressible_one():
    openings = pd.DataFrame(
        {"problem_id": ["b", "a", "a"], "opening": ["1+", "9*", "2/"], "expressible": [True, True, False]}
    )
    assert solver_entrances(openings).values.tolist() == [["a", "9*"], ["b", "1+"]]


SAMPLES = pd.DataFrame(
    [  # problem, sample, think, answer's form and opening, correct
        ("p", 0, "4*", "F1", "4*", False),
        ("p", 1, "7+", "F2", "7+", True),
        ("p", 2, "4*", "F1", "9*", False),
        ("p", 3, None, None, None, False),
        ("p", 4, "5-", "F2", "7+", True),
        ("p", 5, "9-", "F3", "9-", True),
        ("q", 0, "1+", "F3", "1+", False),
    ],
    columns=["problem_id", "sample", "think_opening", "formula_form", "answer_opening", "correct"],
)


def rows(frame):
    return [tuple(row) for row in frame.values.tolist()]


@pytest.mark.parametrize(
    ("options", "wanted"),
    [
        ({"first": 6}, [("p", "4*", 2), ("p", "5-", 1), ("p", "7+", 1), ("p", "9-", 1), ("q", "1+", 1)]),
        ({"first": 2}, [("p", "4*", 1), ("p", "7+", 1), ("q", "1+", 1)]),
        ({"first": 6, "least": 2}, [("p", "4*", 2)]),
        ({"first": 6, "most": 2}, [("p", "4*", 2), ("p", "5-", 1), ("q", "1+", 1)]),
    ],
)
def test_entrances_that_samples_stated(options, wanted):
    assert rows(seen_entrances(SAMPLES, **options)) == wanted


@pytest.mark.parametrize(
    ("options", "wanted"),
    [
        ({"first": 6}, [("p", "7+", 2), ("p", "4*", 1), ("p", "9*", 1)]),  # F1 twice, opened in two ways; F2 twice
        ({"first": 3}, [("p", "4*", 1), ("p", "9*", 1)]),
        ({"first": 6, "least": 1, "most": 1}, [("p", "7+", 2), ("q", "1+", 1)]),
        ({"first": 6, "least": 3}, []),
    ],
)
def test_entrances_of_answers_that_samples_agree_on(options, wanted):
    assert rows(agreed_entrances(SAMPLES, **options)) == wanted


@pytest.mark.parametrize("propose", [seen_entrances, agreed_entrances])
def test_proposals_use_no_verifier(propose):
    for other in (SAMPLES.assign(correct=~SAMPLES["correct"]), SAMPLES.drop(columns="correct")):
        assert propose(other, first=6).equals(propose(SAMPLES, first=6))
