"""The expressions that the paper's evaluators read: a subset of Python's grammar, read here without Python's parser.

Both hand the answer to `ast.parse` and walk the tree. What that lets through beyond the strict grammar: signs,
comments, line breaks inside brackets, float literals, ``0x18``, ``1_0``, ``True``. The native evaluator of the public
GRPO line first refuses all but digits, operators, brackets, points and white space, and keeps integers only. Refusals
agree as well, but for stated limits: theirs are the parser's and the interpreter's.
"""

import re

from workflow_scripts.tasks.countdown.grammar import MAX_DIGITS, RANK, Expression
from workflow_scripts.tasks.countdown.verdicts import Rejected, Status

MAX_DEPTH = 200
"""Brackets inside one another: the limit of CPython's tokenizer."""
MAX_TOKENS = 256
"""Literals, operators and signs of one expression; the reference goes to the interpreter's recursion limit."""

_PLAIN = re.compile(r"[0-9+\-*/().\s]*+").fullmatch
_TOKEN = re.compile(
    r"""(?P<space>[ \t\f]++|\\(?:\r\n|\r|\n))
      | (?P<line>\r\n|\r|\n)
      | (?P<comment>\#[^\r\n]*+(?:[\r\n]++\#[^\r\n]*+)*+)
      | (?P<float>(?:[0-9]++(?:_[0-9]++)*+)?\.(?:[0-9]++(?:_[0-9]++)*+)(?:[eE][-+]?[0-9]++(?:_[0-9]++)*+)?
                | [0-9]++(?:_[0-9]++)*+(?:\.(?:[eE][-+]?[0-9]++(?:_[0-9]++)*+)?|[eE][-+]?[0-9]++(?:_[0-9]++)*+))
      | (?P<whole>0[xX](?:_?[0-9a-fA-F])++|0[oO](?:_?[0-7])++|0[bB](?:_?[01])++
                | [1-9][0-9]*+(?:_[0-9]++)*+|0++(?:_0++)*+)
      | (?P<name>True|False)
      | (?P<sign>[-+])
      | (?P<operator>[*/])
      | (?P<bracket>[()])""",
    re.VERBOSE,
).match
_GLUED = re.compile(r"[\w.]", re.ASCII).match
_UNARY = 3  # signs bind tighter than any binary operator


def read(text: str, *, integers_only: bool) -> Expression:
    """Read a stripped text as Python would, to the nodes + - * / with signs and numbers; True and False are 1 and 0.

    integers_only: the native evaluator's narrower alphabet and literals. Cost is linear in the length.
    Raises `Rejected` with the reason.
    """
    if not text:
        raise Rejected(Status.EMPTY)
    if integers_only and not _PLAIN(text):
        raise Rejected(Status.FOREIGN_CHARACTER, "outside 0-9 + - * / ( ) . and white space")
    if "\0" in text or not (text.isascii() or _encodable(text)):
        raise Rejected(Status.FOREIGN_CHARACTER, "not a text that Python can read")
    reader = _Reader()
    position, end = 0, len(text)
    while position < end:
        found = _TOKEN(text, position)
        if found is None:
            raise _refusal(text, position)
        kind, token, position = found.lastgroup, found[0], found.end()
        if kind in ("float", "whole", "name") and position < end and _GLUED(text, position):
            raise _refusal(text, position)
        if kind == "float" and integers_only:
            raise Rejected(Status.DECIMAL_LITERAL, token[:40])
        reader.take(kind, token)
    return reader.result()


def has_paper_form(text: str, expression: Expression) -> bool:
    """Whether the reference gives this text a canonical form: plain characters only, and no sign but minus."""
    return _PLAIN(text) is not None and not _has_plus_sign(expression)


def _has_plus_sign(node: Expression) -> bool:
    return type(node) is tuple and ((node[0] == "+" and len(node) == 2) or any(map(_has_plus_sign, node[1:])))


def _encodable(text: str) -> bool:
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True


