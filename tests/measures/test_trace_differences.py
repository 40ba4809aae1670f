"""measures/trace_differences.py on constructed traces with known answers."""

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from maths_rows import likelihoods, samples, scores

from workflow_scripts.measures.benchmark_means import MEAN, summary
from workflow_scripts.measures.trace_differences import (
    BOTH,
    EXCLUSIONS,
    claim_rows,
    difference,
    everywhere,
    exclusions,
    line_values,
    paired,
    problem_values,
    select_traces,
    trace_values,
)
from workflow_scripts.measures.verdicts import ESTIMANDS
from workflow_scripts.records.errors import UserError


def trace(before, after, boundary, **more):
    return {"base": before, "late": after, "boundary": boundary} | more


# Commitment: before −1, after −3 (the later policy finds it less likely): gap 2. Execution: gap −0.5.
SUPPRESSED = trace([-1.0, -1.0, -1.0, -1.0], [-3.0, -3.0, -0.5, -0.5], 2)


def test_the_sign_is_positive_where_the_later_policy_suppresses_the_commitment():
    values = trace_values(paired(likelihoods(SUPPRESSED), "base", "late"), seed=1).iloc[0]
    assert values[["commitment", "execution", "did"]].tolist() == [2.0, -0.5, 2.5]
    # A policy that got better at the commitment has the other sign.
    other = trace(SUPPRESSED["late"], SUPPRESSED["base"], 2)
    assert trace_values(paired(likelihoods(other), "base", "late"), seed=1)["did"].item() == -2.5


def test_equal_policies_and_even_changes_have_no_difference():
    same = trace([-1.0, -2.0, -0.1], [-1.0, -2.0, -0.1], 1)
    shifted = trace([-1.0, -2.0, -0.1], [-2.0, -3.0, -1.1], 1)
    found = trace_values(paired(likelihoods(same, shifted), "base", "late"), seed=1)
    assert found["did"].tolist() == pytest.approx([0.0, 0.0])


def test_it_is_per_token_not_in_all():
    # Gap 1 over three tokens of commitment, gap 1 over one of execution: no difference.
    even = trace([0.0] * 4, [-1.0] * 4, 3)
    assert trace_values(paired(likelihoods(even), "base", "late"), seed=1)["did"].item() == 0.0


def test_traces_without_a_boundary_or_an_execution_are_left_out_and_counted():
    table = likelihoods(SUPPRESSED, SUPPRESSED | {"boundary": None, "split": None}, SUPPRESSED | {"boundary": 4},
                        SUPPRESSED | {"boundary": 0}, SUPPRESSED | {"split": True})  # fmt: skip
    traces = paired(table, "base", "late")
    values = trace_values(traces, seed=1)
    assert values["did"].notna().tolist() == [True, False, False, False, True]
    counts = exclusions(traces).iloc[0]
    assert counts[list(EXCLUSIONS)].tolist() == [5, 2, 1, 2, 1]
    means = problem_values(values)
    found = means[(means["policy"] == "base") & (means["measure"] == "did")]["value"].item()
    assert found == 2.5  # not dragged to zero


def test_means_over_traces_then_problems_then_benchmarks():
    one = trace([0.0, 0.0], [-1.0, 0.0], 1)  # difference 1
    three = trace([0.0, 0.0], [-3.0, 0.0], 1)
    table = likelihoods(
        *[one] * 3, three | {"problem_id": "words-0001"}, three | {"problem_id": "words-0001", "origin": "late"},
        trace([0.0, 0.0], [-8.0, 0.0], 1, benchmark="shifted", problem_id="shifted-0000"),
    )  # fmt: skip
    frame, entries, counts = line_values(table, [("base", "late")], seed=1)
    rows = summary(frame, entries, seed=1, draws=50)
    did = rows[rows["measure"] == "did"].set_index(["entry", "benchmark"])["estimate"]
    assert did[("before", "words")] == 2.0  # problems 1 and 3, however many traces they have
    assert did[("after", "words")] == 3.0
    assert did[("before", MEAN)] == 5.0
    assert did[(BOTH, MEAN)] == 5.0
    assert counts["used"].sum() == 6


def test_placebos_by_hand():
    gaps = [4.0, 0.0, 0.0, 0.0]
    made = trace(gaps, [0.0] * 4, 1, boundary_sentence=2, boundary_second=3)
    values = trace_values(paired(likelihoods(made), "base", "late"), seed=1).iloc[0]
    assert values[["did", "did_sentence_end", "did_second"]].tolist() == pytest.approx([4.0, 2.0, 4 / 3])
    assert values["did_anywhere"] == pytest.approx((4 + 2 + 4 / 3) / 3)
    assert values["did_permuted"] == pytest.approx(4.0)  # it has no other place to go to


def test_permuted_cuts_lose_an_effect_that_sits_at_the_boundary():
    stream = np.random.default_rng(0)
    made = []
    for number in range(60):
        length, cut = 40, int(stream.integers(4, 36))
        gap = np.where(np.arange(length) < cut, 1.0, 0.0)
        made.append(trace(gap, np.zeros(length), cut, problem_id=f"words-{number:04d}"))
    traces = paired(likelihoods(*made), "base", "late")
    one, again = trace_values(traces, seed=1), trace_values(traces, seed=1)
    assert one["did"].tolist() == [1.0] * 60
    assert one["did_over_permuted"].mean() > 0.2
    pd.testing.assert_frame_equal(one, again)
    assert not one["did_permuted"].equals(trace_values(traces, seed=2)["did_permuted"])


