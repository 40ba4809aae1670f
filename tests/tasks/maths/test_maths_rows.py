"""Rows in, verdicts out, in order; bad rows named; the reward's five values."""

import json

import pytest

from workflow_scripts.records.errors import UserError
from workflow_scripts.tasks.maths import judging
from workflow_scripts.tasks.maths.judging import asks_percentage, gold_text, judge_answer, judge_completion, judge_rows
from workflow_scripts.tasks.maths.reward import reward
from workflow_scripts.tasks.maths.verdicts import UNDECIDED, Status


def test_rows_are_judged_in_order():
    rows = [
        {"gold": "1/2", "completion": r"so \boxed{\frac{1}{2}}", "why": "other keys are ignored"},
        {"gold": 27.0, "completion": "the answer is 27", "answer": None},
        {"gold": "5", "answer": "6"},
        {"gold": "5", "completion": "no idea"},
        {"gold": "5", "completion": r"\boxed{}"},
        {"gold": "25", "completion": r"\boxed{25\%}"},
        {"gold": "25", "completion": r"\boxed{25\%}", "question": "What percentage of them is red?"},
        {"gold": "1/3", "answer": "0.333", "tolerance": 0.01},
        {"gold": r"\sin x", "answer": r"\cos x"},
        {"gold": "5", "answer": 5},
        {"gold": 2.5, "answer": 2.5},
    ]
    verdicts = list(judge_rows(rows, symbolic=False))
    assert [v["accept"] for v in verdicts] == [True, True, False, False, False, False, True, True, False, True, True]
    assert [v["status"] for v in verdicts] == [
        "OK", "OK", "WRONG", "NO_ANSWER", "EMPTY", "WRONG", "OK", "OK", "UNSUPPORTED", "OK", "OK",
    ]  # fmt: skip
    assert [v["extracted"] for v in verdicts[:5]] == [r"\frac{1}{2}", "27", "6", None, ""]
    assert [v["extracted"] for v in verdicts[-2:]] == ["5", "2.5"]
    assert [v["format_ok"] for v in verdicts[:5]] == [True, False, True, False, False]
    assert [v["source"] for v in verdicts[:3]] == ["boxed", "marker", "answer"]
    assert json.loads(json.dumps(verdicts)) == verdicts


def test_rows_are_judged_as_they_come():
    verdicts = judge_rows({"gold": "5", "answer": "5"} for _ in iter(int, 1))
    assert next(verdicts)["accept"] and next(verdicts)["accept"]


def test_equal_pairs_are_compared_once(monkeypatch):
    asked = []
    monkeypatch.setattr(judging, "compare", lambda *pair, **rules: asked.append(pair) or (Status.OK, "exact"))
    rows = [{"gold": "5", "completion": text} for text in (r"\boxed{5}", "it is 5", "5", "6")]
    assert len(list(judge_rows(rows))) == 4
    assert [pair[:2] for pair in asked] == [("5", "5"), ("5", "6")]


@pytest.mark.parametrize(
    ("row", "message"),
    [
        ({"answer": "5"}, "row 2: gold is missing"),
        ({"gold": "", "answer": "5"}, "row 2: gold must be a text or a number"),
        ({"gold": {"a": 1}, "answer": "5"}, "row 2: gold must be a text or a number"),
        ({"gold": True, "answer": "5"}, "row 2: gold must be a text or a number"),
        ({"gold": float("nan"), "answer": "5"}, "row 2: gold must be a text or a number"),
        ({"gold": "5"}, "row 2: neither answer nor completion"),
        ({"gold": "5", "answer": "5", "completion": "5"}, "row 2: both answer and completion"),
        ({"gold": "5", "answer": [5]}, "row 2: answer must be a text"),
        ({"gold": "5", "answer": True}, "row 2: answer must be a text"),
        ({"gold": "5", "answer": float("nan")}, "row 2: answer must be a text"),
        ({"gold": "5", "completion": 5}, "row 2: completion must be a text"),
        ({"gold": "5", "completion": ["5"]}, "row 2: completion must be a text"),
        ({"gold": "5", "answer": "5", "question": 3}, "row 2: question must be a text"),
        ({"gold": "5", "answer": "5", "tolerance": "1%"}, "row 2: tolerance must be a number"),
        ({"gold": "5", "answer": "5", "tolerance": 2}, "row 2: tolerance must be a number"),
        (["5"], "row 2: needs gold"),
    ],
)
def test_a_bad_row_is_named(row, message):
    verdicts = judge_rows([{"gold": "5", "answer": "5"}, row])
    assert next(verdicts)["accept"]
    with pytest.raises(UserError, match=message):
        next(verdicts)