def _refusal(text: str, position: int) -> Rejected:
    character = text[position]
    if character.isalpha() or character == "_":
        return Rejected(Status.WORD, repr(text[position : position + 20]))
    return Rejected(Status.FOREIGN_CHARACTER, repr(character))


class _Reader:
    """Operator-precedence parser fed one token at a time; it keeps its own stack, so that depth costs no recursion."""

    def __init__(self) -> None:
        self.operands: list[Expression] = []
        self.pending: list[tuple[str, int]] = []  # (operator, binding strength); an open bracket binds 0
        self.wants_operand = True
        self.depth = self.tokens = 0
        self.started = self.line_ended = False
        self.margin = self.column = 0  # white space before the first token, of continued lines and of this one

    def take(self, kind: str, token: str) -> None:
        if kind == "space":
            if token[0] == "\\":
                self.margin = self.margin or self.column
            else:  # a form feed sets the column back
                kept = token.rpartition("\f")
                self.column = len(kept[2]) + (0 if kept[1] else self.column)
            return
        if kind == "comment":
            return
        if kind == "line":
            self.margin = self.column = 0
            if not self.depth:
                if self.started and self.wants_operand:
                    raise Rejected(Status.MISSING_OPERAND, "at the end of a line")
                self.line_ended = True
            return
        if not self.started and (self.margin or self.column):
            raise Rejected(Status.FOREIGN_CHARACTER, "an indented line")
        if self.started and self.line_ended and not self.depth:
            raise Rejected(Status.MISSING_OPERATOR, "a second line")
        self.started, self.line_ended = True, False
        if kind == "bracket":
            (self._open if token == "(" else self._close)()
            return
        self.tokens += 1
        if self.tokens > MAX_TOKENS:
            raise Rejected(Status.TOO_LONG, f"more than {MAX_TOKENS} literals and operators")
        if kind == "sign" and self.wants_operand:
            self.pending.append((token, _UNARY))
        elif kind in ("sign", "operator"):
            if self.wants_operand:
                raise Rejected(Status.MISSING_OPERAND, f"at {token!r}")
            self._reduce(RANK[token])
            self.pending.append((token, RANK[token]))
            self.wants_operand = True
        else:
            if not self.wants_operand:
                raise Rejected(Status.MISSING_OPERATOR, f"at {token[:40]!r}")
            self.operands.append(_number(kind, token))
            self.wants_operand = False

    def result(self) -> Expression:
        if self.depth:
            raise Rejected(Status.UNBALANCED, "at the end")
        if self.wants_operand:
            raise Rejected(Status.MISSING_OPERAND if self.started else Status.EMPTY, "at the end")
        self._reduce(1)
        return self.operands[0]

    def _open(self) -> None:
        if not self.wants_operand:
            raise Rejected(Status.IMPLICIT_PRODUCT, "at '('")
        self.depth += 1
        if self.depth > MAX_DEPTH:
            raise Rejected(Status.TOO_DEEP, f"more than {MAX_DEPTH} brackets inside one another")
        self.pending.append(("(", 0))

    def _close(self) -> None:
        if not self.depth:
            raise Rejected(Status.UNBALANCED, "at ')'")
        if self.wants_operand:
            raise Rejected(Status.MISSING_OPERAND, "at ')'")
        self._reduce(1)
        self.pending.pop()
        self.depth -= 1

    def _reduce(self, strength: int) -> None:
        """Complete what waits and binds at least as tightly as `strength`."""
        while self.pending and self.pending[-1][1] >= strength:
            operator, binding = self.pending.pop()
            right = self.operands.pop()
            self.operands.append((operator, right) if binding == _UNARY else (operator, self.operands.pop(), right))


def _number(kind: str, token: str) -> int | float:
    if kind == "name":
        return int(token == "True")
    if kind == "float":
        return float(token)
    if len(token) > MAX_DIGITS:
        raise Rejected(Status.TOO_LONG, f"more than {MAX_DIGITS} digits in one literal")
    return int(token, 0)
