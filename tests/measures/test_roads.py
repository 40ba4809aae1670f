"""The plane of roads: the reference curve, who is broader at equal precision, verdicts on arms, dose–response."""

import numpy as np
import pandas as pd
import pytest

from workflow_scripts.measures.breadth import breadth
from workflow_scripts.measures.comparison import Values
from workflow_scripts.measures.roads import (
    DEAR,
    LOSS,
    MEASURES,
    NO_GAIN,
    OPEN,
    WORTH,
    against_control,
    broader_at_equal_precision,
    dose_response,
    non_increasing,
    plane,
    reference_breadth,
    road_values,
    verdicts,
)
from workflow_scripts.measures.statistics import Bootstrap
from workflow_scripts.records.errors import UserError


def values_from(**policies) -> Values:
    """policies: name to (pass@1, coverage) per problem; other measures follow the coverage."""
    names = sorted(policies)
    array = np.array([[[x, y, y, y, 1 + y] for x, y in zip(*policies[name], strict=True)] for name in names])
    problems = [f"p{i}" for i in range(array.shape[1])]
    return Values(names, problems, list(MEASURES), 64, array)


def flat(x, y, problems=8, spread=0.0):
    noise = spread * np.linspace(-1, 1, problems)
    return (np.full(problems, x) + noise, np.full(problems, y) + noise)


@pytest.mark.parametrize(
    ("given", "fitted"),
    [
        ([3, 2, 1], [3, 2, 1]),
        ([1, 2, 3], [2, 2, 2]),
        ([4, 1, 3, 0], [4, 2, 2, 0]),
        ([5, 1, 2, 6], [5, 3, 3, 3]),
    ],
)
def test_isotonic_by_hand(given, fitted):
    np.testing.assert_allclose(non_increasing(np.array([given, fitted], dtype=float)), [fitted, fitted])


def test_isotonic_as_in_scikit_learn():
    from sklearn.isotonic import IsotonicRegression

    y = np.random.default_rng(1).random((30, 12))
    wanted = [IsotonicRegression(increasing=False).fit_transform(np.arange(12), row) for row in y]
    np.testing.assert_allclose(non_increasing(y), wanted, atol=1e-12)


def test_reference_curve_by_hand():
    # out of order; at 0.15 half-way from 0.8 to 0.6; beyond the ends the nearest
    x, y = np.array([[0.3, 0.1, 0.2]] * 4), np.array([[0.2, 0.8, 0.6]] * 4)
    found = reference_breadth(x, y, np.array([0.15, 0.25, 0.0, 0.9]))
    np.testing.assert_allclose(found, [0.7, 0.4, 0.8, 0.2])


def test_broader_at_equal_precision_by_hand():
    values = values_from(
        base=flat(0.1, 0.8, spread=0.02), late=flat(0.5, 0.2, spread=0.02), sft=flat(0.3, 0.7), far=flat(0.9, 0.1)
    )
    bootstrap = Bootstrap.over(8, seed=1, draws=300)
    roads = {"sft": ["sft"], "far": ["far"]}
    table = broader_at_equal_precision(values, bootstrap, roads, {"base": ["base"], "late": ["late"]})
    table = table.set_index(["after", "measure"])
    row = table.loc[("sft", "coverage_paper")]
    assert row[["start", "end", "estimate", "precision"]].tolist() == pytest.approx([0.5, 0.7, 0.2, 0.3])
    assert row["low"] < 0.2 < row["high"] and not row["outside"] and row["outside_share"] == 0
    far = table.loc[("far", "coverage_paper")]
    assert far["estimate"] == pytest.approx(0.1 - 0.2)
    assert far["outside"] and far["outside_share"] == 1
    assert row["problems"] == 8


def test_a_reference_point_is_not_broader_than_its_own_line(made_up):
    frames = [breadth(*made_up(p, i, skill=s))[0] for i, (p, s) in enumerate({"a": 0.1, "b": 0.3, "c": 0.6}.items())]
    values = road_values(pd.concat(frames))
    assert values.measures == list(MEASURES)
    bootstrap = Bootstrap.over(len(values.problems), seed=1, draws=200)
    line = {"a": ["a"], "b": ["b"]}
    ends = broader_at_equal_precision(values, bootstrap, {"a": ["a"]}, line)
    falls = plane(values, bootstrap, line).set_index(["entry", "measure"])["estimate"].unstack()
    # an end of a falling line lies on it; where the line rises both lie off its fit by the same amount
    for row in ends.itertuples():
        rise = falls.loc["b", row.measure] - falls.loc["a", row.measure]
        assert row.estimate == pytest.approx(-max(rise, 0) / 2, abs=1e-9)


