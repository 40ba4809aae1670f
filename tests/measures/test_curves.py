"""measures/curves.py: hand-worked values, both ends of a curve, and simulation."""

import numpy as np
import pandas as pd
import pytest

from workflow_scripts.measures.breadth import breadth
from workflow_scripts.measures.comparison import bootstrap_of, problem_values, summary
from workflow_scripts.measures.curves import curve_frame, curve_values, rarefied_values
from workflow_scripts.records.errors import UserError


@pytest.fixture
def two(made_up):
    pairs = [breadth(*made_up(name, seed, skill=skill)) for name, seed, skill in [("a", 1, 0.2), ("b", 2, 0.6)]]
    return tuple(pd.concat(frames, ignore_index=True) for frames in zip(*pairs, strict=True))


def _of(values, policy, measure):
    return values.array[values.policies.index(policy), :, values.measures.index(measure)]


def test_by_hand(hand_made):
    """Of four samples one has P1 and one P3; two drawn hold P1 with probability 1/2, and a correct one with 5/6."""
    values = curve_values(*breadth(*hand_made), [1, 2, 4])
    expected = {
        "coverage_paper@1": 0.125,  # 1/4 of one expressible leaf of two
        "coverage_paper@2": 0.25,
        "coverage_paper@4": 0.5,
        "coverage_formula@2": 0.5,
        "pass@1": 0.5,
        "pass@2": 5 / 6,
        "pass@4": 1.0,
    }
    for name, value in expected.items():
        assert _of(values, "toy", name)[0] == pytest.approx(value), name
    full = curve_values(*breadth(*hand_made), [2], "full")
    assert _of(full, "toy", "coverage_paper@2")[0] == pytest.approx(1 / 3)


def test_curve_ends_at_the_observed_coverage(two):
    observed = problem_values(two[0], [1])
    values = curve_values(*two, [1, 10, 40])
    for policy in "ab":
        for name in ("coverage_paper", "coverage_formula"):
            np.testing.assert_allclose(_of(values, policy, f"{name}@40"), _of(observed, policy, name), atol=1e-12)
            assert (_of(values, policy, f"{name}@10") <= _of(values, policy, f"{name}@40") + 1e-12).all()
        np.testing.assert_allclose(_of(values, policy, "pass@1"), _of(observed, policy, "pass@1"), atol=1e-12)


def test_curve_is_the_mean_over_random_subsets(made_up):
    scores, solutions, openings = made_up("p", 6, problems=4, samples=20)
    expected = _of(curve_values(*breadth(scores, solutions, openings), [5]), "p", "coverage_paper@5")
    stream, draws = np.random.default_rng(0), 2000
    for value, (problem_id, rows) in zip(expected, scores.groupby("problem_id"), strict=True):
        listed = solutions[(solutions["problem_id"] == problem_id) & solutions["expressible"]]["paper_form"]
        forms = rows["paper_form"].where(rows["correct"] & rows["paper_form"].isin(listed)).to_numpy(dtype=object)
        found = [len({f for f in stream.choice(forms, 5, replace=False) if isinstance(f, str)}) for _ in range(draws)]
        assert np.mean(found) / len(listed) == pytest.approx(
            value, abs=4 * np.std(found) / len(listed) / draws**0.5 + 1e-9
        )


def test_curve_frame(two):
    values = curve_values(*two, [1, 40])
    frame = curve_frame(summary(values, bootstrap_of(values, seed=1, draws=100)))
    assert set(frame["measure"]) == {"coverage_paper", "coverage_formula", "pass"}
    assert set(frame["n"]) == {1, 40}
    with pytest.raises(UserError, match="does not hold a curve"):
        curve_frame(pd.DataFrame({"measure": ["solved"], "entry": "a"}))


def test_draws_beyond_the_samples_are_refused(two):
    with pytest.raises(UserError, match="41"):
        curve_values(*two, [41])


def test_rarefied_coverage_at_the_smaller_number_of_correct_samples(two):
    frame, counts = two
    values = rarefied_values(frame, counts)
    observed = problem_values(frame, [1])
    correct = frame.pivot(index="problem_id", columns="policy", values="correct").loc[values.problems]
    least = correct.min(axis=1).to_numpy()
    for policy in "ab":
        rarefied, plain = _of(values, policy, "rarefied_paper"), _of(observed, policy, "coverage_paper")
        np.testing.assert_array_equal(np.isnan(rarefied), least == 0)
        same = (correct[policy].to_numpy() == least) & (least > 0)
        np.testing.assert_allclose(rarefied[same], plain[same])
        assert (rarefied[least > 0] <= plain[least > 0] + 1e-12).all()
    np.testing.assert_array_equal(_of(values, "a", "matched_correct"), np.where(least > 0, least, np.nan))


def test_rarefied_by_hand(hand_made, score_rows):
    """The other policy has one correct sample: of the toy's two, one drawn is P1 half of the time."""
    scores, solutions, openings = hand_made
    first = breadth(scores, solutions, openings)
    right = {"policy": "other", "correct": True, "paper_form": "P2", "formula_form": "F1", "paper_family": "4*"}
    second = breadth(score_rows(right, *[{"policy": "other"}] * 3), solutions, openings)
    values = rarefied_values(*(pd.concat(pair) for pair in zip(first, second, strict=True)))
    assert _of(values, "toy", "rarefied_paper")[0] == pytest.approx(0.25)
    assert _of(values, "other", "rarefied_paper")[0] == pytest.approx(0.5)
    assert _of(values, "toy", "rarefied_formula")[0] == pytest.approx(0.5)
    assert _of(values, "toy", "matched_correct")[0] == 1
