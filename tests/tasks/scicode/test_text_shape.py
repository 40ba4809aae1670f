"""tasks/scicode/rewards/text_shape.py: lengths, fences and repetition."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from workflow_scripts.tasks.scicode.rewards.text_shape import PHRASE, shape_of

WORDS = ["a", "b", "c", "d", "e", "f", "g", "h"]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("", (0, 0, 0.0, 0, 0)),
        ("one two", (7, 0, 0.0, 0, 0)),
        ("```python\nx = 1\n```", (19, 2, 0.0, 0, 0)),
        ("```python\nx = 1", (15, 1, 0.0, 0, 0)),
        # nine words: two phrases, both new
        ("a b c d e f g h i", (17, 0, 0.0, 1, 1)),
        # eight words twice: nine phrases, of which the last is the first again
        (" ".join(WORDS * 2), (31, 0, 1 - 8 / 9, 2, 1)),
        # one word ten times: three phrases, one of them new
        (" ".join("x" * 10), (19, 0, 1 - 1 / 3, 3, 1)),
        ("twelve chars\n  twelve chars  \nshort\nshort", (41, 0, 0.0, 0, 2)),
    ],
)
def test_shapes(text, expected):
    found = shape_of(text)
    assert found == pytest.approx(expected) and isinstance(found.phrases, int)


@given(st.text("ab `\n", max_size=300))
def test_ratios_are_shares_and_counts_agree_with_the_text(text):
    shape = shape_of(text)
    phrases = max(len(text.split()) - PHRASE + 1, 0)
    assert 0 <= shape.repeat_ratio < 1
    assert shape.phrases <= phrases and (shape.phrases > 0) == (phrases > 0)
    assert (shape.repeat_ratio > 0) == (shape.phrases > 1)
    assert shape.characters == len(text)


@given(st.lists(st.sampled_from(WORDS), min_size=1, max_size=40))
def test_saying_it_all_again_never_repeats_less(words):
    once, twice = " ".join(words), " ".join(words * 2)
    assert shape_of(twice).repeat_ratio >= shape_of(once).repeat_ratio
