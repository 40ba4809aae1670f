"""Python values to canonical JSON text; `values` says what it looks like, and reads it.

Types are told by the class itself, contents read with the base's own methods: what a class says of itself
(`__class__`, `__repr__`, `__eq__`, `__iter__`) is never asked, as a program that wants to be judged right wrote it.
The sandbox's runner imports this file: the standard library alone, and sympy or numpy only where they are loaded.
"""

import json
import sys
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from math import isfinite
from typing import Any

DEPTH = 100
"""How deep values and expression trees may nest."""
LARGEST = 16 << 20
"""Characters of the longest text that is written or read, unless told otherwise."""
LARGEST_BITS, FRACTION_BITS = 1 << 20, 1 << 16
"""Bits of the largest whole number, and of those in a fraction: reducing it takes quadratic time."""
DECIMAL_BITS = 13_000
"""Whole numbers with more bits are written in hexadecimal: decimal digits take quadratic time."""

CONSTANTS = {
    "Pi": "pi", "Exp1": "E", "ImaginaryUnit": "I", "Infinity": "oo", "NegativeInfinity": "-oo",
    "ComplexInfinity": "zoo", "NaN": "nan", "BooleanTrue": "true", "BooleanFalse": "false",
}  # fmt: skip
"""sympy's class of a constant -> its name in trees; the golden ratio and its like go by their class."""

_quoted = json.encoder.encode_basestring_ascii
_EXACT = 2**53
_Absent = type("_Absent", (), {})  # no value has this type
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
        self.array, self.scalar = map(_loaded, ("numpy.ndarray", "numpy.generic"))
        self.masked, self.undefined = map(_loaded, ("numpy.ma.MaskedArray", "sympy.core.function.AppliedUndef"))
        self.basic, self.finite_set, self.sequence = map(_loaded, ("sympy.Basic", "sympy.FiniteSet", "sympy.Tuple"))
        self.tables = {_loaded("sympy.MatrixBase"), _loaded("sympy.NDimArray")}
        self.mpf, self.mpc = map(_loaded, ("mpmath.ctx_mp_python._mpf", "mpmath.ctx_mp_python._mpc"))
        self.matrix = _loaded("mpmath.matrices.matrices._matrix")

    def fits(self, size: int) -> None:
        if size > self.left:
            raise TooLargeError("the value is too large")

    def say(self, text: str) -> None:
        self.fits(len(text))
        self.left -= len(text)
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
            self.fits(str.__len__(value))
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
            base = next(kind for kind in (self.masked, self.array, self.scalar) if kind in lineage)
            self.table(value, base, base.size.__get__(value), depth)
        elif not self.tables.isdisjoint(lineage):
            self.write(value.tolist(), depth)
        elif self.finite_set in lineage:
            self.ordered(value.args, depth)
        elif self.sequence in lineage:
            self.tagged("$tuple", self.items, value.args, depth)
        elif self.basic in lineage:
            self.tagged("$expr", self.node, value, depth)
        elif self.mpf in lineage:
            self.many_digits(value._mpf_)  # of constants such as mpmath.pi, as many digits as are asked for
        elif self.mpc in lineage:
            self.write(complex(*map(sys.modules["mpmath.libmp"].to_float, self.mpc._mpc_.__get__(value))), depth)
        elif self.matrix in lineage:
            self.table(value, self.matrix, self.matrix.rows.__get__(value) * self.matrix.cols.__get__(value), depth)
        elif kind is Expression:
            self.say(f'{{"$expr":{json.dumps(value.tree, separators=(",", ":"))}}}')
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

    def table(self, value: Any, base: type, size: int, depth: int) -> None:
        self.fits(size)
        plain = base.tolist(value)  # None where a masked array has no value
        if self.scalar in _MRO(type(plain)):  # a long double: tolist leaves it, as Python has no such number
            plain = complex(plain) if plain.dtype.kind == "c" else float(plain) if plain.dtype.kind == "f" else None
        self.write(plain, depth)

    def many_digits(self, number: tuple) -> None:
        """A number of mpmath: a float where it is one, a sympy Float beyond."""
        plain = sys.modules["mpmath.libmp"].to_float(number)
        exact = sys.modules["mpmath.libmp"].from_float(plain) == number
        self.say(_number(plain) if exact else f'{{"$expr":["Float","{_float_text(number, max(number[3], 54))}"]}}')

    def node(self, value: Any, depth: int) -> None:
        """A sympy object as a tree. Of what symbols stand for, it is told whether they commute, no more."""
        if depth < 0:
            raise ValueError(f"the expression nests deeper than {DEPTH}")
        lineage = _MRO(type(value))
        names = [_NAME(kind)[:100] for kind in lineage]
        if "Integer" in names:
            self.leaf("Integer", _digits(int(value.p)))
        elif "Rational" in names:
            self.leaf("Rational", *(_digits(int(part), FRACTION_BITS) for part in (value.p, value.q)))
        elif "Float" in names:
            self.leaf("Float", _float_text(value._mpf_, value._prec))
        elif "Symbol" in names:
            self.leaf("Noncommutative" if value.is_commutative is False else "Symbol", str(value.name)[:100])
        elif names[0] in CONSTANTS:
            self.leaf(CONSTANTS[names[0]])
        elif self.basic not in lineage or ("Atom" in names and not {"NumberSymbol", "Set"} & set(names)):
            self.leaf("Other", names[0])
        else:
            head = (names[0],)
            if self.undefined in lineage:
                head = ("NoncommutativeFunction" if value.is_commutative is False else "Function", names[0])
            self.say("[" + ",".join(map(_quoted, head)))
            for item in value.args:
                self.say(",")
                self.node(item, depth - 1)
            self.say("]")

    def leaf(self, *texts: str) -> None:
        self.say("[" + ",".join(map(_quoted, texts)) + "]")


def _loaded(path: str) -> type:
    """A class of a module where that is loaded; `_Absent` for what is not there, or is no class."""
    module, _, name = path.rpartition(".")
    found = getattr(sys.modules.get(module), name, None)
    return found if isinstance(found, type) else _Absent


def _digits(value: int, largest: int = LARGEST_BITS) -> str:
    if value.bit_length() > largest:
        raise TooLargeError(f"a number has more than {largest} bits")
    return int.__repr__(value) if value.bit_length() <= DECIMAL_BITS else hex(value)


def _number(value: float) -> str:
    text = float.__repr__(value)
    return text if isfinite(value) else f'{{"$float":"{text}"}}'


def _fraction(value: Fraction) -> str:
    top, bottom = Fraction.numerator.fget(value), Fraction.denominator.fget(value)
    if type(top) is not int or type(bottom) is not int or not bottom:  # someone wrote into it
        return '{"$other":"Fraction"}'
    return f'{{"$fraction":["{_digits(top, FRACTION_BITS)}","{_digits(bottom, FRACTION_BITS)}"]}}'


def _float_text(number: tuple, bits: int) -> str:
    """Digits of mpmath's raw number: those of Python's float where its precision is that, all of them beyond."""
    libmp = sys.modules["mpmath.libmp"]
    plain = libmp.to_float(number)
    if bits <= 53 and isfinite(plain) and bool(plain) == bool(number[1]):
        return float.__repr__(plain)
    return libmp.to_str(number, libmp.repr_dps(bits))