@pytest.mark.parametrize(
    ("gold", "text"),
    [
        ("18", "18"),
        (18, "18"),
        (27.0, "27"),
        (4.25, "4.25"),
        ("She has 3 + 4 = <<3+4=7>>7.\n#### 7", "7"),
        (r"Thus $x = \boxed{\frac{1}{2}}$.", r"\frac{1}{2}"),
        (["$2$"], "$2$"),
        (["1", "3"], "1, 3"),
    ],
)
def test_gold_in_its_several_forms(gold, text):
    assert gold_text(gold) == text


@pytest.mark.parametrize(
    ("question", "asked"),
    [
        ("What percent of the marbles are red?", True),
        ("Express it as a percent.", True),
        ("Find the percentage increase.", True),
        ("The price fell by 20%. How much does it cost now?", False),
        ("How many are left?", False),
        ("By what % did the price fall?", True),
        (r"By what $\%$ did it fall?", True),
        ("What's the percentage chance of rain?", True),
        ("How likely is it, to the nearest tenth of a percent?", True),
        ("What is the probability, in percent?", True),
        (r"It is decreased by $n \%$. Determine the value of $n$.", True),
        ("It grows by $n$ percent. What is $n$?", True),
        ("It grows by p% each year. Find p.", True),
        (r"It grows by $x\%$. What is $y$?", False),
        (r"If $n\%$ of them leave, how many are left?", False),
        (r"What is $n \%$ of 50?", False),
        (r"It grows by $n\%$. What is $n+1$?", False),
        ("What is 20% of 50?", False),
        ("What is ten percent of 50?", False),
        ("40 percent of them are ruins. How many ruins are there?", False),
        ("Tax is given as a percentage of the price. How much is it?", False),
        ("It charges 1 percentage-point in 3 minutes. How long does it take?", False),
        ("", False),
    ],
)
def test_a_question_for_a_percentage(question, asked):
    assert asks_percentage(question) == asked


@pytest.mark.parametrize(
    ("question", "gold", "answer", "accept"),
    [
        (r"It is decreased by $n \%$. Determine the value of $n$.", "60", "60", True),
        (r"It is decreased by $n \%$. Determine the value of $n$.", "60", r"60\%", True),
        ("10 percent of them left. How many are there?", "10", "10%", False),
    ],
)
def test_the_question_decides_what_a_percent_sign_is(question, gold, answer, accept):
    assert next(judge_rows([{"question": question, "gold": gold, "answer": answer}]))["accept"] is accept


@pytest.mark.parametrize(
    ("completion", "score", "reason"),
    [
        (r"so \boxed{17}", 1.1, "OK+format"),
        ("#### 17", 1.1, "OK+format"),
        ("the answer is 17", 1.0, "OK"),
        (r"so \boxed{18}", 0.1, "WRONG+format"),
        ("the answer is 18", 0.0, "WRONG"),
        ("I do not know", -0.1, "NO_ANSWER"),
        (r"\boxed{}", -0.1, "EMPTY"),
        (r"\boxed{9**9**9}", 0.1, "TOO_LARGE+format"),
    ],
)
def test_the_reward_has_the_labs_values(completion, score, reason):
    given = reward(completion, "17")
    assert (given.score, given.reason) == (pytest.approx(score), reason)


def test_the_rewards_constants_are_the_callers():
    constants = {"correctness": 2.0, "format_bonus": 0.5, "invalid_penalty": 1.0}
    texts = (r"\boxed{17}", "17", r"\boxed{18}", "none")
    assert [reward(text, "17", **constants).score for text in texts] == [2.5, 2.0, 0.5, -1.0]


def test_what_is_undecided_earns_no_correctness_but_an_oracle_may_decide():
    assert reward(r"\boxed{\tan x}", r"\frac{\sin x}{\cos x}").score == pytest.approx(0.1)
    assert reward(r"\boxed{\tan x}", r"\frac{\sin x}{\cos x}", oracle=lambda *_: Status.OK).score == pytest.approx(1.1)


def test_verdicts_of_bare_answers_and_completions():
    assert judge_answer(" 5 ", "5").extracted == "5"
    assert judge_completion("5", "5").format_ok is False
    assert judge_answer("", "5").status is Status.EMPTY
    assert Status.TOO_DEEP in UNDECIDED
    assert not UNDECIDED & {Status.OK, Status.WRONG, Status.NO_ANSWER, Status.EMPTY}
