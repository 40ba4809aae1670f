"""Steps, plans and given-up attempts in English, for policies that write freely."""

import re
from collections.abc import Collection, Sequence
from fractions import Fraction
from typing import NamedTuple

from workflow_scripts.records.errors import UserError
from workflow_scripts.tasks.countdown.grammar import Expression


class Step(NamedTuple):
    """One executed step `first operator second = value`, in exact rationals."""

    first: Fraction
    operator: str
    second: Fraction
    value: Fraction


_VERBS = {"*": "multiply", "+": "add", "-": "subtract", "/": "divide"}
_OPENINGS = {"*": "multiply it", "+": "add to it", "-": "subtract from it", "/": "divide it"}

_END_OF_THINKING = re.compile(r"</think>|<answer>|<feasible>")
_VALUE = re.compile(r"=\s*(-?\d{1,40})(?![\d.]*\d)")
_APOSTROPHE = "['\u2019]"
# Where a text gives an attempt up: it sets out anew, or a sentence says that the attempt failed.
_CUE = re.compile(rf"\b(?:let(?:{_APOSTROPHE}s| me| us)|I(?:{_APOSTROPHE}ll| will)|now|next),? try\b", re.IGNORECASE)
_NOT = f"n(?:o|{_APOSTROPHE})t"
_FAILED = re.compile(
    rf"\b(?:not equal|is ?{_NOT}|does ?{_NOT} (?:equal|work)|too (?:high|low|big|small|large))\b"
    r"[^.!?\n]{0,200}[.!?\n]",
    re.IGNORECASE,
)


def executed(expression: Expression) -> list[Step]:
    """Steps in the order in which the text of an expression, read from left to right with its brackets, executes them.

    Raises UserError where one divides by zero.
    """
    steps: list[Step] = []

    def walk(node: Expression) -> Fraction:
        if isinstance(node, int):
            return Fraction(node)
        operator, left, right = node
        a, b = walk(left), walk(right)
        if operator == "/" and b == 0:
            raise UserError(f"{operand(a)} / 0 has no value, so no step can state it")
        value = a + b if operator == "+" else a - b if operator == "-" else a * b if operator == "*" else a / b
        steps.append(Step(a, operator, b, value))
        return value

    walk(expression)
    return steps


def operand(value: Fraction) -> str:
    """A number within a step: `28`; in brackets where it is negative or a fraction, `(-3)`, `(1/5)`."""
    return str(value) if value >= 0 and value.denominator == 1 else f"({value})"


def said(step: Step) -> str:
    """`4 * 7 = 28`."""
    return f"{operand(step.first)} {step.operator} {operand(step.second)} = {step.value}"


def plan(signs: Sequence[str]) -> str:
    """A plan of operators: `My plan is to multiply, then add, then subtract.`"""
    return f"My plan is to {', then '.join(_VERBS[sign] for sign in signs)}."


def plan_to_open(opening: str) -> str:
    """A plan to begin with an opening: `4+` → `My plan is to take 4 first and add to it.`"""
    return f"My plan is to take {opening[:-1]} first and {_OPENINGS[opening[-1]]}."


def holds_answer(text: str, target: int, forms: Collection[str] = ()) -> str:
    """What of the answer a text gives away: `= 24`, a tag of the answer, or a solution's text without its spaces."""
    if re.search(rf"=\s*{target}(?![\d.]*\d)", text):
        return f"= {target}"
    bare = "".join(text.split())
    marks = [mark for mark in ("<answer>", "<feasible>", "</think>") if mark in text]
    return next(iter([*marks, *(form for form in sorted(forms) if form.replace(" ", "") in bare)]), "")


def failed_attempt(completion: str, target: int) -> str | None:
    """The text up to where the policy gives its first attempt up, without the words that set out anew.

    `I see 4 * 9 = 36 and 36 - 5 = 31, which is too high. Let me try: …` gives all before `Let me try`. The attempt must
    state a value (`= 36`), and none that is the target. None where the think part gives nothing up. (Reference
    protocol, section 4.1; there the words that set out anew stay, here the rung brings its own.)
    """
    end = _END_OF_THINKING.search(completion)
    thought = completion[: end.start()] if end else completion
    first = _VALUE.search(thought)
    if not first:
        return None
    cue, failed = (pattern.search(thought, first.end()) for pattern in (_CUE, _FAILED))
    places = [cue.start()] if cue else []
    places += [failed.end()] if failed else []
    if not places:
        return None
    given = thought[: min(places)].rstrip()
    values = [int(found[1]) for found in _VALUE.finditer(given)]
    return given if values and target not in values else None


_STEP = re.compile(r"\d+\s*[-+*/×÷−]\s*\d+\s*=\s*-?\d+")


def cuts_of_run(completion: str) -> tuple[str, str] | None:
    """(think part before its last step, think part with its end tag) of a run with two steps or more; else None."""
    thought, closed, _ = completion.partition("</think>")
    steps = list(_STEP.finditer(thought))
    before = thought[: steps[-1].start()].rstrip(" ,") if len(steps) > 1 else ""
    return (before, f"{thought}{closed}") if closed and before else None


_LAPTOP_MARKS = re.compile(r"([-+*/=(),.×÷−])")
_SIGNS = str.maketrans("×÷−", "*/-")


def in_words(text: str, lead: str) -> str:
    """A text in the laptop's words, as the leak screen reads it: `Let me try: 4 * 7 = 28,` → `try 4 * 7 = 28 ,`."""
    return " ".join(_LAPTOP_MARKS.sub(r" \1 ", text.replace(lead, " try ")).translate(_SIGNS).split())
