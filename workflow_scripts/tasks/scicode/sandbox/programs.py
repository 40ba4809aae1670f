"""Run one program in a process that nothing outlives. The one place where a model's text is executed.

`exec` and `compile` are here because running the program is the task: the sandbox's runner alone imports this file,
and its processes have no network, no files, no rights and little time by the time that they get here. Whatever the
program does to this process, its interpreter or its standard library, the worst that comes of it is a wrong report
about itself: what it should have returned is not here.
"""

import json
import linecache
import os
import resource
import sys
import types
from collections.abc import Sequence
from pathlib import Path

from workflow_scripts.tasks.scicode.encoding import TooLargeError, encode
from workflow_scripts.tasks.scicode.sandbox.symbols import lively
from workflow_scripts.tasks.scicode.values import decode

_LONGEST_ERROR = 300
_write, _dumps, _exit, _raise_limit = os.write, json.dumps, os._exit, resource.setrlimit
_recursion = sys.setrecursionlimit


def run(source: str, calls: Sequence[str], report: int, *, largest: int, memory: int) -> None:
    """Execute the module, then make its calls, and tell of each in one line of JSON, [status, value, error]; ends the
    process.

    report: the descriptor to write to. largest: characters of one returned value. memory: bytes of address space that
    reports may use beyond the limit that is in force.
    """
    code = 1
    try:
        _run(source, calls, report, largest, memory)
        for stream in (sys.stdout, sys.stderr):
            stream.flush()
        code = 0
    finally:  # no clean-up, which the program may have hung things on
        _exit(code)


_WARM_UPS = {
    "math": """
import math
class A:
    b = 1
def answer(n):
    return [n, math.sqrt(2), (A().b, 'c'), {'d': {1}}]
""",
    "numpy": """
import numpy as np
def answer(n):
    a = np.array([[2.0, 1], [1, 3]])
    return [np.linalg.eigh(a)[0], np.linalg.solve(a, a), np.linalg.eigvals(a), np.sin(a @ a).sum(), np.linalg.norm(a),
            np.linspace(0, 1, 3), np.arange(3).mean(), np.roots([1, 2, 3]), np.round(a, 3), 1j * a, str(a)]
""",
    "sympy": """
from sympy import *
def answer(n):
    x, y = symbols('x y', positive=True)
    return [diff(sin(x) * exp(x * y), x), integrate(x**2 * sin(x), (x, 0, 1)), simplify(sin(x)**2 + cos(x)**2),
            str(x / y), solve(x**2 - y, x), factor(x**2 - 1), expand((x + y)**3),
            series(exp(x), x, 0, 3), limit(sin(x) / x, x, 0), Matrix([[1, x], [x, 1]]).eigenvals(), N(pi, 20),
            Rational(1, 3) + sqrt(2), Symbol('z') * I, latex(x), lambdify(x, x + 1)(2),
            summation(x, (x, 1, 3)), binomial(5, 2), nsimplify('0.5'), (x + 1).subs(x, 2)]
""",
    "scipy.special": """
from scipy import integrate, linalg, optimize, special
def answer(n):
    return [integrate.quad(lambda t: t * t, 0, 1)[0], special.erf(1.0), special.jv(0, 1), linalg.expm([[0.0, 1]] * 2),
            optimize.brentq(lambda t: t - 1, 0, 3), integrate.solve_ivp(lambda t, y: -y, (0, 1), [1.0]).y]
""",
}
"""library -> a program of ours that makes it load and remember what most programs need of it."""


def warm_up() -> None:
    """Do once what every child would do for the first time, so that it finds it done."""
    with Path(os.devnull).open("wb") as nowhere:
        for library, source in _WARM_UPS.items():
            if library in sys.modules:
                for _ in range(20 if library == "math" else 1):
                    _run(json.loads(json.dumps(source)), ["[1]"], nowhere.fileno(), 1 << 16, 0)
    del sys.modules["program"]


def _run(source: str, calls: Sequence[str], report: int, largest: int, memory: int) -> None:
    def tell(status: str, value: str | None = None, error: str = "") -> None:
        text = (_dumps([status, value, error]) + "\n").encode()
        while text:
            text = text[_write(report, text) :]

    def failed(error: BaseException) -> None:
        hoard = resource.RLIMIT_AS
        if isinstance(error, MemoryError) and memory:
            hard = resource.getrlimit(hoard)[1]
            _raise_limit(hoard, (hard, hard))
        tell(_status(error), None, _described(error))

    module = types.ModuleType("program")
    module.__file__ = "<program>"
    sys.modules["program"] = module
    linecache.cache.clear()
    try:
        code = compile(source, "<program>", "exec", dont_inherit=True)
    except BaseException as error:
        # ValueError: null bytes; the others: source that nests too deep
        large = isinstance(error, MemoryError) and len(source) > 1 << 18
        tell("memory" if large else "syntax", None, _described(error))
        return
    prepared = [_arguments(call) for call in calls]  # while everything is as it should be
    try:
        exec(code, module.__dict__)
    except BaseException as error:
        failed(error)
        return
    answer = module.__dict__.get("answer")
    if not callable(answer):
        tell("no_answer", None, "no function answer" if answer is None else "answer is no function")
        return
    tell("ok")
    for arguments in prepared:
        try:
            if isinstance(arguments, Exception):
                raise arguments
            result = answer(*arguments)
            _recursion(10_000)
            value = encode(result, largest=largest)
        except BaseException as error:
            _recursion(10_000)
            failed(error)
        else:
            tell("ok", value)


def _arguments(call: str) -> list | Exception:
    """What to call `answer` with, or why there is no telling."""
    try:
        found = lively(decode(call))
        return found if isinstance(found, list) else ValueError(f"arguments are a list, not {call[:80]}")
    except Exception as error:
        return error


def _status(error: BaseException) -> str:
    kind = type(error)
    if issubclass(kind, MemoryError):
        return "memory"
    return "output" if kind is TooLargeError else "error"


def _described(error: BaseException) -> str:
    """Type, message and line of an error, whatever its own methods do."""
    name = type.__dict__["__name__"].__get__(type(error))
    try:
        said = str.__str__(str(error))
    except BaseException:
        said = ""
    line, trace = None, error.__traceback__
    while trace is not None:
        if trace.tb_frame.f_code.co_filename == "<program>":
            line = trace.tb_lineno
        trace = trace.tb_next
    if isinstance(error, SyntaxError) and isinstance(error.lineno, int):
        return f"{name}: {error.msg} (line {error.lineno})"[:_LONGEST_ERROR]
    text = f"{name}: {said}"[:_LONGEST_ERROR] if said else name
    return text if line is None else f"{text} (line {line})"
