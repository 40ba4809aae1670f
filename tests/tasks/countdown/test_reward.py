"""The reward is the judge's verdict under verl's signature."""

import json

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from workflow_scripts.records.errors import UserError
from workflow_scripts.tasks.countdown.judging import judge_completion
from workflow_scripts.tasks.countdown.reward import compute_score

TRUTH = {"numbers": [4, 6], "target": 24}
RIGHT = "try 6 * 4 = 24 </think> <answer> 6 * 4 </answer>"


@pytest.mark.parametrize(
    "truth",
    [
        TRUTH,
        {"nums": [4, 6], "target": 24},
        {"numbers": np.array([4, 6]), "target": np.int64(24)},
        json.dumps(TRUTH),
        {"numbers": None, "nums": [6, 4], "target": 24.0},
    ],
)
def test_ground_truths(truth):
    assert compute_score("countdown", RIGHT, truth)["score"] == 1.0
    assert compute_score("countdown", RIGHT.replace("* 4 <", "+ 4 <"), truth)["score"] == 0.0


def test_what_the_reward_reports():
    report = compute_score(data_source="countdown", solution_str=RIGHT, ground_truth=TRUTH, extra_info={"index": 3})
    assert report["status"] == "OK" and type(report["status"]) is str
    assert report["paper_form"] == "(4*6)" and len(report["formula_form"]) == 16
    assert (report["answer_opening"], report["think_opening"], report["format_ok"]) == ("6*", "6*", True)


@given(st.text(max_size=40) | st.sampled_from([RIGHT, RIGHT + " more", "</think><answer>4</answer>", ""]))
def test_the_reward_is_the_judges(text):
    report, verdict = (
        compute_score("countdown", text, TRUTH, reward_router_address=None),
        judge_completion(text, [4, 6], 24),
    )
    assert report["score"] == float(verdict.accept) and report["status"] == verdict.status
    assert {key: type(value) for key, value in report.items()} == KINDS


KINDS = {"score": float, "format_ok": bool} | dict.fromkeys(
    ["status", "formula_form", "paper_form", "answer_opening", "think_opening"], str
)


def test_feasibility_label_of_the_paper_contract():
    text = "<feasible>no</feasible><answer>NO_SOLUTION</answer>"
    assert compute_score("countdown", text, TRUTH | {"feasible_label": "no"}, contract="paper_ppo")["score"] == 1.0
    assert compute_score("countdown", text, TRUTH, contract="paper_ppo")["score"] == 0.0


@pytest.mark.parametrize(
    "truth",
    [
        {},
        {"numbers": [4, 6]},
        {"target": 24},
        {"numbers": 4, "target": 4},
        "4*6",
        "[4, 6]",
        [4, 6],
        {"nums": "4", "target": 4},
    ],
)
def test_a_ground_truth_that_is_none_is_the_users_error(truth):
    with pytest.raises(UserError):
        compute_score("countdown", RIGHT, truth)
