"""Python values to canonical JSON text; `values` says what it looks like, and reads it.

Types are told by the class itself, contents read with the base's own methods: what a class says of itself
(`__class__`, `__repr__`, `__eq__`, `__iter__`) is never asked, as a program that wants to be judged right wrote it.
The sandbox's runner imports this file: the standard library alone, and sympy or numpy only where they are loaded.
"""

import sys
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from json.encoder import encode_basestring_ascii as _quoted
from math import isfinite
from typing import Any

DEPTH = 100
"""How deep values and expression trees may nest."""
LARGEST = 16 << 20
"""Characters of the longest text that is written or read, unless told otherwise."""
LARGEST_BITS = 1 << 20
"""Bits of the largest whole number."""
DECIMAL_BITS = 13_000
"""Whole numbers with more bits are written in hexadecimal: decimal digits take quadratic time."""

CONSTANTS = {
    "Pi": "pi", "Exp1": "E", "ImaginaryUnit": "I", "Infinity": "oo", "NegativeInfinity": "-oo",
    "ComplexInfinity": "zoo", "NaN": "nan", "BooleanTrue": "true", "BooleanFalse": "false",
}  # fmt: skip
"""sympy's class of a constant -> its name in trees; the golden ratio and its like go by their class."""

_EXACT = 2**53
_MRO = type.__dict__["__mro__"].__get__
_NAME = type.__dict__["__name__"].__get__
_REAL, _IMAGINARY = complex.real.__get__, complex.imag.__get__


class TooLargeError(ValueError):
    """A value whose text would be longer, or a number larger, than allowed."""


@dataclass(frozen=True)
class Expression:
    """A symbolic value: nested tuples, the class name first. ("Symbol", "x"), ("Rational", "1", "3"), ("pi",)."""

    tree: tuple


@dataclass(frozen=True)
class Other:
    """A value without an encoding, known by the name of its type."""

    type_name: str


def encode(value: Any, *, largest: int = LARGEST) -> str:
    """The value as canonical JSON text.

    Raises TooLargeError when the text would be longer than `largest` characters or a number has more than LARGEST_BITS,
    ValueError when the value nests deeper than DEPTH (as what contains itself does).
    """
    writer = _Writer(largest)
    writer.write(value, DEPTH)
    return "".join(writer.parts)