@given(st.lists(st.floats(-5, 5), min_size=2, max_size=12))
def test_difference_at_every_cut(values):
    gap = np.array(values)
    assert everywhere(gap) == pytest.approx([difference(gap, cut) for cut in range(1, len(gap))])
    assert np.isnan([difference(gap, cut) for cut in (None, np.nan, 0, len(gap))]).all()


def test_unpaired_traces_are_refused():
    table = likelihoods(SUPPRESSED, SUPPRESSED)
    with pytest.raises(UserError, match="no trace is scored under other, only under base, late"):
        paired(table, "base", "other")
    with pytest.raises(UserError, match="sample 1 of base on words-0000 is not scored under both base and late"):
        paired(table.iloc[:-1], "base", "late")
    with pytest.raises(UserError, match="twice"):
        paired(pd.concat([table, table]), "base", "late")
    with pytest.raises(UserError, match="has 4 tokens under base and 3 under late"):
        paired(likelihoods(trace([-1.0] * 4, [-1.0] * 3, 1)), "base", "late")


def test_selection_takes_correct_finished_traces_of_every_branch():
    frame = scores(*samples("AAaB-C"), *samples("A", finish_reason="length", sample=9, policy="late"),
                   *samples("B", policy="late", sample=10))  # fmt: skip
    frame["sample"] = range(len(frame))
    chosen = select_traces(frame)
    assert chosen["sample"].tolist() == [0, 3, 5, 7]
    assert select_traces(frame, per_branch=2)["sample"].tolist() == [0, 1, 3, 5, 7]
    few = select_traces(frame, most=2)
    assert len(few) == 2
    pd.testing.assert_frame_equal(few, select_traces(frame.sample(frac=1, random_state=0), most=2))
    with pytest.raises(UserError, match="no traces to score"):
        select_traces(scores(*samples("ab")))


def test_claim_rows():
    frame, entries, _ = line_values(likelihoods(SUPPRESSED), [("base", "late")], seed=1)
    rows = claim_rows(summary(frame, entries, seed=1, draws=50), "maths", "base", "late")
    assert rows.columns.tolist() == list(ESTIMANDS)
    assert rows.set_index("measure")["estimate"]["did_words"] == 2.5
    assert rows.set_index("measure")["estimate"]["did"] == 2.5
    assert rows.set_index("measure")["estimate"]["did_of_before"] == 2.5
    assert "did_of_after" not in set(rows["measure"])  # no trace of that origin
    assert rows["measure"].is_unique


def test_several_seeds():
    table = likelihoods(SUPPRESSED)
    second = likelihoods(trace(SUPPRESSED["base"], [-4.0, -4.0, -1.0, -1.0], 2)).replace({"policy": {"late": "late2"}})
    both = pd.concat([table, second[second["policy"] == "late2"]])
    frame, entries, _ = line_values(both, [("base", "late"), ("base", "late2")], seed=1)
    rows = summary(frame, entries, seed=1, draws=200)
    row = rows[(rows["entry"] == BOTH) & (rows["benchmark"] == MEAN) & (rows["measure"] == "did")].iloc[0]
    assert (row["estimate"], row["low"], row["high"]) == (2.75, 2.5, 3.0)


@pytest.mark.parametrize("size", [2, 3])
def test_a_seed_without_usable_traces_of_an_origin_is_blank_there(size):
    late = [f"late{seed}" for seed in range(size)]
    parts = []
    for place, name in enumerate(late):
        own = trace(SUPPRESSED["base"], SUPPRESSED["late"], None if place == 1 else 2, origin=name, sample=place + 1)
        made = likelihoods(SUPPRESSED | {"sample": 0}, own).replace({"policy": {"late": name}})
        parts.append(made if not place else made[(made["policy"] == name) | (made["origin"] == name)])
    table = pd.concat(parts)
    frame, entries, counts = line_values(table, [("base", name) for name in late], seed=1)
    assert entries["after"] == [f"after {name}" for name in late]
    assert frame.loc[frame["policy"] == "after late1", "value"].isna().all()
    rows = summary(frame, entries, seed=1, draws=50).set_index(["entry", "benchmark", "measure"])
    assert rows.loc[("after", MEAN, "did"), "estimate"] == 2.5
    gone = counts[(counts["origin"] == "late1")].iloc[0]
    assert gone[list(EXCLUSIONS)].tolist() == [1, 0, 1, 0, 0]
    without = table[table["origin"] != "late1"]
    frame, entries, counts = line_values(without, [("base", name) for name in late], seed=1)
    assert len(entries["after"]) == size
    assert counts.loc[counts["origin"] == "late1", "traces"].tolist() == [0]
    summary(frame, entries, seed=1, draws=50)


def test_how_often_two_placebos_are_one():
    same = SUPPRESSED | {"boundary_sentence": 3, "boundary_second": 3}
    other = SUPPRESSED | {"boundary_sentence": 1, "boundary_second": 3}
    neither = SUPPRESSED | {"boundary_sentence": 3}
    values = trace_values(paired(likelihoods(same, other, neither), "base", "late"), seed=1)
    assert values["placebos_same"].tolist() == pytest.approx([1.0, 0.0, np.nan], nan_ok=True)
