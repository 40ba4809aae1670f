"""tasks/maths/numeric_traces.py."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from workflow_scripts.tasks.maths.numeric_traces import NUMBERS, numeric_trace, trace_key


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("1,050 - 3.50 = 1046.5", "1050|3.5|1046.5"),
        ("4 * 3 = 12 , 12 + 5 = 17", "4|3|12|12|5|17"),
        ("x2 and H2O, 3x", "3"),
        ("007 is 7.0", "7|7"),
        ("none", None),
        ("", None),
    ],
)
def test_numbers_in_order(text, expected):
    assert numeric_trace(text) == expected


def test_only_the_first_numbers_count():
    text = " ".join(map(str, range(100)))
    assert numeric_trace(text) == "|".join(map(str, range(NUMBERS)))
    assert trace_key(text) == trace_key(text + " 101")
    assert trace_key("1 2") != trace_key("12")
    assert trace_key("no number") is None


@given(st.lists(st.integers(0, 10**9), min_size=1, max_size=24))
def test_wording_and_separators_do_not_matter(numbers):
    plain = " then ".join(map(str, numbers))
    assert trace_key(plain) == trace_key(" = ".join(f"${n:,}.00$" for n in numbers))
    assert len(trace_key(plain)) == 16
