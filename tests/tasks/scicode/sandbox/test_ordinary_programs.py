"""What a scientist writes runs in the sandbox as it does elsewhere."""

import tempfile
from pathlib import Path

import pytest

from workflow_scripts.records.errors import UserError
from workflow_scripts.tasks.scicode.sandbox import Limits, Outcome, Program, Sandbox, Status, isolation


@pytest.fixture(scope="module")
def sandbox():
    with Sandbox(Limits(cpu_seconds=5)) as sandbox:
        yield sandbox


def value(sandbox, source, *calls):
    (outcome,) = sandbox.run([Program(source, calls or ("[]",))])
    assert (outcome.status, outcome.error) == (Status.OK, "")
    assert [returned.error for returned in outcome.calls] == [""] * len(outcome.calls)
    found = [returned.value for returned in outcome.calls]
    return found if calls else found[0]


@pytest.mark.parametrize(
    ("source", "text"),
    [
        ("from math import floor, pi\ndef answer(): return floor(pi)", "3"),
        ("from math import *\ndef answer(): return sqrt(16.0)", "4.0"),
        ("import cmath\ndef answer(): return cmath.exp(0j)", '{"$complex":[1.0,0.0]}'),
        ("answer = lambda: [n * n for n in range(4)]", "[0,1,4,9]"),
        ("def f(n):\n    return n if n < 2 else f(n - 1) + f(n - 2)\ndef answer(): return f(15)", "610"),
        ("class A:\n    def __init__(self, n): self.n = n\ndef answer(): return A(4).n", "4"),
        (
            "from dataclasses import dataclass\n@dataclass\nclass P:\n    x: int = 1\n    y: 'float' = 0.5\n"
            "def answer():\n    p = P()\n    return (p.x, p.y)",
            '{"$tuple":[1,0.5]}',
        ),
        ("import statistics\ndef answer(): return statistics.mean([1, 2, 6])", "3"),
        ("from collections import Counter, deque\ndef answer(): return Counter('aab')['a'] + len(deque([1]))", "3"),
        ("from fractions import Fraction\ndef answer(): return Fraction(2, 4)", '{"$fraction":["1","2"]}'),
        ("from decimal import Decimal\ndef answer(): return Decimal('1.10') * 2", '{"$decimal":"2.20"}'),
        ("from itertools import product\ndef answer(): return list(product('ab', repeat=1))",
         '[{"$tuple":["a"]},{"$tuple":["b"]}]'),
        ("import functools\n@functools.cache\ndef f(n): return n and n + f(n - 1)\ndef answer(): return f(9)", "45"),
        ("def answer():\n    print('so far')\n    return isinstance(next(iter(map(str, [1]))), str)", "true"),
        ("import numpy as np\ndef answer(): return np.linalg.eigvalsh(np.diag([1.0, 2.0]))", "[1.0,2.0]"),
        ("import numpy as np\ndef answer(): return np.linspace(0, 1, 3).sum()", "1.5"),
        ("from scipy import integrate\ndef answer(): return round(integrate.quad(lambda t: t, 0, 2)[0], 6)", "2.0"),
        ("from scipy.optimize import brentq\ndef answer(): return round(brentq(lambda t: t * t - 4, 0, 9), 6)", "2.0"),
        ("from scipy.constants import c\ndef answer(): return c", "299792458.0"),
        ("from scipy.stats import norm\ndef answer(): return float(norm.cdf(0))", "0.5"),
        ("import sympy as sp\ndef answer():\n    t = sp.Symbol('t')\n    return sp.integrate(2 * t, t)",
         '{"$expr":["Pow",["Symbol","t"],["Integer","2"]]}'),
        ("from sympy import *\ndef answer(): return Matrix([[1, 0], [0, 2]]).det()", '{"$expr":["Integer","2"]}'),
        ("import mpmath\ndef answer(): return int(mpmath.floor(mpmath.pi))", "3"),
        ("def answer():\n    with open('notes', 'w') as f: f.write('x')\n    return open('notes').read()", '"x"'),
        ("import tempfile\ndef answer():\n    with tempfile.TemporaryFile() as f: return f.write(b'abc')", "3"),
        ("import asyncio\nasync def f(): return 3\ndef answer(): return asyncio.run(f())", "3"),
        ("from concurrent.futures import ThreadPoolExecutor as P\n"
         "def answer():\n    with P(4) as pool: return list(pool.map(abs, [-1, 2]))", "[1,2]"),
        ("if __name__ == '__main__':\n    raise SystemExit\ndef answer(): return 1", "1"),
        ("from __future__ import annotations\ndef answer() -> NoSuchType: return 1", "1"),
        ("# -*- coding: utf-8 -*-\ndef answer(): return 'π'", r'"\u03c0"'),
        ("def answer(*, n=3): return n", "3"),
        ("class answer:\n    def __init__(self): pass", '{"$other":"answer"}'),
        ("async def answer(): return 1", '{"$other":"coroutine"}'),
        ("def answer():\n    yield 1", '{"$other":"generator"}'),
        ("import pathlib\ndef answer(): return pathlib.Path('a')", '{"$other":"PosixPath"}'),
    ],
)  # fmt: skip
def test_ordinary_programs(sandbox, source, text):
    assert value(sandbox, source) == text


