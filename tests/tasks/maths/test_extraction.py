"""Where the answer of a completion stands: the precedence as a table."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from workflow_scripts.tasks.maths.extraction import MAX_BOX, MAX_SEARCH, extract, last_box, last_number

BOXED, HASH, MARKER, NUMBER, NONE = "boxed", "hash", "marker", "number", ""


@pytest.mark.parametrize(
    ("completion", "text", "source"),
    [
        # Boxes
        (r"so \boxed{5}", "5", BOXED),
        (r"$\boxed{5}$.", "5", BOXED),
        (r"\boxed { 17 }", "17", BOXED),
        (r"\fbox{7}", "7", BOXED),
        (r"\boxed{3} no, \boxed{4}", "4", BOXED),
        (r"\boxed{6} and later the answer is 5", "6", BOXED),
        (r"#### 3 then \boxed{4} then #### 5", "4", BOXED),
        (r"\boxed{\frac{1}{2}}", r"\frac{1}{2}", BOXED),
        (r"\boxed{\sqrt{\frac{a}{b}}}", r"\sqrt{\frac{a}{b}}", BOXED),
        (r"\boxed{\{1,2\}}", r"\{1,2\}", BOXED),
        (r"\boxed{\left\{ x \right.}", r"\left\{ x \right.", BOXED),
        (r"\boxed{\boxed{5}}", "5", BOXED),
        (r"\boxed{3} then \boxed{4", "3", BOXED),
        (r"\boxed{x = \boxed{5}", "5", BOXED),
        ("\\boxed{\n5\n}", "5", BOXED),
        (r"\boxed{}", "", BOXED),
        (r"7 apples \boxed{  }", "", BOXED),
        (r"\boxed{4", "4", NUMBER),
        (r"it is \boxed{4 and the answer is 5", "5", MARKER),
        (r"\boxed 4", "4", NUMBER),
        # ####
        ("#### 18", "18", HASH),
        ("so\n#### -1,234 apples\nbye", "-1,234 apples", HASH),
        ("####18", "18", HASH),
        ("#### $18", "$18", HASH),
        (r"#### \frac{1}{2}", r"\frac{1}{2}", HASH),
        ("#### 1\n#### 2", "2", HASH),
        ("#### 2\n#### Conclusion", "2", HASH),
        ("#### Step 2", "2", NUMBER),
        ("#### 2. Area of it", "2", NUMBER),
        ("#### p - q", "p - q", HASH),
        ("#### ", None, NONE),
        # Markers
        ("The answer is 17", "17", MARKER),
        ("the final answer is: **42**.", "42", MARKER),
        ("**Answer:** 12", "12", MARKER),
        ("Answer = 9", "9", MARKER),
        ("ANSWER: 9", "9", MARKER),
        ("Answer:\n42", "42", MARKER),
        (r"Answer: $\frac{3}{4}$", r"$\frac{3}{4}$", MARKER),
        ("the answer is 17 .", "17", MARKER),
        ("The answer is 3.14.", "3.14", MARKER),
        ("Answer is -3.", "-3", MARKER),
        ("the answer is (C) because it fits 4", "(C)", MARKER),
        ("Answer: x = 5, y = 6", "x = 5, y = 6", MARKER),
        ("answer is that she has 5 apples left.", "5", MARKER),
        ("Answer: Evelyn.", "Evelyn", MARKER),
        ("answer: 3. Wait. answer: 4. Then 5", "4", MARKER),
        ("Final Answer: The final answer is $12$. I hope it is correct.", "$12$", MARKER),
        ("I will answer 3 questions", "3", NUMBER),
        ("answers: 3", "3", NUMBER),
        # Last number
        ("first 3 then 4", "4", NUMBER),
        ("we get 3/4", "3/4", NUMBER),
        ("total 1,234.50 dollars.", "1,234.50", NUMBER),
        ("half is 50%", "50%", NUMBER),
        ("about .5", ".5", NUMBER),
        ("it is -5", "-5", NUMBER),
        ("3 - 5", "5", NUMBER),
        ("10-12", "12", NUMBER),
        ("1e5", "1e5", NUMBER),
        (r"value \frac{3}{4}.", r"\frac{3}{4}", NUMBER),
        ("x2 and H2O", None, NONE),
        ("step 3a", None, NONE),
        ("no", None, NONE),
        ("", None, NONE),
        # Think part and end marks
        (r"<think> \boxed{3} </think> so \boxed{4}", "4", BOXED),
        (r"<think> \boxed{3} </think> so it is", None, NONE),
        (r"4 * 3 = 12 </think> the answer is \boxed{ 17 }", "17", BOXED),
        (r"<think> 5 \boxed{5}", None, NONE),
        (r"\boxed{5}<|im_end|>\boxed{6}", "5", BOXED),
        ("it is 5</s> 6", "5", NUMBER),
    ],
)
def test_precedence(completion, text, source):
    found = extract(completion)
    assert (found.text, found.source) == (text, source)
    assert found.format_ok == (source in (BOXED, HASH) and bool(text))


def test_a_text_beyond_the_limits_gives_what_lies_within_them():
    assert last_box("\\boxed{" + "9" * (MAX_BOX + 1) + "}") == (None, "an unclosed box")
    assert last_number("7 " + "a" * (MAX_SEARCH - 10)) == "7"
    assert last_number("7 " + "a" * MAX_SEARCH) is None
    assert extract("\\boxed{7} " + "\\boxed{" * 10).text == "7"


@given(st.text(alphabet=st.sampled_from("\\boxed{}#answer is:=019.,-/% \n$<think>/xé"), max_size=200))
@settings(max_examples=300)
def test_any_text_has_an_extraction(text):
    found = extract(text)
    assert found.text is None or (found.text in text and found.text == found.text.strip())
    assert (found.text is None) == (found.source == "")


@given(st.text(max_size=60), st.integers(-(10**9), 10**9))
def test_a_box_at_the_end_always_counts(text, number):
    text = text.replace("<", "").replace("\\", "")
    assert extract(f"{text} \\boxed{{{number}}}").text == str(number)
