"""tasks/maths/first_calculation.py and number_runs.py: which calculation a text states first, by a table."""

from itertools import islice

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from workflow_scripts.tasks.maths.first_calculation import calculations, first_calculation, order_free
from workflow_scripts.tasks.maths.number_runs import LONGEST_TEXT, plain

CALCULATIONS = r"""
4 * 3 = 12|4 * 3
She has 16 - 3 - 4 = 9 eggs|16 - 3
16-3-4=9|16 - 3
16 - 3 eggs are left|16 - 3
10–12 = -2|10 - 12
10-12 = -2|10 - 12
10−12|10 - 12
1/2 * 8 = 4|1/2 * 8
1 1/2 + 3|1 1/2 + 3
1\frac{1}{2} + 3|1 1/2 + 3
12/4 = 3|12 / 4
12 / 4 = 3|12 / 4
12 / 4 + 1|12 / 4
12/4 + 3|12/4 + 3
24/3/2 = 4|24 / 3
\frac{12}{4} = 3|12 / 4
\dfrac{12}{4} = 3|12 / 4
\frac{1}{2} \times 8 = 4|1/2 * 8
\frac12 \cdot 8|1/2 * 8
\frac{16 - 3}{2} = 6.5|16 - 3
\frac{16-3}{2}=6.5|16 - 3
1,234 + 2|1234 + 2
1{,}234 \times 2|1234 * 2
10\,000 + 1|10000 + 1
$1,200.50 * 3 = $3,601.50|1200.5 * 3
.5 + .25 = .75|0.5 + 0.25
007 + 1.500|7 + 1.5
$5 \times 3$|5 * 3
\(5 \cdot 3\)|5 * 3
\[5 \div 3\]|5 / 3
5 ÷ 3|5 / 3
5 × 3|5 * 3
5·3|5 * 3
5 − 7|5 - 7
5 x 3 = 15|5 * 3
3^2 + 4^2 = 25|3^2 + 4^2
3² + 4² = 25|3^2 + 4^2
2^{10} - 1 = 1023|2^10 - 1
9.7 \times 10^{15} \times 293.16|9.7e15 * 293.16
36\times 10^{-3} + 1|36e-3 + 1
3 * 10 = 30|3 * 10
(16 - 3) * 2|16 - 3
3 * (4 + 5)|4 + 5
(3) * (4) = 12|3 * 4
\left(3 + 4\right)^2|3 + 4
(-3) + 5|-3 + 5
-3 + 5 = 2|-3 + 5
5 - -3 = 8|5 - -3
7 - (-3) = 10|7 - -3
1. 4 + 3 = 7|4 + 3
1) 2 + 3|2 + 3
- 12 + 3 = 15|12 + 3
* 12 + 3 = 15|12 + 3
x = 5 * 3|5 * 3
A = 5 \times 3 = 15|5 * 3
9 &= 5 + 4|5 + 4
16 - 3 \\ &= 13|16 - 3
16 eggs - 3 eggs = 13 eggs|16 - 3
16 \text{ eggs} - 3 \text{ eggs} = 13|16 - 3
5 km + 3 km = 8 km|5 + 3
$2/egg * 9 eggs = $18|2 * 9
45 minutes / 60 minutes = 0.75|45 / 60
20% * 50 = 10|20% * 50
20\% \times 50|20% * 50
<<16-3-4=9>>|16 - 3
<think> 4 * 3 = 12 , 12 + 5 = 17 </think>|4 * 3
<think> 20 - 4 = 16 </think>|20 - 4
5 + 3! Great|5 + 3
7 + 3 I get 10|7 + 3
5 * $3 = $15|5 * 3
on 12/05/2021 he paid 3 * 4 = 12|3 * 4
3 + 5 * 2|3 + 5
"""

