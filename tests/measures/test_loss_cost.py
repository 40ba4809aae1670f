"""Best of n, majority vote and the spread over entrances: against enumeration, and where the curves cross."""

from itertools import combinations, product
from math import comb

import numpy as np
import pandas as pd
import pytest

from workflow_scripts.measures.loss_cost import (
    cost_changes,
    cost_curves,
    crossings,
    majority_chances,
    sampling_values,
    spread_chances,
    stratified_values,
    with_gain,
)
from workflow_scripts.measures.statistics import Bootstrap
from workflow_scripts.records.errors import UserError


def enumerated_vote(votes, correct, n):
    """The vote over every set of n samples."""
    right = {v: np.mean([c for w, c in zip(votes, correct) if w == v]) for v in votes}
    chances = []
    for chosen in combinations(range(len(votes)), n):
        tally = pd.Series([votes[i] for i in chosen if votes[i] >= 0]).value_counts()
        winners = tally[tally == tally.max()].index if len(tally) else []
        chances.append(np.mean([right[v] for v in winners]) if len(tally) else 0.0)
    return np.mean(chances)


@pytest.mark.parametrize(
    ("votes", "correct"),
    [
        ([0, 0, 1, 1, 1, 2], [1, 1, 0, 0, 0, 0]),
        ([0, 1, -1, -1, 1, 0, 2], [1, 0, 0, 0, 0, 1, 0]),
        ([-1, -1, 0, 1], [0, 0, 1, 0]),
        ([0, 0, 0, 1, 1], [1, 0, 1, 0, 0]),
    ],
)
def test_vote_is_the_mean_over_all_sets_of_samples(votes, correct):
    draws = list(range(1, len(votes) + 1))
    found = majority_chances(votes, correct, draws, np.random.default_rng(1), 4000)
    wanted = [enumerated_vote(votes, correct, n) for n in draws]
    np.testing.assert_allclose(found, wanted, atol=0.03)
    # exact for one sample and for all
    np.testing.assert_allclose(found[[0, -1]], np.array(wanted)[[0, -1]], atol=1e-12)


def test_vote_by_hand():
    # all three: 0 and 1 are tied at one vote, one of them is right
    assert majority_chances([0, 1, -1], [1, 0, 0], [3], np.random.default_rng(1), 5)[0] == 0.5
    assert list(majority_chances([-1, -1], [0, 0], [1, 2], np.random.default_rng(1), 5)) == [0, 0]
    unordered = majority_chances([0, 1, 1], [1, 0, 0], [3, 1], np.random.default_rng(1), 5)
    np.testing.assert_allclose(unordered, [0, 1 / 3])


def enumerated_spread(samples, correct, n):
    """Every way to spread n samples over the entrances, and every set of continuations of each."""
    each, over = divmod(n, len(correct))
    chances = []
    for more in combinations(range(len(correct)), over):
        taken = [each + (e in more) for e in range(len(correct))]
        sets = [list(combinations(range(samples), k)) for k in taken]
        hits = [any(i < c for s, c in zip(chosen, correct) for i in s) for chosen in product(*sets)]
        chances.append(np.mean(hits))
    return np.mean(chances)


@pytest.mark.parametrize("correct", [[0, 1, 3], [2], [0, 0], [1, 1, 0, 2]])
def test_spread_is_the_mean_over_all_choices(correct):
    draws = list(range(1, 3 * len(correct) + 1))
    wanted = [enumerated_spread(3, correct, n) for n in draws]
    np.testing.assert_allclose(spread_chances(3, np.array(correct), draws), wanted, atol=1e-12)


def test_spread_by_hand():
    # two entrances of four samples, one correct in the first: half of the time it is drawn from, then 1 of 4
    found = spread_chances(4, np.array([1, 0]), [1, 2, 8, 9])
    np.testing.assert_allclose(found, [1 / 8, 1 / 4, 1, np.nan])


@pytest.fixture
def study(made_up):
    """Free samples of three policies, and samples after the entrances of their problems."""
    free = pd.concat([made_up(p, i, problems=6, samples=24)[0] for i, p in enumerate(("base", "early", "late"))])
    problems = sorted(free["problem_id"].unique())
    clamps = pd.DataFrame(
        [
            (p, f"{o}*", "neutral", 0, rung, f"try {o}{rung[8:]}", 0.1)
            for at, p in enumerate(problems)
            for o in range(1 + at % 3)
            for rung in ("entrance", "entrance*")
        ],
        columns=["problem_id", "family", "scaffold", "scaffold_id", "rung", "prefix", "chance"],
    )
    stream = np.random.default_rng(5)
    rows = clamps[["problem_id", "prefix"]].merge(pd.DataFrame({"sample": range(8)}), how="cross")
    forced = pd.concat(
        [rows.assign(policy=p, correct=stream.random(len(rows)) < 0.3) for p in ("base", "early", "late")]
    )
    return free, clamps, forced, problems


