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


THIEF_OF_FRAMES = """
import json, sys
def answer():
    frame = sys._getframe()
    while frame.f_code.co_name != "serve":
        frame = frame.f_back
    return json.loads(json.loads(frame.f_locals["report"].decode().splitlines()[1])[1])
"""
THIEF_OF_MEMORY = """
import ctypes, gc, os, re
def answer():
    gc.unfreeze()
    libc, (reader, writer) = ctypes.CDLL(None), os.pipe()
    libc.write.argtypes = [ctypes.c_int, ctypes.c_void_p, ctypes.c_size_t]
    for place in {id(item) >> 20 for one in gc.get_objects() for item in (one, *gc.get_referents(one))}:
        for start in range(place << 20, place + 1 << 20, 1 << 16):
            if (count := libc.write(writer, start, 1 << 16)) > 0:
                if found := re.search(rb'"ok", "(7[0-9.]{9,})", ""', os.read(reader, count)):
                    return float(found[1])
"""


@pytest.mark.parametrize("thief", [THIEF_OF_FRAMES, THIEF_OF_MEMORY], ids=["frames", "memory"])
@pytest.mark.parametrize("isolation", ["auto", "bubblewrap", "process"])
@pytest.mark.filterwarnings("ignore:programs run with weaker isolation")
def test_the_value_of_a_reference_cannot_be_stolen(thief, isolation):
    reference = "import math\ndef answer(): return 7 + math.pi / 5"
    try:
        with Sandbox(Limits(), workers=1, isolation=isolation) as running:
            rows = [{"code": text, "reference": reference} for text in (thief, reference, thief + "#")]
            told = list(judge_rows(rows, running))
    except UserError as error:
        pytest.skip(str(error))
    assert [row["correct"] for row in told] == [False, True, False]


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
    failing = {"code": code(1), "reference": "def answer():\n    return 1 / 0"}
    unread = {"code": code(1), "reference": code(1), "args": 3}
    for bad in ({}, failing, unread):
        told = judge_rows([good, good, bad, good], sandbox)
        assert [next(told)["correct"], next(told)["correct"]] == [True, True]
        with pytest.raises(UserError, match="row 3"):
            next(told)
    assert list(judge_rows([], sandbox)) == []
