"""Verdicts on programs that are run for real: layers, reasons, partial credit."""

from itertools import pairwise

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from workflow_scripts.records.errors import UserError
from workflow_scripts.tasks.scicode.judging import judge, judge_code
from workflow_scripts.tasks.scicode.problems import Check, Problem
from workflow_scripts.tasks.scicode.sandbox import Limits, Sandbox
from workflow_scripts.tasks.scicode.values import encode
from workflow_scripts.tasks.scicode.verdicts import LAYERS, SHOWN_VALUE, Status

LADDER = ["nothing", *LAYERS]


@pytest.fixture(scope="module")
def sandbox():
    with Sandbox(Limits(cpu_seconds=0.5, memory_mb=256), workers=1) as running:
        yield running


def problem(*checks):
    return Problem("p", "f", "t", "", "", "", tuple(Check(*check) for check in checks))


def fenced(code):
    return f"```python\n{code}\n```"


X = '{"$expr":["Symbol","x"]}'
HALF = problem(("numeric", "2.5"))
SQUARES = problem(("numeric", "1", "[1]"), ("numeric", "4", "[2]"), ("numeric", "9", "[3]"))
FORMULA = problem(("symbolic", '"x**2 + 1"', f"[{X}]"))
PAIR = problem(("sequence", "[1,2]"), ("exact", "[1,2]"))

# problem, program, the last layer that holds, status, checks passed
PROGRAMS = [
    (HALF, "def answer(): return 2.5", "correct", "OK", 1), (HALF, "answer = lambda: 5 / 2", "correct", "OK", 1),
    (HALF, "from math import sqrt\nclass answer(float):\n    def __new__(c): return 2.5", "correct", "OK", 1),
    (HALF, "def answer(x=1): return x + 1.5", "correct", "OK", 1),
    (HALF, "from fractions import Fraction\ndef answer(): return Fraction(5, 2)", "correct", "OK", 1),
    (HALF, "import numpy as np\ndef answer(): return np.float32(2.5)", "correct", "OK", 1),
    (HALF, "from sympy import Rational\ndef answer(): return Rational(5, 2)", "correct", "OK", 1),
    (HALF, "print('2.5')\ndef answer():\n    print(3)\n    return 2.5", "correct", "OK", 1),
    (HALF, "def answer(): return 2.4", "typed", "WRONG_VALUE", 0),
    (HALF, "def answer(): return '2.5'", "runs", "WRONG_TYPE", 0),
    (HALF, "def answer(): return [2.5]", "runs", "WRONG_TYPE", 0),
    (HALF, "def answer(): pass", "runs", "WRONG_TYPE", 0), (HALF, "def answer(): yield 2.5", "runs", "WRONG_TYPE", 0),
    (HALF, "async def answer(): return 2.5", "runs", "WRONG_TYPE", 0),
    (HALF, "def answer(): return 1 / 0", "defines", "ERROR", 0),
    (HALF, "def answer(x): return 2.5", "defines", "ERROR", 0),
    (HALF, "def answer(): return 2.5\n1 / 0", "defines", "ERROR", 0),
    (HALF, "import nothing\ndef answer(): pass", "defines", "ERROR", 0),
    (HALF, "def answer():\n    while True: pass", "defines", "TIMEOUT", 0),
    (HALF, "def answer(): return [0] * 10**9", "defines", "MEMORY", 0),
    (HALF, "def answer(): return '0' * 10**8", "defines", "OUTPUT", 0),
    (HALF, "import os\ndef answer(): os._exit(0)", "defines", "KILLED", 0),
    (HALF, "def answer(): raise SystemExit", "defines", "ERROR", 0), (HALF, "answer = 2.5", "parses", "NO_ANSWER", 0),
    (HALF, "def answer(): pass\ndel answer", "parses", "NO_ANSWER", 0),
    (HALF, "def solve(): return 2.5", "parses", "NO_ANSWER", 0),
    (HALF, "globals()['answer'] = lambda: 2.5", "correct", "OK", 1),
    (HALF, "x = 'answer'", "parses", "NO_ANSWER", 0),
    (HALF, "def answer(: return 2.5", "extracted", "SYNTAX", 0),
    (HALF, "def answer(): return 2.5\nreturn", "extracted", "SYNTAX", 0),
    (HALF, "def answer(): pass\nx = " + "-" * 100_000 + "1", "extracted", "TOO_DEEP", 0),
    (HALF, "def answer(): pass\n#" + "x" * 140_000, "extracted", "TOO_LONG", 0),
    (SQUARES, "def answer(n): return n**2", "correct", "OK", 3),
    (SQUARES, "def answer(n): return n", "typed", "WRONG_VALUE", 1),
    (SQUARES, "def answer(n): return 9", "typed", "WRONG_VALUE", 1),
    (SQUARES, "def answer(n): return 2 + 1 / (n - 2)", "defines", "ERROR", 1),
    (SQUARES, "def answer(n): return n * n / (n != 2)", "defines", "ERROR", 2),
    (SQUARES, "def answer(n): return str(n) if n > 1 else 1", "runs", "WRONG_TYPE", 1),
    (SQUARES, "def answer(n):\n    while n > 2: pass\n    return n * n", "defines", "TIMEOUT", 2),
    (SQUARES, "def answer(): return 1", "defines", "ERROR", 0),
    (FORMULA, "def answer(x): return x * x + 1", "correct", "OK", 1),
    (FORMULA, "def answer(x): return '1+x*x'", "correct", "OK", 1),
    (FORMULA, "import sympy\ndef answer(x): return (x + sympy.I) * (x - sympy.I)", "correct", "OK", 1),
    (FORMULA, "def answer(x): return 2 * x + 1", "typed", "WRONG_VALUE", 0),
    (FORMULA, "def answer(x): return 'x squared'", "runs", "WRONG_TYPE", 0),
    (FORMULA, "import sympy\ndef answer(x): return sympy.Integral(x, x)", "typed", "UNDECIDED", 0),
    (PAIR, "def answer(): return [1, 2]", "correct", "OK", 2),
    (PAIR, "def answer(): return (1, 2)", "runs", "WRONG_TYPE", 1),
    (PAIR, "import numpy\ndef answer(): return numpy.array([1, 2])", "correct", "OK", 2),
    (PAIR, "def answer(): return [1.0, 2.0]", "runs", "WRONG_TYPE", 1),
]  # fmt: skip