def test_the_curve_is_drawn_anew_in_each_resample():
    # problems differ a lot, the road by the same amount from the line in each: the interval must not show the former
    stream = np.random.default_rng(2)
    hard = stream.random(40) * 0.4
    line = {"base": (0.1 + hard, 0.9 - hard), "late": (0.5 + hard, 0.5 - hard)}
    values = values_from(**line, road=(0.3 + hard, 0.8 - hard))
    bootstrap = Bootstrap.over(40, seed=1, draws=200)
    row = broader_at_equal_precision(values, bootstrap, {"road": ["road"]}, {"base": ["base"], "late": ["late"]}).iloc[
        0
    ]
    assert row[["low", "estimate", "high"]].tolist() == pytest.approx([0.1] * 3)


def test_several_training_seeds():
    values = values_from(
        base=flat(0.1, 0.8), l1=flat(0.4, 0.3), l2=flat(0.6, 0.1), r1=flat(0.3, 0.6), r2=flat(0.3, 0.8)
    )
    bootstrap = Bootstrap.over(8, seed=1, draws=300, seeds_per_line=2)
    row = broader_at_equal_precision(
        values, bootstrap, {"road": ["r1", "r2"]}, {"base": ["base"], "late": ["l1", "l2"]}
    ).iloc[0]
    assert row["estimate"] == pytest.approx(0.7 - 0.5)
    assert row["low"] < row["estimate"] < row["high"]


@pytest.mark.parametrize(
    ("gain", "precision", "tokens", "verdict"),
    [
        ((0.05, 0.01, 0.1), (0.0, -0.02, 0.02), 1.0, WORTH),
        ((0.05, 0.01, 0.1), (0.0, -0.02, 0.02), 1.5, DEAR),
        ((0.05, 0.0, 0.1), (0.0, -0.02, 0.02), 1.0, NO_GAIN),
        ((0.05, 0.01, 0.1), (-0.02, -0.05, 0.01), 1.0, OPEN),
        ((0.05, 0.01, 0.1), (-0.06, -0.09, -0.01), 1.0, LOSS),
        ((0.05, 0.01, 0.1), (-0.02, -0.03, -0.01), 1.0, WORTH),
        ((np.nan, np.nan, np.nan), (0.0, 0.0, 0.0), 1.0, NO_GAIN),
    ],
)
def test_verdicts(gain, precision, tokens, verdict):
    rows = [
        {"before": "control", "after": "arm", "measure": measure} | dict(zip(("estimate", "low", "high"), numbers))
        for measure, numbers in (("coverage_paper", gain), ("pass@1", precision))
    ]
    costs = {"control": {"tokens": 2e6}, "arm": {"tokens": tokens * 2e6}}
    found = verdicts(pd.DataFrame(rows), costs, "control").iloc[0]
    assert (found["verdict"], found["tokens_ratio"]) == (verdict, tokens)


def test_arms_against_control():
    values = values_from(control=flat(0.3, 0.2), kl=flat(0.25, 0.5))
    bootstrap = Bootstrap.over(8, seed=1, draws=50)
    table = against_control(values, bootstrap, {"control": ["control"], "kl": ["kl"]}, "control")
    gains = table.set_index("measure")["estimate"]
    assert gains["coverage_paper"] == pytest.approx(0.3) and gains["pass@1"] == pytest.approx(-0.05)
    with pytest.raises(UserError, match="arm kl has no cost in tokens"):
        verdicts(table, {"control": {"tokens": 1.0}}, "control")
    with pytest.raises(UserError, match="control arm 'grpo'"):
        against_control(values, bootstrap, {"kl": ["kl"]}, "grpo")
    with pytest.raises(UserError, match="no samples of the policy 'gone'"):
        plane(values, bootstrap, {"road": ["gone"]})
    with pytest.raises(UserError, match="two policies or more"):
        broader_at_equal_precision(values, bootstrap, {"kl": ["kl"]}, {"control": ["control"]})


def test_dose_response_by_hand():
    values = values_from(**{f"s{k}": flat(0.3, y, spread=0.1) for k, y in {1: 0.4, 2: 0.5, 4: 0.6, 8: 0.7}.items()})
    bootstrap = Bootstrap.over(8, seed=1, draws=100)
    points, trend = dose_response(values, bootstrap, {k: [f"s{k}"] for k in (8, 1, 4, 2)})
    assert points[points["measure"] == "coverage_paper"]["k"].tolist() == [1, 2, 4, 8]
    rows = trend[trend["measure"] == "coverage_paper"].set_index("quantity")
    assert list(rows.index) == ["slope", "1→2", "2→4", "4→8"]
    # problems differ, but all by as much in each policy: paired differences have no width
    np.testing.assert_allclose(rows[["estimate", "low", "high"]], 0.1, atol=1e-9)
    assert rows["problems"].tolist() == [8] * 4
    with pytest.raises(UserError, match="two numbers"):
        dose_response(values, bootstrap, {1: ["s1"]})


def test_slope_is_per_doubling():
    values = values_from(s1=flat(0.3, 0.1), s8=flat(0.3, 0.7))
    trend = dose_response(values, Bootstrap.over(8, seed=1, draws=20), {1: ["s1"], 8: ["s8"]})[1]
    assert trend.set_index(["measure", "quantity"]).loc[("opening_coverage", "slope"), "estimate"] == pytest.approx(0.2)
