"""The text of word problems: vocabulary, random texts for pre-training, demonstrations."""

import re
from collections import Counter

import numpy as np
import pytest

from workflow_scripts.records.errors import UserError
from workflow_scripts.tasks.maths.first_calculation import first_calculation
from workflow_scripts.tasks.maths.judging import judge_completion
from workflow_scripts.tasks.maths.word_faults import false_steps, written_steps
from workflow_scripts.tasks.maths.word_text import (
    REFUSAL,
    VOCABULARY,
    Habits,
    demonstrations,
    random_texts,
    route_completion,
    said,
)
from workflow_scripts.tasks.maths.words import menu, problem_set, routes

WORDS = set(VOCABULARY)


@pytest.fixture(scope="module")
def texts():
    return random_texts(1, "tests", count=3000)


def test_the_vocabulary_is_small_and_distinct():
    assert len(VOCABULARY) == len(WORDS) == 180
    assert VOCABULARY[:3] == ["<pad>", "<unk>", "<eos>"]
    assert {str(number) for number in range(101)} <= WORDS


def test_random_texts_keep_to_the_vocabulary_and_to_arithmetic(texts):
    for prompt, completion in texts:
        assert set(f"{prompt} {completion}".split()) <= WORDS
        assert prompt.endswith(" ? <think>") and completion.count("</think>") == 1
        assert false_steps(written_steps(completion)) == 0
    assert max(len(f"{prompt} {completion}".split()) for prompt, completion in texts) < 64


def test_plans_and_endings_have_their_shares(texts):
    habits, total = Habits(), len(texts)
    said = Counter()
    for _, completion in texts:
        ending = completion.split("</think>")[1].strip()
        kind = "refusal" if ending == REFUSAL else "boxed" if "boxed" in ending else "plain" if ending else "none"
        said[kind] += 1
        if kind in ("boxed", "plain"):
            steps = written_steps(completion)
            said["astray"] += not steps or int(re.findall(r"\d+", ending)[0]) != steps[-1][3]
    assert said["boxed"] / total == pytest.approx(habits.boxed, abs=0.03)
    assert said["plain"] / total == pytest.approx(habits.plain, abs=0.03)
    assert said["refusal"] / total == pytest.approx(habits.refusal, abs=0.02)
    # A number drawn among those at hand may be the last result after all
    assert 0.7 * habits.astray < said["astray"] / (said["boxed"] + said["plain"]) <= habits.astray + 0.03


@pytest.mark.parametrize(
    ("right", "begun", "low", "high"), [(1.0, 0.0, 1.0, 1.0), (0.0, 1.0, 0.02, 0.6), (0.0, 0.0, 0.0, 0.25)]
)
def test_plans_are_right_as_often_as_they_should(right, begun, low, high):
    problems = problem_set("training", 300, seed=1, distinct_keys=False)
    habits = Habits(right=right, begun=begun, boxed=1, plain=0, refusal=0, astray=0)
    draws = iter(np.random.default_rng(1).random(100_000).tolist())
    right = [judge_completion(said(problem, draws, habits), str(problem.gold)).accept for problem in problems]
    assert low <= np.mean(right) <= high


def test_excluded_problems_are_never_asked():
    problems = problem_set("words", 60, seed=1)
    asked = {problem.question for problem in problems}
    excluded = {problem.key for problem in problems}
    texts = random_texts(5, count=3000, excluded=excluded, habits=Habits(wide=0, unseen=0))
    assert not asked & {prompt.removesuffix(" <think>") for prompt, _ in texts}


def test_texts_depend_on_their_stream_alone():
    assert random_texts(1, "a", count=20) == random_texts(1, "a", count=30)[:20]
    assert random_texts(1, "a", count=20) != random_texts(1, "b", count=20)


def test_demonstrations_are_right_begin_differently_and_nest():
    problems = problem_set("training", 60, seed=1, distinct_keys=False)
    four, two = (demonstrations(problems, most, seed=1) for most in (4, 2))
    by_problem = {problem.problem_id: [] for problem in problems}
    for problem_id, completion in four:
        by_problem[problem_id].append(completion)
    for problem in problems:
        shown = by_problem[problem.problem_id]
        assert 2 <= len(shown) <= 4 and len(set(shown)) == len(shown)
        assert len(shown) == min(4, len(routes(problem.family, problem.numbers)))
        openings = menu(problem.family, problem.numbers)
        firsts = [first_calculation(completion).label for completion in shown]
        assert set(firsts) <= {opening.label for opening in openings}
        assert len(set(firsts)) == min(len(shown), len(openings))
        assert all(judge_completion(completion, str(problem.gold)).accept for completion in shown)
        assert [text for name, text in two if name == problem.problem_id] == shown[:2]
    marked = sum("boxed" in completion for _, completion in four) / len(four)
    assert marked == pytest.approx(0.5, abs=0.12)
    assert all("boxed" in completion for _, completion in demonstrations(problems, 2, seed=1, boxed=1.0))


def test_a_completion_as_written():
    route = routes("shopping", (4, 3, 2, 5))[0]
    assert route_completion(route) == r"4 * 3 = 12 , 2 * 5 = 10 , 12 + 10 = 22 </think> the answer is \boxed{ 22 }"
    assert route_completion(route, "plain").endswith("</think> the answer is 22")
    with pytest.raises(UserError, match="cannot end 'refusal'"):
        route_completion(route, "refusal")
    with pytest.raises(UserError, match="at least 1"):
        demonstrations([], 0, seed=1)
