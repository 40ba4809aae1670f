"""Sets with tolerance: whether the items of two collections can be paired so that each pair is the same."""

from collections.abc import Callable, Collection, Hashable
from decimal import Decimal
from fractions import Fraction
from typing import Any

from workflow_scripts.tasks.scicode.expressions import Same
from workflow_scripts.tasks.scicode.numeric import is_finite, is_number
from workflow_scripts.tasks.scicode.values import Expression, Other, encode

MOST_COMPARED = 2_000
"""Pairs that are compared, once the items that are equal as they stand are set aside."""


def duplicate(items: Collection) -> str:
    """An item that stands there twice, encoded; '' where there is none. 1 and 1.0 are one, as are (1, 2) and [1, 2]."""
    if isinstance(items, frozenset) and all(isinstance(item, str | int) for item in items):
        return ""
    seen = set()
    for item in items:
        key = _key(item)
        if key in seen:
            return encode(item)
        seen.add(key)
    return ""


def paired(expected: Collection, found: Collection, same: Callable[[Any, Any], Same], *, exact: bool = False) -> Same:
    """Whether each found item can be paired with an expected one of its own; there are as many of both, none twice.

    same: of an expected and a found item; exact: it tells types apart, such as 3 and 3.0. UNDECIDED where the answer
    hangs on an item that is, or too many are left to compare.
    """
    keys = {_key(item, exact) for item in expected} & {_key(item, exact) for item in found}
    ours, others = ([item for item in side if _key(item, exact) not in keys] for side in (expected, found))
    if all(map(_real, [*ours, *others])):
        # In order of size: where any pairing works, this one does.
        pairs = zip(sorted(ours), sorted(others), strict=True)
        return Same.YES if all(same(*pair) is Same.YES for pair in pairs) else Same.NO
    if len(ours) * len(others) > MOST_COMPARED:
        return Same.UNDECIDED
    table = [[same(one, other) for other in others] for one in ours]
    if _matched(table, {Same.YES}):
        return Same.YES
    return Same.UNDECIDED if _matched(table, {Same.YES, Same.UNDECIDED}) else Same.NO


def _key(value: Any, exact: bool = False) -> Hashable:
    """Equal for values that are the same whatever the tolerance."""
    if isinstance(value, bool) or value is None:
        return ("constant", value)
    if is_number(value) and not isinstance(value, Expression):
        kind = type(value).__name__ if exact and isinstance(value, float | complex) else "number"
        return (kind, value) if is_finite(value) else ("no number", str(value))
    if isinstance(value, list | tuple):
        return (type(value).__name__ if exact else "sequence", tuple(_key(item, exact) for item in value))
    if isinstance(value, frozenset):
        return ("set", frozenset(_key(item, exact) for item in value))
    if isinstance(value, dict):
        return ("mapping", frozenset((_key(key, exact), _key(item, exact)) for key, item in value.items()))
    return ("other", value) if isinstance(value, Expression | Other) else ("text", value)


def _real(value: Any) -> bool:
    plain = isinstance(value, int | float | Fraction | Decimal) and not isinstance(value, bool)
    return plain and is_finite(value)


def _matched(table: list[list[Same]], good: set[Same]) -> bool:
    """Whether every row finds a column of its own (augmenting paths)."""
    owner: dict[int, int] = {}

    def placed(row: int, tried: set[int]) -> bool:
        for column, value in enumerate(table[row]):
            if value in good and column not in tried:
                tried.add(column)
                if column not in owner or placed(owner[column], tried):
                    owner[column] = row
                    return True
        return False

    return all(placed(row, set()) for row in range(len(table)))
