r"""Reads one formula to exact algebra: ``3\sqrt{13}``, ``-1\frac{1}{2}``, ``(a+5)(b+2)``, ``2^{10}/3``.

Operators + - * / ^ and juxtaposition, which binds as * does (left to right); brackets, ``\frac`` (with single digits,
too: ``\frac12``), ``\sqrt``, ``!`` after a whole number; names are single letters or Greek ones, with a subscript where
there is one, and ``f(x)`` with one name or number in its brackets is a name as well. A whole number followed at once by
a proper fraction of whole numbers is a mixed number. Functions, roots of other degrees and all else that is not listed
is UNSUPPORTED here, and left to the symbolic worker.
No recursion deeper than spelling.MAX_DEPTH; no evaluation but that of algebra.py, whose limits hold.
"""

import re
from fractions import Fraction
from functools import lru_cache
from math import factorial

from workflow_scripts.tasks.maths import algebra
from workflow_scripts.tasks.maths.algebra import Quotient
from workflow_scripts.tasks.maths.numbers import MAX_FACTORIAL, checked, literal
from workflow_scripts.tasks.maths.spelling import MAX_DEPTH
from workflow_scripts.tasks.maths.verdicts import Rejected, Status

MAX_TOKENS = 400
_GREEK = (
    "alpha beta gamma delta epsilon varepsilon zeta eta theta vartheta iota kappa lambda mu nu xi rho sigma tau upsilon"
    " phi varphi chi psi omega Gamma Delta Theta Lambda Xi Pi Sigma Upsilon Phi Psi Omega pi infty hbar ell"
)
LETTERS = frozenset(_GREEK.split())
"""Commands that are names."""
_WORDS = {"sqrt": r"\sqrt", "pi": "pi", "inf": "infty", "infinity": "infty", "infty": "infty"}
_TOKEN = re.compile(
    r"""\s*(?:
        (?P<number>(?:\d{1,3}(?:,\d{3})+(?!\d)|\d+)(?:\.\d*)?(?:[eE][-+]?\d+(?![\d.]))?|\.\d+(?:[eE][-+]?\d+)?)
      | \\(?P<command>[A-Za-z]+)
      | (?P<word>sqrt|infinity|infty|inf|pi)(?![A-Za-z])
      | (?P<name>[A-Za-z])
      | (?P<operator>\*\*|[-+*/^!])
      | (?P<open>[(\[{])
      | (?P<close>[)\]}])
      | (?P<subscript>_\s*(?:\{\s*(?:\\text\s*\{[^{}]*\}|[\w\s,+-]*|\\[A-Za-z]+\s*)\}|\w|\\[A-Za-z]+))
    )""",
    re.VERBOSE,
).match
_FUNCTION = re.compile(
    r"(?<![A-Za-z\\])(?:arc)?(?:sin|cos|tan|cot|sec|csc|log|ln|exp|lim|max|mod|gcd|lcm)(?![a-z])"
).search
_DERIVATIVE = re.compile(
    r"\\frac\s*\{\s*(?:d|\\partial)(?![a-z])[^{}]*(?:\{[^{}]*\}[^{}]*)*\}\s*\{\s*(?:d|\\partial)\s*[A-Za-z]"
).search
_PAIR = {"(": ")", "[": "]", "{": "}"}
Token = tuple[str, str, int]


@lru_cache(maxsize=4096)
def read(text: str) -> Quotient:
    """The value of a tidied formula.  Raises `Rejected`: UNSUPPORTED, EMPTY, TOO_LONG, TOO_DEEP, TOO_LARGE."""
    if not text.strip():
        raise Rejected(Status.EMPTY)
    if _FUNCTION(text) or _DERIVATIVE(text):
        raise Rejected(Status.UNSUPPORTED, "a function or derivative")
    reader = _Reader(_tokens(text))
    value = reader.sum()
    if reader.position < len(reader.tokens):
        raise Rejected(Status.UNSUPPORTED, f"at {reader.tokens[reader.position][1]!r:.40}")
    return value


def _tokens(text: str) -> list[Token]:
    tokens: list[Token] = []
    position, end = 0, len(text.rstrip())
    while position < end:
        found = _TOKEN(text, position)
        if not found:
            raise Rejected(Status.UNSUPPORTED, f"at {text[position : position + 20]!r}")
        kind = found.lastgroup
        tokens.append((kind, found[kind], found.start(kind)))
        position = found.end()
        if len(tokens) > MAX_TOKENS:
            raise Rejected(Status.TOO_LONG, f"more than {MAX_TOKENS} literals, names and operators")
    return tokens


