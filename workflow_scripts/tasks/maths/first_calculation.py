"""The first calculation of a text: the first "number operator number", as written (paper section 6; claims C24, C34).

What counts, and what does not, whatever wrote it (prose, LaTeX, or words parted by spaces):

* Numbers are digits with thousands separators and decimals, a sign where none can be an operator, a power of digits, a
  per cent sign, a fraction `1/2` or `\\frac{1}{2}` beside another operator, a mixed number, `9.7 \\times 10^{15}`.
  Currency signs, maths delimiters and units do not part a number from its operator; a unit in words does so only where
  no result follows.
* Operators are + − * / with their Unicode and LaTeX forms (× · ÷ \\times \\cdot \\div), and a lone x before a result.
* `=`, `≈` or `equals` and a number after the expression are its result.
* + and multiplication always make a calculation. A hyphen does so beside one of these, before a result, or with spaces
  around it where the numbers fall (`16 - 3`); rising pairs (`10 - 12`), tight ones (`10-12`, `555-1234`, `2021-03-04`)
  and en dashes without a result are ranges, numbers of telephones and dates. Division does so beside another operator
  (`12 / 4 + 1`) or before a result (`12/4 = 3`, `\\frac{12}{4} = 3`); without either it is a fraction or a date.
* An operand that is no number (`x + 3 + 5`, `2x + 3`, `3 + 2\\pi`) makes no calculation, nor do times, versions and
  numbers of lists, steps or pages.

Brackets are left to stand: the label of `3 * (4 + 5)` is `4 + 5`, of `(16 - 3) * 2` it is `16 - 3`. Precedence is not
applied: `3 + 5 * 2` is `3 + 5`. A text without a calculation has no label: it is None, never a category.
"""

import re
from collections.abc import Iterator
from fractions import Fraction
from typing import NamedTuple

from workflow_scripts.tasks.maths.number_runs import Bracket, Operand, Operator, Run, runs

_GAP = r"(?:[\s$&~*]|\\[,;:! $()\[\]]|<<|>>|\\\\){0,12}"
_SAYS = r"(?:=(?!=)|≈|≃|\\approx(?![A-Za-z])|\\simeq(?![A-Za-z])|equals\b)"
_RESULT = re.compile(_GAP + _SAYS + _GAP + r"(?:\\boxed\s?\{)?[-−]?[\s$£€(]{0,3}\\?\$?(?:[0-9]|\.[0-9]|\\[dt]?frac)")
_PLAIN_RESULT = re.compile(
    _GAP
    + _SAYS
    + _GAP
    + r"(?:\\boxed\s?\{)?[-−]?[\s$£€]{0,3}\\?\$?(?:[0-9][0-9,]{0,40}+(?:\.[0-9]+)?|\.[0-9]+)(?!\s?/)"
)


class Calculation(NamedTuple):
    """label: `left operator right`. start, end: characters from its first operand to its second."""

    label: str
    left: str
    operator: str
    right: str
    start: int
    end: int


def first_calculation(text: str, start: int = 0) -> Calculation | None:
    """The first calculation of `text` that begins at `start` or later; None where there is none."""
    return next(calculations(text, start), None)


def calculations(text: str, start: int = 0) -> Iterator[Calculation]:
    """The first calculation of every run of numbers and operators that has one, in order."""
    for run in runs(text, start):
        found = _of_run(text, run)
        if found is not None:
            yield found


def order_free(label: str) -> str:
    """The label with the operands of + and * in one order, numbers by value: `12 * 4` and `4 * 12` are one."""
    parts = re.fullmatch(r"(.+) ([-+*/]) (.+)", label)
    if parts is None or parts[2] in "-/":
        return label
    left, right = sorted((parts[1], parts[3]), key=lambda operand: (_value(operand) or 0, operand))
    return f"{left} {parts[2]} {right}"


def _value(label: str) -> Fraction | None:
    return Fraction(label) if re.fullmatch(r"-?[0-9]{1,100}(?:\.[0-9]{1,100})?", label) else None


def _of_run(text: str, run: Run) -> Calculation | None:
    items = run.items
    operands = [item for item in items if isinstance(item, Operand)]
    if not operands:
        return None
    if len(operands) == 1:
        only = operands[0]
        alone = only.bottom and not run.dangling and not any(isinstance(item, Operator) for item in items)
        if alone and _PLAIN_RESULT.match(text, run.end):
            return Calculation(f"{only.top} / {only.bottom}", only.top, "/", only.bottom, only.start, only.end)
        return None
    result = None
    strong = any(isinstance(item, Operator) and _always(item) for item in items)
    depth = 0
    for left, operator, right in zip(items, items[1:], items[2:]):
        if isinstance(left, Bracket):
            depth += 1 if left.opens else -1
        if not (isinstance(left, Operand) and isinstance(operator, Operator) and isinstance(right, Operand)):
            continue
        if run.dangling and depth <= 0:
            continue
        admitted = not run.units and operator.written.lower() != "x" and (strong or _falls(left, operator, right))
        if not admitted:
            result = bool(_RESULT.match(text, run.end)) if result is None else result
            admitted = result
        if admitted:
            label = f"{left.label} {operator.sign} {right.label}"
            return Calculation(label, left.label, operator.sign, right.label, left.start, right.end)
    return None


def _always(operator: Operator) -> bool:
    """Whether it makes a calculation by itself; a hyphen may be a range, a slash a fraction, an x a name."""
    return (operator.sign in "+*" and operator.written.lower() != "x") or operator.written in ("−", "÷", r"\div")


def _falls(left: Operand, operator: Operator, right: Operand) -> bool:
    """A hyphen between spaces whose numbers fall: a subtraction, where rising ones would be a range."""
    if operator.written != "-" or not operator.spaced:
        return False
    first, second = _value(left.label), _value(right.label)
    return first is not None and second is not None and first > second
