"""measures/trace_diversity.py: distinct traces by depth."""

from itertools import combinations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from maths_rows import samples, scores

from workflow_scripts.measures.trace_diversity import curve_values, depths
from workflow_scripts.records.errors import UserError


def curves(labels, draws):
    values = curve_values(scores(*samples(labels)), draws)
    return values.set_index("measure")["value"].to_dict()


def test_by_hand():
    # AAab--: of the 15 pairs, those among aaa hold one trace (3), a with b two (3), with none one (8), -- none (1).
    found = curves("AAab--", [1, 2, 6])
    assert found["traces@1"] == pytest.approx(4 / 6)
    assert found["traces@2"] == pytest.approx((3 * 1 + 3 * 2 + 8 * 1) / 15)
    assert found["traces@6"] == pytest.approx(2)
    assert found["distinct_traces"] == found["traces@6"]
    assert found["traces_correct@6"] == pytest.approx(1)
    assert found["traceless"] == pytest.approx(2 / 6)


@settings(max_examples=25)
@given(st.text("AaBc-", min_size=2, max_size=7), st.data())
def test_expectation_is_that_over_all_subsets(labels, data):
    depth = data.draw(st.integers(1, len(labels)))
    found = curves(labels, [depth])
    subsets = list(combinations(labels.lower(), depth))
    expected = np.mean([len(set(subset) - {"-"}) for subset in subsets])
    assert found[f"traces@{depth}"] == pytest.approx(expected, abs=1e-9)


@pytest.mark.parametrize(
    ("most", "expected"), [(1, [1]), (6, [1, 2, 4, 6]), (64, [1, 2, 4, 8, 16, 32, 64]), (256, [2**p for p in range(9)])]
)
def test_depths(most, expected):
    assert depths(most) == expected


@pytest.mark.parametrize("draws", [[], [0], [3]])
def test_depths_beyond_the_samples_are_refused(draws):
    with pytest.raises(UserError, match="depths from 1 to 2"):
        curves("Aa", draws)


def test_no_trace_anywhere_is_none_not_missing():
    assert curves("--", [2])["traces@2"] == 0.0
