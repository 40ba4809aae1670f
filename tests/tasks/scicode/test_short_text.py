"""The words of the small policy and the random texts of its base."""

from itertools import product

import pytest
from hypothesis import given
from hypothesis import strategies as st

from workflow_scripts.policies.tokenizer import load_tokenizer, save_tokenizer
from workflow_scripts.records.errors import UserError
from workflow_scripts.tasks.scicode.judging import judge
from workflow_scripts.tasks.scicode.sandbox import Sandbox
from workflow_scripts.tasks.scicode.short_families import SHORT_FAMILIES
from workflow_scripts.tasks.scicode.short_problems import drawn, short_problem, short_set, uniforms
from workflow_scripts.tasks.scicode.short_programs import completion_of, rendered
from workflow_scripts.tasks.scicode.short_text import (
    CHAT_TEMPLATE,
    LONGEST,
    VOCABULARY,
    Habits,
    random_texts,
    written,
)

WORDS = set(VOCABULARY)


@pytest.fixture(scope="module")
def texts():
    return random_texts(1, "tests", count=4000)


def test_the_vocabulary_is_small_distinct_and_savable(tmp_path):
    assert len(VOCABULARY) == len(WORDS) < 300
    assert {str(number) for number in range(101)} <= WORDS
    save_tokenizer(VOCABULARY, tmp_path, CHAT_TEMPLATE)
    tokenizer = load_tokenizer(tmp_path)
    problem = short_set("shifted", 10, seed=1, shifted=True)[0]
    assert tokenizer.decode(tokenizer.encode_known(problem.prompt)) == problem.prompt


def test_prompts_and_completions_keep_to_the_vocabulary_and_to_the_context(texts):
    for prompt, completion in texts:
        assert set(f"{prompt} {completion}".split()) <= WORDS
        assert prompt.endswith(" ?") and 0 < len(completion.split()) <= LONGEST
    assert max(len(f"{prompt} {completion}".split()) for prompt, completion in texts) < 127


def test_texts_are_a_function_of_their_identity(texts):
    assert random_texts(1, "tests", count=50) == texts[:50] != random_texts(2, "tests", count=50)


def test_excluded_problems_are_not_asked():
    everything = [("kinetic", key) for key in product(range(1, 21), range(2, 21))]
    asked = [prompt for prompt, _ in random_texts(3, count=500, excluded=everything)]
    assert not any("kinetic" in prompt for prompt in asked)
    assert any("kinetic" in prompt for prompt, _ in random_texts(3, count=500, excluded=()))


def test_a_base_s_texts_are_often_runnable_and_seldom_right():
    rates = {}
    with Sandbox() as sandbox:
        for shifted in (False, True):
            draws, pairs = uniforms("rates", int(shifted)), []
            for number in range(300):
                found = drawn(SHORT_FAMILIES[number % 10], draws, shifted=shifted)
                pairs.append((rendered(written(found, draws, Habits())), short_problem(found, str(number))))
            verdicts = judge(pairs, sandbox)
            rates[shifted] = {
                name: sum(getattr(verdict, name) for verdict in verdicts) / len(verdicts)
                for name in ("runs", "format_ok", "correct")
            }
    for found in rates.values():
        assert 0.55 < found["runs"] < 0.75 and 0.45 < found["format_ok"] < 0.65
    assert 0.08 < rates[False]["correct"] < 0.2 and rates[True]["correct"] < 0.05


@pytest.mark.parametrize(
    ("habits", "holds"),
    [
        (Habits(prose=1.0, think=0.0), lambda text: "def" not in text.split()),
        (Habits(prose=0.0, shell=1.0, comments=0.0, slip=0.0, headless=0.0), lambda text: text.count("<in>") == 1),
        (Habits(think=1.0), lambda text: text.startswith("<think> ") and text.split().count("</think>") == 1),
        (Habits(prose=0.0, bare=1.0), lambda text: "```" not in text),
        (Habits(prose=0.0, bare=0.0, unclosed=1.0), lambda text: "```python" in text and not text.endswith(" ```")),
        (Habits(prose=0.0, comments=1.0, slip=0.0), lambda text: " # " in text),
    ],
)
def test_each_habit_does_what_it_says(habits, holds):
    draws = uniforms("habits", 1)
    for number in range(100):
        text = written(drawn(SHORT_FAMILIES[number % 10], draws, shifted=False), draws, habits)
        assert holds(text), text


def test_the_right_program_alone_is_right():
    habits = Habits(prose=0, shell=0, right=1, comments=0, think=0, slip=0, headless=0, bare=0, unclosed=0, chatty=0)
    draws, pairs = uniforms("right", 1), []
    for number in range(60):
        found = drawn(SHORT_FAMILIES[number % 10], draws, shifted=False)
        pairs.append((rendered(written(found, draws, habits)), short_problem(found, str(number))))
    with Sandbox() as sandbox:
        assert all(verdict.correct and verdict.format_ok for verdict in judge(pairs, sandbox))


def test_where_everything_is_excluded_there_are_no_texts():
    spans = [[range(low, high + 1) for low, high in family.ranges.values()] for family in SHORT_FAMILIES]
    everything = [(family.name, key) for family, span in zip(SHORT_FAMILIES, spans) for key in product(*span)]
    with pytest.raises(UserError, match="exclude fewer"):
        random_texts(1, count=2, excluded=everything)


@pytest.mark.parametrize(
    ("words", "text"),
    [
        ("def answer(): <nl> <in> return 3", "def answer():\n    return 3"),
        ("a <nl> <in> <in> x = 1 <nl> ```", "a\n        x = 1\n```"),
        ("```python <nl> ```", "```python\n```"),
        ("def answer():\n    return 'as it is'", "def answer():\n    return 'as it is'"),
        ("<nl>", "\n"),
    ],
)
def test_words_as_text(words, text):
    assert rendered(words) == text


@given(st.text())
def test_a_text_without_the_words_stays_as_it_is(text):
    if "<nl>" not in text and "<in>" not in text:
        assert rendered(text) == text


def test_bodies_are_indented_under_the_head():
    body = ("x = 1", "for i in range ( 2 ) :", "> x = 2 * x", "return x")
    expected = "def answer():\n    x = 1\n    for i in range ( 2 ) :\n        x = 2 * x\n    return x"
    assert rendered(completion_of(body, fenced=False)) == expected
    assert rendered(completion_of(body)) == f"```python\n{expected}\n```"
