"""Values beside the right one, and values as Python source. A change that a value does not admit gives None."""

from fractions import Fraction
from typing import Any

from workflow_scripts.tasks.scicode.rewards.text_answers import LARGEST_BITS


def python_text(value: Any) -> str | None:
    """A decoded value as Python source; None for what is no plain literal (symbolic values, fractions)."""
    if isinstance(value, float) and value - value != 0:
        return f"float('{value!r}')"
    if isinstance(value, int) and value.bit_length() > LARGEST_BITS:
        return hex(value)
    if value is None or isinstance(value, bool | int | float | str | complex):
        return repr(value)
    if isinstance(value, list | tuple | frozenset):
        items = [python_text(item) for item in (sorted(value, key=repr) if isinstance(value, frozenset) else value)]
        if None in items:
            return None
        inside = ", ".join(items)
        if isinstance(value, list):
            return f"[{inside}]"
        if isinstance(value, tuple):
            return f"({inside},)" if len(value) == 1 else f"({inside})"
        return f"{{{inside}}}" if value else "set()"
    if isinstance(value, dict):
        pairs = [(python_text(key), python_text(item)) for key, item in value.items()]
        return None if any(None in pair for pair in pairs) else f"{{{', '.join(f'{k}: {v}' for k, v in pairs)}}}"
    return None


def scaled(value: Any) -> Any:
    """A number, or each of a list's, times 1.01; 0 becomes 0.01."""
    if _number(value):
        return value * 1.01 if value else 0.01
    if isinstance(value, list | tuple) and value and all(map(_number, value)):
        return type(value)(scaled(item) for item in value)
    return None


def off_by_one(value: Any) -> Any:
    """A number, or the last of a list's, plus 1."""
    if _number(value):
        return value + 1
    if isinstance(value, list | tuple) and value and _number(value[-1]):
        return type(value)([*value[:-1], value[-1] + 1])
    return None


def one_changed(value: Any) -> Any:
    """A list, tuple or set whose first item is another one."""
    if isinstance(value, list | tuple) and value:
        first = _other(value[0])
        return None if first is None else type(value)([first, *value[1:]])
    if isinstance(value, frozenset) and value:
        first, *rest = sorted(value, key=repr)
        changed = _other(first)
        return None if changed is None else frozenset([changed, *rest])
    return None


def _other(item: Any) -> Any:
    if isinstance(item, bool):
        return not item
    if _number(item):
        return item + 1
    return f"{item}x" if isinstance(item, str) else None


def in_reverse(value: Any) -> Any:
    """A list or tuple from its end; None where that is the same."""
    if isinstance(value, list | tuple) and list(value) != list(value)[::-1]:
        return type(value)(value[::-1])
    return None


def _number(value: Any) -> bool:
    return isinstance(value, int | float | complex | Fraction) and not isinstance(value, bool)
