"""Rows in, verdicts out, in order; a bad row is named."""

import json

import numpy as np
import pytest

from workflow_scripts.records.errors import UserError
from workflow_scripts.tasks.countdown.judging import judge_rows

PROBLEM = {"numbers": [4, 6], "target": 24}


def test_rows_are_judged_in_order():
    rows = [
        {**PROBLEM, "answer": "4*6", "why": "other keys are ignored"},
        {**PROBLEM, "completion": "try 4 + 6 = 10 </think> <answer> 4 + 6 </answer>", "answer": None},
        {"numbers": np.array([4, 6]), "target": np.int64(24), "answer": "6*4 = 24"},
        {**PROBLEM, "answer": ""},
    ]
    verdicts = list(judge_rows(rows))
    assert [v["accept"] for v in verdicts] == [True, False, True, False]
    assert [v["status"] for v in verdicts] == ["OK", "WRONG_VALUE", "OK", "EMPTY"]
    assert verdicts[0]["forms"] == {"paper": "(4*6)", "formula": verdicts[2]["forms"]["formula"]}
    assert [v["entrance"] for v in verdicts] == ["4*", "4+", "6*", None]
    assert verdicts[1]["think_entrance"] == "4+" and verdicts[1]["extracted"] == "4 + 6"
    assert json.loads(json.dumps(verdicts)) == verdicts


def test_rows_are_judged_as_they_come():
    verdicts = judge_rows({**PROBLEM, "answer": "4*6"} for _ in iter(int, 1))
    assert next(verdicts)["accept"] and next(verdicts)["accept"]


def test_the_contract_is_the_callers():
    rows = [{**PROBLEM, "answer": "-4*-6"}]
    assert [next(judge_rows(rows, contract))["accept"] for contract in ("strict", "paper_grpo")] == [False, True]
    with pytest.raises(UserError, match="paper_ppo"):
        judge_rows(rows, "paper_pp0")


@pytest.mark.parametrize(
    ("row", "message"),
    [
        ({"target": 24, "answer": "4*6"}, "row 2: numbers is missing"),
        ({"numbers": [4, 6], "answer": "4*6"}, "row 2: target is missing"),
        (PROBLEM, "row 2: neither answer nor completion"),
        ({**PROBLEM, "answer": "4*6", "completion": "4*6"}, "row 2: both answer and completion"),
        ({**PROBLEM, "answer": 24}, "row 2: answer must be a text"),
        ({**PROBLEM, "completion": ["4*6"]}, "row 2: completion must be a text"),
        ({"numbers": "4 6", "target": 24, "answer": "4*6"}, "row 2: numbers must be a list"),
        ({"numbers": 4, "target": 24, "answer": "4*6"}, "row 2: numbers must be a list"),
        ({"numbers": [4, "6"], "target": 24, "answer": "4*6"}, "row 2: numbers .*whole.*'6'"),
        ({"numbers": [4, 6], "target": "24", "answer": "4*6"}, "row 2: .*target.*whole.*'24'"),
        (["4*6"], "row 2: needs numbers, target"),
    ],
)
def test_a_bad_row_is_named(row, message):
    verdicts = judge_rows([{**PROBLEM, "answer": "4*6"}, row])
    assert next(verdicts)["accept"]
    with pytest.raises(UserError, match=message):
        next(verdicts)
