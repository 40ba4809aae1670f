"""Countdown expressions: grammar, exact value, canonical forms and entrances. Judge and solver share every function here.

An `Expression` is an `int` (a literal) or a tuple ``(operator, left, right)``, the operator one of ``+ - * /``. Plain tuples
build, hash and compare fast: a solver makes thousands per problem. The paper contracts add two kinds of node that `parse` never
makes: ``(sign, operand)`` with sign ``-`` or ``+``, and `float` literals.
"""

import re
from fractions import Fraction
from functools import lru_cache
from hashlib import blake2b

from workflow_scripts.tasks.countdown.status import Rejected, Status

Expression = int | float | tuple

MAX_LENGTH = 512
"""Characters of an expression, white space around it not counted."""
MAX_DEPTH = 32
"""Brackets inside one another."""
MAX_LITERALS = 64
MAX_DIGITS = 100
"""Digits of one literal."""

WHITE_SPACE = " \t\r\n"
SIGNS = {"×": "*", "÷": "/", "−": "-"}
"""The closed map of operator signs beside the ASCII ones: U+00D7, U+00F7, U+2212."""

MODULUS = 2**61 - 1
"""Prime modulus of the fingerprints that `formula_form` spells."""

_tokens = re.compile(r"[0-9]+|[^ \t\r\n]").findall
_RANK = {"+": 1, "-": 1, "*": 2, "/": 2, "×": 2, "÷": 2, "−": 1}


def parse(text: str) -> Expression:
    """Read one expression of the strict grammar: digits, ``+ - * /`` (or × ÷ −), brackets, white space.

    Literals are unsigned integers without leading zeros; every product is written out. Equal ranks associate to the left.
    Limits on length, depth, literals and digits are checked before any arithmetic; cost is linear in the length up to them.
    Raises `Rejected` with the reason.
    """
    text = text.strip(WHITE_SPACE)
    if not text:
        raise Rejected(Status.EMPTY)
    if len(text) > MAX_LENGTH:
        raise Rejected(Status.TOO_LONG, f"{len(text)} characters, at most {MAX_LENGTH}")
    operands: list[Expression] = []
    pending: list[str] = []  # operators and open brackets that wait for their right operand
    wants_operand = True
    depth = literals = 0
    for token in _tokens(text):
        rank = _RANK.get(token)
        if rank:
            if wants_operand:
                raise _refusal(text, token)
            while pending and pending[-1] != "(" and _RANK[pending[-1]] >= rank:
                right = operands.pop()
                operands[-1] = (pending.pop(), operands[-1], right)
            pending.append(SIGNS.get(token, token))
            wants_operand = True
        elif token == "(":
            if not wants_operand:
                raise _refusal(text, token)
            depth += 1
            if depth > MAX_DEPTH:
                raise Rejected(Status.TOO_DEEP, f"more than {MAX_DEPTH} brackets inside one another")
            pending.append(token)
        elif token == ")":
            if wants_operand or not depth:
                raise _refusal(text, token)
            depth -= 1
            while (operator := pending.pop()) != "(":
                right = operands.pop()
                operands[-1] = (operator, operands[-1], right)
        elif "0" <= token[0] <= "9":
            if not wants_operand or (token[0] == "0" and len(token) > 1):
                raise _refusal(text, token)
            literals += 1
            if len(token) > MAX_DIGITS or literals > MAX_LITERALS:
                raise Rejected(Status.TOO_LONG, f"more than {MAX_LITERALS} literals or {MAX_DIGITS} digits in one")
            operands.append(int(token))
            wants_operand = False
        else:
            raise _refusal(text, token)
    if wants_operand or depth:
        raise _refusal(text, "")
    while pending:
        right = operands.pop()
        operands[-1] = (pending.pop(), operands[-1], right)
    return operands[0]


_KINDS = (  # first match names the reason; the order matters
    (Status.LATEX, re.compile(r"\\")),
    (Status.FOREIGN_DIGIT, re.compile(r"(?![0-9])\d|[²³¹⁰⁴-⁹₀-₉①-⑳½¼¾⅐-⅞]")),
    (Status.THOUSANDS_SEPARATOR, re.compile(r"[0-9][,_'’][0-9]")),
    (Status.WORD, re.compile(r"[^\W\d_]|__")),
    (Status.DECIMAL_LITERAL, re.compile(r"[0-9]\s*\.|\.\s*[0-9]")),
    (Status.FOREIGN_OPERATOR, re.compile(r"\*\s*\*|/\s*/|[%^!]")),
    (Status.FOREIGN_CHARACTER, re.compile(r"[^0-9+\-*/()×÷−\s]")),
    (Status.LEADING_ZERO, re.compile(r"(?<![0-9])0[0-9]")),
    (Status.IMPLICIT_PRODUCT, re.compile(r"[0-9)]\s*\(|\)\s*[0-9]")),
    (Status.MISSING_OPERATOR, re.compile(r"[0-9]\s+[0-9]")),
    (Status.SIGNED_LITERAL, re.compile(r"(?:^|[-+*/(×÷−])\s*[-+−]\s*[0-9(+\-−]")),
)


def _refusal(text: str, token: str) -> Rejected:
    """Name what is wrong with a text that the grammar refuses at `token` (empty at its end)."""
    where = f"at {token!r}" if token else "at the end"
    for status, pattern in _KINDS:
        if found := pattern.search(text):
            return Rejected(status, f"{found[0]!r}")
    if text.count("(") != text.count(")") or (token == ")" and text[:1] != "("):
        return Rejected(Status.UNBALANCED, where)
    return Rejected(Status.MISSING_OPERAND, where)


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
    """Leaf under the `paper` equivalence: nested sums (products) flattened and their terms sorted as strings; no spaces.

    Every operation stands in one pair of brackets, ``(((4*7)+5)-9)``; one number stands bare. Brackets sort before digits and
    "10" before "9". Reference: canonicalize_expression of the paper's code (protocol, section 1.4).
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
        return (str(int(node)) if node == node // 1 else str(node)), None
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
        return f"({operator.join([text for text, _ in parts])})", family or first + operator
    first, family = _paper(left)
    return f"({first}{operator}{_paper(right)[0]})", family or first + operator


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
    """Class under the `formula` equivalence: equal as rational functions of the values, equal values being one variable.

    16 hexadecimal digits of `formula_residue`, so two different functions of one problem share a form with probability about
    1e-17 (Schwartz-Zippel). None where there is no such function.
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
    rank = _RANK[operator]
    left_text, right_text = render(left), render(right)
    if type(left) is tuple and len(left) == 3 and _RANK[left[0]] < rank:
        left_text = f"({left_text})"
    if type(right) is tuple and (len(right) == 2 or _RANK[right[0]] <= rank):
        right_text = f"({right_text})"
    return f"{left_text} {operator} {right_text}"
