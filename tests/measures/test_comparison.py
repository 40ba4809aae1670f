"""measures/comparison.py: means, intervals, paired differences of several policies."""

import numpy as np
import pandas as pd
import pytest

from workflow_scripts.measures.breadth import breadth
from workflow_scripts.measures.comparison import bootstrap_of, contrasts, measures, problem_values, summary
from workflow_scripts.records.errors import UserError


@pytest.fixture
def frame(made_up):
    return pd.concat(
        [breadth(*made_up(name, seed, skill=skill))[0] for name, seed, skill in [("a", 1, 0.2), ("b", 2, 0.5)]]
    )


def _value(table, entry, measure, column="estimate"):
    return table[(table["entry"] == entry) & (table["measure"] == measure)][column].item()


def test_means_are_those_of_the_per_problem_shares(frame):
    values = problem_values(frame, [1, 40])
    table = summary(values, bootstrap_of(values, seed=1, draws=200))
    a = frame[frame["policy"] == "a"]
    assert _value(table, "a", "pass@1") == pytest.approx((a["correct"] / 40).mean())
    assert _value(table, "a", "pass@40") == pytest.approx((a["correct"] > 0).mean())
    assert _value(table, "a", "coverage_paper") == pytest.approx(
        (a["found_paper_expressible"] / a["size_paper_expressible"]).mean()
    )
    assert _value(table, "a", "coverage_paper_full") == pytest.approx((a["found_paper"] / a["size_paper"]).mean())
    assert _value(table, "a", "opening_coverage_think") == pytest.approx(
        (a["visited_think_expressible"] / a["size_think_expressible"]).mean()
    )
    assert _value(table, "a", "unseen_paper") == pytest.approx((a["singletons_paper"] / a["correct"]).mean())
    assert _value(table, "a", "entropy_think") == pytest.approx(a["entropy_think"].mean())
    assert (table["low"] <= table["estimate"] + 1e-12).all()
    assert (table["high"] >= table["estimate"] - 1e-12).all()


def test_full_solution_set_as_headline(frame):
    values = problem_values(frame, [1], "full")
    array = values.array[..., [values.measures.index(m) for m in ("coverage_paper", "coverage_paper_full")]]
    np.testing.assert_array_equal(array[..., 0], array[..., 1])


def test_every_measure_is_described():
    for measure in measures([1, 320]).values():
        assert measure.label and measure.unit and measure.how


def test_unknown_solution_set_is_refused():
    with pytest.raises(UserError, match="expressible, full"):
        measures([1], "most")


def test_order_of_policies_and_rows_does_not_matter(frame):
    values, again = problem_values(frame, [1]), problem_values(frame[::-1], [1])
    np.testing.assert_array_equal(values.array, again.array)
    assert values.policies == again.policies == ["a", "b"]


def test_policies_share_the_resamples(frame):
    """The same policy under two names gets the same interval, and a difference of exactly nothing."""
    twin = frame[frame["policy"] == "a"].assign(policy="c")
    values = problem_values(pd.concat([frame, twin]), [1])
    bootstrap = bootstrap_of(values, seed=1, draws=200)
    table = summary(values, bootstrap)
    for column in ("estimate", "low", "high"):
        assert _value(table, "a", "coverage_paper", column) == _value(table, "c", "coverage_paper", column)
    difference = contrasts(values, bootstrap, {"x": ["a"], "y": ["c"]}, [("x", "y")])
    assert (difference[["estimate", "low", "high"]].fillna(0) == 0).all(axis=None)


def test_contrast_is_the_difference_of_its_ends(frame):
    values = problem_values(frame, [1])
    table = contrasts(
        values, bootstrap_of(values, seed=1, draws=500), {"early": ["a"], "late": ["b"]}, [("early", "late")]
    )
    row = table[table["measure"] == "pass@1"].iloc[0]
    assert row["estimate"] == pytest.approx(row["end"] - row["start"])
    assert row["low"] < row["estimate"] < row["high"]
    assert row["problems"] == 20
    # Where a problem has a value at one end only, it counts at neither.
    a, b = (frame[frame["policy"] == p].set_index("problem_id")["entropy_think_correct"] for p in "ab")
    both = a.notna() & b.notna()
    row = table[table["measure"] == "entropy_think_correct"].iloc[0]
    assert row["start"] == pytest.approx(a[both].mean())
    assert row["problems"] == both.sum()


def test_several_seeds_of_a_line(frame):
    values = problem_values(frame, [1])
    bootstrap = bootstrap_of(values, seed=1, draws=500, seeds_per_line=2)
    entries = {"base": ["a"], "late": ["a", "b"]}
    table = summary(values, bootstrap, entries)
    a, b = (_value(summary(values, bootstrap), p, "pass@1") for p in "ab")
    assert _value(table, "late", "pass@1") == pytest.approx((a + b) / 2)
    change = contrasts(values, bootstrap, entries, [("base", "late")])
    row = change[change["measure"] == "pass@1"].iloc[0]
    assert row["estimate"] == pytest.approx((b - a) / 2)
    assert row["start"] == pytest.approx(a)


def test_different_numbers_of_samples_are_refused(frame):
    with pytest.raises(UserError, match="one number of samples"):
        problem_values(
            pd.concat([frame[frame["policy"] == "a"], frame[frame["policy"] == "b"].assign(samples=39)]), [1]
        )


def test_missing_problem_is_refused(frame):
    with pytest.raises(UserError, match="policy b lacks 1 of 20"):
        problem_values(frame.iloc[:-1], [1])


def test_too_large_k_is_refused(frame):
    with pytest.raises(UserError, match="pass@41"):
        problem_values(frame, [1, 41])
