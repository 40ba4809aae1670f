"""Draws of numbers that are short to write, and the little linear algebra that second solutions need."""

from collections.abc import Sequence

import numpy as np

Matrix = list[list[complex]]


def whole(generator: np.random.Generator, low: int, high: int) -> int:
    """A whole number from low to high, both included."""
    return int(generator.integers(low, high + 1))


def wholes(generator: np.random.Generator, count: int, low: int, high: int) -> list[int]:
    """Whole numbers from low to high, with repetition."""
    return [whole(generator, low, high) for _ in range(count)]


def distinct(generator: np.random.Generator, count: int, low: int, high: int) -> list[int]:
    """Different whole numbers from low to high, in ascending order."""
    return sorted(low + int(place) for place in generator.choice(high - low + 1, size=count, replace=False))


def decimal(generator: np.random.Generator, low: float, high: float, places: int = 2) -> float:
    """A number from low to high with so many decimal places."""
    scale = 10**places
    return whole(generator, round(low * scale), round(high * scale)) / scale


def nonzero(generator: np.random.Generator, size: int) -> int:
    """A whole number other than zero, at most `size` in size."""
    return whole(generator, 1, size) * (1 if generator.integers(2) else -1)


def product(left: Matrix, right: Matrix) -> Matrix:
    """Of two matrices as lists of rows."""
    return [[sum(row[k] * right[k][j] for k in range(len(right))) for j in range(len(right[0]))] for row in left]


def exponential(matrix: Matrix, terms: int = 24) -> Matrix:
    """exp of a square matrix by its power series, with scaling and squaring; about 1e-13 relative."""
    size = len(matrix)
    norm = max(sum(abs(entry) for entry in row) for row in matrix)
    halvings = max(0, int(np.ceil(np.log2(norm))) + 1) if norm > 0.5 else 0
    scaled = [[entry / 2**halvings for entry in row] for row in matrix]
    term = total = [[complex(i == j) for j in range(size)] for i in range(size)]
    for order in range(1, terms):
        term = [[entry / order for entry in row] for row in product(term, scaled)]
        total = [[a + b for a, b in zip(*rows)] for rows in zip(total, term)]
    for _ in range(halvings):
        total = product(total, total)
    return total


def power_sums(elementary: Sequence[int], count: int) -> list[int]:
    """p_1 … p_count of numbers with these elementary symmetric polynomials e_1, e_2, …: Newton's identities."""
    found: list[int] = []
    for order in range(1, count + 1):
        total = (-1) ** (order - 1) * order * elementary[order - 1] if order <= len(elementary) else 0
        for lower in range(1, order):
            if lower <= len(elementary):
                total += (-1) ** (lower - 1) * elementary[lower - 1] * found[order - lower - 1]
        found.append(total)
    return found
