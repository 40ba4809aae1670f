"""Every expression over a multiset of numbers, once per paper leaf, evaluated for many problems at a time.

Trees are built for a pattern of repeats (how often each distinct number occurs), not for numbers: `compiled((1, 1, 2))`
serves [3, 7, 9, 9] and [1, 2, 5, 5] alike. A node is an operator with two earlier nodes. Sums and products of more than
two terms are chains whose terms ascend by node, so that each flattened sum or product is built exactly once: every tree
is one leaf of the `paper` equivalence. Over one to six different numbers there are 1, 6, 104, 3,012, 122,152 and
6,369,792 trees.

Values are exact: numerators and denominators are int64 where a bound shows that nothing can overflow, else Python
integers.
"""

from collections.abc import Iterator, Sequence
from functools import lru_cache
from itertools import product
from math import prod
from typing import NamedTuple

import numpy as np

from workflow_scripts.records.errors import UserError
from workflow_scripts.tasks.countdown.expressions import Expression

MOST_NUMBERS = 6
"""Seven numbers would take 400 million trees."""

_BLOCK = 1 << 14
"""Values per numpy call: few enough to stay in cache, enough to hide the cost of the call."""

_INT64 = 2**63 - 1

Counts = tuple[int, ...]
Block = tuple[str, np.ndarray, np.ndarray]


class TooLarge(UserError):
    """A problem beyond the stated bounds of the solver."""


class Trees:
    """Compiled trees of one pattern.

    Nodes 0…leaves-1 are the distinct numbers; the trees over each proper sub-multiset follow, smaller ones first.
    operators, left, right: per node. levels: runs of nodes with one operator, (operator, first, end), in order.
    """

    def __init__(self, pattern: Counts):
        self.leaves = len(pattern)
        self.operators = ["" for _ in pattern]
        self.left = self.right = np.zeros(self.leaves, dtype=np.int32)
        self.levels: list[tuple[str, int, int]] = []
        # The nodes over a sub-multiset lie as sums, differences, quotients, products: (start, end of sums, start of
        # products, end)
        self._ranges: dict[Counts, tuple[int, int, int, int]] = {}
        # First term of a node read as a sum, or as a product; a node that is none is its own only term.
        self._first_term = {"+": np.arange(self.leaves), "*": np.arange(self.leaves)}
        self._pattern = pattern
        self._kept: list[Block] | None = None
        for counts in sorted(product(*(range(m + 1) for m in pattern)), key=lambda c: (sum(c), c)):
            if sum(counts) == 1:
                at = counts.index(1)
                self._ranges[counts] = (at, at, at + 1, at + 1)
            elif 1 < sum(counts) < sum(pattern):
                self._add_nodes(counts)
        self._children = memoryview(self.left), memoryview(self.right)  # plain ints, faster than numpy's one by one

    def _blocks(self, counts: Counts, operator: str) -> Iterator[Block]:
        """(operator, left nodes, right nodes) of all trees over `counts` with this operator on top, part by part."""
        for part in product(*(range(c + 1) for c in counts)):
            if not 0 < sum(part) < sum(counts):
                continue
            start, sums, products, end = self._ranges[part]
            mine = np.arange(sums if operator == "+" else start, products if operator == "*" else end, dtype=np.int32)
            rest_start, _, _, rest_end = self._ranges[tuple(c - p for c, p in zip(counts, part))]
            other = np.arange(rest_start, rest_end, dtype=np.int32)
            if operator in "-/":
                yield operator, np.repeat(mine, len(other)), np.tile(other, len(mine))
                continue
            first = self._first_term[operator][other]
            if len(mine) and mine[0] <= first.max():
                i, j = np.nonzero(mine[:, None] <= first)
                yield operator, mine[i], other[j]

    def _add_nodes(self, counts: Counts) -> None:
        marks = [len(self.operators)]
        for operator in "+-/*":
            _, lefts, rights = zip(*self._blocks(counts, operator))
            left = np.concatenate(lefts)
            first, end = marks[-1], marks[-1] + len(left)
            own = np.arange(first, end)
            for chain, terms in self._first_term.items():
                self._first_term[chain] = np.concatenate([terms, left if operator == chain else own])
            self.left, self.right = np.concatenate([self.left, left]), np.concatenate([self.right, *rights])
            self.operators += [operator] * len(left)
            self.levels.append((operator, first, end))
            marks.append(end)
        self._ranges[counts] = (marks[0], marks[1], marks[3], marks[4])

    def whole(self) -> Iterator[Block]:
        """Blocks of the trees that use every number. Kept up to five numbers; for six they are made anew (0.1 GB)."""
        if sum(self._pattern) == 1:
            return
        if self._kept is None and sum(self._pattern) < MOST_NUMBERS:
            self._kept = []
            for operator in "+-/*":
                _, left, right = zip(*self._blocks(self._pattern, operator))
                self._kept.append((operator, np.concatenate(left), np.concatenate(right)))
        if self._kept is not None:
            yield from self._kept
            return
        for operator in "+-/*":
            yield from self._blocks(self._pattern, operator)

    def expression(self, node: int, built: dict[int, Expression]) -> Expression:
        """A node as an expression. built: the numbers of nodes 0…leaves-1; remembers what was built for later calls."""
        if node not in built:
            left, right = self._children
            pair = self.expression(left[node], built), self.expression(right[node], built)
            built[node] = (self.operators[node], *pair)
        return built[node]


