"""Countdown expressions: exact value, canonical forms and entrances. Judge and solver share every function here.

An `Expression` is an `int` or a tuple ``(operator, left, right)``; see grammar.py, whose `parse` reads one from text.
"""

from fractions import Fraction
from functools import lru_cache
from hashlib import blake2b

from workflow_scripts.tasks.countdown.grammar import RANK, Expression, parse
from workflow_scripts.tasks.countdown.verdicts import Rejected, Status

__all__ = [
    "MODULUS",
    "Expression",
    "Rejected",
    "evaluate",
    "formula_form",
    "formula_residue",
    "literals",
    "opening",
    "paper_family",
    "paper_form",
    "paper_form_and_family",
    "parse",
    "quotient",
    "render",
    "residue",
]

MODULUS = 2**61 - 1
"""Prime modulus of the fingerprints that `formula_form` spells."""


def literals(expression: Expression) -> list[int]:
    """The integer literals of an expression, left to right as written."""
    found, stack = [], [expression]
    while stack:
        node = stack.pop()
        if type(node) is int:
            found.append(node)
        elif type(node) is tuple:
            stack.extend(node[:0:-1])
    return found


def quotient(expression: Expression) -> tuple[int, int]:
    """Exact value as (numerator, denominator), not in lowest terms, denominator never 0.

    Raises `Rejected` (DIVISION_BY_ZERO). Signs are allowed, `float` literals are not.
    """
    if type(expression) is int:
        return expression, 1
    if len(expression) == 2:
        top, bottom = quotient(expression[1])
        return (-top if expression[0] == "-" else top), bottom
    operator, left, right = expression
    a, b = (left, 1) if type(left) is int else quotient(left)
    c, d = (right, 1) if type(right) is int else quotient(right)
    if operator == "*":
        return a * c, b * d
    if operator == "+":
        return a * d + b * c, b * d
    if operator == "-":
        return a * d - b * c, b * d
    if c == 0:
        raise Rejected(Status.DIVISION_BY_ZERO, f"the divisor {render(right)} is 0")
    return a * d, b * c


def evaluate(expression: Expression) -> Fraction:
    """Exact value. Raises `Rejected` (DIVISION_BY_ZERO)."""
    return Fraction(*quotient(expression))


def paper_form(expression: Expression) -> str:
    """Leaf under the `paper` equivalence: nested sums (products) flattened, their terms sorted as strings; no spaces.

    Every operation stands in one pair of brackets, ``(((4*7)+5)-9)``; a lone number stands bare. Brackets sort before
    digits and "10" before "9". Source: canonicalize_expression of the paper's code (protocol, section 1.4).
    """
    return _paper(expression)[0]


def paper_family(expression: Expression) -> str | None:
    """First number and operator of the paper form, spelled ``4*``; None for a single number (protocol, section 1.6)."""
    return _paper(expression)[1]


def paper_form_and_family(expression: Expression) -> tuple[str, str | None]:
    """(`paper_form`, `paper_family`) in one pass."""
    return _paper(expression)


def _paper(node: Expression) -> tuple[str, str | None]:
    if type(node) is not tuple:
        return str(int(node) if type(node) is float and node.is_integer() else node), None
    if len(node) == 2:
        text, family = _paper(node[1])
        return f"({node[0]}{text})", family
    operator, left, right = node
    if operator in "+*":
        # Whatever the bracketing, terms of one chain end up in one sorted list, so the stack's order is free.
        parts, stack = [], [left, right]
        while stack:
            term = stack.pop()
            if type(term) is int:
                parts.append((str(term), None))
            elif type(term) is tuple and len(term) == 3 and term[0] == operator:
                stack += term[1:]
            else:
                parts.append(_paper(term))
        parts.sort()
        first, family = parts[0]
        return f"({operator.join([text for text, _ in parts])})", family or first.strip("()") + operator
    first, family = _paper(left)
    return f"({first}{operator}{_paper(right)[0]})", family or first.strip("()") + operator


@lru_cache(maxsize=4096)
def residue(value: int) -> int:
    """The fixed pseudo-random element of [0, `MODULUS`) that stands for one number in `formula_form`."""
    return int.from_bytes(blake2b(str(value).encode(), digest_size=8).digest(), "little") % MODULUS


def formula_residue(expression: Expression) -> int | None:
    """Value of the expression modulo `MODULUS` where each number stands for its `residue`.

    None where a divisor vanishes: the expression is no rational function (``4/(5-5)``).
    """
    try:
        top, bottom = _modular(expression)
    except ZeroDivisionError:
        return None
    return top % MODULUS if bottom == 1 else top * pow(bottom, -1, MODULUS) % MODULUS


def _modular(node: Expression) -> tuple[int, int]:
    if type(node) is int:
        return residue(node), 1
    if len(node) == 2:
        top, bottom = _modular(node[1])
        return (-top if node[0] == "-" else top), bottom
    operator, left, right = node
    a, b = (residue(left), 1) if type(left) is int else _modular(left)
    c, d = (residue(right), 1) if type(right) is int else _modular(right)
    if operator == "*":
        return a * c % MODULUS, b * d % MODULUS
    if operator == "/":
        if c % MODULUS == 0:
            raise ZeroDivisionError
        return a * d % MODULUS, b * c % MODULUS
    if b == d == 1:
        return (a + c if operator == "+" else a - c), 1
    b, c, bottom = a * d, b * c, b * d % MODULUS
    return (b + c if operator == "+" else b - c) % MODULUS, bottom


def formula_form(expression: Expression) -> str | None:
    """Class under the `formula` equivalence: equal as rational functions, equal numbers being one variable.

    16 hexadecimal digits of `formula_residue`: two different functions of one problem share a form with probability
    about 1e-17 (Schwartz-Zippel). None where there is no such function.
    """
    value = formula_residue(expression)
    return None if value is None else f"{value:016x}"


def opening(expression: Expression) -> str | None:
    """(First operand, operator) of the first step executed as written, spelled ``4*``; None for a single number.

    The first step is the first operation completed in post-order; both its operands are literals.
    """
    if type(expression) is not tuple:
        return None
    node, below = expression, expression[1:]
    while True:
        for child in below:
            if type(child) is tuple and _operates(child):
                node, below = child, child[1:]
                break
        else:
            return f"{_literal(node[1])}{node[0]}" if len(node) == 3 else None


def _operates(node: Expression) -> bool:
    while type(node) is tuple and len(node) == 2:
        node = node[1]
    return type(node) is tuple


def _literal(node: Expression) -> str:
    return f"{node[0]}{_literal(node[1])}" if type(node) is tuple else str(node)


def render(expression: Expression) -> str:
    """The expression with spaces around operators and no bracket more than `parse` needs to read back the same tree."""
    if type(expression) is not tuple:
        return str(expression)
    if len(expression) == 2:
        inner = render(expression[1])
        return f"{expression[0]}({inner})" if _operates(expression[1]) else f"{expression[0]}{inner}"
    operator, left, right = expression
    rank = RANK[operator]
    left_text, right_text = render(left), render(right)
    if type(left) is tuple and len(left) == 3 and RANK[left[0]] < rank:
        left_text = f"({left_text})"
    if type(right) is tuple and (len(right) == 2 or RANK[right[0]] <= rank):
        right_text = f"({right_text})"
    return f"{left_text} {operator} {right_text}"
