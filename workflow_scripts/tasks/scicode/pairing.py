"""Sets with tolerance: whether the items of two collections can be paired so that each pair is the same."""

from collections.abc import Callable, Iterable, Sequence
from decimal import MAX_EMAX, MIN_EMIN, Context, Decimal
from fractions import Fraction
from typing import Any

from workflow_scripts.tasks.scicode.expressions import Same
from workflow_scripts.tasks.scicode.numeric import is_finite, is_number
from workflow_scripts.tasks.scicode.values import Expression, Items, Other, Pairs, encode

MOST_COMPARED = 2_000
"""Pairs that are compared, once the items that are equal as they stand are set aside."""

_PLACES = 60
_ALL_PLACES = Context(prec=20_000, Emax=MAX_EMAX, Emin=MIN_EMIN)


def duplicate(items: Iterable) -> str:
    """An item that stands there twice, encoded; '' where there is none. 1 and 1.0 are one, as are (1, 2) and [1, 2]."""
    seen = set()
    for item in items:
        key = key_of(item)
        if key in seen:
            return encode(item)
        seen.add(key)
    return ""


def distinct(items: Iterable) -> list:
    """The items, each of them once."""
    return list({key_of(item): item for item in items}.values())


def paired(expected: Sequence, found: Sequence, same: Callable[[Any, Any], Same], *, exact: bool = False) -> Same:
    """Whether each found item can be paired with an expected one of its own; there are as many of both, none twice.

    same: of an expected and a found item; exact: it tells types apart, such as 3 and 3.0. UNDECIDED where the answer
    hangs on an item that is, or too many are left to compare.
    """
    ours, others = ({key_of(item, exact): item for item in side} for side in (expected, found))
    both = ours.keys() & others.keys()
    ours, others = ([item for key, item in side.items() if key not in both] for side in (ours, others))
    if len(ours) != len(others):
        return Same.NO
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


def key_of(value: Any, exact: bool = False) -> str:
    """A text that is the same for values that are the same whatever the tolerance. Texts have hashes that nobody can
    foresee: equal ones of numbers are easily made, and thousands of these in one set take minutes."""
    if isinstance(value, bool) or value is None:
        return str(value)
    if isinstance(value, str):
        return encode(value)
    if isinstance(value, Expression):
        return _key_of_expression(value)
    if is_number(value):
        kind = type(value).__name__ if exact and isinstance(value, float | complex) else ""
        return kind + (_key_of_number(value) if is_finite(value) else f"not finite {value}")
    if isinstance(value, Other):
        return f"other {encode(value.type_name)}"
    if isinstance(value, Items):
        return f"{{{','.join(sorted({key_of(item, exact) for item in value.items}))}}}"
    if isinstance(value, Pairs):
        pairs = (f"{key_of(key, exact)}:{key_of(item, exact)}" for key, item in value.pairs)
        return f"{{{','.join(sorted(pairs))}}}"
    kind = type(value).__name__ if exact else ""
    return f"{kind}[{','.join(key_of(item, exact) for item in value)}]"


def _key_of_expression(value: Expression) -> str:
    head, *texts = value.tree
    if head in ("Integer", "Rational"):
        return _key_of_number(Fraction(*(int(text, 16 if "0x" in text[:3] else 10) for text in texts)))
    return encode(value)


def _key_of_number(value: int | float | complex | Fraction | Decimal) -> str:
    """Equal numbers of all types have one, but for decimals with many places; it is as short as the number."""
    if isinstance(value, complex):
        return _key_of_number(value.real) + (f"+{_key_of_number(value.imag)}j" if value.imag else "")
    if isinstance(value, Decimal) and value and abs(value.adjusted()) > _PLACES:
        return f"decimal {value.normalize(_ALL_PLACES)}"
    top, bottom = value.as_integer_ratio()
    if bottom & (bottom - 1):
        return f"{top:x}/{bottom:x}"
    twos = (top & -top).bit_length() - 1 if top else 0
    return f"{top >> twos:x}*2**{twos - bottom.bit_length() + 1}"


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