@pytest.mark.parametrize(
    ("source", "args", "text"),
    [
        ("def answer(n): return n + 1", "[1]", "2"),
        ("def answer(n): return type(n).__name__", '[{"$int":"9007199254740993"}]', '"int"'),
        ("def answer(a, b): return a == (1, 2) and b == {'k': 1}", '[{"$tuple":[1,2]},{"$dict":[["k",1]]}]', "true"),
        ("import sympy\ndef answer(x): return sympy.diff(x**3, x) / 3", '[{"$expr":["Symbol","x"]}]',
         '{"$expr":["Pow",["Symbol","x"],["Integer","2"]]}'),
        # A program that does not import sympy itself
        ("def answer(x): return -x", '[{"$expr":["Symbol","x"]}]', '{"$expr":["Mul",["Integer","-1"],["Symbol","x"]]}'),
        ("def answer(e): return e", '[{"$expr":["Piecewise",["ExprCondPair",["sin",["Symbol","x"]],["true"]]]}]',
         '{"$expr":["sin",["Symbol","x"]]}'),
        ("def answer(e): return [e, -e]", '[{"$expr":["Add",["Rational","1","3"],["pi"],["Mul",["I"],["oo"]]]}]',
         None),
        ("def answer(e): return e.func.__name__", '[{"$expr":["Function","g",["Float","0.5"]]}]', '"g"'),
    ],
)  # fmt: skip
def test_arguments(sandbox, source, args, text):
    (found,) = value(sandbox, source, args)
    assert found == text if text else found.startswith("[")


@pytest.mark.parametrize(
    ("source", "status", "error"),
    [
        ("def answer(:", Status.SYNTAX, "SyntaxError: invalid syntax (line 1)"),
        ("x = 1\n  y = 2", Status.SYNTAX, "IndentationError: unexpected indent (line 2)"),
        ("def answer(): return '\0'", Status.SYNTAX, "null bytes"),
        ("def answer(): return '\ud800'", Status.SYNTAX, "UnicodeEncodeError"),
        ("(" * 5000 + ")" * 5000, Status.SYNTAX, ""),
        ("", Status.NO_ANSWER, "no function answer"),
        ("answer = 42", Status.NO_ANSWER, "answer is no function"),
        ("x = 1\nx / 0\ndef answer(): return 1", Status.ERROR, "ZeroDivisionError: division by zero (line 2)"),
        ("import no_such_module", Status.ERROR, "ModuleNotFoundError"),
        ("import torch", Status.ERROR, "ModuleNotFoundError"),
        ("import pandas", Status.ERROR, "ModuleNotFoundError"),
        ("from workflow_scripts.tasks.scicode.problems import Problem", Status.ERROR, "ModuleNotFoundError"),
        ("raise SystemExit", Status.ERROR, "SystemExit"),
        ("import sys\nsys.exit(0)", Status.ERROR, "SystemExit: 0"),
        ("raise KeyboardInterrupt", Status.ERROR, "KeyboardInterrupt"),
        ("input()", Status.ERROR, "EOFError"),
    ],
)
def test_modules_that_fail(sandbox, source, status, error):
    (outcome,) = sandbox.run([Program(source, ("[]", "[1]"))])
    assert outcome.status is status
    assert error in outcome.error
    assert [(call.status, call.value, call.error) for call in outcome.calls] == [(status, None, outcome.error)] * 2


