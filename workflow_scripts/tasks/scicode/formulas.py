"""Formulas that are written as text, as expression trees: a small grammar of its own, nothing is evaluated.

Python's operators and precedence (`^` is `**`), numbers, names, calls of functions, comparisons joined by and, or, not,
`Piecewise((value, condition), …)` and `value if condition else other`. White space does not matter. A product needs its
`*`. Names before a dot are dropped where they are modules of mathematics (`np.sin`).
"""

import re
from typing import NamedTuple

from workflow_scripts.tasks.scicode.functions import CONDITIONS, FUNCTIONS, RELATIONS

LONGEST = 10_000
"""Characters of a formula."""
LONGEST_NAME = 100
"""Characters of a name in it."""
DEPTH = 60
"""How deep it nests."""

_TOKEN = re.compile(
    r"\s*+(?:(?P<number>(?:\d++\.?\d*+|\.\d++)(?:[eE][-+]?\d++)?+)|(?P<name>[^\W\d]\w*+(?:\.[^\W\d]\w*+)*+)"
    r"|(?P<mark>\*\*|<=|>=|==|!=|[-+*/^(),<>&|~]))"
)
_MODULES = ("math", "cmath", "np", "numpy", "sp", "sympy")
_CONSTANTS = {"pi": ("pi",), "E": ("E",), "I": ("I",), "oo": ("oo",), "zoo": ("zoo",), "nan": ("nan",),
              "True": ("true",), "False": ("false",)}  # fmt: skip
_CALLED = {
    "abs": "Abs", "ln": "log", "min": "Min", "max": "Max", "ceil": "ceiling", "conj": "conjugate",
    "arcsin": "asin", "arccos": "acos", "arctan": "atan", "arcsinh": "asinh", "arccosh": "acosh", "arctanh": "atanh",
    "arctan2": "atan2", "Eq": "Equality", "Ne": "Unequality", "Lt": "StrictLessThan", "Le": "LessThan",
    "Gt": "StrictGreaterThan", "Ge": "GreaterThan",
}  # fmt: skip
_COMPARISONS = {"<": "StrictLessThan", "<=": "LessThan", ">": "StrictGreaterThan", ">=": "GreaterThan",
                "==": "Equality", "!=": "Unequality"}  # fmt: skip
_BINDING = {"if": 1, "or": 2, "|": 2, "and": 3, "&": 3, **dict.fromkeys(_COMPARISONS, 5), "+": 6, "-": 6, "*": 7,
            "/": 7, "**": 9, "^": 9}  # fmt: skip
_NEGATION, _SIGN = 4, 8
_MINUS_ONE, _HALF = ("Integer", "-1"), ("Rational", "1", "2")


class FormulaError(ValueError):
    """A text that is no formula."""


class _Token(NamedTuple):
    kind: str  # number, name, mark
    text: str


def formula(text: str) -> tuple:
    """The tree of a formula. Raises FormulaError for a text that is none, or too long or deep."""
    if len(text) > LONGEST:
        raise FormulaError(f"a formula has at most {LONGEST} characters")
    reader = _Reader(_tokens(text))
    tree = reader.expression(0, DEPTH)
    reader.end()
    if tree[0] == "Tuple":
        raise FormulaError("several formulas where one should be")
    return tree


def _tokens(text: str) -> list[_Token]:
    found, place, end = [], 0, len(text.rstrip())
    while place < end:
        token = _TOKEN.match(text, place)
        if token is None:
            raise FormulaError(f"{text[place : place + 10].strip()!r} cannot be read")
        found.append(_Token(token.lastgroup, token[token.lastgroup]))
        place = token.end()
    return found