class _Writer:
    """Pieces of the text, and how many characters may still come."""

    def __init__(self, largest: int) -> None:
        self.parts: list[str] = []
        self.left = largest
        self.array, self.scalar = _loaded("numpy", "ndarray", "generic")
        self.basic, self.finite_set, self.sequence = _loaded("sympy", "Basic", "FiniteSet", "Tuple")
        self.tables = set(_loaded("sympy", "MatrixBase", "NDimArray"))
        (self.undefined,) = _loaded("sympy.core.function", "AppliedUndef")

    def say(self, text: str) -> None:
        self.left -= len(text)
        if self.left < 0:
            raise TooLargeError("the value is too large")
        self.parts.append(text)

    def write(self, value: Any, depth: int) -> None:
        if depth < 0:
            raise ValueError(f"the value nests deeper than {DEPTH}")
        kind = type(value)
        lineage = _MRO(kind)
        if value is None:
            self.say("null")
        elif kind is bool:
            self.say("true" if value else "false")
        elif int in lineage:
            value = int.__index__(value)
            self.say(int.__repr__(value) if -_EXACT < value < _EXACT else f'{{"$int":"{_digits(value)}"}}')
        elif float in lineage:
            self.say(_number(float.__float__(value)))
        elif str in lineage:
            if str.__len__(value) > self.left:
                raise TooLargeError("the text is too large")
            self.say(_quoted(str.__str__(value)))
        elif list in lineage:
            self.items(list.__iter__(value), depth)
        elif tuple in lineage:
            self.tagged("$tuple", self.items, tuple.__iter__(value), depth)
        elif dict in lineage:
            self.mapping(dict.items(value), depth)
        elif set in lineage or frozenset in lineage:
            self.ordered((set if set in lineage else frozenset).__iter__(value), depth)
        elif complex in lineage:
            self.say(f'{{"$complex":[{_number(_REAL(value))},{_number(_IMAGINARY(value))}]}}')
        elif Fraction in lineage:
            self.say(_fraction(value))
        elif Decimal in lineage:
            self.say(f'{{"$decimal":{_quoted(Decimal.__str__(value))}}}')
        elif self.array in lineage or self.scalar in lineage:
            self.numeric(value, self.array if self.array in lineage else self.scalar, depth)
        elif not self.tables.isdisjoint(lineage):
            self.write(value.tolist(), depth)
        elif self.basic in lineage:
            self.symbolic(value, lineage, depth)
        elif kind is Expression:
            self.tagged("$expr", self.tree_of, value.tree, depth)
        else:
            name = value.type_name if kind is Other else _NAME(kind)
            self.say(f'{{"$other":{_quoted(name[:100])}}}')

    def items(self, values: Iterable, depth: int) -> None:
        self.say("[")
        for place, item in enumerate(values):
            self.say("," if place else "")
            self.write(item, depth - 1)
        self.say("]")

    def tagged(self, tag: str, write: Callable[[Any, int], None], what: Any, depth: int) -> None:
        self.say(f'{{"{tag}":')
        write(what, depth)
        self.say("}")

    def ordered(self, values: Iterable, depth: int) -> None:
        texts = sorted(self.aside(item, depth) for item in values)
        self.parts.append(f'{{"$set":[{",".join(texts)}]}}')

    def mapping(self, pairs: Iterable, depth: int) -> None:
        texts = sorted((self.aside(key, depth), self.aside(item, depth)) for key, item in pairs)
        self.parts.append('{"$dict":[' + ",".join(f"[{key},{item}]" for key, item in texts) + "]}")

    def aside(self, value: Any, depth: int) -> str:
        """The value's text, counted but not yet written: what is to be sorted first."""
        parts, self.parts = self.parts, []
        self.write(value, depth - 1)
        self.left -= 2  # what stands between it and the next
        text, self.parts = "".join(self.parts), parts
        return text

    def numeric(self, value: Any, base: type, depth: int) -> None:
        if base.size.__get__(value) > self.left:
            raise TooLargeError("the array is too large")
        plain = base.tolist(value)
        if self.scalar in _MRO(type(plain)):  # a long double: tolist leaves it, as Python has no such number
            plain = complex(plain) if plain.dtype.kind == "c" else float(plain) if plain.dtype.kind == "f" else None
        self.write(plain, depth)

    def symbolic(self, value: Any, lineage: tuple, depth: int) -> None:
        if self.finite_set in lineage:
            self.ordered(value.args, depth)
        elif self.sequence in lineage:
            self.tagged("$tuple", self.items, value.args, depth)
        else:
            self.tagged("$expr", self.node, value, depth)

    def node(self, value: Any, depth: int) -> None:
        """A sympy object as a tree. Assumptions of symbols and the numbers of dummies are not told."""
        if depth < 0:
            raise ValueError(f"the expression nests deeper than {DEPTH}")
        lineage = _MRO(type(value))
        names = [_NAME(kind)[:100] for kind in lineage]
        if "Integer" in names:
            self.leaf("Integer", _digits(int(value.p)))
        elif "Rational" in names:
            self.leaf("Rational", _digits(int(value.p)), _digits(int(value.q)))
        elif "Float" in names:
            self.leaf("Float", _float_text(value))
        elif "Symbol" in names:
            self.leaf("Symbol", str(value.name)[:100])
        elif names[0] in CONSTANTS:
            self.leaf(CONSTANTS[names[0]])
        elif self.basic not in lineage or ("Atom" in names and not {"NumberSymbol", "Set"} & set(names)):
            self.leaf("Other", names[0])
        else:
            head = ("Function", names[0]) if self.undefined in lineage else (names[0],)
            self.say("[" + ",".join(map(_quoted, head)))
            for item in value.args:
                self.say(",")
                self.node(item, depth - 1)
            self.say("]")

    def leaf(self, *texts: str) -> None:
        self.say("[" + ",".join(map(_quoted, texts)) + "]")

    def tree_of(self, tree: Iterable, depth: int) -> None:
        """The tree of an `Expression`."""
        if depth < 0:
            raise ValueError(f"the expression nests deeper than {DEPTH}")
        self.say("[")
        for place, item in enumerate(tree):
            self.say("," if place else "")
            if isinstance(item, str):
                self.say(_quoted(item))
            else:
                self.tree_of(item, depth - 1)
        self.say("]")


class _Absent:
    """No value has this type."""


def _loaded(module: str, *names: str) -> list[type]:
    """Classes of a module where it is loaded; `_Absent` for what is not there, or is no class."""
    found = [getattr(sys.modules.get(module), name, None) for name in names]
    return [kind if isinstance(kind, type) else _Absent for kind in found]


def _digits(value: int) -> str:
    if value.bit_length() > LARGEST_BITS:
        raise TooLargeError(f"a number has more than {LARGEST_BITS} bits")
    return int.__repr__(value) if value.bit_length() <= DECIMAL_BITS else hex(value)


def _number(value: float) -> str:
    text = float.__repr__(value)
    return text if isfinite(value) else f'{{"$float":"{text}"}}'


def _fraction(value: Fraction) -> str:
    top, bottom = Fraction.numerator.fget(value), Fraction.denominator.fget(value)
    if type(top) is not int or type(bottom) is not int or not bottom:  # someone wrote into it
        return '{"$other":"Fraction"}'
    return f'{{"$fraction":["{_digits(top)}","{_digits(bottom)}"]}}'


def _float_text(value: Any) -> str:
    """Digits of a sympy Float: those of Python's float where its precision is that, all of them beyond."""
    plain = float(value)
    if value._prec <= 53 and isfinite(plain) and bool(plain) == bool(value):
        return float.__repr__(plain)
    from mpmath.libmp import repr_dps, to_str

    return to_str(value._mpf_, repr_dps(value._prec))
