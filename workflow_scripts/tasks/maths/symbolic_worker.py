r"""What runs inside the worker process of symbolic.py: formulas compared through math-verify's parser and sympy.

Text of a model is evaluated only here, under limits of memory and processor time that the kernel enforces. One JSON
list a line in, one word a line out; the process ends with its input, so that it cannot outlive its parent by more than
a request.

Two formulas are compared at fixed points with 30 digits: a difference at one of them settles that they differ, equality
at all of them that they are the same (names below ``\lfloor``, ``\binom`` and ``!`` take whole numbers). What has no
value (matrices, say) goes to math-verify's `verify`. Not taken over from math-verify: its normalisation, which drops
"units" such as the t of ``3t``, its lower-casing of names (T = t), its six decimals (1e-7 = 1.1e-7), its derivatives of
a name (dx/dt = 0).
"""

import json
import re
import resource
import signal
import sys
from collections.abc import Callable

from workflow_scripts.tasks.maths.verdicts import Status

DIGITS = 30
"""Of the numeric comparison."""
CLOSE = 1e-12
"""Relative difference below which numbers count as equal: the parser reads decimals with 15 digits."""
POINTS = ((0.7391, 1.1234), (1.3177, 0.4567), (2.0413, 1.7891))
"""Where formulas are compared: a variable's value is first + second · its rank by name."""
WHOLE_POINTS = tuple((first, 7) for first in range(2, 14))
"""As POINTS, where names stand for whole numbers."""

_FUNCTIONS = "arcsin|arccos|arctan|sinh|cosh|tanh|sin|cos|tan|cot|sec|csc|log|ln|exp|sqrt"
_REWRITES = tuple(
    (re.compile(pattern), into)
    for pattern, into in (
        (rf"(?<![A-Za-z\\])(?:np\.|math\.|numpy\.)?({_FUNCTIONS})(?![a-z])", r"\\\1 "),
        (rf"(\\(?:{_FUNCTIONS}))\s+([A-Za-z]|\\[a-z]+)(?=\s*/)", r"\1(\2)"),
        (r"\\sqrt\s*\(([^()]*)\)", r"\\sqrt{\1}"),
        (r"\\sqrt\s*([0-9A-Za-z])", r"\\sqrt{\1}"),
        (r"\\frac\s*(\d)\s*(\d)", r"\\frac{\1}{\2}"),
        (r"\\frac\s*(\d)\s*\{", r"\\frac{\1}{"),
        (r"(\\frac\s*\{[^{}]*\})\s*([0-9A-Za-z])", r"\1{\2}"),
        (r"([A-Za-z0-9])!\s*\^", r"(\1!)^"),
        (r"_\s*\{\s*\\([A-Za-z]+)\s*\}", r"_{\1}"),
        (r"([A-Za-z])\s*\^\s*\{?\s*\\prime\s*\}?|([A-Za-z])'", r"\1\2_{prime}"),
        (r"\\dot\s*\{\s*([A-Za-z]|\\[A-Za-z]+)\s*\}", r"\1_{dot}"),
        (r"\\ddot\s*\{\s*([A-Za-z]|\\[A-Za-z]+)\s*\}", r"\1_{ddot}"),
        (r"_\{(d?dot)\}\s*_\s*\{?(\w)\}?", r"_{\1\2}"),
    )
)
_COMMAND = re.compile(r"\\[A-Za-z]+|_\{[^{}]*\}")
_PROSE = re.compile(r"[a-z]{4,}").search


def serve(memory: int, seconds: float) -> None:
    """Answers requests from stdin until it ends.  memory: bytes.  seconds: of processor time, each request."""
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    answers = sys.stdout
    sys.stdout = sys.stderr  # what a library prints must not look like an answer
    import logging

    logging.disable(logging.CRITICAL)
    # Imports and the parser's tables are paid for once, before the clock of a request runs.
    _status(lambda: formulas(r"\frac{\sqrt{3}}{3} + \sin x", r"\frac{1}{\sqrt{3}} + \sin x"))
    resource.setrlimit(resource.RLIMIT_AS, (memory, memory))
    signal.signal(signal.SIGPROF, signal.SIG_DFL)
    _reply(answers, "ready")
    for line in sys.stdin:
        task, *texts = json.loads(line)
        # The signal's default action ends the process, in the middle of one multiplication if need be.
        signal.setitimer(signal.ITIMER_PROF, seconds)
        status = _status(lambda task=task, texts=texts: TASKS[task](*texts))
        signal.setitimer(signal.ITIMER_PROF, 0)
        _reply(answers, status.value)
        if status is Status.MEMORY:
            return


def _reply(answers, word: str) -> None:
    answers.write(word + "\n")
    answers.flush()


def _status(task: Callable[[], Status]) -> Status:
    try:
        return task()
    except MemoryError:
        return Status.MEMORY
    except Exception:  # whatever a parser meets in a model's text; counted apart by its status
        return Status.ERROR


