"""measures/segmentation_effect.py: the difference at a judge's boundary, and how far the judge agrees."""

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from maths_rows import likelihoods

from workflow_scripts.measures.benchmark_means import MEAN, summary
from workflow_scripts.measures.segmentation_effect import agreement, line_values, smallest_difference, trace_values
from workflow_scripts.measures.trace_differences import BOTH, difference, paired
from workflow_scripts.records.errors import UserError
from workflow_scripts.records.maths_schemas import JUDGEMENTS

GAP = [4.0, 0.0, 0.0, -2.0]  # differences at the cuts 1, 2, 3: 4 + 2/3, 3, 4/3 + 2


def judged(*rows):
    usual = {"origin": "base", "benchmark": "words", "problem_id": "words-0000", "copy": 0, "status": "RESOLVED"}
    usual |= {"unit_id": 0, "start": 0, "end": 1, "boundary": 5, "boundary_kind": "equation", "confidence": 1.0}
    made = [usual | {"item_id": f"i{i}", "sample": i, "boundary_tokens": 2} | row for i, row in enumerate(rows)]
    return pd.DataFrame(made)[[*JUDGEMENTS.names, "boundary_tokens"]]


def scored(count):
    return likelihoods(*[{"base": GAP, "late": [0.0] * 4, "boundary": 1}] * count)


def test_resolved_unresolved_and_none():
    statuses = ["RESOLVED", "RESOLVER_FAILED", "ANNOTATION_EMPTY", "NO_ANSWER", "NO_CALCULATION"]
    table = judged(*[{"status": s} | ({} if s == "RESOLVED" else {"boundary_tokens": None}) for s in statuses])
    values = trace_values(paired(scored(5), "base", "late"), table)
    assert values["did_semantic"].fillna(-9).tolist() == [3.0, -9, -9, -9, -9]
    assert values["did_semantic_worst"].fillna(-9).tolist() == [3.0, 3.0, 3.0, 3.0, -9]
    assert values["did_rule"].fillna(-9).tolist() == pytest.approx([4 + 2 / 3, -9, -9, -9, -9])


@given(st.lists(st.floats(-5, 5), min_size=2, max_size=12))
def test_the_worst_case_is_the_smallest_of_all_cuts(values):
    gap = np.array(values)
    assert smallest_difference(gap) == min(difference(gap, cut) for cut in range(1, len(gap))) or np.isclose(
        smallest_difference(gap), min(difference(gap, cut) for cut in range(1, len(gap)))
    )
    assert np.isnan(smallest_difference(gap[:1]))


def test_means_of_a_line():
    frame, entries = line_values(
        scored(2), judged({}, {"status": "NO_ANSWER", "boundary_tokens": 3}), [("base", "late")]
    )
    rows = summary(frame, entries, seed=1, draws=50)
    found = rows[rows["benchmark"] == MEAN].set_index(["entry", "measure"])["estimate"]
    assert found[(BOTH, "did_semantic")] == 3.0
    assert found[(BOTH, "did_semantic_worst")] == 3.0


def test_repeats_do_not_count_twice_and_strangers_are_refused():
    table = judged({}, {"copy": 1, "item_id": "i0", "sample": 0, "boundary_tokens": 1})
    assert len(trace_values(paired(scored(1), "base", "late"), table)) == 1
    with pytest.raises(UserError, match="sample 3 of base on words-0000 was judged but"):
        trace_values(paired(scored(1), "base", "late"), judged({"sample": 3}))


def test_agreement_by_hand():
    table = judged(
        {"boundary": 5},
        {"boundary": 9},
        {"status": "NO_CALCULATION", "boundary": None},
        {"status": "RESOLVER_FAILED", "boundary": None, "origin": "late"},
        {"copy": 1, "item_id": "i0", "sample": 0, "boundary": 5},
        {"copy": 1, "item_id": "i1", "sample": 1, "boundary": 5},
        {"copy": 1, "item_id": "i2", "sample": 2, "boundary": None, "status": "NO_CALCULATION"},
    )
    rule = table[table["copy"] == 0][["origin", "benchmark", "problem_id", "sample"]].assign(p1=[5, 5, None, 7])
    rows = agreement(table, rule).set_index("origin")
    base = rows.loc["base"]
    assert (base["items"], base["resolved"], base["no_calculation"], base["unresolved"]) == (3, 2 / 3, 1 / 3, 0)
    assert (base["repeated"], base["repeated_same_status"]) == (3, 1.0)
    assert base["repeated_same_boundary"] == pytest.approx(2 / 3)
    assert (base["rule_same_unit"], base["rule_distance"], base["rule_same_none"]) == (0.5, 2.0, 1.0)
    assert rows.loc["late", "unresolved"] == 1.0
    assert np.isnan(rows.loc["late", "rule_same_unit"])
    assert rows.loc["all", "items"] == 4
