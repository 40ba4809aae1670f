"""What a call returned against what a check expects: the right type, then the right value.

kind      expected                     right type
exact     anything                     the same type throughout. int, Fraction, Decimal, sympy's Integer and Rational
                                       are one type, told by value; a list is no tuple, 3 no 3.0, no text a number
numeric   a number                     int, float, Fraction, Decimal, a constant of sympy; complex if that is expected
sequence  a list or tuple              list or tuple, in items too; each item by its own type, as below
set       a set, or a list of items    set, frozenset, or list or tuple without an item twice; items as below
symbolic  an expression, a number, a   an expression or a number; a text only where a text is expected
          text with a formula, or a    (`formulas` reads both); of lists a list or tuple
          list of expressions

Everywhere: True is not 1 (sympy's true is True), text is never read as a number, None is None alone. Items of
sequences, sets and mappings follow what is expected in their place: numbers as `numeric` and expressions as `symbolic`,
with the check's tolerance; texts to the letter; tuples and lists are one. Numpy's values arrive as Python's, arrays as
lists, where a masked array has no value None.

The tolerance is relative to the expected number, and absolute where that is 0: with an absolute part, 0 would pass for
Planck's constant. nan and infinity equal nothing. A length that differs is a wrong value, not a wrong type.
"""

from typing import Any, NamedTuple

from workflow_scripts.tasks.scicode import expressions
from workflow_scripts.tasks.scicode.expected import Formula, expected_of
from workflow_scripts.tasks.scicode.expressions import Same
from workflow_scripts.tasks.scicode.formulas import FormulaError, formula
from workflow_scripts.tasks.scicode.numeric import exactly, has_symbols, is_number, near, tree_of
from workflow_scripts.tasks.scicode.pairing import distinct, duplicate, key_of, paired
from workflow_scripts.tasks.scicode.precision import UnknownError, Work
from workflow_scripts.tasks.scicode.problems import Check
from workflow_scripts.tasks.scicode.values import Expression, Items, Other, Pairs, decode

WORK = 5 * expressions.WORK
"""Units of work for all expressions of one value."""


class Compared(NamedTuple):
    """typed: the type is right. same: the value is; NO where the type is not. detail: for people."""

    typed: bool
    same: Same
    detail: str = ""


class _Terms(NamedTuple):
    """tolerance: None for exact. work: what is left for expressions."""

    tolerance: float | None
    work: Work


_YES = Compared(True, Same.YES)


def compare(check: Check, returned: str) -> Compared:
    """A returned value, encoded, by the table above. Never raises on what a program returned.

    Raises UserError for a check that nothing could pass (see `expected_of`).
    """
    expected = expected_of(check)
    try:
        found = decode(returned, hashed=False)
    except ValueError as error:
        return _mistyped(str(error)[:100])
    terms = _Terms(None if check.kind == "exact" else check.tolerance, Work(WORK))
    return {"set": _set, "symbolic": _symbolic}.get(check.kind, _like)(expected, found, terms)


def _like(expected: Any, found: Any, terms: _Terms) -> Compared:
    """One value by the type of the expected one."""
    if isinstance(expected, bool):
        return _truth(expected, found)
    if expected is None or isinstance(expected, str):
        if type(found) is not type(expected):
            return _mistyped(_differs(expected, found))
        return _YES if found == expected else _wrong("it is another text")
    if isinstance(expected, list | tuple):
        return _sequence(expected, found, terms)
    if isinstance(expected, Items):
        return _set(expected, found, terms)
    if isinstance(expected, Pairs):
        return _mapping(expected, found, terms)
    if terms.tolerance is None:
        return _exactly(expected, found)
    if isinstance(expected, Expression) and (has_symbols(expected) or expressions.is_condition(expected.tree)):
        return _symbolic(expected, found, terms)
    return _number(expected, found, terms)


def _truth(expected: bool, found: Any) -> Compared:
    if isinstance(found, Expression) and found.tree in (("true",), ("false",)):
        found = found.tree == ("true",)
    if not isinstance(found, bool):
        return _mistyped(_differs(expected, found))
    return _YES if found is expected else _wrong("it is the other truth value")


def _exactly(expected: Any, found: Any) -> Compared:
    if not is_number(found) and not isinstance(found, Expression):
        return _mistyped(_differs(expected, found))
    equal = exactly(expected, found)
    if equal is None:
        return _mistyped(_differs(expected, found))
    return _YES if equal else _wrong("it is another number")


def _number(expected: Any, found: Any, terms: _Terms) -> Compared:
    if not is_number(found) or has_symbols(found):
        return _mistyped(_differs(expected, found))
    if isinstance(found, complex) and not isinstance(expected, complex | Expression):
        return _mistyped(_differs(expected, found))
    try:
        return _YES if near(expected, found, *terms) else _wrong("it is another number")
    except UnknownError as error:
        return Compared(True, Same.UNDECIDED, str(error))


