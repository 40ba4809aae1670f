"""Identity, the laptop generator, disjoint sets."""

from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from workflow_scripts.records.errors import UserError
from workflow_scripts.records.schemas import PROBLEMS
from workflow_scripts.tasks.countdown.problems import (
    draw,
    key,
    keys,
    problem_id,
    remove_duplicates,
    remove_overlaps,
    sayable_results,
    table,
    with_splits,
)
from workflow_scripts.tasks.countdown.solver import solve_many


@given(st.lists(st.integers(0, 100), min_size=1, max_size=6), st.integers(-5, 1000), st.randoms())
def test_identity_ignores_order_and_nothing_else(numbers, target, rng):
    shuffled = rng.sample(numbers, len(numbers))
    assert problem_id(shuffled, target) == problem_id(numbers, target)
    assert key(shuffled, target) == key(numbers, target) == (tuple(sorted(numbers)), target)
    assert problem_id(numbers, target + 1) != problem_id(numbers, target)
    assert problem_id([*numbers, 1], target) != problem_id(numbers, target)


def test_spelling():
    assert problem_id([9, 4, 10, 4], 24) == "4_4_9_10-24"


@pytest.mark.parametrize(
    ("numbers", "results"),
    [
        ((5,), {5: 1}),
        ((101,), {}),
        ((4, 6), {10: 2, 24: 2, 2: 1}),
        ((3, 3), {6: 2, 9: 2, 0: 2, 1: 2}),  # equal numbers are told apart
        ((0, 2), {2: 3, 0: 3}),  # 0+2 2+0 2-0; 0*2 2*0 0/2
        ((60, 70), {10: 1}),
    ],
)
def test_results_within_what_the_text_can_say(numbers, results):
    assert sayable_results(numbers) == results


def test_every_problem_is_expressible_and_within_the_task():
    problems = draw("test", count=200)
    for (numbers, target), solved in zip(problems, solve_many(problems)):
        assert len(numbers) in (3, 4)
        assert all(1 <= v <= 10 for v in numbers)
        assert 5 <= target <= 99
        assert solved.expressible["paper"] > 0
    assert len({key(*problem) for problem in problems}) == 200
    assert 60 < Counter(len(numbers) for numbers, _ in problems)[3] < 140
    assert any(numbers != sorted(numbers) for numbers, _ in problems)


def test_breadth_of_the_task():
    solved = solve_many(draw("breadth", count=400))
    leaves = sum(s.counts["paper"] for s in solved) / 400
    share = sum(s.expressible["paper"] / s.counts["paper"] for s in solved) / 400
    menu = sum(s.counts["openings"] for s in solved) / 400
    assert 11 < leaves < 15
    assert 0.75 < share < 0.85
    assert 5 < menu < 6


def test_a_stream_is_fixed_and_extends():
    assert draw(7, count=20) == draw(7, count=60)[:20]
    assert draw(7, count=20) != draw(8, count=20)
    assert [len(numbers) for numbers, _ in draw(7, count=5, sizes=(4,))] == [4] * 5


def test_exhausted_task_is_an_error():
    with pytest.raises(UserError, match=r"of 10000 distinct problems with 2 numbers \(0 are excluded\)"):
        draw(1, count=10_000, sizes=(2,))


def test_excluded_problems_are_not_drawn():
    evaluation = table(draw("evaluation", 3, count=30), "held_out")
    assert list(evaluation.columns) == PROBLEMS.names
    training = table(draw("training", 3, count=500, excluded=keys(evaluation)), "train")
    assert not set(keys(evaluation)) & set(keys(training))
    assert training["problem_id"].is_unique
    assert set(keys(evaluation)) & {key(*p) for p in draw("training", 3, count=500)}  # the exclusion did something


def test_splits():
    problems = table([([1, 2], 3), ([1, 3], 4), ([1, 4], 5)], "train")
    assert with_splits(problems, 1)["split"].tolist() == ["calibration", "held_out", "held_out"]
    assert problems["split"].tolist() == ["train"] * 3
    with pytest.raises(UserError, match="cannot put 4 of 3"):
        with_splits(problems, 4)


def test_other_ranges():
    problems = draw("ranges", count=50, sizes=(2, 5), values=[20, 40], targets=(60, 62))
    assert {len(numbers) for numbers, _ in problems} == {2, 5}
    assert all(20 <= v <= 40 for numbers, _ in problems for v in numbers)
    assert {target for _, target in problems} == {60, 61, 62}


def test_overlaps_and_repeats_are_removed_by_key():
    problems = table([([4, 5, 7, 9], 24), ([9, 7, 5, 4], 24), ([4, 5, 7, 9], 25), ([1, 2], 3)], "train")
    kept, removed = remove_overlaps(problems, {key([5, 4, 9, 7], 24)})
    assert (kept["problem_id"].tolist(), removed) == (["4_5_7_9-25", "1_2-3"], 2)
    assert kept.index.tolist() == [0, 1]
    kept, removed = remove_duplicates(problems)
    assert (kept["numbers"].tolist(), removed) == ([[4, 5, 7, 9], [4, 5, 7, 9], [1, 2]], 1)
