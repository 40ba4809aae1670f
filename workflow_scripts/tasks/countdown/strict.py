"""The `strict` contract: one closed answer block after the think part, exact rationals, every number exactly once.

Tags count in lower case, exactly as spelled. The think part may have begun in the prompt; what it holds never counts.
"""

import re
from collections.abc import Sequence
from fractions import Fraction

from workflow_scripts.tasks.countdown.appraisal import appraise, think_opening
from workflow_scripts.tasks.countdown.grammar import MAX_LENGTH, WHITE_SPACE, parse
from workflow_scripts.tasks.countdown.verdicts import Rejected, Status, Verdict

_STATED = re.compile(r"0|[-−]?[1-9][0-9]*").fullmatch
_THINK, _THINK_END, _OPEN, _CLOSE = "<think>", "</think>", "<answer>", "</answer>"


def strict_answer(answer: str, numbers: Sequence[int], target: int | Fraction) -> Verdict:
    """Verdict on the bare text of an answer block: an expression of grammar.py, perhaps with ``= target`` after it."""
    answer = answer.strip(WHITE_SPACE)
    if len(answer) > MAX_LENGTH:
        return Verdict(False, Status.TOO_LONG, answer, detail=f"{len(answer)} characters, at most {MAX_LENGTH}")
    left, equals, right = answer.partition("=")
    if "=" in right:
        return Verdict(False, Status.MULTIPLE_EQUALS, answer)
    stated = None
    try:
        if equals and not left.strip(WHITE_SPACE):
            raise Rejected(Status.MALFORMED_EQUATION, "nothing before the equals sign")
        expression = parse(left)
        if equals:
            right = right.strip(WHITE_SPACE)
            if not _STATED(right):
                raise Rejected(Status.MALFORMED_EQUATION, f"{right!r} after the equals sign is not an integer")
            stated = int(right.replace("−", "-"))
    except Rejected as fault:
        return Verdict(False, fault.status, answer, detail=fault.detail)
    return appraise(expression, numbers, target, answer, stated)


def strict_completion(completion: str, numbers: Sequence[int], target: int | Fraction) -> Verdict:
    """Verdict on a completion: its think part runs to the first ``</think>``, then comes exactly one answer block."""
    opened = think_opening(completion)
    end = completion.find(_THINK_END)
    if end < 0:
        return Verdict(False, Status.UNCLOSED_THINK, think_opening=opened)
    body = end + len(_THINK_END)
    start, stop = completion.find(_OPEN, body), completion.find(_CLOSE, body)
    status = _block_fault(completion, body, start, stop)
    if status:
        return Verdict(False, status, think_opening=opened)
    verdict = strict_answer(completion[start + len(_OPEN) : stop], numbers, target)
    verdict.think_opening = opened
    verdict.format_ok = _well_formed(completion, end, body, start, stop)
    return verdict


def _block_fault(text: str, body: int, start: int, stop: int) -> Status | None:
    """Why `text` from `body` on is not one closed answer block; `start`, `stop`: its first tags there, or -1."""
    if text.find(_THINK, body) >= 0 or text.find(_THINK_END, body) >= 0:
        return Status.REPEATED_THINK
    if start < 0:
        return Status.NO_ANSWER if stop < 0 else Status.UNOPENED_ANSWER
    if stop < start:
        return Status.UNCLOSED_ANSWER if stop < 0 else Status.UNOPENED_ANSWER
    again = text.find(_OPEN, start + 1)
    if 0 <= again < stop:
        return Status.NESTED_ANSWER
    if again >= 0:
        return Status.MULTIPLE_ANSWERS if text.find(_CLOSE, again) >= 0 else Status.UNCLOSED_ANSWER
    return Status.UNOPENED_ANSWER if text.find(_CLOSE, stop + 1) >= 0 else None


def _well_formed(text: str, end: int, body: int, start: int, stop: int) -> bool:
    """Whether nothing but white space surrounds the parts and the think part holds no tag but a leading ``<think>``."""
    inside = text[:end].lstrip()
    return (
        text.find(_THINK, end - len(inside.removeprefix(_THINK)), end) < 0
        and text.find(_OPEN, 0, end) < 0
        and text.find(_CLOSE, 0, end) < 0
        and not text[body:start].strip()
        and not text[stop + len(_CLOSE) :].strip()
    )