def test_calls_fail_on_their_own(sandbox):
    source = "def answer(n):\n    if n == 2: raise ValueError('two')\n    return 1 / n"
    (outcome,) = sandbox.run(
        [Program(source, ("[1]", "[2]", "[0]", "[4]", "[]", '[{"$expr":["NoClass"]}]', "no json"))]
    )
    assert outcome.status is Status.OK
    assert [call.value for call in outcome.calls] == ["1.0", None, None, "0.25", None, None, None]
    assert [call.status for call in outcome.calls[:3]] == [Status.OK, Status.ERROR, Status.ERROR]
    assert outcome.calls[1].error == "ValueError: two (line 2)"
    assert "missing 1 required positional argument" in outcome.calls[4].error
    assert "no class 'NoClass'" in outcome.calls[5].error


def test_what_was_told_before_the_end_stays(sandbox):
    source = "import os\ndef answer(n):\n    print('call', n, flush=True)\n    return n if n < 2 else os._exit(3)"
    (outcome,) = sandbox.run([Program(source, ("[1]", "[2]", "[1]"))])
    assert outcome.status is Status.OK
    assert [call.status for call in outcome.calls] == [Status.OK, Status.KILLED, Status.KILLED]
    assert outcome.calls[2].error == "ended with exit status 3 and no report"
    assert outcome.output == "call 1\ncall 2\n"


def test_output_and_time_are_told(sandbox):
    (outcome,) = sandbox.run([Program("print('x' * 20_000)\nsum(range(10**6))\nraise ValueError")])
    assert outcome.output == "x" * 10_000
    assert outcome.seconds > 0


def test_outcomes_come_in_order_and_equal_programs_run_once(sandbox):
    sources = [f"import time\ndef answer(): return ({n}, time.perf_counter_ns())" for n in (3, 1, 3, 2, 1, 3)]
    values = [outcome.calls[0].value for outcome in sandbox.run([Program(source) for source in sources])]
    assert [text[11] for text in values] == list("313213")
    assert len(set(values)) == 3
    assert sandbox.run([]) == []


def test_equal_programs_draw_equal_numbers_in_every_process():
    source = (
        "import random, numpy as np\n"
        "def answer(): return [random.random(), np.random.rand(), list({'a', 'b', 'c', 'd'}), hash('a')]\n"
    )
    found = set()
    for _ in range(2):
        with Sandbox() as sandbox:
            found |= {o.calls[0].value for o in sandbox.run([Program(source + "#" * n) for n in range(4)])}
    assert len(found) == 1


def test_nothing_of_one_program_meets_the_next(sandbox):
    leaves = "import builtins, json, sys, random\nbuiltins.left = json.left = sys.left = 1\nrandom.seed(7)\n"
    leaves += "open('left', 'w').write('x')\ndef answer(): return 1\n"
    looks = "import builtins, json, sys, os, random\nseen = [hasattr(m, 'left') for m in (builtins, json, sys)]\n"
    looks += "def answer(): return [any(seen), os.listdir(), random.random()]\n"
    before = value(sandbox, looks + "# before")
    assert before.startswith("[false,[],")
    for n in range(4):
        assert value(sandbox, leaves + "#" * n) == "1"
        assert value(sandbox, looks + "#" * n) == before


