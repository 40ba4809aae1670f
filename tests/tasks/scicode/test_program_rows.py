"""Rows of a file to verdicts: what may stand in them, and what is said of what may not."""

import json

import pytest

from workflow_scripts.records.errors import UserError
from workflow_scripts.tasks.scicode.judging import judge_rows
from workflow_scripts.tasks.scicode.problems import Check, checks_text
from workflow_scripts.tasks.scicode.rows import ROWS as TOGETHER
from workflow_scripts.tasks.scicode.sandbox import Limits, Sandbox
from workflow_scripts.tasks.scicode.verdicts import LAYERS


@pytest.fixture(scope="module")
def sandbox():
    with Sandbox(Limits(cpu_seconds=0.5), workers=1) as running:
        yield running


def code(value, arguments=""):
    return f"def answer({arguments}):\n    return {value}"


def check(kind, expected, **given):
    return {"kind": kind, "expected": expected, **given}


X = {"$expr": ["Symbol", "x"]}

# row, status
ROWS = [
    ({"completion": f"```python\n{code(3)}\n```", "checks": [check("exact", 3)]}, "OK"),
    ({"code": code("n + 1", "n"), "checks": [check("exact", 3, args=[2]), check("numeric", 1.5, args=[0.5])]}, "OK"),
    ({"code": code(3), "checks": [check("exact", 3, args=None, tolerance=None)]}, "OK"),
    ({"code": code(3.1), "checks": [check("numeric", 3, tolerance=0.1)]}, "OK"),
    ({"code": code(3.1), "checks": [check("numeric", 3)]}, "WRONG_VALUE"),
    ({"code": code("'3'"), "checks": [check("exact", "3")]}, "OK"),
    ({"code": code("{2, 1}"), "checks": [check("set", {"$set": [1, 2]})]}, "OK"),
    ({"code": code("(1, [2])"), "checks": [check("exact", {"$tuple": [1, [2]]})]}, "OK"),
    ({"code": code("[(1, 2)]"), "checks": [check("exact", [{"$tuple": [1, 2]}])]}, "OK"),
    ({"code": code("{'a': 1, 'b': [2]}"), "checks": [check("exact", {"a": 1, "b": [2]})]}, "OK"),
    ({"code": code("x * x", "x"), "checks": [check("symbolic", "x**2", args=[X])]}, "OK"),
    ({"code": code("x['k'][1]", "x"), "checks": [check("exact", 5, args=[{"k": [4, 5]}])]}, "OK"),
    ({"code": code("2**70"), "checks": [check("exact", 2**70)]}, "OK"),
    ({"code": code(3), "checks": checks_text([Check("exact", "3")])}, "OK"),
    ({"code": code("'[3]'"), "checks": checks_text([Check("exact", '"[3]"')])}, "OK"),
    ({"code": code("[3]"), "checks": checks_text([Check("sequence", "[3]")])}, "OK"),
    ({"code": code("n", "n"), "checks": checks_text([Check("exact", "3", "[3]")])}, "OK"),
    ({"code": code(3), "checks": json.dumps([check("exact", 3, args=[])])}, "OK"),
    ({"code": code(3), "reference": code("1 + 2")}, "OK"), ({"code": code(3.0), "reference": code("1 + 2")}, "OK"),
    ({"code": code(3.0), "reference": code("1 + 2"), "kind": "exact"}, "WRONG_TYPE"),
    ({"code": code("(1, 2)"), "reference": code("[1, 2]")}, "OK"),
    ({"code": code("[2, 1]"), "reference": code("{1, 2}")}, "OK"),
    ({"code": code("'a'"), "reference": code("'b'")}, "WRONG_VALUE"),
    ({"code": code("n * n", "n"), "reference": code("n**2", "n"), "args": [7]}, "OK"),
    ({"code": code("x * x", "x"), "reference": code("x**2", "x"), "args": [X]}, "OK"),
    ({"code": code(3.1), "reference": code(3), "tolerance": 0.1}, "OK"),
    ({"completion": "No.", "checks": [check("exact", 3)], "code": None}, "NO_CODE"),
    ({"code": "", "checks": [check("exact", 3)], "reference": None}, "EMPTY"),
    ({"code": "x = '\ud800'", "checks": [check("exact", 3)]}, "SYNTAX"),
]  # fmt: skip


def test_rows_that_are_judged(sandbox):
    told = list(judge_rows([row | {"problem_id": place, "other": {}} for place, (row, _) in enumerate(ROWS)], sandbox))
    assert [row["status"] for row in told] == [status for _, status in ROWS]
    assert [row["problem_id"] for row in told] == list(range(len(ROWS)))
    assert all(("code" in row) == ("completion" in given) for row, (given, _) in zip(told, ROWS, strict=True))
    json.dumps(told).encode()