NONE = r"""
no numbers
the answer is 42
pages 10 - 12
ages 10-12
ages 10–12
call 555-1234 now
555-123-4567
on 12/05/2021
on 2021-03-04
10:30 - 9:45
1/2 of the cake
1/2 = 2/4
x = \frac{1}{2}
\frac{16-3}{2}
24/7 service
a 8 x 10 photo
the 1990s - 5
Step 2 - 1 apple
Figure 3 - 2
No. 7 - 2
2x + 3 = 7
x + 3 + 5 = 9
x^2 + 3
3 + 2x
3 + 2\pi
f(2) + 3
3(4) + 5
\sqrt{9} + 4
Total = price + 3 + 2
v1.2.3 + 4
12.5.3 + 4
5km + 3km = 8km
16 eggs - 3 eggs
The ratio 3:4 + 5
**4** + 3
2 \times 10^{4}
+
1 +
* 3
"""


@pytest.mark.parametrize("row", CALCULATIONS.strip().split("\n"))
def test_a_calculation(row):
    text, label = row.rsplit("|", 1)
    assert first_calculation(text).label == label


@pytest.mark.parametrize("text", ["", *NONE.strip().split("\n")])
def test_no_calculation(text):
    assert first_calculation(text) is None


def test_places_are_those_of_the_operands():
    text = "We get 16 - 3 = 13, then (4 * 5) = 20."
    first, second = calculations(text)
    assert (text[first.start : first.end], text[second.start : second.end]) == ("16 - 3", "4 * 5")
    assert (first.left, first.operator, first.right) == ("16", "-", "3")
    assert first_calculation(text, first.end).label == "4 * 5"


@pytest.mark.parametrize(
    ("label", "expected"),
    [
        ("4 * 3", "3 * 4"),
        ("12 + 4", "4 + 12"),
        ("4 + 12", "4 + 12"),
        ("4 - 3", "4 - 3"),
        ("12 / 4", "12 / 4"),
        ("-3 + -5", "-5 + -3"),
        ("1 1/2 + 3", "1 1/2 + 3"),
        ("0.5 * 10", "0.5 * 10"),
    ],
)
def test_order_free(label, expected):
    assert order_free(label) == expected


@pytest.mark.parametrize(("number", "expected"), [("1,050.50", "1050.5"), ("007", "7"), (".50", "0.5"), ("0", "0")])
def test_plain(number, expected):
    assert plain(number) == expected


PIECES = st.sampled_from(
    ["1", "23", "4.5", "1,000", "+", "-", "*", "/", "=", "(", ")", " ", "\n", "$", "x", "a", r"\frac", "{", "}", "^",
     "%", ".", ",", ":", "–", "×", r"\times", "eggs", "<", ">", "2³", "0", r"\text{ m}", "10^", "!"]
)  # fmt: skip


@settings(max_examples=200)
@given(st.lists(PIECES, max_size=40).map("".join) | st.text(max_size=60))
def test_any_text_has_a_label_of_its_own_characters_or_none(text):
    end = 0
    for found in islice(calculations(text), 10):
        assert end <= found.start < found.end <= len(text)
        assert found.label == f"{found.left} {found.operator} {found.right}"
        assert found.operator in "+-*/"
        assert order_free(order_free(found.label)) == order_free(found.label)
        end = found.start


@settings(max_examples=200)
@given(
    st.integers(0, 10**6),
    st.sampled_from([("+", "+"), ("*", "*"), ("×", "*"), (r"\times", "*"), (r"\cdot", "*"), ("÷", "/"), ("−", "-")]),
    st.integers(0, 10**6),
    st.sampled_from(["{a} {o} {b}", "so ${a} {o} {b}$.", "we have\n{a} {o} {b} = 7", "({a} {o} {b})"]),
)
def test_what_is_written_is_read_back(a, operator, b, form):
    written, sign = operator
    text = form.replace("{a}", f"{a:,}").replace("{b}", str(b)).replace("{o}", written)
    assert first_calculation(text).label == f"{a} {sign} {b}"


def test_what_stands_beyond_the_longest_text_is_not_looked_at():
    before = "a " * (LONGEST_TEXT // 2 - 10)
    assert first_calculation(before + "1 + 1").label == "1 + 1"
    assert first_calculation(before + "a " * 20 + "1 + 1") is None


def test_a_run_is_cut_at_its_longest():
    # A megabyte of one expression: what decides about its first pair must not read it all.
    assert first_calculation("1-1" * 350_000) is None
    assert first_calculation("3 - 1" + " - 1" * 250_000).label == "3 - 1"
