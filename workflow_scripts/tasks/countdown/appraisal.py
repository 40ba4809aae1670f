"""What the exact contracts check once an expression is read, and the verdict with its forms and entrances."""

import re
from collections import Counter
from collections.abc import Sequence
from fractions import Fraction

from workflow_scripts.tasks.countdown.expressions import (
    formula_form,
    literals,
    opening,
    paper_form_and_family,
    quotient,
    render,
)
from workflow_scripts.tasks.countdown.grammar import SIGNS, Expression
from workflow_scripts.tasks.countdown.verdicts import Rejected, Status, Verdict

# Unsigned whole literals on both sides: 4.5 and -3 open no step, nor does a piece of a longer number or word.
# Possessive repeats keep the search linear; a digit first, and only then what may not stand before it, keep it fast.
_STEP = re.compile(r"([0-9](?<![\w.\-−][0-9])(?:(?<!0)[0-9]{0,98}+)?+)\s*+([-+*/×÷−])\s*+[0-9]++(?!\w|\.[0-9])")


def appraise(
    expression: Expression, numbers: Sequence[int], target: int | Fraction, extracted: str, stated: int | None = None
) -> Verdict:
    """Verdict by exact rationals: every number once; the `stated` right side (if any) and the value are the target."""
    try:
        top, bottom = quotient(expression)
    except Rejected as fault:
        return Verdict(False, fault.status, extracted, detail=fault.detail)
    form, family = paper_form_and_family(expression)
    verdict = Verdict(False, Status.OK, extracted, form, formula_form(expression), family, opening(expression))
    used = literals(expression)
    if sorted(used) != sorted(numbers):
        verdict.status, verdict.detail = misused(used, numbers)
    elif stated is not None and stated != target:
        verdict.status, verdict.detail = Status.WRONG_RIGHT_SIDE, f"= {stated}, the target is {target}"
    elif top != target * bottom:
        # Python refuses to print integers of thousands of digits, which a contract without a length limit can reach.
        value = f" is {Fraction(top, bottom)}" if (top * bottom).bit_length() < 512 else ""
        verdict.status, verdict.detail = Status.WRONG_VALUE, f"{render(expression)}{value}"
    else:
        verdict.accept = True
    return verdict


def misused(used: Sequence[int], numbers: Sequence[int]) -> tuple[Status, str]:
    """Which number two different multisets disagree about, with the status that says how."""
    given, taken = Counter(numbers), Counter(used)
    for number, times in taken.items():
        if number not in given:
            return Status.FOREIGN_NUMBER, f"{number} is not among the numbers"
        if times > given[number]:
            return Status.REPEATED_NUMBER, f"{number} is used {times} times, given {given[number]}"
    unused = ", ".join(str(number) for number in (given - taken).elements())
    return Status.UNUSED_NUMBER, f"{unused} unused"


def think_opening(completion: str) -> str | None:
    """Opening ``4*`` of the first step `a operator b` in the think part, or before an answer if that is not closed.

    Operands are whole and unsigned; decimals are passed over; × ÷ − are read as * / -. None where no step is written.
    """
    end = completion.find("</think>")
    if end < 0:
        end = completion.find("<answer>")
    step = _STEP.search(completion, 0, len(completion) if end < 0 else end)
    if step is None:
        return None
    operator = step[2]
    return step[1] + SIGNS.get(operator, operator)
