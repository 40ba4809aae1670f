"""Python values as canonical JSON text, so that what a program returned can be compared without being evaluated.

Null, booleans, texts, finite floats, lists, and whole numbers below 2⁵³ in size are JSON itself (3 and 3.0 differ);
the rest is an object with one key:

    {"$int":"9007199254740993"}     larger whole numbers; in hexadecimal beyond DECIMAL_BITS
    {"$float":"nan"}                nan, inf, -inf
    {"$complex":[re,im]}            {"$fraction":["1","3"]}         {"$decimal":"0.10"}
    {"$tuple":[…]}                  {"$set":[…]} in order of text   {"$dict":[[key,value],…]} in order of the key's text
    {"$expr":tree}                  symbolic: ["Add",["Symbol","x"],["Integer","3"]], sympy's own class names
    {"$other":"generator"}          what has no encoding, by the name of its type

A tree is a class name and its parts, as many as the class can have; digits and names are texts.
Equal values of one type have one text (equal expressions may have several). Subclasses (named tuples, counters, numpy's
float64) are written as their base; numpy's arrays and sympy's matrices as nested lists, numpy's scalars as Python's,
sympy's finite sets and tuples as sets and tuples, mpmath's numbers and matrices as Python's.
"""

import json
import re
from dataclasses import dataclass
from decimal import Decimal, InvalidOperation
from fractions import Fraction
from math import isfinite
from typing import Any

from workflow_scripts.tasks.scicode.encoding import (
    CONSTANTS,
    DEPTH,
    FRACTION_BITS,
    LARGEST,
    LARGEST_BITS,
    Expression,
    Other,
    TooLargeError,
    encode,
)

__all__ = [
    "DEPTH", "LARGEST", "LARGEST_BITS", "Expression", "Items", "Other", "Pairs", "TooLargeError", "decode", "encode",
]  # fmt: skip

_DECIMAL, _HEXADECIMAL = re.compile(r"-?[0-9]{1,4300}"), re.compile(rf"-?0x[0-9a-f]{{1,{LARGEST_BITS // 4}}}")
_DECIMAL_NUMBER = re.compile(r"-?(?:[0-9.E+-]{1,10000}|s?NaN[0-9]*|Infinity)")
_DIGITS = re.compile(r"-?(?=[0-9.]{1,10000}(?:e|$))(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:e[+-]?[0-9]{1,30})?")
_LONGEST_NAME = 100
_ANY = range(1 << 20)
_PARTS = {
    **dict.fromkeys(["Symbol", "Dummy", "Noncommutative", "Other", "Integer", "Rational", "Float"], range(1)),
    **dict.fromkeys([*CONSTANTS.values(), "GoldenRatio", "EulerGamma", "Catalan"], range(1)),
    **dict.fromkeys(["Equality", "Unequality", "StrictLessThan", "LessThan", "StrictGreaterThan"], range(2, 3)),
    **dict.fromkeys(["GreaterThan", "Pow", "ExprCondPair"], range(2, 3)),
    **dict.fromkeys(["Not", "Abs"], range(1, 2)), "Piecewise": range(1, 1 << 20),
}  # fmt: skip
"""How many parts a class has, besides texts; any number where it does not stand here."""


@dataclass(frozen=True)
class Items:
    """A set whose items were not hashed, in the order of their text; one may stand there twice."""

    items: tuple


@dataclass(frozen=True)
class Pairs:
    """A mapping whose keys were not hashed, in the order of their text; one may stand there twice."""

    pairs: tuple[tuple[Any, Any], ...]


def decode(text: str, *, largest: int = LARGEST, hashed: bool = True) -> Any:
    """The value that `encode` wrote: plain Python, frozensets for sets, `Expression` for symbolic values and `Other`
    for what has no encoding.

    hashed: False for a text that a program may have forged: sets are `Items` and mappings `Pairs` then, as Python's
    hashes of numbers are known, and thousands that have one take minutes to put into a set.
    Nothing is evaluated or imported. Raises ValueError for any other text.
    """
    if len(text) > largest:
        raise TooLargeError("the text is too large")
    try:
        return _read(json.loads(text, parse_constant=_refused), DEPTH, hashed)
    except (RecursionError, TypeError, InvalidOperation) as error:  # TypeError: a list in a set
        raise ValueError(f"not an encoded value: {text[:80]!r}") from error