class _Reader:
    """Precedence climbing over tokens."""

    def __init__(self, tokens: list[_Token]) -> None:
        self._tokens, self._place = tokens, 0

    def _next(self) -> str:
        """The text of the next token, '' at the end."""
        return self._tokens[self._place].text if self._place < len(self._tokens) else ""

    def _take(self, expected: str) -> None:
        if self._next() != expected:
            raise FormulaError(f"{expected!r} should stand before {self._next()!r}")
        self._place += 1

    def end(self) -> None:
        if self._next():
            raise FormulaError(f"{self._next()!r} is not expected")

    def expression(self, binding: int, depth: int) -> tuple:
        if depth < 0:
            raise FormulaError(f"a formula nests at most {DEPTH} deep")
        left = self._first(depth)
        compared = []
        while (strength := _BINDING.get(self._next(), 0)) > binding:
            sign = self._next()
            self._place += 1
            if sign in ("**", "^"):
                left = ("Pow", left, self.expression(strength - 1, depth - 1))  # from right to left
            elif sign == "if":
                condition = self.expression(strength, depth - 1)
                self._take("else")
                other = self.expression(0, depth - 1)
                left = ("Piecewise", ("ExprCondPair", left, condition), ("ExprCondPair", other, ("true",)))
            else:
                right = self.expression(strength, depth - 1)
                if sign in _COMPARISONS:
                    compared.append((_COMPARISONS[sign], compared[-1][2] if compared else left, right))
                    left = compared[0] if len(compared) == 1 else ("And", *compared)
                else:
                    left = _joined(sign, left, right)
        return left

    def _first(self, depth: int) -> tuple:
        """A number, a name, a call, brackets, or one of them behind a sign."""
        if self._place == len(self._tokens):
            raise FormulaError("the formula ends too early")
        token = self._tokens[self._place]
        self._place += 1
        if token.kind == "number":
            return _number(token.text)
        if token.text == "(":
            items = self._list(depth)
            return items[0] if len(items) == 1 else ("Tuple", *items)
        if token.text in ("-", "+"):
            value = self.expression(_SIGN, depth - 1)
            return value if token.text == "+" else ("Mul", _MINUS_ONE, value)
        if token.text in ("not", "~"):
            return ("Not", self.expression(_NEGATION, depth - 1))
        if token.kind != "name" or token.text in _BINDING or token.text == "else":
            raise FormulaError(f"{token.text!r} is not expected")
        module, _, bare = token.text.rpartition(".")
        name = bare if module in _MODULES else token.text
        if not name.isidentifier() or len(name) > LONGEST_NAME:  # x², a.b
            raise FormulaError(f"{name[:LONGEST_NAME]!r} is no name")
        if self._next() == "(":
            self._place += 1
            return _call(name, self._list(depth))
        return _CONSTANTS.get(name, ("Symbol", name))

    def _list(self, depth: int) -> list[tuple]:
        """Expressions between commas, up to the closing bracket."""
        items = [self.expression(0, depth - 1)]
        while self._next() == ",":
            self._place += 1
            items.append(self.expression(0, depth - 1))
        self._take(")")
        return items


def _number(text: str) -> tuple:
    return ("Integer", text) if text.isdigit() and len(text) < 4000 else ("Float", text.lower())


def _joined(sign: str, left: tuple, right: tuple) -> tuple:
    if sign == "-":
        sign, right = "+", ("Mul", _MINUS_ONE, right)
    if sign == "/":
        sign, right = "*", ("Pow", right, _MINUS_ONE)
    head = {"+": "Add", "*": "Mul", "and": "And", "&": "And", "or": "Or", "|": "Or"}[sign]
    # Long sums stay flat: how deep trees may be is limited.
    return (*left, right) if left[0] == head else (head, left, right)


def _call(name: str, given: list[tuple]) -> tuple:
    if name == "Piecewise":
        if not all(item[0] == "Tuple" and len(item) == 3 for item in given):
            raise FormulaError("Piecewise takes pairs (value, condition)")
        return ("Piecewise", *(("ExprCondPair", *item[1:]) for item in given))
    if any(item[0] == "Tuple" for item in given):
        raise FormulaError(f"{name} takes single values")
    one = len(given) == 1
    if name in ("sqrt", "cbrt") and one:
        return ("Pow", given[0], _HALF if name == "sqrt" else ("Rational", "1", "3"))
    if name in ("log10", "log2") and one:
        return ("log", given[0], ("Integer", name[3:]))
    if name == "Rational" and len(given) == 2:
        return ("Mul", given[0], ("Pow", given[1], _MINUS_ONE))
    if name in ("Integer", "Float", "Symbol"):
        raise FormulaError(f"{name} is no function")
    head = _CALLED.get(name, name)
    if (head in FUNCTIONS and len(given) not in FUNCTIONS[head].counts) or (head in RELATIONS and len(given) != 2):
        raise FormulaError(f"{name} does not take {len(given)} values")
    return (head, *given) if head in FUNCTIONS or head in CONDITIONS else ("Function", name, *given)
