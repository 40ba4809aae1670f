"""The strict grammar of Countdown answers: what `parse` reads, and the name of what is wrong with the rest."""

import re

from workflow_scripts.tasks.countdown.verdicts import Rejected, Status

Expression = int | float | tuple
"""An `int` (a literal) or ``(operator, left, right)``, operator one of ``+ - * /``: tuples build, hash, compare fast.

The paper contracts add two nodes that `parse` never makes: ``(sign, operand)``, sign ``-`` or ``+``, and `float`.
"""

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
RANK = {"+": 1, "-": 1, "−": 1, "*": 2, "/": 2, "×": 2, "÷": 2}
"""How tightly an operator binds."""

_tokens = re.compile(r"[0-9]+|[^ \t\r\n]").findall


def parse(text: str) -> Expression:
    """Read one expression of the strict grammar: digits, ``+ - * /`` (or × ÷ −), brackets, white space.

    Literals are unsigned integers without leading zeros; every product is written out; equal ranks associate to the
    left. Limits on length, depth, literals and digits come before any arithmetic. Raises `Rejected` with the reason.
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
        rank = RANK.get(token)
        if rank:
            if wants_operand:
                raise _refusal(text, token)
            while pending and pending[-1] != "(" and RANK[pending[-1]] >= rank:
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


# The first match names the reason, so the order matters: what the text is made of, then how it is put together.
_CHARACTERS = (
    (Status.LATEX, re.compile(r"\\")),
    (Status.FOREIGN_DIGIT, re.compile(r"(?![0-9])\d|[²³¹⁰⁴-⁹₀-₉①-⑳½¼¾⅐-⅞]")),
    (Status.THOUSANDS_SEPARATOR, re.compile(r"[0-9][,_'’][0-9]")),
    (Status.WORD, re.compile(r"[^\W\d_]|__")),
    (Status.DECIMAL_LITERAL, re.compile(r"[0-9]\s*\.|\.\s*[0-9]")),
    (Status.FOREIGN_OPERATOR, re.compile(r"\*\s*\*|/\s*/|[%^!]")),
    (Status.FOREIGN_CHARACTER, re.compile(r"[^0-9+\-*/()×÷− \t\r\n]")),
    (Status.LEADING_ZERO, re.compile(r"(?<![0-9])0[0-9]+")),
)
_STRUCTURE = (
    (Status.IMPLICIT_PRODUCT, re.compile(r"[0-9)]\s*\(|\)\s*[0-9]")),
    (Status.MISSING_OPERATOR, re.compile(r"[0-9]\s+[0-9]")),
    (Status.SIGNED_LITERAL, re.compile(r"(?:^|[-+*/(×÷−])\s*[-+−]\s*[0-9(+\-−]")),
)


def _refusal(text: str, token: str) -> Rejected:
    """Name what is wrong with a text that the grammar refuses at `token` (empty at its end)."""
    where = f"at {token!r}" if token else "at the end"
    for status, pattern in _CHARACTERS:
        if found := pattern.search(text):
            return Rejected(status, repr(found[0]))
    if _unbalanced(text):
        return Rejected(Status.UNBALANCED, where)
    for status, pattern in _STRUCTURE:
        if found := pattern.search(text):
            return Rejected(status, repr(found[0]))
    return Rejected(Status.MISSING_OPERAND, where)


def _unbalanced(text: str) -> bool:
    depth = 0
    for character in text:
        depth += (character == "(") - (character == ")")
        if depth < 0:
            return True
    return depth > 0
