"""What a check expects, read and found fit for its kind: the table is in `comparison`."""

from dataclasses import dataclass
from functools import lru_cache
from typing import Any

from workflow_scripts.records.errors import UserError
from workflow_scripts.tasks.scicode.expressions import unmet
from workflow_scripts.tasks.scicode.formulas import FormulaError, formula
from workflow_scripts.tasks.scicode.numeric import has_symbols, is_finite, is_number
from workflow_scripts.tasks.scicode.pairing import duplicate
from workflow_scripts.tasks.scicode.problems import Check
from workflow_scripts.tasks.scicode.values import Expression, Items, Other, Pairs, decode


@lru_cache(maxsize=1 << 14)
def expected_of(check: Check) -> Any:
    """What a check expects, decoded without hashing; of a symbolic one, texts read as formulas (`Formula`).

    Raises UserError where it does not fit its kind, or equals nothing: nan, infinity, what has no encoding, a formula
    that cannot be evaluated; and where the arguments are none.
    """
    try:
        expected = decode(check.expected, hashed=False)
    except ValueError as error:
        raise UserError(f"expected is no encoded value: {error}") from error
    try:
        arguments = decode(check.args, hashed=False)
    except ValueError as error:
        raise UserError(f"args is no encoded value: {error}") from error
    if not isinstance(arguments, list):
        raise UserError(f"args must be a list of positional arguments, not {check.args[:60]}")
    fits = {
        "exact": True,
        "numeric": is_number(expected) and not has_symbols(expected),
        "sequence": isinstance(expected, list | tuple),
        "set": isinstance(expected, Items | list | tuple),
        "symbolic": isinstance(expected, str | list | tuple) or is_number(expected) or isinstance(expected, Expression),
    }[check.kind]
    if not fits or _hopeless(expected):
        raise UserError(f"a check of kind {check.kind} cannot expect {check.expected[:80]}")
    if check.kind == "set" and not isinstance(expected, Items) and (twice := duplicate(expected)):
        raise UserError(f"a check of kind set expects {twice[:80]} twice")
    return _with_formulas(expected) if check.kind == "symbolic" else expected


@dataclass(frozen=True)
class Formula:
    """An expected formula that was written as text, so that it may be returned as text."""

    tree: tuple


def _with_formulas(expected: Any) -> Any:
    if isinstance(expected, list | tuple):
        return [_with_formulas(item) for item in expected]
    if not isinstance(expected, str):
        return expected
    try:
        tree = formula(expected)
    except FormulaError as error:
        raise UserError(f"expected is no formula: {expected[:80]!r} ({error})") from error
    if why := unmet(tree):
        raise UserError(f"no formula could be judged equal to the expected {expected[:80]!r}: {why}")
    return Formula(tree)


def _hopeless(expected: Any) -> bool:
    if isinstance(expected, list | tuple):
        return any(map(_hopeless, expected))
    if isinstance(expected, Items | Pairs):
        return any(map(_hopeless, expected.items if isinstance(expected, Items) else expected.pairs))
    if isinstance(expected, Expression):
        return expected.tree[0] in ("nan", "oo", "-oo", "zoo")
    return isinstance(expected, Other) or (is_number(expected) and not is_finite(expected))