def _symbolic(expected: Any, found: Any, terms: _Terms) -> Compared:
    if isinstance(expected, list | tuple):
        return _items(expected, found, terms, _symbolic)
    if isinstance(expected, Formula) and isinstance(found, str):
        try:
            found = Expression(formula(found))
        except FormulaError as error:
            return _mistyped(f"it is no formula: {error}")
    ours = expected.tree if isinstance(expected, Formula | Expression) else tree_of(expected)
    if isinstance(found, bool):
        found = Expression(("true",) if found else ("false",))
    if not isinstance(found, Expression) and not is_number(found):
        return _mistyped(_differs(expected, found))
    theirs = found.tree if isinstance(found, Expression) else tree_of(found)
    if expressions.is_condition(ours) != expressions.is_condition(theirs):
        return _mistyped("one is a condition or an equation, the other a quantity")
    verdict = expressions.same(ours, theirs, tolerance=terms.tolerance, work=terms.work)
    return Compared(True, verdict.same, verdict.detail)


def _sequence(expected: list | tuple, found: Any, terms: _Terms) -> Compared:
    if terms.tolerance is None and type(found) is not type(expected):
        return _mistyped(_differs(expected, found))
    return _items(expected, found, terms, _like)


def _items(expected: list | tuple, found: Any, terms: _Terms, compared: Any) -> Compared:
    if not isinstance(found, list | tuple):
        return _mistyped(_differs(expected, found))
    worst = _YES
    for place, (ours, theirs) in enumerate(zip(expected, found, strict=False)):
        item = compared(ours, theirs, terms)
        if item.same is not Same.YES and (not item.typed or worst.same is not Same.NO):
            worst = item._replace(detail=f"item {place}: {item.detail}"[:200])
            if not item.typed:
                return worst
    if len(expected) != len(found):
        return _wrong(f"it has {len(found)} items, not {len(expected)}")
    return worst


def _mapping(expected: Pairs, found: Any, terms: _Terms) -> Compared:
    if not isinstance(found, Pairs):
        return _mistyped(_differs(expected, found))
    sides = [{key_of(key, exact=True): (key, item) for key, item in side.pairs} for side in (expected, found)]
    if sides[0].keys() != sides[1].keys():
        keys = _set(*(Items(tuple(key for key, _ in side.values())) for side in sides), terms._replace(tolerance=None))
        keys = _wrong("they differ") if keys.same is Same.YES else keys
        return keys._replace(detail=f"keys: {keys.detail}"[:200])
    items = [[side[key][1] for key in sides[0]] for side in sides]
    return _items(*items, terms, _like)


def _set(expected: Any, found: Any, terms: _Terms) -> Compared:
    exact = terms.tolerance is None
    if not isinstance(found, Items if exact else Items | list | tuple):
        return _mistyped(_differs(expected, found))
    expected, others = (distinct(side.items) if isinstance(side, Items) else side for side in (expected, found))
    known = {_kind(item) for item in expected}
    stray = next((item for item in others if known and _kind(item) not in known), None)
    if stray is not None:
        return _mistyped(f"an item is {_kind(stray)}")
    if len(expected) != len(others):
        return _wrong(f"it has {len(others)} items, not {len(expected)}")
    if twice := duplicate(others):
        return _wrong(f"{twice[:80]} stands in it twice")
    same = paired(expected, others, lambda ours, theirs: _like(ours, theirs, terms).same, exact=exact)
    return Compared(True, same, "" if same is Same.YES else "items differ")


def _kind(value: Any) -> str:
    """The type of a value in words, as far as types are told apart."""
    if isinstance(value, bool):
        return "a truth value"
    if isinstance(value, Expression | Formula):
        return "an expression" if has_symbols(Expression(value.tree)) else "a number"
    if is_number(value):
        return "a number"
    if isinstance(value, Other):
        return f"of type {value.type_name}"
    names = {str: "a text", list: "a sequence", tuple: "a sequence", Items: "a set", Pairs: "a mapping"}
    return names.get(type(value), "None")


def _differs(expected: Any, found: Any) -> str:
    kinds = _kind(expected), _kind(found)
    if kinds[0] == kinds[1]:
        kinds = type(expected).__name__, type(found).__name__
    return f"it is {kinds[1]}, not {kinds[0]}"


def _mistyped(detail: str) -> Compared:
    return Compared(False, Same.NO, detail)


def _wrong(detail: str) -> Compared:
    return Compared(True, Same.NO, detail)