@pytest.fixture(scope="module")
def verdicts(sandbox):
    return judge([(fenced(code), asked) for asked, code, *_ in PROGRAMS], sandbox)


@pytest.mark.parametrize("place", range(len(PROGRAMS)))
def test_programs_reach_their_layer(verdicts, place):
    asked, code, reached, status, passed = PROGRAMS[place]
    found = verdicts[place]
    held = [layer for layer in LAYERS if getattr(found, layer)]
    assert (LADDER[len(held)], held) == (reached, list(LAYERS[: len(held)])), found
    assert (found.status, found.passed, found.total) == (Status(status), passed, len(asked.checks)), found
    assert (found.code, found.format_ok) == (code + "\n", found.defines)
    assert bool(found.error) == (status != "OK")


def test_bare_programs_get_the_same_verdicts(verdicts, sandbox):
    bare = judge_code([(code + "\n", asked) for asked, code, *_ in PROGRAMS[:8]], sandbox)
    assert bare == verdicts[:8]
    assert (
        judge_code([("", HALF), (" \n", HALF)], sandbox)
        == [(Status.EMPTY, *[False] * 6, 0, 1, False, None, None, "")] * 2
    )


TEXTS = [
    ("", "EMPTY"), ("No idea.", "NO_CODE"), ("<think>hm", "UNCLOSED_THINK"), (fenced(""), "EMPTY"),
    (fenced("x = 1"), "NO_ANSWER"), ("def answer(): return 2.5", "OK"),
    (f"Well:\n{fenced('def answer(): return 2.5')}", "OK"),
    (fenced("def answer(): return 2.5\ndef answer(): return 2.5"), "OK"),
    (fenced("def answer(): return 2.5")[:-4], "OK"),
]  # fmt: skip


