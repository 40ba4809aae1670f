"""Why an answer to a word problem is wrong, read from its steps: a closed list of reasons."""

import re
from collections.abc import Sequence
from typing import Literal, get_args

from workflow_scripts.tasks.maths.words import step

Fault = Literal["no_answer", "no_steps", "arithmetic", "stated_another", "plan"]
"""no_answer: nothing was extracted. no_steps: an answer without a calculation. arithmetic: a step is false.
stated_another: the steps hold, but another number than the last result is stated. plan: the steps hold and lead to the
number stated, which isn't the answer."""

FAULTS: tuple[str, ...] = get_args(Fault)

_STEP = re.compile(r"(?<![\d.])(\d{1,6}) ([-+*/]) (\d{1,6}) = (\d{1,6})(?![\d.])")
_LAST = re.compile(r"(\d{1,6})\D*\Z")


def written_steps(completion: str) -> list[tuple[int, str, int, int]]:
    """The calculations of a completion, as written: (left, operator, right, result)."""
    return [(int(a), sign, int(b), int(result)) for a, sign, b, result in _STEP.findall(completion)]


def false_steps(steps: Sequence[tuple[int, str, int, int]]) -> int:
    """How many of the calculations do not hold; one whose result the text cannot say counts as false."""
    return sum((one := step(a, sign, b)) is None or one.result != result for a, sign, b, result in steps)


def fault(status: str, completion: str) -> Fault:
    """The reason why a completion that was judged wrong is so; the first that applies, in the order of FAULTS.

    status: of its verdict.
    """
    if status in ("NO_ANSWER", "EMPTY"):
        return "no_answer"
    steps = written_steps(completion)
    if not steps:
        return "no_steps"
    if false_steps(steps):
        return "arithmetic"
    stated = _LAST.search(completion)
    return "stated_another" if stated is None or int(stated[1]) != steps[-1][3] else "plan"
