"""The laptop text: vocabulary, pretraining traces, completions that say a solution."""

import re

import pytest

from workflow_scripts.records.errors import UserError
from workflow_scripts.tasks.countdown.expressions import evaluate, literals, opening, parse, render
from workflow_scripts.tasks.countdown.judging import judge_completion
from workflow_scripts.tasks.countdown.problems import draw, key
from workflow_scripts.tasks.countdown.solver import solve, solve_many
from workflow_scripts.tasks.countdown.text import (
    VOCABULARY,
    prompt,
    solution_completion,
    spaced,
    think_prompt,
    traces,
)

STEP = re.compile(r"(\d+) ([-+*/]) (\d+) = (\d+)")
WORDS = set(VOCABULARY)


def attempts(completion: str) -> list[list[tuple[int, str, int, int]]]:
    thought = completion.split(" </think>")[0]
    assert thought.startswith("try ")
    found = []
    for attempt in thought.removeprefix("try ").split(" no . try "):
        steps = [STEP.fullmatch(step) for step in attempt.split(" , ")]
        assert all(steps), attempt
        found.append([(int(s[1]), s[2], int(s[3]), int(s[4])) for s in steps])
    return found


def answer_of(completion: str) -> str:
    return re.fullmatch(r".* </think> <answer> (.*) </answer>", completion)[1]


def executed(expression) -> list[tuple[int, str, int, int]]:
    """Steps of an expression in post-order."""
    if isinstance(expression, int):
        return []
    sign, left, right = expression
    steps = executed(left) + executed(right)
    return [*steps, (int(evaluate(left)), sign, int(evaluate(right)), int(evaluate(expression)))]


def test_vocabulary():
    assert len(VOCABULARY) == len(WORDS) == 120
    assert VOCABULARY[:3] == ["<pad>", "<unk>", "<eos>"]
    assert VOCABULARY[-1] == "100"
    assert not any(" " in word for word in VOCABULARY)


def test_prompts():
    assert prompt([4, 5, 7, 9], 24) == "4 5 7 9 -> 24"
    assert think_prompt([4, 5, 7, 9], 24) == "4 5 7 9 -> 24 <think>"


def test_every_trace_is_right_and_sayable():
    for given, completion in traces("test", count=2000):
        assert set(given.split()) | set(completion.split()) <= WORDS
        numbers, target = re.fullmatch(r"([\d ]+) -> (\d+) <think>", given).groups()
        numbers, target = [int(v) for v in numbers.split()], int(target)
        assert len(numbers) in (3, 4)
        assert 5 <= target <= 99
        expression = parse(answer_of(completion))
        *failures, last = attempts(completion)
        assert executed(expression) == last
        assert sorted(literals(expression)) == sorted(numbers)
        for attempt in failures:
            assert attempt[-1][3] != target
        for a, sign, b, result in [step for attempt in [*failures, last] for step in attempt]:
            assert evaluate((sign, a, b)) == result
            assert 0 <= result <= 100
        verdict = judge_completion(completion, numbers, target)
        assert verdict.format_ok
        assert verdict.accept == (last[-1][3] == target)
        assert verdict.answer_opening == opening(expression) == f"{last[0][0]}{last[0][1]}"


def test_shares_and_stream():
    texts = traces(5, "base", count=4000)
    met = [int(given.split()[-2]) == attempts(completion)[-1][-1][3] for given, completion in texts]
    failed = [" no . " in completion for _, completion in texts]
    assert 0.29 < sum(met) / 4000 < 0.34  # 30 % and the random targets that happen to be met
    assert 0.23 < sum(failed) / 4000 < 0.27
    assert texts == traces(5, "base", count=4000)
    assert texts[:50] != traces(6, "base", count=4000)[:50]
    assert traces(1, count=0) == []
    assert all(" no . " in completion for _, completion in traces(1, count=50, failed=1.0))


def test_other_ranges():
    texts = traces("ranges", count=200, sizes=(2, 6), values=(3, 5), targets=(20, 30))
    numbers = [[int(v) for v in given.split(" -> ")[0].split()] for given, _ in texts]
    assert {len(given) for given in numbers} == {2, 6}
    assert {v for given in numbers for v in given} == {3, 4, 5}
    assert all(20 <= int(given.split()[-2]) <= 30 for given, _ in texts)
    assert all(executed(parse(answer_of(completion))) == attempts(completion)[-1] for _, completion in texts)


def test_impossible_ranges_are_an_error():
    with pytest.raises(UserError, match="found no texts with 3 numbers"):
        traces("none", count=5, sizes=[3], values=(100, 100), targets=(50, 60), stated=1.0)


def test_excluded_problems_leave_no_trace():
    excluded = {key(*problem) for problem in draw("excluded", count=3000)}
    touched = []
    for excluding in (set(), excluded):
        met = set()
        for given, completion in traces(9, count=3000, excluded=excluding, failed=0.5):
            numbers, target = given.removesuffix(" <think>").split(" -> ")
            reached = [attempt[-1][3] for attempt in attempts(completion)]
            met |= {key(map(int, numbers.split()), value) for value in [int(target), *reached]}
        touched.append(len(met & excluded))
    assert touched[0] > 100
    assert touched[1] == 0


@pytest.mark.parametrize(
    ("expression", "text"),
    [
        ("4 * 7 - 9 + 5", "try 4 * 7 = 28 , 28 - 9 = 19 , 19 + 5 = 24 </think> <answer> 4 * 7 - 9 + 5 </answer>"),
        ("(9-5)*7-4", "try 9 - 5 = 4 , 4 * 7 = 28 , 28 - 4 = 24 </think> <answer> ( 9 - 5 ) * 7 - 4 </answer>"),
        ("5 / 5 * (3 + 7)", "try 5 / 5 = 1 , 3 + 7 = 10 , 1 * 10 = 10 </think> <answer> 5 / 5 * ( 3 + 7 ) </answer>"),
    ],
)
def test_solution_completion(expression, text):
    assert solution_completion(expression) == text


@pytest.mark.parametrize(
    "expression", ["8 / (3 - 8 / 3)", "4 - 9 + 30", "50 * 60 * 0", "5 / (2 - 2)", "101 - 1", "7 / 2 * 2"]
)
def test_what_cannot_be_said_is_refused(expression):
    with pytest.raises(UserError, match="passes through a value"):
        solution_completion(expression)


def test_expressible_solutions_and_openings_can_be_said():
    problems = [*draw("said", count=60), ([4, 5, 7, 9], 24), ([6, 6, 6, 6], 24)]
    for solved in solve_many(problems):
        for solution in solved.solutions:
            if solution.expressible:
                said = solution_completion(solution.rendering)
                assert set(said.split()) <= WORDS
                assert judge_completion(said, solved.numbers, solved.target).paper_form == solution.paper_form
        for entry in solved.openings:
            if entry.expressible:
                verdict = judge_completion(solution_completion(entry.witness), solved.numbers, solved.target)
                assert verdict.accept
                assert verdict.think_opening == verdict.answer_opening == entry.opening


def test_inexpressible_solutions_are_refused():
    refused = 0
    for solution in solve([4, 5, 7, 9], 24).solutions:
        if not solution.expressible:
            with pytest.raises(UserError):
                solution_completion(solution.rendering)
            refused += 1
    assert refused == 3


def test_spacing_keeps_the_expression():
    for text in ("4*(5+7)", "4 * (5 + 7)", " ( 10-9 )/1 "):
        assert render(parse(spaced(text))) == render(parse(text))
        assert set(spaced(text).split()) <= WORDS
