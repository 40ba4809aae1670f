"""A final answer that stands in the text, not in a program: read safely, compared with what the checks expect.

Reading and comparing are those of the maths study (`maths.extraction`, `maths.equivalence`): nothing is evaluated.
"""

import re
from collections.abc import Iterator
from decimal import Decimal
from fractions import Fraction
from typing import Any, NamedTuple

from workflow_scripts.tasks.maths.equivalence import compare, readable
from workflow_scripts.tasks.maths.extraction import extract
from workflow_scripts.tasks.maths.verdicts import Status
from workflow_scripts.tasks.scicode.problems import Problem
from workflow_scripts.tasks.scicode.values import decode

LONGEST = 1 << 20
"""Characters of a completion that are read: its last ones."""
LONGEST_ANSWER = 4000
"""Characters of an answer, and of an expected value, that are compared."""
LARGEST_BITS = 8000
"""Of whole numbers that are written out."""

_QUOTES = str.maketrans("", "", "\"'`")
_NUMBER = re.compile(r"[-+−]?(?:\d[\d,]*\.?\d*|\.\d+)(?:[eE][-+]?\d{1,3})?")


class TextAnswer(NamedTuple):
    """marked: the answer stands after a mark (a box, "final answer:", …). reads: it is read exactly. passed, total:
    expected values it equals, of those that can be written down; no such value: total is 0."""

    marked: bool
    reads: bool
    passed: int
    total: int

    @property
    def correct(self) -> bool:
        """Whether all expected values, and at least one, are met."""
        return 0 < self.total == self.passed


def text_answer(completion: str, problem: Problem) -> TextAnswer:
    """What the completion says the answer is; brackets around a sequence do not matter. Checks that call `answer` with
    arguments, and symbolic values, have no answer in a text and are left out."""
    found = extract(completion[-LONGEST:])
    said = (found.text or "")[:LONGEST_ANSWER]
    expected = list(_expected(problem))
    passed = sum(_same(written, said, tolerance) for written, tolerance in expected) if said else 0
    marked = bool(said) and found.source in ("boxed", "hash", "marker")
    return TextAnswer(marked, bool(said) and readable(said), passed, len(expected))


def mentioned(completion: str, values: Any) -> float:
    """Share of numbers that stand somewhere in the text, as written or within 1e-4 of it relatively; 0 without any.

    values: a mapping of names to numbers, or a list of numbers (`parameters["intermediates"]` of a problem).
    """
    wanted = list(values.values() if isinstance(values, dict) else values)
    numbers = (value for value in wanted if isinstance(value, int | float) and not isinstance(value, bool))
    wanted = [float(value) for value in numbers if abs(value) < 1e300]
    if not wanted:
        return 0.0
    found = sorted({_float(match[0]) for match in _NUMBER.finditer(completion[-LONGEST:])})
    return sum(_near(value, found) for value in wanted) / len(wanted)


def _expected(problem: Problem) -> Iterator[tuple[str, float]]:
    for check in problem.checks:
        if check.args == "[]" and (text := _written(decode(check.expected))) is not None:
            yield text, max(check.tolerance, 1e-4) if check.kind in ("numeric", "sequence") else 0.0


def _written(value: Any) -> str | None:
    """A value as a person would write it; None for what has no plain writing."""
    if isinstance(value, bool | str):
        return str(value)
    if isinstance(value, int):
        return str(value) if value.bit_length() <= LARGEST_BITS else None
    if isinstance(value, Fraction | Decimal):
        return str(value)
    if isinstance(value, float):
        return f"{value:.17g}" if value == value and abs(value) < 1e300 else None
    if isinstance(value, list | tuple | frozenset):
        items = [_written(item) for item in (sorted(value, key=repr) if isinstance(value, frozenset) else value)]
        left, right = ("\\{", "\\}") if isinstance(value, frozenset) else "()" if isinstance(value, tuple) else "[]"
        return None if None in items else f"{left}{', '.join(items)}{right}"
    return None


def _same(expected: str, said: str, tolerance: float) -> bool:
    ours, theirs = _items(expected), _items(said)
    if ours == theirs or (expected.startswith("\\{") and sorted(ours) == sorted(theirs)):
        return True
    status, _ = compare(expected[:LONGEST_ANSWER], said, tolerance=tolerance)
    return status is Status.OK


def _items(text: str) -> list[str]:
    """What stands between commas, without quotation marks, and without brackets at the ends."""
    bare = text.translate(_QUOTES).strip().rstrip(".").strip("[](){}\\ ")
    return [item.strip() for item in bare.split(",")]


def _float(text: str) -> float:
    return float(text.replace(",", "").replace("−", "-"))


def _near(value: float, found: list[float]) -> bool:
    from bisect import bisect_left

    margin = 1e-4 * abs(value)
    place = bisect_left(found, value - margin)
    return place < len(found) and found[place] <= value + margin
