"""The paper's two contracts, faults included: they exist to compare with published numbers.

`paper_ppo`, evaluator of the local PPO line: tags in any case; the first answer block counts, unclosed or in the think
part as may be; a feasibility label is required; floats, signs and comments pass; the value is compared in floating
point. `paper_grpo`, native evaluator of the public GRPO line: exactly one think block and one answer block, exact
rationals, signs pass. Sources: tolerant_parse_completion and evaluate_countdown_expression (protocol, sections 1.2 and
1.3); evaluate_native_countdown (1.7). Deviation: the limits of paper_grammar.py where the reference has the
interpreter's.
"""

import re
from collections.abc import Iterator, Sequence
from fractions import Fraction

from workflow_scripts.tasks.countdown.appraisal import appraise, misused, think_opening
from workflow_scripts.tasks.countdown.expressions import formula_form, literals, opening, paper_form_and_family
from workflow_scripts.tasks.countdown.grammar import Expression
from workflow_scripts.tasks.countdown.paper_grammar import has_paper_form, read
from workflow_scripts.tasks.countdown.verdicts import Rejected, Status, Verdict

TOLERANCE = 1e-6
"""Of `paper_ppo`, absolute."""

_OPEN = {name: re.compile(f"<{name}>", re.IGNORECASE) for name in ("think", "answer")}
_CLOSE = {name: re.compile(f"</{name}>", re.IGNORECASE) for name in ("think", "answer")}
_FEASIBLE = re.compile(r"<feasible>\s*(yes|no)\s*</feasible>", re.IGNORECASE)
_INTEGER = re.compile(r"[+-]?\d{1,400}").fullmatch
_END_MARKS = ("<|endoftext|>", "<|im_end|>")


def ppo_answer(answer: str, numbers: Sequence[int], target: int | Fraction) -> Verdict:
    """Verdict of `paper_ppo` on the bare text of an answer block (the label taken as "yes")."""
    answer = answer.strip()
    try:
        expression = read(answer, integers_only=False)
        value = _float_value(expression)
    except Rejected as fault:
        return Verdict(False, fault.status, answer, detail=fault.detail)
    verdict = Verdict(False, Status.OK, answer, answer_opening=opening(expression))
    if has_paper_form(answer, expression):
        verdict.paper_form, verdict.paper_family = paper_form_and_family(expression)
    if not _has_float(expression):
        verdict.formula_form = formula_form(expression)
    used = literals(expression)
    if sorted(used) != sorted(numbers):
        verdict.status, verdict.detail = misused(used, numbers)
    elif not _near(value, target):
        verdict.status, verdict.detail = Status.WRONG_VALUE, f"the value is {value!r}"
    else:
        verdict.accept = True
    return verdict


def ppo_completion(
    completion: str, numbers: Sequence[int], target: int | Fraction, *, feasible: bool = True
) -> Verdict:
    """Verdict of `paper_ppo` on a completion. feasible: the problem's own label."""
    opened = think_opening(completion)
    for mark in _END_MARKS:
        completion = completion.partition(mark)[0]
    completion = completion.strip()
    lowered = completion.lower()
    label = _feasibility(completion, lowered)
    block = next(_blocks(completion, "answer"), None)
    answer = completion[block[1] : block[2]].strip() if block else ""
    if not answer and (start := lowered.find("<answer>")) >= 0:
        # As theirs: an offset into the lowered text, which need not be the same one in the original.
        answer = completion[start + len("<answer>") :].strip()
    if label == "yes":
        verdict = ppo_answer(answer, numbers, target)
    elif label == "no":
        ok = answer.upper().startswith("NO_SOLUTION")
        verdict = Verdict(ok, Status.OK if ok else Status.BAD_NO_SOLUTION, answer)
    else:
        verdict = Verdict(False, Status.NO_FEASIBILITY, answer)
    if label and (label == "yes") != feasible:
        verdict.accept, verdict.status = False, Status.WRONG_FEASIBILITY
    if not answer:
        verdict.extracted = None
        if verdict.status is Status.EMPTY and "<answer>" not in lowered:
            verdict.status = Status.NO_ANSWER
    verdict.think_opening = opened
    verdict.format_ok = bool(label and answer)
    return verdict