def test_curves_and_changes(study):
    free, clamps, forced, problems = study
    draws = [1, 2, 8, 24]
    values = with_gain(
        pd.concat([sampling_values(free, draws, seed=1, resamples=50), stratified_values(clamps, forced, draws)])
    )
    bootstrap = Bootstrap.over(len(problems), seed=1, draws=200)
    points = {end: [end] for end in ("base", "early", "late")}
    curves = cost_curves(values, problems, bootstrap, points).set_index(["entry", "measure", "n"])
    # one sample: the vote is that sample, and best of one is pass@1
    pass_1 = free[free["policy"] == "late"].groupby("problem_id")["correct"].mean().mean()
    for method in ("best", "majority"):
        assert curves.loc[("late", method, 1), "estimate"] == pytest.approx(pass_1)
    entrances = forced[(forced["policy"] == "late") & ~forced["prefix"].str.endswith("*")]
    per_problem = entrances.groupby(["problem_id", "prefix"])["correct"].mean().groupby("problem_id").mean()
    assert curves.loc[("late", "stratified", 1), "estimate"] == pytest.approx(per_problem.mean())
    # 24 samples exist of the two problems with three entrances alone; the floor has all
    assert curves.loc[("late", "stratified", 24), "problems"] == 2
    assert curves.loc[("late", "stratified_floor", 24), "problems"] == 6
    gain = curves.loc[("late", "stratified_gain", 8), "estimate"]
    assert gain == pytest.approx(
        curves.loc[("late", "stratified", 8), "estimate"] - curves.loc[("late", "best", 8), "estimate"]
    )
    changes = cost_changes(values, problems, bootstrap, points).set_index(["before", "measure", "n"])
    row = changes.loc[("base", "best", 24)]
    assert row["estimate"] == pytest.approx(row["end"] - row["start"])
    assert row["end"] == pytest.approx(curves.loc[("late", "best", 24), "estimate"])


def test_the_same_values_in_any_order_of_rows(study):
    free, clamps, forced, _ = study
    for function, table in (
        (lambda t: sampling_values(t, [1, 4, 9], seed=1, resamples=20), free),
        (lambda t: stratified_values(clamps, t, [1, 4, 9]), forced),
    ):
        pd.testing.assert_frame_equal(function(table), function(table.sample(frac=1, random_state=1)))


def test_what_is_refused(study):
    free, clamps, forced, _ = study
    with pytest.raises(UserError, match="free samples"):
        sampling_values(free.assign(prefix="try 4 *"), [1], seed=1)
    with pytest.raises(UserError, match="pass@25 cannot be estimated from 24"):
        sampling_values(free, [25], seed=1)
    with pytest.raises(UserError, match="late has no samples of 0_1-1 after 'try 0'"):
        drop = forced["policy"].eq("late") & forced["problem_id"].eq("0_1-1") & forced["prefix"].eq("try 0")
        stratified_values(clamps, forced[~drop], [1])
    with pytest.raises(UserError, match="there are 7 to 8"):
        stratified_values(clamps, forced.iloc[1:], [1])
    with pytest.raises(UserError, match="bare entrance"):
        stratified_values(clamps.assign(rung="nothing"), forced, [1])


def counts(**correct):
    """PROBLEM_BREADTH columns that crossings reads, ten samples a problem."""
    rows = [(p, f"p{i}", 10, c) for p, numbers in correct.items() for i, c in enumerate(numbers)]
    return pd.DataFrame(rows, columns=["policy", "problem_id", "samples", "correct"])


def test_crossing_by_hand():
    # base: 2 of 10 in both problems; late: all in one problem and none in the other, 1/2 at every n
    frame = counts(base=[2, 2], late=[10, 0])
    base = [1 - comb(8, n) / comb(10, n) for n in range(1, 11)]
    wanted = next(n for n, chance in enumerate(base, 1) if chance > 0.5)
    points = {"base": ["base"], "early": ["base"], "late": ["late"]}
    row = crossings(frame, Bootstrap.over(2, seed=1, draws=400), points).set_index("before").loc["base"]
    assert (row["crossing"], wanted) == (3, 3)
    # a resample with the solved problem alone never crosses, one with the other crosses at once
    assert row["low"] == 1 and np.isinf(row["high"])
    assert row["never"] == pytest.approx(0.25, abs=0.07)


def test_no_crossing_where_late_is_never_behind_and_none_by_ties():
    frame = counts(base=[1, 2, 10], late=[4, 5, 10])
    points = {"base": ["base"], "late": ["late"]}
    row = crossings(frame, Bootstrap.over(3, seed=1, draws=50), points, [("base", "late")]).iloc[0]
    assert np.isinf(row["crossing"]) and row["never"] == 1
    with pytest.raises(UserError, match="one number of samples"):
        crossings(frame.assign(samples=range(6)), Bootstrap.over(3, seed=1, draws=5), points)
