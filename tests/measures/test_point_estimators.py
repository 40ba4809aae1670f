"""measures/estimators.py against exact counting."""

from fractions import Fraction
from itertools import combinations
from math import comb, log

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from workflow_scripts.measures import estimators
from workflow_scripts.records.errors import UserError


@pytest.mark.parametrize(
    ("n", "c", "k", "expected"),
    [
        (4, 1, 1, 0.25),
        (4, 1, 4, 1.0),  # drawn with replacement this would be 0.684
        (4, 0, 4, 0.0),
        (4, 4, 1, 1.0),
        (5, 2, 3, 0.9),  # 1 − 1/10
        (10, 3, 2, 8 / 15),
        (320, 1, 320, 1.0),
        (320, 319, 2, 1.0),
    ],
)
def test_pass_at_k_known_values(n, c, k, expected):
    assert estimators.pass_at_k(samples=n, correct=[c], ks=[k])[0, 0] == pytest.approx(expected, abs=1e-12)


@given(st.integers(1, 60).flatmap(lambda n: st.tuples(st.just(n), st.integers(0, n), st.integers(1, n))))
def test_pass_at_k_is_the_exact_fraction(case):
    n, c, k = case
    exact = 1 - Fraction(comb(n - c, k), comb(n, k))
    assert estimators.pass_at_k(samples=n, correct=[c], ks=[k])[0, 0] == pytest.approx(float(exact), abs=1e-12)


def test_pass_at_k_counts_subsets():
    outcomes = [1, 0, 0, 1, 0, 0]
    subsets = list(combinations(outcomes, 3))
    by_counting = sum(any(s) for s in subsets) / len(subsets)
    assert estimators.pass_at_k(samples=6, correct=[2], ks=[3])[0, 0] == pytest.approx(by_counting)


def test_pass_at_k_of_large_samples_is_accurate():
    exact = 1 - Fraction(comb(2048 - 3, 500), comb(2048, 500))
    assert estimators.pass_at_k(samples=2048, correct=[3], ks=[500])[0, 0] == pytest.approx(float(exact), abs=1e-11)


def test_pass_curve_rises_from_mean_to_solved():
    curve = estimators.pass_at_k(samples=50, correct=np.array([0, 1, 25, 50]), ks=np.arange(1, 51))
    assert curve.shape == (4, 50)
    assert (np.diff(curve, axis=1) >= -1e-12).all()
    np.testing.assert_allclose(curve[:, 0], [0, 0.02, 0.5, 1])
    assert curve[:, -1].tolist() == [0, 1, 1, 1]


@pytest.mark.parametrize(("samples", "ks"), [(8, [9]), ([8, 4], [5]), (8, [0]), (8, [-1])])
def test_k_beyond_the_samples_is_an_error_even_without_a_correct_one(samples, ks):
    with pytest.raises(UserError, match="pass@"):
        estimators.pass_at_k(samples=samples, correct=np.zeros(np.size(samples), int), ks=ks)


def test_pass_at_k_takes_no_positional_counts():
    with pytest.raises(TypeError):
        estimators.pass_at_k(10, 3, [1])


@pytest.mark.parametrize("bad", [{"marked": 5}, {"draws": 5}, {"marked": -1}, {"draws": -1}])
def test_impossible_counts_are_refused(bad):
    with pytest.raises(ValueError, match="0 <= marked <= total"):
        estimators.seen_probability(**{"total": 4, "marked": 1, "draws": 1} | bad)


def test_curve_and_rarefaction_agree_with_enumeration():
    """Seven samples of two problems; every subset of each size is counted."""
    samples = [list("aaabbc-"), list("dddddd-")]
    hits, groups = [3, 2, 1, 6], [0, 0, 0, 1]
    for draws in range(8):
        expected = [
            np.mean([len(set(subset) - {"-"}) for subset in combinations(sequence, draws)]) for sequence in samples
        ]
        curve = estimators.distinct_curve(hits=hits, groups=groups, size=2, total=7, draws=[draws])[:, 0]
        np.testing.assert_allclose(curve, expected, atol=1e-12)
        if draws:
            rarefied = estimators.rarefied_distinct(hits=hits, groups=groups, totals=[7, 7], draws=[draws, draws])
            np.testing.assert_allclose(rarefied, expected, atol=1e-12)


def test_rarefaction_to_nothing_is_missing():
    value = estimators.rarefied_distinct(hits=[2], groups=[1], totals=[0, 3], draws=[0, 2])
    assert np.isnan(value[0])
    assert value[1] == pytest.approx(1.0)


def test_unseen_mass():
    np.testing.assert_allclose(estimators.unseen_mass(singletons=[2, 0, 0], samples=[8, 5, 0]), [0.25, 0, np.nan])


@given(st.lists(st.integers(0, 40), min_size=1, max_size=12))
def test_entropy_is_the_textbook_sum(counts):
    total = sum(counts)
    value = estimators.entropies(counts=counts, groups=[0] * len(counts), size=1)[0]
    if total == 0:
        assert np.isnan(value)
    else:
        assert value == pytest.approx(-sum(c / total * log(c / total) for c in counts if c), abs=1e-12)
        assert value >= 0


def test_entropy_by_group():
    value = estimators.entropies(counts=[1, 1, 5, 2, 2, 2, 2], groups=[0, 0, 1, 3, 3, 3, 3], size=4)
    np.testing.assert_allclose(value, [log(2), 0, np.nan, log(4)], atol=1e-12)
