"""The verifier of word problems as trainers call it, and the reasons of wrong answers."""

import pytest

from workflow_scripts.records import manifests
from workflow_scripts.records.tables import read_table, write_table
from workflow_scripts.records.word_schemas import WORD_PROBLEMS
from workflow_scripts.tasks.maths.word_faults import FAULTS, false_steps, fault, written_steps
from workflow_scripts.tasks.maths.word_rewarded import preferred, problem_frame, problems_of, rewarded
from workflow_scripts.tasks.maths.words import problem_set

STEPS = "4 * 3 = 12 , 12 + 5 = 17"
# completion, its reward for gold 17, whether a preference pair may choose it, first calculation
ROWS = [
    (rf"{STEPS} </think> the answer is \boxed{{ 17 }}", 1.1, 1, "4 * 3"),
    (f"{STEPS} </think> the answer is 17", 1.0, 0, "4 * 3"),
    (rf"{STEPS} </think> the answer is \boxed{{ 12 }}", 0.1, 0, "4 * 3"),
    (f"{STEPS} </think> the answer is 12", 0.0, 0, "4 * 3"),
    (f"{STEPS} </think>", -0.1, 0, "4 * 3"),
    ("</think> i do not know", -0.1, 0, None),
]


@pytest.fixture(scope="module")
def rows():
    frame = problem_frame(problem_set("training", 12, seed=1), "training").head(1)
    return frame.assign(gold="17")


@pytest.mark.parametrize(("completion", "score", "chosen", "opening"), ROWS)
def test_scores(rows, completion, score, chosen, opening):
    (verdict,) = rewarded(rows).reward([(0, completion)])
    assert verdict["score"] == pytest.approx(score)
    assert verdict["correct"] == (score >= 1)
    assert verdict["format_ok"] == ("boxed" in completion)
    assert verdict["think_opening"] == opening
    assert (verdict["formula_form"] is not None) == verdict["correct"]
    assert preferred(rows).reward([(0, completion)])[0]["score"] == chosen


def test_the_constants_of_the_reward_are_the_callers(rows):
    reward = rewarded(rows, correctness=2.0, format_bonus=0.5, invalid_penalty=0.25).reward
    scores = [verdict["score"] for verdict in reward([(0, completion) for completion, *_ in ROWS])]
    assert scores == [2.5, 2.0, 0.5, 0.0, -0.25, -0.25]


def test_routes_are_told_apart_among_correct_answers(rows):
    first, second, same = rewarded(rows).reward([
        (0, r"4 * 3 = 12 , 12 + 5 = 17 </think> the answer is \boxed{ 17 }"),
        (0, r"4 + 8 = 12 , 12 + 5 = 17 </think> the answer is \boxed{ 17 }"),
        (0, r"4 * 3 = 12 , 12 + 5 = 17 </think> the answer is \boxed{ 17 }"),
    ])  # fmt: skip
    assert first["formula_form"] == same["formula_form"] != second["formula_form"]


def test_prompts_and_ids_are_the_problems(rows):
    asked = rewarded(rows)
    assert asked.problem_ids == list(rows["problem_id"])
    assert asked.prompts == [f"{rows['question'].iloc[0]} <think>"]


def test_problems_survive_a_file(tmp_path):
    problems = problem_set("words", 24, seed=1)
    write_table(problem_frame(problems, "words"), tmp_path / "words.parquet", WORD_PROBLEMS)
    manifests.write([str(tmp_path / "words.parquet")], [], {})
    assert problems_of(read_table(tmp_path / "words.parquet", WORD_PROBLEMS)) == problems


@pytest.mark.parametrize(("status", "completion", "reason"), [
    ("NO_ANSWER", f"{STEPS} </think>", "no_answer"),
    ("EMPTY", rf"{STEPS} </think> \boxed{{ }}", "no_answer"),
    ("WRONG", r"</think> the answer is \boxed{ 3 }", "no_steps"),
    ("WRONG", r"4 * 3 = 13 , 13 + 5 = 18 </think> the answer is \boxed{ 18 }", "arithmetic"),
    ("WRONG", r"4 / 3 = 1 </think> the answer is 1", "arithmetic"),
    ("WRONG", rf"{STEPS} </think> the answer is \boxed{{ 12 }}", "stated_another"),
    ("WRONG", f"{STEPS} </think> the answer is 17", "plan"),
    ("WRONG", rf"{STEPS} </think> the answer is \boxed{{ 17 }}", "plan"),
])  # fmt: skip
def test_faults(status, completion, reason):
    assert reason in FAULTS
    assert fault(status, completion) == reason


def test_steps_are_read_as_written():
    assert written_steps("4 * 3 = 12 , 12 + 5 = 18") == [(4, "*", 3, 12), (12, "+", 5, 18)]
    assert false_steps(written_steps("4 * 3 = 12 , 12 + 5 = 18")) == 1
