"""tasks/maths/milestones.py: units of a text, and the end of the one with the first calculation."""

import re
from itertools import pairwise

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from workflow_scripts.tasks.maths.first_calculation import first_calculation
from workflow_scripts.tasks.maths.milestones import first_boundary, milestones, tokens_before, units

WORDS = r"<think> 4 * 3 = 12 , 12 + 5 = 17 </think> the answer is \boxed{ 17 }"


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("", []),
        (" \n ", []),
        ("One. Two! Three? Four", ["One.", "Two!", "Three?", "Four"]),
        ("a\nb\n\nc", ["a", "b", "c"]),
        ("a; b", ["a;", "b"]),
        ("3.5 is not 3. Then 4.", ["3.5 is not 3.", "Then 4."]),
        ("Mr. Smith, e.g. he, has 3. Done.", ["Mr. Smith, e.g. he, has 3.", "Done."]),
        ("1. Add 4 + 3.\n2. Stop.", ["1. Add 4 + 3.", "2. Stop."]),
        ("It is (so. Really) good. Yes", ["It is (so. Really) good.", "Yes"]),
        ("on [0, 1) it holds. Next", ["on [0, 1) it holds.", "Next"]),
        ("\\[\n16 - 3\n= 13.\n\\] Then stop.", ["\\[\n16 - 3\n= 13.\n\\]", "Then stop."]),
        ("$$\n4 + 5\n$$\nso 9", ["$$\n4 + 5\n$$", "so 9"]),
        ("(never closed 4 + 5\n\nnext. end", ["(never closed 4 + 5", "next.", "end"]),
        (WORDS, ["4 * 3 = 12 ,", "12 + 5 = 17", r"the answer is \boxed{ 17 }"]),
        ("4*3=12, 12+5=17, so 17", ["4*3=12,", "12+5=17, so 17"]),
        ("we have 3, 4 and 5", ["we have 3, 4 and 5"]),
        ('He said "no." Then left.', ['He said "no."', "Then left."]),
    ],
)
def test_units(text, expected):
    assert [text[start:end] for start, end in units(text)] == expected


@pytest.mark.parametrize(
    ("text", "before"),
    [
        (WORDS, "<think> 4 * 3 = 12 ,"),
        ("Plan. She sells 16 - 3 = 13 eggs. So 13.", "Plan. She sells 16 - 3 = 13 eggs."),
        ("pages 10-12. 4 + 3 = 7. ok", "pages 10-12. 4 + 3 = 7."),
        ("4 + 3", "4 + 3"),
    ],
)
def test_first_boundary(text, before):
    assert text[: first_boundary(text)] == before


def test_no_boundary_without_a_calculation():
    assert first_boundary("The answer is 12.") is None
    assert milestones("The answer is 12.") == (None, None, None, None, None)


def test_milestones_by_hand():
    text = "We need to find the rest. There are 16. 16 - 3 = 13. She bakes. 13 - 4 = 9. Hence 9. Bye."
    found = milestones(text)
    assert text[: found.p0].endswith("the rest.")
    assert text[: found.p1].endswith("= 13.")
    assert text[: found.second].endswith("= 9.")
    assert text[: found.p2].endswith("Hence 9.")
    assert text[: found.neighbour].endswith("bakes.")  # 11 characters on, 13 back


def test_the_neighbour_is_never_the_end_of_the_text():
    assert milestones("4 + 3 = 7. So 7.").neighbour is None
    assert milestones("Hm. 4 + 3 = 7. So 7.").neighbour == 3


def test_one_rule_for_label_and_boundary():
    text = r"Let $2 \cdot 5 = 10$. Then 3 + 4 = 7."
    assert first_calculation(text).label == "2 * 5"
    assert text[: first_boundary(text)].endswith("10$.")


@pytest.mark.parametrize(
    ("boundary", "expected"), [(0, (0, False)), (4, (1, False)), (5, (2, True)), (8, (2, False)), (99, (3, False))]
)
def test_tokens_before(boundary, expected):
    # `abcd efg.` as abcd| efg|.
    assert tokens_before([(0, 4), (4, 8), (8, 9)], boundary) == expected


def test_tokens_of_words_parted_by_white_space():
    words = [word.span() for word in re.finditer(r"\S+", WORDS)]
    assert tokens_before(words, first_boundary(WORDS)) == (7, False)


PIECES = st.sampled_from(
    ["4 + 3", "= 7", ". ", "\n", "\n\n", "(", ")", "[", "\\[", "\\]", "$$", "; ", ", 5 * 2", "</think>", "so", "Mr",
     "1", " ", "! ", "\\begin{", "}", "12-3", "$"]
)  # fmt: skip


@settings(max_examples=200)
@given(st.lists(PIECES, max_size=30).map("".join) | st.text(max_size=60))
def test_units_are_in_order_and_p1_ends_one_of_them(text):
    pieces = units(text)
    assert all(start < end and text[start:end].strip() == text[start:end] for start, end in pieces)
    assert all(first[1] <= second[0] for first, second in pairwise(pieces))
    kept = "".join(text[start:end] for start, end in pieces)
    assert len(kept) <= len(text)
    calculation, p1 = first_calculation(text), first_boundary(text)
    assert (calculation is None) == (p1 is None)
    if p1 is not None:
        assert p1 in {end for _, end in pieces}
        assert p1 > calculation.start
        assert milestones(text).p1 == p1