class _Reader:
    """Recursive descent over the tokens; `depth` bounds the recursion."""

    def __init__(self, tokens: list[Token]) -> None:
        self.tokens = tokens
        self.position = self.depth = 0

    def sum(self) -> Quotient:
        self.depth += 1
        if self.depth > 4 * MAX_DEPTH:
            raise Rejected(Status.TOO_DEEP)
        value = self.product()
        while self.peek() in ("+", "-"):
            sign = self.take()
            term = self.product()
            value = algebra.add(value, term if sign == "+" else algebra.negative(term))
        self.depth -= 1
        return value

    def product(self) -> Quotient:
        value = self.signed()
        while True:
            token = self.peek()
            if token == "*":
                self.take()
                value = algebra.multiply(value, self.signed())
            elif token == "/":
                self.take()
                value = algebra.divide(value, self.signed())
            elif self.kind() in ("name", "command", "word", "open"):
                value = algebra.multiply(value, self.factor())
            else:
                return value

    def signed(self) -> Quotient:
        negative = False
        while self.peek() in ("+", "-"):
            negative ^= self.take() == "-"
        value = self.factor()
        return algebra.negative(value) if negative else value

    def factor(self) -> Quotient:
        value = self.atom()
        while self.peek() == "!":
            self.take()
            value = _factorial(value)
        if self.peek() in ("^", "**"):
            self.take()
            self.depth += 1
            if self.depth > 4 * MAX_DEPTH:
                raise Rejected(Status.TOO_DEEP)
            value = algebra.power(value, self.signed())
            self.depth -= 1
        return value

    def atom(self) -> Quotient:
        kind, token = self.kind(), self.take()
        if kind == "number":
            return self.number(token)
        if kind == "open":
            return self.bracketed(token)
        if kind == "word":
            return self.root() if token == "sqrt" else algebra.variable(_WORDS[token])
        if kind == "name":
            return self.named(token)
        if kind == "command":
            if token == "frac":
                return algebra.divide(self.argument(), self.argument())
            if token == "sqrt":
                return self.root()
            if token in LETTERS:
                return self.named(token)
        raise Rejected(Status.UNSUPPORTED, f"at {token!r:.40}" if token else "an unfinished formula")

    def number(self, token: str) -> Quotient:
        value = literal(token)
        if value is None:
            raise Rejected(Status.UNSUPPORTED, f"at {token!r:.40}")
        if token.isdigit() and (part := self.proper_fraction()) is not None:
            return algebra.constant(value + part)
        if self.kind() == "subscript":
            raise Rejected(Status.UNSUPPORTED, "a number with a subscript")
        return algebra.constant(value)

    def proper_fraction(self) -> Fraction | None:
        """The part of a mixed number that begins here (``\\frac{1}{2}``, `` 1/2``), taken; None without one."""
        ahead = [token for _, token, _ in self.tokens[self.position : self.position + 7]]
        if ahead[:1] == ["frac"]:
            if ahead[1:2] == ["{"] and len(ahead) == 7 and (ahead[3], ahead[4], ahead[6]) == ("}", "{", "}"):
                top, bottom, used = ahead[2], ahead[5], 7
            elif len(ahead) > 1 and len(ahead[1]) == 2:
                top, bottom, used = ahead[1][0], ahead[1][1], 2
            else:
                return None
        elif len(ahead) > 2 and ahead[1] == "/" and self.kind() == "number":
            top, bottom, used = ahead[0], ahead[2], 3
        else:
            return None
        if not (top.isdigit() and bottom.isdigit() and 0 < int(top) < int(bottom)):
            return None
        self.position += used
        return Fraction(int(top), int(bottom))

    def bracketed(self, opened: str) -> Quotient:
        value = self.sum()
        if self.take() != _PAIR[opened]:
            raise Rejected(Status.UNSUPPORTED, "brackets that do not match")
        return value

    def root(self) -> Quotient:
        if self.peek() == "[":
            raise Rejected(Status.UNSUPPORTED, "a root of another degree")
        return algebra.root(self.argument())

    def argument(self) -> Quotient:
        """What a command takes: a group, a bracketed part, or one digit or name, as LaTeX reads it."""
        kind, token, start = self.tokens[self.position] if self.position < len(self.tokens) else ("", "", 0)
        if kind == "number" and len(token) > 1:
            if not token[0].isdigit():
                raise Rejected(Status.UNSUPPORTED, f"at {token!r:.40}")
            self.tokens[self.position] = (kind, token[1:], start + 1)
            return algebra.constant(Fraction(int(token[0])))
        self.depth += 1
        if self.depth > 4 * MAX_DEPTH:
            raise Rejected(Status.TOO_DEEP)
        value = self.atom()
        self.depth -= 1
        return value

    def named(self, name: str) -> Quotient:
        if self.kind() == "subscript":
            name += "_" + re.sub(r"\\text|[\s{}_]", "", self.take())
        applied = self.tokens[self.position : self.position + 3]
        if name != "pi" and [kind for kind, _, _ in applied] in (
            ["open", "name", "close"],
            ["open", "number", "close"],
        ):
            # f(x) and I(0) are values of a function, not products.
            self.position += 3
            name += f"({applied[1][1]})"
        return algebra.variable(name)

    def kind(self) -> str:
        return self.tokens[self.position][0] if self.position < len(self.tokens) else ""

    def peek(self) -> str:
        if self.position < len(self.tokens) and self.tokens[self.position][0] == "operator":
            return self.tokens[self.position][1]
        return self.tokens[self.position][1] if self.kind() == "open" else ""

    def take(self) -> str:
        if self.position >= len(self.tokens):
            return ""
        self.position += 1
        return self.tokens[self.position - 1][1]


def _factorial(value: Quotient) -> Quotient:
    number = algebra.rational(value)
    if number is None or number.denominator != 1 or number < 0:
        raise Rejected(Status.UNSUPPORTED, "a factorial of what is no whole number")
    if number > MAX_FACTORIAL:
        raise Rejected(Status.TOO_LARGE, f"a factorial beyond {MAX_FACTORIAL}")
    return algebra.constant(checked(Fraction(factorial(int(number)))))
