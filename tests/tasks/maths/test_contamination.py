"""tasks/maths/contamination.py: problems that stand in two places."""

import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from workflow_scripts.tasks.maths.contamination import COLUMNS, counted, normalised, overlaps

LONG = "a farmer has three fields each of them needs twelve bags of seed every year"  # 15 words, 8 runs


def problems(**sets):
    rows = [(name, f"{name}-{i}", text) for name, texts in sets.items() for i, text in enumerate(texts)]
    return pd.DataFrame(rows, columns=["benchmark", "problem_id", "question"])


@pytest.mark.parametrize(
    ("one", "other", "same"),
    [
        ("Find $x$.", "find X", True),
        ("Find \\left( x + 3 \\right)", "Find (x+3)!", True),
        ("x + 3", "x - 3", False),
        ("3.5", "35", False),
        ("ﬁnd x", "find x", True),
    ],
)
def test_normalised(one, other, same):
    assert (normalised(one) == normalised(other)) is same


def test_pairs_by_hand():
    changed = LONG.replace("every year", "in spring")  # 15 words, of 8 runs 6 are shared
    frame = problems(a=[LONG, "short one"], b=[LONG.upper() + "!", changed], c=["Short one?", "quite another thing"])
    found = overlaps(frame)
    assert found.columns.tolist() == list(COLUMNS)
    assert found.to_numpy().tolist() == [
        ["a", "a-0", "b", "b-0", "same", 1.0],
        ["a", "a-0", "b", "b-1", "overlap", 0.75],
        ["a", "a-1", "c", "c-0", "same", 1.0],
        ["b", "b-0", "b", "b-1", "overlap", 0.75],
    ]
    assert len(overlaps(frame, threshold=0.8)) == 2
    table = counted(found, frame).set_index(["benchmark", "other_benchmark"])
    assert table.loc[("a", "b")].tolist() == [1, 2, 1, 1]
    assert table.loc[("b", "a")].tolist() == [2, 2, 1, 1]
    assert table.loc[("b", "b")].tolist() == [2, 2, 0, 2]
    assert table.loc[("a", "a")].tolist() == [0, 2, 0, 0]


def test_a_phrase_of_the_whole_benchmark_is_no_overlap():
    phrase = "where m and n are relatively prime positive integers"
    frame = problems(a=[f"w{i} {phrase}" for i in range(60)])
    assert overlaps(frame).empty


@given(st.lists(st.text("ab ", max_size=30), max_size=8))
def test_each_pair_once_and_never_itself(texts):
    found = overlaps(problems(a=texts), words=2)
    pairs = list(zip(found["problem_id"], found["other_problem_id"]))
    assert len(set(pairs)) == len(pairs)
    assert all(one < other for one, other in pairs)
    assert found["overlap"].between(0.5, 1).all()
