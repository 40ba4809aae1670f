"""Python values as canonical JSON text, so that what a program returned can be compared without being evaluated.

Null, booleans, texts, finite floats, lists, and whole numbers below 2⁵³ in size are JSON itself (3 and 3.0 differ);
the rest is an object with one key:

    {"$int":"9007199254740993"}     larger whole numbers; in hexadecimal beyond DECIMAL_BITS
    {"$float":"nan"}                nan, inf, -inf
    {"$complex":[re,im]}            {"$fraction":["1","3"]}         {"$decimal":"0.10"}
    {"$tuple":[…]}                  {"$set":[…]} in order of text   {"$dict":[[key,value],…]} in order of the key's text
    {"$expr":tree}                  symbolic: ["Add",["Symbol","x"],["Integer","3"]], sympy's own class names
    {"$other":"generator"}          what has no encoding, by the name of its type

Equal values of one type have one text (equal expressions may have several). Subclasses (named tuples, counters, numpy's
float64) are written as their base; numpy's arrays and sympy's matrices as nested lists, numpy's scalars as Python's,
sympy's finite sets and tuples as sets and tuples.
"""

import json
import re
from decimal import Decimal, InvalidOperation
from fractions import Fraction
from math import isfinite
from typing import Any

from workflow_scripts.tasks.scicode.encoding import (
    DEPTH,
    LARGEST,
    LARGEST_BITS,
    Expression,
    Other,
    TooLargeError,
    encode,
)

__all__ = ["DEPTH", "LARGEST", "LARGEST_BITS", "Expression", "Other", "TooLargeError", "decode", "encode"]

_DECIMAL, _HEXADECIMAL = re.compile(r"-?[0-9]{1,4300}"), re.compile(rf"-?0x[0-9a-f]{{1,{LARGEST_BITS // 4}}}")
_DECIMAL_NUMBER = re.compile(r"-?(?:[0-9.E+-]{1,10000}|s?NaN[0-9]*|Infinity)")


def decode(text: str, *, largest: int = LARGEST) -> Any:
    """The value that `encode` wrote: plain Python, frozensets for sets, `Expression` for symbolic values and `Other`
    for what has no encoding.

    Nothing is evaluated or imported. Raises ValueError for any other text, which may come from a program.
    """
    if len(text) > largest:
        raise TooLargeError("the text is too large")
    try:
        return _read(json.loads(text, parse_constant=_refused), DEPTH)
    except (RecursionError, TypeError, InvalidOperation) as error:  # TypeError: a list in a set
        raise ValueError(f"not an encoded value: {text[:80]!r}") from error


def _read(node: Any, depth: int) -> Any:
    if depth < 0:
        raise ValueError(f"the value nests deeper than {DEPTH}")
    if isinstance(node, list):
        return [_read(item, depth - 1) for item in node]
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
        return tuple(_read(item, depth - 1) for item in body)
    if tag == "$set":
        return frozenset(_read(item, depth - 1) for item in body)
    if tag == "$dict" and all(isinstance(pair, list) and len(pair) == 2 for pair in body):
        return {_read(key, depth - 1): _read(item, depth - 1) for key, item in body}
    if tag == "$expr":
        return Expression(_tree(body, depth))
    if tag == "$complex" and len(body) == 2:
        return complex(*(_real(part) for part in body))
    if tag == "$fraction" and len(body) == 2:
        top, bottom = (_whole(part) for part in body)
        return Fraction(top, bottom) if bottom else _refused(node)
    return _refused(node)


def _tree(node: list, depth: int) -> tuple:
    if depth < 0:
        raise ValueError(f"the expression nests deeper than {DEPTH}")
    if not node or not isinstance(node[0], str) or not all(isinstance(item, str | list) for item in node):
        _refused(node)
    return tuple(item if isinstance(item, str) else _tree(item, depth - 1) for item in node)


def _whole(text: str) -> int:
    if not isinstance(text, str):
        _refused(text)
    if _DECIMAL.fullmatch(text):
        return int(text)
    return int(text, 16) if _HEXADECIMAL.fullmatch(text) else _refused(text)


def _real(node: Any) -> float:
    value = _read(node, 1)
    return value if isinstance(value, float) else _refused(node)


def _special(text: str) -> float:
    return float(text) if text in ("nan", "inf", "-inf") else _refused(text)


def _decimal(text: str) -> Decimal:
    return Decimal(text) if _DECIMAL_NUMBER.fullmatch(text) else _refused(text)


def _refused(what: Any) -> Any:
    raise ValueError(f"not an encoded value: {str(what)[:80]!r}")


_TEXTS = {"$int": _whole, "$float": _special, "$decimal": _decimal, "$other": Other}