@lru_cache(maxsize=32)
def compiled(pattern: Counts) -> Trees:
    """The trees of one pattern, built at first use (milliseconds up to four numbers)."""
    return Trees(pattern)


def pattern_of(numbers: Sequence[int]) -> Counts:
    """How often each distinct number occurs, in ascending order of the numbers."""
    ordered = sorted(numbers)
    return tuple(ordered.count(value) for value in sorted(set(ordered)))


class Hit(NamedTuple):
    """A tree that reaches the target of problem number `problem` of the batch."""

    problem: int
    operator: str
    left: int
    right: int


def _apply(operator: str, a, b, c, d):
    """(a/b) operator (c/d), unreduced; 0/0 stands for an undefined value and stays undefined."""
    if operator == "*":
        return a * c, b * d
    if operator == "/":
        top, bottom = a * d, b * c
        top[bottom == 0] = 0
        return top, bottom
    return (a * d + c * b if operator == "+" else a * d - c * b), b * d


def find(pattern: Counts, numbers: Sequence[Sequence[int]], targets: Sequence[int]) -> Iterator[list[Hit]]:
    """Trees with exactly the target's value, block by block, for problems of one pattern.

    numbers: each problem's distinct numbers, ascending. A value |numerator| or |denominator| over m numbers is at most
    2^(m-1) times the product of the numbers (a zero counts as one), which decides between int64 and Python integers.
    Raises TooLarge for more than six numbers, and for six where int64 does not suffice.
    """
    count = sum(pattern)
    if count > MOST_NUMBERS:
        raise TooLarge(f"{count} numbers: the solver takes at most {MOST_NUMBERS}")
    bound = max(
        2 ** (count - 1) * prod(max(abs(v), 1) ** m for v, m in zip(row, pattern)) * max(abs(t), 1)
        for row, t in zip(numbers, targets)
    )
    if bound > _INT64 and count == MOST_NUMBERS:
        raise TooLarge(f"{count} numbers as large as {max(map(max, numbers))} need more than 64-bit integers")
    kind = np.int64 if bound <= _INT64 else object
    trees = compiled(pattern)
    top = np.empty((len(trees.operators), len(targets)), dtype=kind)
    bottom = np.ones_like(top)
    top[: trees.leaves] = np.array(numbers, dtype=kind).T
    goal = np.array(targets, dtype=kind)
    if count == 1:
        yield [Hit(problem, "", 0, 0) for problem in np.flatnonzero(top[0] == goal).tolist()]
    for operator, first, end in trees.levels:
        left, right = trees.left[first:end], trees.right[first:end]
        top[first:end], bottom[first:end] = _apply(operator, top[left], bottom[left], top[right], bottom[right])
    rows = max(_BLOCK // len(targets), 1)
    for operator, lefts, rights in trees.whole():
        for start in range(0, len(lefts), rows):
            left, right = lefts[start : start + rows], rights[start : start + rows]
            a, b = _apply(operator, top[left], bottom[left], top[right], bottom[right])
            at, problem = np.divmod(np.flatnonzero((a == goal * b) & (b != 0)), len(targets))
            if len(at):
                found = zip(problem.tolist(), left[at].tolist(), right[at].tolist())
                yield [Hit(p, operator, x, y) for p, x, y in found]
