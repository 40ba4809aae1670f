"""Tree counts against the counting recurrence, exactness against Fractions, refusal of what is too large."""

from fractions import Fraction
from math import comb

import numpy as np
import pytest

from workflow_scripts.tasks.countdown.enumeration import TooLarge, Trees, compiled, find, pattern_of
from workflow_scripts.tasks.countdown.expressions import evaluate, paper_form


def leaves_counted(most: int) -> list[int]:
    """Paper leaves over 1…most different numbers, by set partitions: no tree is built."""
    total, no_sum = {1: 1}, {1: 1}
    for n in range(2, most + 1):
        # chains[k]: sets of at least one term, none a sum, over k numbers; the block of the last number first
        chains = {0: 1}
        for k in range(1, n + 1):
            chains[k] = sum(comb(k - 1, b - 1) * no_sum.get(b, 0) * chains[k - b] for b in range(1, k + 1))
        sums = chains[n]
        ordered = sum(comb(n, k) * total[k] * total[n - k] for k in range(1, n))
        total[n] = 2 * sums + 2 * ordered
        no_sum[n] = total[n] - sums
    return [total[n] for n in range(1, most + 1)]


def whole(trees: Trees):
    built = dict(enumerate([2, 3, 5, 7][: trees.leaves]))
    for operator, lefts, rights in trees.whole():
        for left, right in zip(lefts.tolist(), rights.tolist()):
            yield operator, trees.expression(left, built), trees.expression(right, built)


def test_tree_counts_follow_the_recurrence():
    assert leaves_counted(6) == [1, 6, 104, 3012, 122152, 6369792]
    for n, count in enumerate(leaves_counted(6), start=1):
        assert n == 1 or sum(len(left) for _, left, _ in compiled((1,) * n).whole()) == count


@pytest.mark.parametrize("pattern", [(2,), (1, 1), (3,), (1, 2), (4,), (2, 2), (3, 1), (1, 2, 1), (1, 1, 1, 1)])
def test_every_tree_is_another_paper_leaf(pattern):
    forms = [paper_form(expression) for expression in whole(compiled(pattern))]
    assert len(forms) == len(set(forms))
    numbers = sorted(value for value, times in zip([2, 3, 5, 7], pattern) for _ in range(times))
    assert {pattern_of(numbers)} == {pattern}


@pytest.mark.parametrize(
    ("numbers", "target"),
    [
        ([0, 0, 4], 4),  # quotients by zero vanish, zero divided by a number does not
        ([0, 5, 7], 0),
        ([3, 8], 24),
        ([10**9 + 7, 10**9 + 9, 3], (10**9 + 7) * (10**9 + 9) + 3),  # beyond int64 products of values: Python integers
        ([10**30, 10**30 + 1, 5], 5 - 1),
    ],
)
def test_hits_are_exact(numbers, target):
    distinct, pattern = sorted(set(numbers)), pattern_of(numbers)
    trees = compiled(pattern)
    found = []
    for hits in find(pattern, [distinct], [target]):
        for hit in hits:
            built = dict(enumerate(distinct))
            found.append((hit.operator, trees.expression(hit.left, built), trees.expression(hit.right, built)))
    assert found
    assert {evaluate(expression) for expression in found} == {Fraction(target)}


def test_results_do_not_depend_on_the_batch():
    problems = [(n, t) for n in ([2, 3, 5, 7], [1, 4, 8, 9], [3, 6, 7, 10]) for t in (10, 24)]
    together = [hit for block in find((1,) * 4, *zip(*problems)) for hit in block]
    for index, (numbers, target) in enumerate(problems):
        alone = [hit[1:] for block in find((1,) * 4, [numbers], [target]) for hit in block]
        assert sorted(alone) == sorted(hit[1:] for hit in together if hit.problem == index)


def test_too_large_is_refused():
    with pytest.raises(TooLarge, match="at most 6"):
        list(find((1,) * 7, [list(range(1, 8))], [24]))
    with pytest.raises(TooLarge, match="64-bit"):
        list(find((1,) * 6, [[10**6 + i for i in range(6)]], [24]))


def test_values_are_plain_integers_of_numpy():
    hits = [hit for block in find((1, 1), [[np.int64(3), np.int64(8)]], [24]) for hit in block]
    assert [hit.operator for hit in hits] == ["*"]