def grpo_answer(answer: str, numbers: Sequence[int], target: int | Fraction) -> Verdict:
    """Verdict of `paper_grpo` on the bare text of an answer block."""
    answer = answer.strip()
    left, equals, right = answer.partition("=")
    left, right = left.strip(), right.strip()
    if "=" in right:
        return Verdict(False, Status.MULTIPLE_EQUALS, answer)
    if equals and not (left and _INTEGER(right)):
        return Verdict(False, Status.MALFORMED_EQUATION, answer)
    try:
        expression = read(left, integers_only=True)
    except Rejected as fault:
        return Verdict(False, fault.status, answer, detail=fault.detail)
    verdict = appraise(expression, numbers, target, answer, int(right) if equals else None)
    if not has_paper_form(left, expression):
        verdict.paper_form = verdict.paper_family = None
    return verdict


def grpo_completion(completion: str, numbers: Sequence[int], target: int | Fraction) -> Verdict:
    """Verdict of `paper_grpo` on a completion sampled after a prefilled ``<think>``."""
    text = completion if completion.lstrip()[:7].lower() == "<think>" else "<think>" + completion
    thinks, answers = _blocks(text, "think"), _blocks(text, "answer")
    think, answer = next(thinks, None), next(answers, None)
    one_answer = answer is not None and next(answers, None) is None
    if one_answer:
        verdict = grpo_answer(text[answer[1] : answer[2]], numbers, target)
    else:
        verdict = Verdict(False, Status.MULTIPLE_ANSWERS if answer else Status.NO_ANSWER)
    fault = None
    if think is None:
        fault = Status.UNCLOSED_THINK
    elif next(thinks, None) is not None:
        fault = Status.REPEATED_THINK
    elif one_answer and think[3] > answer[0]:
        fault = Status.ANSWER_IN_THINK
    if fault:
        verdict.accept, verdict.status = False, fault
    verdict.think_opening = think_opening(completion)
    verdict.format_ok = one_answer and fault is None
    return verdict


def _blocks(text: str, name: str) -> Iterator[tuple[int, int, int, int]]:
    """Closed blocks of one tag in any case, left to right: (start, body start, body end, end). Linear in the text."""
    position = 0
    while (head := _OPEN[name].search(text, position)) and (tail := _CLOSE[name].search(text, head.end())):
        yield head.start(), head.end(), tail.start(), tail.end()
        position = tail.end()


def _feasibility(completion: str, lowered: str) -> str:
    """The label "yes" or "no", read from closed tags or else from the ten characters after an open one; "" without."""
    if found := _FEASIBLE.search(completion):
        return found[1].lower()
    if (start := lowered.find("<feasible>")) >= 0:
        start += len("<feasible>")
        tail = completion[start : start + 10].lower()
        return "yes" if "yes" in tail else "no" if "no" in tail else ""
    return ""


def _has_float(node: Expression) -> bool:
    return type(node) is float or (type(node) is tuple and any(map(_has_float, node[1:])))


def _near(value: float, target: int | Fraction) -> bool:
    try:
        return abs(value - float(target)) < TOLERANCE
    except OverflowError:  # a target beyond the floats
        return False


def _float_value(node: Expression) -> float:
    if type(node) is not tuple:
        return float(node)
    if len(node) == 2:
        value = _float_value(node[1])
        return -value if node[0] == "-" else value
    operator, left, right = node[0], _float_value(node[1]), _float_value(node[2])
    if operator == "+":
        return left + right
    if operator == "-":
        return left - right
    if operator == "*":
        return left * right
    if right == 0:
        raise Rejected(Status.DIVISION_BY_ZERO)
    return left / right
