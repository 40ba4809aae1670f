"""Tables 5 and 6 from small frames: which cells stand where, and what is said below."""

import math

import pandas as pd
import pytest

from workflow_scripts.figures import tables
from workflow_scripts.figures.table5 import table5
from workflow_scripts.figures.table6 import CORRECT, ENTROPY, NONE, OTHER, table6
from workflow_scripts.measures.first_calculations import worked_example
from workflow_scripts.records.errors import UserError

COLUMNS = [("base", "base"), ("base → GRPO", "rlvr")]
ENTRIES = {"base": ["base"], "rlvr": ["rlvr-s1", "rlvr-s2"]}


def example(**letters):
    """worked_example of policies whose samples begin with the calculations of these letters; capitals are right."""
    rows = [
        {"policy": policy.replace("_", "-"), "benchmark": "words", "problem_id": "words-07", "sample": sample}
        | {"first_calculation": None if letter == "-" else f"{letter.lower()} + 1", "correct": letter.isupper()}
        for policy, text in letters.items()
        for sample, letter in enumerate(text)
    ]
    return worked_example(pd.DataFrame(rows), "words-07")


def made(frame, **more):
    return table6(frame, COLUMNS, ENTRIES, question="how many ?", gold="7", **more)


def test_shares_of_every_policy_are_means_over_its_seeds():
    table = made(example(base="AAbc", rlvr_s1="AAAA", rlvr_s2="AAA-"))
    frame = tables.frame_of(table).set_index("first calculation")
    assert frame.loc["a + 1", ["base", "rlvr"]].tolist() == [0.5, 0.875]
    assert frame.loc[NONE, ["base", "rlvr"]].tolist() == [0, 0.125]
    assert frame.loc[CORRECT, ["base", "rlvr"]].tolist() == [0.5, 0.875]
    assert frame.loc[ENTROPY, "base"] == pytest.approx(1.5 * math.log(2)) and frame.loc[ENTROPY, "rlvr"] == 0
    shares = frame.drop(index=[CORRECT, ENTROPY])[["base", "rlvr"]]
    assert shares.sum().tolist() == pytest.approx([1, 1])


def test_rare_calculations_are_one_row_and_none_is_lost():
    frame = tables.frame_of(made(example(base="AAAbbc", rlvr_s1="Addd", rlvr_s2="AdcA"), most=2))
    frame = frame.set_index("first calculation")
    assert list(frame.index) == ["a + 1", "d + 1", OTHER, NONE, CORRECT, ENTROPY]
    assert frame.loc[OTHER, ["base", "rlvr"]].tolist() == pytest.approx([0.5, 1 / 8])


def test_a_policy_without_calculations_has_no_entropy():
    frame = tables.frame_of(made(example(base="--", rlvr_s1="A", rlvr_s2="A"))).set_index("first calculation")
    assert math.isnan(frame.loc[ENTROPY, "base"]) and frame.loc[NONE, "base"] == 1


def test_problem_and_kinds_are_told():
    notes = " ".join(made(example(base="AAbc", rlvr_s1="AAAA", rlvr_s2="AAA-")).notes)
    assert "words-07: how many ? (answer: 7)" in notes and "base 3, base → GRPO 1" in notes
    assert "Shares of a policy's 4 samples" in notes
    assert "up to 2 seeds: the mean of the seeds' shares, and of their entropies" in notes


def test_seeds_that_hold_to_one_calculation_each_have_no_entropy():
    frame = tables.frame_of(made(example(base="ab", rlvr_s1="aaaa", rlvr_s2="BBBBBBBB"))).set_index("first calculation")
    assert frame.loc[ENTROPY, ["base", "rlvr"]].tolist() == [pytest.approx(math.log(2)), 0]
    # Means over seeds, however many samples each has.
    assert frame.loc["a + 1", "rlvr"] == frame.loc["b + 1", "rlvr"] == frame.loc[CORRECT, "rlvr"] == 0.5


def test_seeds_without_a_calculation_are_in_the_shares_and_not_in_the_entropy():
    frame = tables.frame_of(made(example(base="ab", rlvr_s1="abab", rlvr_s2="----"))).set_index("first calculation")
    assert frame.loc[ENTROPY, "rlvr"] == pytest.approx(math.log(2)) and frame.loc[NONE, "rlvr"] == 0.5


def test_a_policy_that_the_example_lacks_is_named():
    with pytest.raises(UserError, match="no samples of rlvr"):
        made(example(base="A", rlvr_s1="A"))


@pytest.fixture
def summary():
    measures = ["pass@1", "pass@8", "pass@64", "entropy", "entropy_corrected", "none_share", "distinct_traces"]
    rows = [
        {"entry": entry, "benchmark": benchmark, "measure": measure, "estimate": place + (benchmark == "mean") / 2}
        for entry in ("base", "rlvr")
        for benchmark in ("words", "shifted", "mean")
        for place, measure in enumerate([*measures, "tokens"])
    ]
    return pd.DataFrame(rows).assign(low=0.0, high=9.0, problems=80)


def test_table5_has_the_smallest_and_the_largest_k_and_means_over_benchmarks(summary):
    table = table5(summary, COLUMNS, benchmarks=["words", "shifted"], pass_at=[1, 8, 64], samples=64, depth=32)
    frame = tables.frame_of(table)
    assert frame["entry"].tolist() == ["base", "rlvr"] and "pass@8" not in frame
    assert frame.loc[0, ["pass@1", "pass@64", "entropy", "distinct_traces"]].tolist() == [0.5, 2.5, 3.5, 6.5]
    assert "distinct traces in 32" in tables.markdown(table) and "(words, shifted)" in " ".join(table.notes)


def test_table5_of_one_benchmark_says_so(summary):
    table = table5(summary, COLUMNS, benchmarks=["words"], pass_at=[1], samples=8, depth=8)
    assert "over benchmarks" not in table.notes[0] and [column.name for column in table.columns].count("pass@1") == 1


def test_table5_needs_every_measure(summary):
    with pytest.raises(UserError, match="none_share for rlvr"):
        gone = (summary["entry"] == "rlvr") & (summary["measure"] == "none_share")
        table = table5(summary[~gone], COLUMNS, benchmarks=["words"], pass_at=[1], samples=8, depth=8)
        tables.markdown(table)