def test_a_large_value_returns_and_a_larger_one_does_not():
    with Sandbox(Limits(value_bytes=1 << 21)) as sandbox:
        whole, text, number, printed = sandbox.run(
            [
                Program("def answer(): return list(range(200_000))"),
                Program("def answer(): return 'x' * 100_000_000"),
                Program("def answer(): return 1 << 10**8"),
                Program("def answer(): return 10**5000"),
            ]
        )
    assert whole.calls[0].value.endswith(",199999]")
    assert (text.calls[0].status, number.calls[0].status) == (Status.OUTPUT, Status.OUTPUT)
    assert printed.calls[0].status is Status.OK


def test_a_program_that_is_too_long_does_not_run():
    with Sandbox(Limits(source_bytes=100)) as sandbox:
        long, short = sandbox.run([Program("#" * 101, ("[]", "[]")), Program("def answer(): return 1")])
    assert long.status is Status.OUTPUT
    assert "longer than 100 bytes" in long.calls[1].error
    assert short.calls[0].value == "1"


def test_one_worker_is_enough():
    with Sandbox(workers=1) as sandbox:
        assert [o.calls[0].value for o in sandbox.run([Program(f"def answer(): return {n}") for n in range(5)])] == [
            *"01234"
        ]


@pytest.fixture
def tucked_away(monkeypatch):
    """A package that programs find in a folder below /tmp."""
    with tempfile.TemporaryDirectory(dir="/tmp") as folder:
        Path(folder).chmod(0o755)
        (Path(folder) / "tucked_away").mkdir(mode=0o755)
        (Path(folder) / "tucked_away/__init__.py").write_text("VALUE = 7\n")
        monkeypatch.syspath_prepend(folder)
        monkeypatch.setattr(isolation, "PACKAGES", (*isolation.PACKAGES, "tucked_away"))
        kept = (isolation.shown, isolation.packages)
        for function in kept:
            function.cache_clear()
        yield
    for function in kept:
        function.cache_clear()


def test_packages_may_lie_where_a_program_s_own_files_would(tucked_away):
    source = """
import os, tempfile
from tucked_away import VALUE
def answer():
    with tempfile.NamedTemporaryFile("w+") as file, open("here.txt", "w") as other:
        print(VALUE, file=file)
        return [VALUE, sorted(os.listdir(".")) == sorted(["here.txt", os.path.basename(file.name)])]
"""
    with Sandbox(workers=1) as sandbox:
        assert value(sandbox, source) == "[7,true]"


def test_temporary_files_go_by_their_usual_name(sandbox):
    if sandbox.isolation.name == "process":
        pytest.skip("programs have a folder of this machine")
    if any(Path(path).is_relative_to("/tmp") for path in isolation.packages()):
        pytest.skip("packages lie there")
    source = "def answer():\n    open('/tmp/a', 'w').write('1')\n    return open('a').read()"
    assert value(sandbox, source) == '"1"'


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (lambda: Sandbox(isolation="jail"), "choose from auto, namespaces, bubblewrap, process"),
        (lambda: Sandbox(workers=0), "at least 1"),
        (lambda: Limits(cpu_seconds=0), "cpu_seconds is 0"),
        (lambda: Limits(memory_mb=1.5), "memory_mb is 1.5; it must be a whole number"),
        (lambda: Limits(threads=True), "threads is True"),
        (lambda: Sandbox(Limits(processes=2), isolation="process"), "more than one process need namespaces"),
    ],
)
def test_settings_that_make_no_sense_are_named(make, words):
    with pytest.raises(UserError, match=words):
        make()


def test_the_types_are_plain():
    assert Program("x").calls == ("[]",)
    assert Outcome(Status.OK, ()) == (Status.OK, (), "", 0.0, "")
    assert Status.NO_ANSWER == "no_answer"
