"""Demonstrations say a solution, open as they claim, and are chosen as the rule says."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from workflow_scripts.records.errors import UserError
from workflow_scripts.tasks.countdown.demonstrations import CHOICES, demonstrations, of_problems
from workflow_scripts.tasks.countdown.judging import judge_completion
from workflow_scripts.tasks.countdown.problems import draw
from workflow_scripts.tasks.countdown.solver import solve

MANY = ((1, 2, 3, 4), 10)


def shown(numbers, target, most, choice="diverse", seed=0):
    return demonstrations(solve(numbers, target), most, choice=choice, seed=seed)


@pytest.mark.parametrize(
    ("numbers", "target", "most", "wanted"),
    [
        # one leaf with three openings, which tie: the first alphabetically shows it
        ((5, 3, 2), 10, 4, [("2+", "(2+3+5)")]),
        # 3* opens both leaves, 2* and 4* one each; 2* has nothing left when its turn comes
        ((2, 3, 4), 10, 1, [("3*", "((2*3)+4)")]),
        ((2, 3, 4), 10, 2, [("3*", "((2*3)+4)"), ("4*", "((3*4)-2)")]),
        # 2* and 6* open two each, 1*, 2/ and 6/ one; 2/(1/6) and 6/(1/2) cannot be said; 1* comes too late
        (
            (1, 2, 6),
            12,
            9,
            [("2*", "((2*6)/1)"), ("6*", "(1*2*6)"), ("2/", "((2/1)*6)"), ("6/", "((6/1)*2)")],
        ),
        # one opening: its leaves in alphabetical order
        ((7, 8, 3), 3, 9, [("8-", "((8-7)*3)"), ("8-", "(3/(8-7))")]),
    ],
)
def test_few_solutions_by_hand(numbers, target, most, wanted):
    assert [(d.opening, d.paper_form) for d in shown(numbers, target, most)] == wanted


def test_a_demonstration_in_full():
    (only,) = shown((2, 7, 5), 24, 8)
    said = "try 5 + 7 = 12 , 12 * 2 = 24 </think> <answer> ( 5 + 7 ) * 2 </answer>"
    assert only == ("2_5_7-24", "5+", "((5+7)*2)", said)


@pytest.mark.parametrize("choice", CHOICES)
@settings(max_examples=25)
@given(seed=st.integers(0, 10_000), most=st.integers(1, 9))
def test_every_demonstration_is_right_and_opens_as_it_says(choice, seed, most):
    ((numbers, target),) = draw("demonstrations test", seed, count=1)
    solved = solve(numbers, target)
    found = demonstrations(solved, most, choice=choice, seed=seed)
    assert len(found) == min(most, solved.expressible["paper"]) == len({d.paper_form for d in found})
    menu = {opening.opening for opening in solved.openings if opening.expressible}
    for shown_one in found:
        verdict = judge_completion(shown_one.completion, numbers, target)
        assert verdict.accept and verdict.format_ok
        assert verdict.paper_form == shown_one.paper_form
        assert verdict.answer_opening == verdict.think_opening == shown_one.opening in menu


@pytest.mark.parametrize("choice", CHOICES)
def test_fewer_are_the_beginning_of_more(choice):
    most = shown(*MANY, 1000, choice)
    assert len(most) == solve(*MANY).expressible["paper"] > 16
    for k in (1, 2, 4, 8):
        assert shown(*MANY, k, choice) == most[:k]


def test_round_robin_deals_one_of_each_opening_first():
    solved = solve(*MANY)
    found = demonstrations(solved, 1000)
    openings = [d.opening for d in found]
    first_round = openings[: len(set(openings))]
    assert len(set(first_round)) == len(first_round) > 4
    # inside an opening, in the order of the paper forms
    for opening in set(openings):
        forms = [d.paper_form for d in found if d.opening == opening]
        assert forms == sorted(forms)
    # no rule of the draw: another seed changes nothing
    assert demonstrations(solved, 1000, seed=9) == found


def test_uniform_choice_covers_solutions_and_openings_alike():
    solved = solve((2, 3, 5), 10)  # one leaf, three openings
    seen = [demonstrations(solved, 3, choice="uniform", seed=seed) for seed in range(300)]
    assert all(len(found) == 1 for found in seen)
    counts = {opening: sum(found[0].opening == opening for found in seen) for opening in ("2+", "3+", "5+")}
    assert sum(counts.values()) == 300 and min(counts.values()) > 70
    firsts = {demonstrations(solve(*MANY), 1, choice="uniform", seed=seed)[0].paper_form for seed in range(100)}
    assert len(firsts) > 10


def test_several_problems_keep_their_order_and_their_draws():
    problems = [((4, 5, 7, 9), 24), ((5, 3, 2), 10), MANY]
    together = of_problems(problems, 2, choice="uniform", seed=3)
    assert together == [d for problem in problems for d in shown(*problem, 2, "uniform", 3)]
    assert together == of_problems(problems, 2, choice="uniform", seed=3)
    assert together != of_problems(problems, 2, choice="uniform", seed=4)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: of_problems([MANY, ((1, 1, 1), 90)], 1), r"1 problem\(s\).*1_1_1-90"),
        (lambda: shown(*MANY, 1, "divers"), "choice is 'divers'.*diverse"),
        (lambda: shown(*MANY, 0), "0 demonstrations"),
    ],
)
def test_refusals(call, message):
    with pytest.raises(UserError, match=message):
        call()