def _read(node: Any, depth: int, hashed: bool) -> Any:
    if depth < 0:
        raise ValueError(f"the value nests deeper than {DEPTH}")
    if isinstance(node, list):
        return [_read(item, depth - 1, hashed) for item in node]
    if isinstance(node, float) and not isfinite(node):
        _refused(node)
    if not isinstance(node, dict):
        return node
    if len(node) != 1:
        _refused(node)
    ((tag, body),) = node.items()
    if tag in _TEXTS and isinstance(body, str):
        return _TEXTS[tag](body)
    if not isinstance(body, list):
        _refused(node)
    if tag == "$tuple":
        return tuple(_read(item, depth - 1, hashed) for item in body)
    if tag == "$set":
        items = (_read(item, depth - 1, hashed) for item in body)
        return frozenset(items) if hashed else Items(tuple(map(_fit_for_sets, items)))
    if tag == "$dict" and all(isinstance(pair, list) and len(pair) == 2 for pair in body):
        pairs = ((_read(key, depth - 1, hashed), _read(item, depth - 1, hashed)) for key, item in body)
        return dict(pairs) if hashed else Pairs(tuple((_fit_for_sets(key), item) for key, item in pairs))
    if tag == "$expr":
        return Expression(_tree(body, depth))
    if tag == "$complex" and len(body) == 2:
        return complex(*(_real(part) for part in body))
    if tag == "$fraction" and len(body) == 2:
        return Fraction(*_ratio(*body))
    return _refused(node)


def _fit_for_sets(value: Any) -> Any:
    """The value; TypeError for a list or a mapping, or a tuple that has one."""
    if isinstance(value, list | Pairs):
        raise TypeError("unhashable")
    if isinstance(value, tuple):
        for item in value:
            _fit_for_sets(item)
    return value


def _tree(node: list, depth: int) -> tuple:
    if depth < 0:
        raise ValueError(f"the expression nests deeper than {DEPTH}")
    if not node or not isinstance(node[0], str):
        _refused(node)
    head, *parts = node
    leading = _LEADING.get(head, ())
    texts, parts = parts[: len(leading)], parts[len(leading) :]
    fits = len(texts) == len(leading) and all(isinstance(text, str) and fit(text) for text, fit in zip(texts, leading))
    if not fits or not all(isinstance(part, list) for part in parts):
        _refused(node)
    if len(parts) not in _PARTS.get(head, _ANY):
        _refused(node)
    if head == "Rational":
        _ratio(*texts)
    # Branches stand in piecewise expressions alone, which have nothing else.
    if any((part[:1] == ["ExprCondPair"]) != (head == "Piecewise") for part in parts):
        _refused(node)
    return (head, *texts, *(_tree(part, depth - 1) for part in parts))


def _is_name(text: str) -> bool:
    return len(text) <= _LONGEST_NAME and not any("\ud800" <= letter <= "\udfff" for letter in text)


def _is_whole(text: str) -> bool:
    return _whole(text) is not None


_LEADING = {
    **dict.fromkeys(("Symbol", "Dummy", "Noncommutative", "Other", "Function", "NoncommutativeFunction"), (_is_name,)),
    "Integer": (_is_whole,), "Rational": (_is_whole, _is_whole), "Float": (_DIGITS.fullmatch,),
}  # fmt: skip
"""The texts that a class has before its parts."""


def _whole(text: str) -> int:
    if not isinstance(text, str):
        _refused(text)
    if _DECIMAL.fullmatch(text):
        return int(text)
    return int(text, 16) if _HEXADECIMAL.fullmatch(text) else _refused(text)


def _ratio(top: str, bottom: str) -> tuple[int, int]:
    ratio = _whole(top), _whole(bottom)
    if not ratio[1] or max(part.bit_length() for part in ratio) > FRACTION_BITS:
        _refused(bottom)
    return ratio


def _real(node: Any) -> float:
    value = _read(node, 1, False)
    return value if isinstance(value, float) else _refused(node)


def _special(text: str) -> float:
    return float(text) if text in ("nan", "inf", "-inf") else _refused(text)


def _decimal(text: str) -> Decimal:
    return Decimal(text) if _DECIMAL_NUMBER.fullmatch(text) else _refused(text)


def _refused(what: Any) -> Any:
    raise ValueError(f"not an encoded value: {str(what)[:80]!r}")


_TEXTS = {"$int": _whole, "$float": _special, "$decimal": _decimal, "$other": Other}
