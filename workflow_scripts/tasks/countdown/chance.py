"""Path-enumeration reference: how often a writing picked at random, given its first step's opening, reaches the target.

A writing is an ordered binary tree with the numbers in some order and an operator at every node; all of them count
alike. It opens with the first operand and operator of its first *executed* step, as the judge's openings do; the
paper's code took the first operator in reading order (protocol, section 4.1) and dropped writings that divide by zero,
which miss here.
"""

from collections.abc import Iterator, Sequence
from functools import lru_cache
from math import prod

import numpy as np

from workflow_scripts.records.errors import UserError
from workflow_scripts.tasks.countdown.enumeration import MOST_NUMBERS, TooLarge

_OPERATORS = "+-*/"

_INT64 = 2**63 - 1

Values = tuple[np.ndarray, np.ndarray]
"""Numerators and denominators of all writings over some of the numbers; 0/0 where one divides by zero."""


def _splits(part: int) -> Iterator[tuple[int, int]]:
    """(left, right): every way to part a set of numbers, given as bits, in two that are not empty."""
    left = (part - 1) & part
    while left:
        yield left, part - left
        left = (left - 1) & part


@lru_cache(maxsize=1 << MOST_NUMBERS)
def _first_steps(part: int) -> np.ndarray:
    """Per writing over a set of numbers, in the order of `_joined`: 4 × position of its first operand + operator."""
    if part.bit_count() == 1:
        return np.array([-1], dtype=np.int32)
    return np.concatenate([_first_steps_of(left, right) for left, right in _splits(part)])


def _first_steps_of(left: int, right: int) -> np.ndarray:
    if left.bit_count() > 1:
        shown = _first_steps(left)[None, :, None]
    elif right.bit_count() > 1:
        shown = _first_steps(right)[None, None, :]
    else:
        shown = 4 * (left.bit_length() - 1) + np.arange(4, dtype=np.int32)[:, None, None]
    return np.broadcast_to(shown, (4, len(_first_steps(left)), len(_first_steps(right)))).ravel()


def _joined(left: Values, right: Values) -> Values:
    """Each writing left of each operator with each one right of it: arrays of 4 × left × right, raveled."""
    a, b = left[0][:, None], left[1][:, None]
    c, d = right[0][None, :], right[1][None, :]
    top = np.empty((4, a.shape[0], c.shape[1]), dtype=a.dtype)
    bottom = np.empty_like(top)
    across, back, below = a * d, c * b, b * d
    top[0], top[1], top[2] = across + back, across - back, a * c
    bottom[:3], bottom[3] = below, back
    top[3] = np.where(back == 0, 0, across)
    return top.ravel(), bottom.ravel()


def chances(numbers: Sequence[int], target: int) -> dict[str, float]:
    """Share of writings that have exactly the target's value, by the opening (`4*`) of their first executed step.

    One entry per pair of given number and operator, sorted; equal numbers are one. Every number is used once. Empty for
    a single number. Raises TooLarge for more than six numbers. Values are exact.
    """
    count = len(numbers)
    if count > MOST_NUMBERS:
        raise TooLarge(f"{count} numbers: writings are counted for {MOST_NUMBERS} at most")
    if count < 2:
        return {}
    bound = 2 ** (count - 1) * prod(max(abs(int(n)), 1) for n in numbers) * max(abs(int(target)), 1)
    kind = np.int64 if bound <= _INT64 else object
    values = {1 << at: (np.array([n], dtype=kind), np.array([1], dtype=kind)) for at, n in enumerate(numbers)}
    whole = (1 << count) - 1
    for part in range(1, whole):
        if part not in values:
            pieces = [_joined(values[left], values[right]) for left, right in _splits(part)]
            values[part] = tuple(np.concatenate(arrays) for arrays in zip(*pieces))
    hits, all_writings = np.zeros(4 * count), np.zeros(4 * count)
    for left, right in _splits(whole):  # part by part: six numbers have 31 million writings
        top, bottom = _joined(values[left], values[right])
        reached = (top == target * bottom) & (bottom != 0)
        first = _first_steps_of(left, right)
        hits += np.bincount(first[np.flatnonzero(reached)], minlength=4 * count)
        all_writings += np.bincount(first, minlength=4 * count)
    totals: dict[str, list[float]] = {}
    for at, number in enumerate(numbers):
        for place, operator in enumerate(_OPERATORS):
            pair = totals.setdefault(f"{number}{operator}", [0.0, 0.0])
            pair[0] += hits[4 * at + place]
            pair[1] += all_writings[4 * at + place]
    return {opening: float(hit / writings) for opening, (hit, writings) in sorted(totals.items())}


def chance(numbers: Sequence[int], target: int, family: str) -> float:
    """`chances` of one opening. Raises UserError for an opening that no writing of these numbers can have."""
    found = chances(numbers, target)
    if family not in found:
        raise UserError(f"{family!r} opens no writing of {' '.join(map(str, numbers))}: use one of {', '.join(found)}")
    return found[family]