def test_a_verdict_as_json():
    row = {"completion": f"```\n{code(4)}\n```", "checks": [check("numeric", 3), check("exact", 4)], "family": "f"}
    (told,) = judge_rows([row])
    assert told == {
        "family": "f", "status": "WRONG_VALUE", **dict.fromkeys(LAYERS, True), "correct": False, "passed": 1,
        "total": 2, "format_ok": True, "error": "check 1: it is another number", "value": "4", "code": code(4) + "\n",
    }  # fmt: skip


def test_rows_are_judged_as_they_come(sandbox):
    taken = []

    def rows():
        for place in range(2 * TOGETHER):
            taken.append(place)
            yield {"code": code(place % 3), "checks": [check("exact", 0)]}

    told = judge_rows(rows(), sandbox)
    assert next(told)["correct"] and len(taken) == TOGETHER
    assert sum(row["correct"] for row in told) == -(-2 * TOGETHER // 3) - 1


def test_the_form_of_completions_can_be_asked_for(sandbox):
    row = {"completion": code(3), "checks": [check("exact", 3)]}
    assert [next(judge_rows([row], sandbox, form=form))["status"] for form in ("any", "raw", "fenced")] == [
        "OK",
        "OK",
        "NO_CODE",
    ]


BAD = [
    ("text", "needs completion or code"), ({}, "neither completion nor code"),
    ({"code": "x"}, "neither checks nor reference"),
    ({"code": "x", "completion": "x", "checks": []}, "both completion and code"),
    ({"code": "x", "checks": [], "reference": "x"}, "both checks and reference"),
    ({"code": 3, "checks": []}, "code must be a text"), ({"code": "x", "checks": []}, "checks: one or more"),
    ({"code": "x", "checks": {}}, "checks: one or more"), ({"code": "x", "checks": 3}, "checks: one or more"),
    ({"code": "x", "checks": "["}, "checks: no JSON"), ({"code": "x", "checks": "[" * 10**5}, "no JSON"),
    ({"code": "x", "checks": ["x"]}, "a check is an object"),
    ({"code": "x", "checks": [{"kind": "exact"}]}, "kind and expected"),
    ({"code": "x", "checks": [check("equal", 1)]}, "choose from exact"),
    ({"code": "x", "checks": [check("exact", 1, tolerence=1)]}, "did you mean 'tolerance'"),
    ({"code": "x", "checks": [check("exact", 1, args=1)]}, "args must be a list"),
    ({"code": "x", "checks": [check("exact", {"$what": 1})]}, "expected is no value"),
    ({"code": "x", "checks": [check("numeric", 1, tolerance="big")]}, "tolerance must be a number"),
    ({"code": "x", "checks": [check("numeric", 1, tolerance=2)]}, "tolerance is 2"),
    ({"code": "x", "checks": [check("numeric", "1")]}, "cannot expect"),
    ({"code": "x", "checks": [check("numeric", float("nan"))]}, "cannot expect"),
    ({"code": "x", "checks": '[{"kind": "exact", "expected": "a"}]'}, "no encoded value"),
    ({"code": "x", "checks": '[{"kind": "exact", "expected": "1", "args": "1"}]'}, "args must be"),
    ({"code": "x", "reference": 3}, "reference must be a text"),
    ({"code": "x", "reference": code("x")}, "the reference does not return a value"),
    ({"code": "x", "reference": "def answer(:"}, "the reference does not return a value"),
    ({"code": "x", "reference": code("iter([])")}, "reference: a check of kind exact cannot"),
    ({"code": "x", "reference": code(1), "kind": "set"}, "reference: a check of kind set cannot"),
    ({"code": "x", "reference": code(1), "args": 1}, "args must be a list"),
    ({"code": "x", "reference": code(1), "kind": "same"}, "choose from exact"),
    ({"code": "x", "checks": [check("exact", 1)], "family": 3}, "family must be"),
]  # fmt: skip


@pytest.mark.parametrize(("row", "message"), BAD, ids=range(len(BAD)))
def test_bad_rows_are_named(row, message, sandbox):
    good = {"code": code(1), "checks": [check("exact", 1)]}
    with pytest.raises(UserError, match=f"^row 2: .*{message}"):
        list(judge_rows([good, row], sandbox))


def test_rows_before_a_bad_one_get_their_verdicts(sandbox):
    good = {"code": code(1), "checks": [check("exact", 1)]}
    told = judge_rows([good, good, {}, good], sandbox)
    assert [next(told)["correct"], next(told)["correct"]] == [True, True]
    with pytest.raises(UserError, match="row 3"):
        next(told)
    assert list(judge_rows([], sandbox)) == []