def formulas(one: str, other: str) -> Status:
    """Whether two formulas, or two equations ``left = right``, are the same; UNSUPPORTED where one is not read."""
    sides = [[_parsed(side) for side in text.split(" = ")] for text in (one, other)]
    if any(side is None for pair in sides for side in pair):
        return Status.UNSUPPORTED
    if len(sides[0]) != len(sides[1]):
        return Status.WRONG
    return _equations(*sides) if len(sides[0]) == 2 else _expressions(sides[0][0], sides[1][0])


def parses(text: str) -> Status:
    """OK where a formula, or each side of an equation, is read."""
    return Status.UNSUPPORTED if any(_parsed(side) is None for side in text.split(" = ")) else Status.OK


def math_verify(gold: str, completion: str) -> Status:
    """math-verify as its users call it: gold in a box, the completion as it is, all settings left alone."""
    from math_verify import parse, verify

    golds = parse(f"\\boxed{{{gold}}}", parsing_timeout=None)
    answers = parse(completion, parsing_timeout=None)
    if not golds:
        return Status.UNSUPPORTED
    if not answers:
        return Status.NO_ANSWER
    return Status.OK if verify(golds, answers, timeout_seconds=None) else Status.WRONG


TASKS = {"formulas": formulas, "parses": parses, "math_verify": math_verify}


def _parsed(text: str):
    """sympy's expression for a formula, None where math-verify's parser has none or the text is prose."""
    from latex2sympy2_extended.latex2sympy2 import ConversionConfig, latex2sympy
    from sympy import Derivative, E, I, Symbol
    from sympy.core.function import AppliedUndef

    for pattern, into in _REWRITES:
        text = pattern.sub(into, text)
    if _PROSE(_COMMAND.sub(" ", text)):
        return None
    config = ConversionConfig(lowercase_symbols=False)
    try:
        found = latex2sympy(text, normalization_config=None, conversion_config=config)
    except MemoryError:
        raise
    except Exception:  # the parser has no error class of its own
        return None
    if not hasattr(found, "replace") or not hasattr(found, "free_symbols"):
        return None
    # An unknown function's value, and a derivative of a name, are quantities of their own.
    found = found.replace(lambda part: isinstance(part, Derivative | AppliedUndef), lambda part: Symbol(f"<{part}>"))
    constants = {symbol: {"i": I, "e": E}[symbol.name] for symbol in found.free_symbols if symbol.name in ("i", "e")}
    return found.subs(constants) if constants else found


def _expressions(left, right) -> Status:
    from sympy import Expr, Mod, binomial, ceiling, factorial, floor

    if not (isinstance(left, Expr) and isinstance(right, Expr)):
        return _by_math_verify(left, right)
    names = sorted(left.free_symbols | right.free_symbols, key=str)
    whole = any(side.has(floor, ceiling, factorial, binomial, Mod) for side in (left, right))
    points = WHOLE_POINTS if whole else POINTS
    undefined = False
    for point in points if names else points[:1]:
        difference = _difference_at(left, right, names, point)
        if difference is None:
            undefined = True
        elif difference > CLOSE:
            return Status.WRONG
    return _by_math_verify(left, right) if undefined else Status.OK


def _difference_at(left, right, names, point) -> float | None:
    """Relative difference of two formulas at one point, None where they have no value there."""
    from sympy import Float, Integer

    first, second = point
    values = {
        name: Integer(first + second * rank) if isinstance(first, int) else Float(first + second * rank, DIGITS)
        for rank, name in enumerate(names)
    }
    ours, theirs = (side.subs(values).evalf(DIGITS) for side in (left, right))
    if not (ours.is_number and theirs.is_number):
        return None
    try:
        gap, size = abs(complex((ours - theirs).evalf(DIGITS))), max(abs(complex(ours)), abs(complex(theirs)))
    except (TypeError, ValueError, OverflowError):
        return None
    if not size < float("inf") or gap != gap:
        return None
    return gap / size if size else 0.0


def _equations(one, other) -> Status:
    """Equations are the same when the difference of one's sides is a constant times that of the other's."""
    from sympy import Expr, simplify

    if not all(isinstance(side, Expr) for side in (*one, *other)):
        return Status.UNSUPPORTED
    ours, theirs = one[0] - one[1], other[0] - other[1]
    if ours.free_symbols != theirs.free_symbols:
        return Status.WRONG
    if not ours.free_symbols:
        return Status.UNSUPPORTED
    return Status.WRONG if simplify(ours / theirs).free_symbols else Status.OK


def _by_math_verify(left, right) -> Status:
    from math_verify import verify

    same = verify(left, right, timeout_seconds=None) or verify(right, left, timeout_seconds=None)
    return Status.OK if same else Status.WRONG


if __name__ == "__main__":
    serve(int(sys.argv[1]), float(sys.argv[2]))
