"""measures/statistics.py against brute force and published bounds."""

import numpy as np
import pytest
from scipy.stats import binom

from workflow_scripts.measures.statistics import Bootstrap, lower_bound, proportion_interval, upper_bound


def test_means_are_those_of_explicit_resamples():
    values = np.random.default_rng(0).normal(size=(7, 3))
    values[2, 1] = np.nan
    bootstrap = Bootstrap.over(7, seed=1, draws=50)
    assert (bootstrap.problem_weights.sum(axis=1) == 7).all()
    for weights, means in zip(bootstrap.problem_weights, bootstrap.means(values), strict=True):
        drawn = np.repeat(values, weights.astype(int), axis=0)
        np.testing.assert_allclose(means, np.nanmean(drawn, axis=0))


def test_same_arguments_same_resamples():
    first, again, other = (Bootstrap.over(9, seed=s, draws=20) for s in (1, 1, 2))
    assert (first.problem_weights == again.problem_weights).all()
    assert (first.problem_weights != other.problem_weights).any()


def test_interval_has_the_width_of_the_normal_theory():
    values = np.random.default_rng(3).normal(5, 2, size=(400, 1))
    result = Bootstrap.over(400, seed=4, draws=4000).estimate(values)
    half = 1.96 * values.std() / 20
    assert result.value[0] == pytest.approx(values.mean())
    assert result.low[0] == pytest.approx(values.mean() - half, abs=0.02)
    assert result.high[0] == pytest.approx(values.mean() + half, abs=0.02)


def test_interval_covers_the_truth_about_as_often_as_it_says():
    stream = np.random.default_rng(5)
    bootstrap = Bootstrap.over(60, seed=6, draws=1000)
    result = bootstrap.estimate(stream.exponential(1.0, size=(60, 400)))
    covered = np.mean((result.low < 1) & (result.high > 1))
    assert 0.89 < covered < 0.98


def test_differences_are_paired():
    """A constant gain over very different problems is certain, although both levels are not."""
    level = np.random.default_rng(7).random((50, 1))
    bootstrap = Bootstrap.over(50, seed=8, draws=500)
    before, after = bootstrap.estimate(level), bootstrap.estimate(level + 0.01)
    gain = bootstrap.estimate(level + 0.01 - level)
    assert after.low[0] < before.high[0]
    assert gain.low[0] == pytest.approx(0.01)
    assert gain.high[0] == pytest.approx(0.01)


def test_missing_problems_are_left_out_and_counted():
    values = np.array([[1.0, np.nan], [3.0, np.nan], [np.nan, np.nan]])
    result = Bootstrap.over(3, seed=1, draws=200).estimate(values)
    assert result.value[0] == 2
    assert np.isnan([result.value[1], result.low[1], result.high[1]]).all()
    assert result.problems.tolist() == [2, 0]
    assert 1 <= result.low[0] <= result.high[0] <= 3


def test_seeds_widen_the_interval_only_where_they_differ():
    stream = np.random.default_rng(9)
    problems = stream.random((40, 1))
    alike = np.stack([problems, problems, problems])
    apart = alike + np.array([-0.3, 0.0, 0.3])[:, None, None]
    bootstrap = Bootstrap.over(40, seed=2, draws=2000, seeds_per_line=3)
    single = Bootstrap.over(40, seed=2, draws=2000).estimate(problems)
    same, wide = bootstrap.estimate(alike), bootstrap.estimate(apart)
    np.testing.assert_allclose([same.low, same.high], [single.low, single.high])
    assert wide.value[0] == pytest.approx(single.value[0])
    assert wide.high[0] - wide.low[0] > 2 * (single.high[0] - single.low[0])
    shared = bootstrap.estimate(problems)
    np.testing.assert_allclose([shared.low, shared.high], [single.low, single.high])


def test_wrong_shape_is_refused():
    with pytest.raises(ValueError, match="do not fit"):
        Bootstrap.over(3, seed=1, draws=10).estimate(np.zeros((4, 1)))


@pytest.mark.parametrize(
    ("successes", "trials", "expected"),
    [(0, 512, 1 - 0.05 ** (1 / 512)), (0, 1, 0.95), (5, 5, 1.0), (1, 10, 0.39416), (3, 20, 0.34366)],
)
def test_upper_bound(successes, trials, expected):
    assert upper_bound(successes, trials) == pytest.approx(expected, abs=1e-5)


def test_bound_of_the_paper():
    assert round(upper_bound(0, 512), 4) == 0.0058


@pytest.mark.parametrize("successes", range(11))
def test_bounds_leave_the_stated_tail(successes):
    high, low = upper_bound(successes, 10), lower_bound(successes, 10)
    assert low <= successes / 10 <= high
    if successes < 10:
        assert binom.cdf(successes, 10, high) == pytest.approx(0.05)
    if successes > 0:
        assert binom.sf(successes - 1, 10, low) == pytest.approx(0.05)


def test_proportion_interval_is_one_sided_at_the_ends():
    assert proportion_interval(0, 33) == (0.0, pytest.approx(1 - 0.05 ** (1 / 33)))
    assert proportion_interval(33, 33) == (pytest.approx(0.05 ** (1 / 33)), 1.0)
    low, high = proportion_interval(5, 10)
    assert (low, high) == (pytest.approx(0.18709, abs=1e-5), pytest.approx(0.81291, abs=1e-5))


@pytest.mark.parametrize(("successes", "trials"), [(1, 0), (-1, 4), (5, 4), (0, 0)])
def test_impossible_proportions_are_refused(successes, trials):
    with pytest.raises(ValueError, match="trials"):
        proportion_interval(successes, trials)