@pytest.mark.parametrize(("text", "status"), TEXTS, ids=range(len(TEXTS)))
def test_texts_without_the_format(sandbox, text, status):
    (found,) = judge([(text, HALF)], sandbox)
    assert (found.status, found.format_ok) == (Status(status), False)


def test_a_raw_text_is_a_program_where_that_is_asked(sandbox):
    pairs = [("def answer(): return 2.5", HALF), (fenced("def answer(): return 2.5"), HALF)]
    assert [(v.status, v.format_ok) for v in judge(pairs, sandbox, form="raw")] == [("OK", True), ("SYNTAX", False)]
    assert [v.status for v in judge(pairs, sandbox, form="fenced")] == ["NO_CODE", "OK"]


def test_what_is_expected_is_nowhere_in_the_sandbox(sandbox):
    wanted = "str(int('7654') * 1000 + 321)"
    spying = f"import gc\ndef answer():\n    return [str(o)[:200] for o in gc.get_objects() if {wanted} in str(o)]"
    (found,) = judge_code([(spying, problem(("exact", "7654321")))], sandbox)
    assert found.runs and "7654321" not in found.value


class Counting:
    """The sandbox, and what it was asked to run."""

    def __init__(self, sandbox):
        self.sandbox, self.programs = sandbox, []

    def run(self, programs):
        self.programs += programs
        return self.sandbox.run(programs)


def test_equal_programs_are_run_once_and_never_see_what_is_expected(sandbox):
    counting = Counting(sandbox)
    twice = problem(("numeric", "77", "[7]"), ("exact", "77", "[7]"), ("numeric", "88", "[8]"))
    texts = [fenced("def answer(n): return 11 * n")] * 3 + ["Look:\n" + fenced("def answer(n): return 11 * n"), "none"]
    found = judge([(text, twice) for text in texts], counting)
    assert [verdict.passed for verdict in found] == [3, 3, 3, 3, 0]
    assert [program.calls for program in counting.programs] == [("[7]", "[8]")]
    assert "77" not in str(counting.programs) and "88" not in str(counting.programs)


def test_a_value_is_kept_up_to_a_length(sandbox):
    (found,) = judge_code(
        [("def answer(): return list(range(200_000))", problem(("sequence", encode([1] * 200_000))))], sandbox
    )
    assert found.status is Status.WRONG_VALUE and found.typed and len(found.value) == SHOWN_VALUE


HOPELESS = [
    (problem(), "problem p has no checks"),
    (problem(("numeric", "1"), ("numeric", '"1"')), "problem p, check 2: a check of kind numeric cannot expect"),
    (problem(("symbolic", '"2x"')), "problem p, check 1: expected is no formula"),
    (problem(("exact", "not json")), "problem p, check 1: expected is no encoded value"),
    (problem(("exact", "1", "not json")), "problem p, check 1: args is no encoded value"),
    (problem(("exact", "1", "1")), "problem p, check 1: args must be a list"),
]  # fmt: skip


@pytest.mark.parametrize(("asked", "message"), HOPELESS)
def test_a_problem_that_cannot_be_judged_is_an_error(sandbox, asked, message):
    for judged in (judge, judge_code):
        with pytest.raises(UserError, match=message):
            judged([("def answer(): return 1", HALF), ("def answer(): return 1", asked)], sandbox)


LINES = [
    "def answer(n=1):",
    "    return n",
    "    return 2.5",
    "answer = 3",
    "```",
    "```python",
    "x = (",
    "1 / 0",
    "import os",
    "    yield",
    "<think>",
    "</think>",
    "é",
]


@settings(max_examples=30)
@given(st.lists(st.lists(st.sampled_from(LINES), max_size=6).map("\n".join), min_size=1, max_size=20))
def test_layers_hold_in_order_whatever_is_written(sandbox, texts):
    for asked in (HALF, SQUARES):
        for found in judge([(text, asked) for text in texts], sandbox):
            flags = [getattr(found, layer) for layer in LAYERS]
            assert all(before or not after for before, after in pairwise(flags))
            assert found.correct == (found.status is Status.OK) == (found.passed == found.total)
            assert found.defines or not found.format_ok
            assert (found.code is not None) == found.extracted
