"""measures/benchmark_means.py: problems, then benchmarks, with intervals."""

import numpy as np
import pandas as pd
import pytest

from workflow_scripts.measures.benchmark_means import MEAN, claim_rows, contrasts, summary
from workflow_scripts.measures.verdicts import ESTIMANDS
from workflow_scripts.records.errors import UserError

STATISTICS = {"seed": 3, "draws": 400}


def frame(**policies):
    """policy=(benchmark, values of its problems) pairs, measure m."""
    rows = [
        (policy, name, f"{name}-{i}", "m", value)
        for policy, sets in policies.items()
        for name, values in sets.items()
        for i, value in enumerate(values)
    ]
    return pd.DataFrame(rows, columns=["policy", "benchmark", "problem_id", "measure", "value"])


def of(table, benchmark, **more):
    chosen = table[table["benchmark"] == benchmark]
    for column, value in more.items():
        chosen = chosen[chosen[column] == value]
    assert len(chosen) == 1
    return chosen.iloc[0]


def test_benchmarks_count_alike_whatever_their_size():
    table = summary(frame(p={"a": [1, 1, 1, 1], "b": [0.0]}), {"p": ["p"]}, **STATISTICS)
    assert (of(table, "a")["estimate"], of(table, "b")["estimate"]) == (1.0, 0.0)
    mean = of(table, MEAN)
    assert (mean["estimate"], mean["problems"], mean["benchmarks"]) == (0.5, 5, 2)


def test_missing_values_are_left_out_and_counted():
    data = frame(p={"a": [1, np.nan, 3], "b": [np.nan]})
    mean = of(summary(data, {"p": ["p"]}, **STATISTICS), MEAN)
    assert (mean["estimate"], mean["problems"], mean["benchmarks"]) == (2.0, 2, 1)
    assert np.isnan(of(summary(data, {"p": ["p"]}, **STATISTICS), "b")["estimate"])


def test_contrasts_are_paired():
    data = frame(base={"a": [1, 5, 9], "b": [0, 100]}, late={"a": [2, 6, 10], "b": [1, np.nan]})
    table = contrasts(data, {"base": ["base"], "late": ["late"]}, [("base", "late")], **STATISTICS)
    row = of(table, "a")
    assert (row["start"], row["end"], row["estimate"], row["low"], row["high"]) == (5, 6, 1, 1, 1)
    row = of(table, "b")
    assert (row["start"], row["end"], row["estimate"], row["problems"]) == (0, 1, 1, 1)
    row = of(table, MEAN)
    assert (row["start"], row["end"], row["estimate"], row["low"], row["high"]) == (2.5, 3.5, 1, 1, 1)


def test_seeds_of_a_line_share_the_base():
    data = frame(base={"a": [0, 0]}, s1={"a": [1, 1]}, s2={"a": [3, 3]})
    table = contrasts(data, {"base": ["base"], "late": ["s1", "s2"]}, [("base", "late")], **STATISTICS)
    row = of(table, MEAN)
    assert (row["estimate"], row["low"], row["high"]) == (2, 1, 3)


def test_interval_of_the_mean_is_that_of_independent_benchmarks():
    stream = np.random.default_rng(0)
    sets = {name: stream.normal(size=200).tolist() for name in "abcd"}
    table = summary(frame(p=sets), {"p": ["p"]}, seed=1, draws=2000)
    width = {name: of(table, name)["high"] - of(table, name)["low"] for name in (*"abcd", MEAN)}
    alone = np.mean([width[name] for name in "abcd"])
    assert width[MEAN] == pytest.approx(alone / 2, rel=0.1)  # four independent means: half as wide


def test_order_of_rows_does_not_matter():
    data = frame(base={"a": [1, 5, 9], "b": [0, 100]}, late={"a": [2, 8, 10], "b": [1, 7]})
    entries, pairs = {"base": ["base"], "late": ["late"]}, [("base", "late")]
    one = contrasts(data, entries, pairs, **STATISTICS)
    pd.testing.assert_frame_equal(one, contrasts(data.sample(frac=1, random_state=1), entries, pairs, **STATISTICS))


def test_a_measure_that_one_benchmark_lacks():
    data = pd.concat([frame(p={"a": [1, 2], "b": [3, 4]}), frame(p={"a": [5, 7]}).assign(measure="n")])
    table = summary(data, {"p": ["p"]}, **STATISTICS)
    row = of(table, MEAN, measure="n")
    assert (row["estimate"], row["benchmarks"]) == (6, 1)


def test_claim_rows_have_the_columns_of_the_scorecard():
    data = frame(base={"a": [1, 2], "b": [3, 4]}, late={"a": [2, 2], "b": [3, 4]})
    table = contrasts(data, {"base": ["base"], "late": ["late"]}, [("base", "late")], **STATISTICS)
    rows = claim_rows(table, "maths", per_benchmark=["m"])
    assert rows.columns.tolist() == list(ESTIMANDS)
    assert rows["measure"].tolist() == ["m", "m_a", "m_b"]
    assert set(rows["line"]) == {"maths"}


def test_bad_input():
    data = frame(p={"a": [1, 2]})
    with pytest.raises(UserError, match="no values of q; known: p"):
        summary(data, {"q": ["q"]}, **STATISTICS)
    with pytest.raises(UserError, match="given twice"):
        summary(pd.concat([data, data]), {"p": ["p"]}, **STATISTICS)
    three = frame(p={"a": [1]}, q={"a": [1]}, r={"a": [1]})
    with pytest.raises(UserError, match="one policy or as many"):
        summary(three, {"x": ["p", "q"], "y": ["p", "q", "r"]}, **STATISTICS)
