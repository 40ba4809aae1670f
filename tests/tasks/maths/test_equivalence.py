"""When two answers are the same: the closed rules as tables, exact path alone."""

from fractions import Fraction

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from workflow_scripts.tasks.maths.equivalence import compare
from workflow_scripts.tasks.maths.verdicts import Status

SAME = [
    # Whole numbers, decimals, signs
    ("5", "5"),
    ("5", "+5"),
    ("5", "05"),
    ("5", "5."),
    ("5", "5.0"),
    ("5", " 5 "),
    ("-5", "−5"),
    ("-5", "- 5"),
    ("0", "-0"),
    ("0.5", ".5"),
    (".0000672", "6.72e-5"),
    ("4.5e33", r"4.5 \times 10^{33}"),
    ("1e-5", "0.00001"),
    ("2E3", "2000"),
    ("7e37", r"7\cdot10^{37}"),
    # Fractions
    ("1/2", "0.5"),
    ("1/2", r"\frac{1}{2}"),
    ("1/2", r"\dfrac{1}{2}"),
    ("1/2", r"\tfrac12"),
    ("1/2", r"\frac 12"),
    ("1/2", r"\frac{2}{4}"),
    ("1/2", "½"),
    ("-1/2", r"-\frac{1}{2}"),
    ("-1/2", r"\frac{-1}{2}"),
    ("-1/2", r"\frac{1}{-2}"),
    ("19/2", r"\frac{19}2"),
    (r"\frac9{19}", "9/19"),
    (r"\frac{\frac12}{3}", "1/6"),
    ("-1./3", r"-\frac{1}{3}"),
    # Mixed numbers
    ("9/5", r"1\frac{4}{5}"),
    ("9/5", "1 4/5"),
    ("-3/2", r"-1\frac12"),
    (r"137 \frac{1}{2}", "137.5"),
    (r"1\frac{4}{5}", "1 4/5"),
    # Percent
    ("50%", "1/2"),
    (r"50\%", "0.5"),
    ("50%", r"$50\%$"),
    ("50%", "50 percent"),
    ("17.5%", "7/40"),
    (r"8 \%", "0.08"),
    # Thousands
    ("2125", "2,125"),
    ("2125", "2{,}125"),
    (r"10,\!080", "10080"),
    (r"11,\! 111,\! 111,\! 100", "11111111100"),
    ("1,450,000", "1450000"),
    ("1234.5", "1,234.5"),
    (r"1\,000", "1000"),
    ("3000000", "3 million"),
    # Currency, units, things counted, degrees
    ("18", "$18"),
    ("18", r"\$18"),
    (r"\$32,\!348", "32348"),
    ("18.90", r"\$18.90"),
    ("5", "5 apples"),
    ("5", r"5 \text{ apples left}"),
    ("5", "5 dollars"),
    ("5.4", r"5.4 \text{ cents}"),
    (r"5.4 \text{ cents}", "5.4 cents"),
    (r"864 \mbox{ inches}^2", r"864\text{ square inches}"),
    (r"15\mbox{ cm}^2", "15 cm^2"),
    (r"15\mbox{ cm}^2", "15"),
    ("60", "60 km/h"),
    ("60 km/h", "60 km per hour"),
    ("90", r"90^\circ"),
    ("90", r"90^{\circ}"),
    ("90°", "90 degrees"),
    (r"\frac{270}7\text{ degrees}", r"\frac{270}{7}^\circ"),
    ("5", r"\text{5}"),
    ("45", r"45\,\mathrm{min}"),
    ("5 a.m.", "5 AM"),
    ("5 p.m.", r"5\text{ p.m.}"),
    ("5", "5 p.m."),
    ("25", "5 squared"),
    ("125", r"5\text{ cubed}"),
    ("5 cm squared", r"5\text{ cm}^2"),
    # Delimiters and commands without meaning
    ("5", "$5$"),
    ("5", r"\(5\)"),
    ("5", r"\boxed{5}"),
    (r"\left( 3, \frac{\pi}{2} \right)", r"(3,\pi/2)"),
    (r"\frac{1}{2}", r"\displaystyle\frac{1}{2}"),
    # Roots, pi, complex numbers
    (r"3\sqrt{13}", r"\sqrt{117}"),
    (r"\frac{\sqrt{3}}{3}", r"\frac{1}{\sqrt{3}}"),
    (r"\sqrt{4}", "2"),
    (r"11\sqrt2", r"11 \sqrt{2}"),
    (r"\sqrt{2}\sqrt{3}", r"\sqrt{6}"),
    (r"\sqrt{2}", "sqrt(2)"),
    (r"\sqrt{2}", "2^{1/2}"),
    (r"\frac{1}{2}\sqrt{8}", r"\sqrt 2"),
    (r"18+2\pi", r"2(9+\pi)"),
    (r"\pi", "pi"),
    ("π", r"\pi"),
    ("6 - 5i", "-5i+6"),
    ("-1", "i^2"),
    (r"\sqrt{-4}", "2i"),
    (r"\frac{1}{1+i}", r"\frac{1-i}{2}"),
    # Arithmetic and algebra
    (r"2^{10}", "1024"),
    ("6", "3!"),
    ("2021 \\cdot 505", "1020605"),
    ("24", "2 * 3 * 4"),
    (r"\frac{100!}{98!}", "9900"),
    ("p - q", "-q+p"),
    ("x^2+2x+1", "(x+1)^2"),
    ("(a+5)(b+2)", "ab+2a+5b+10"),
    (r"\frac{x^2-1}{x-1}", "x+1"),
    (r"\frac{11+9a}{20}", "0.55+0.45a"),
    ("x_1+x_{2}", "x_{1} + x_2"),
    (r"\alpha\beta", r"\beta\alpha"),
    ("2RC+R+C", "R + C + 2CR"),
    # Equations and inequalities
    ("5", "x = 5"),
    ("x=5", "5"),
    ("x=5", "5 = x"),
    ("f(x)=2x", "2x"),
    ("y = 2x + 3", "y=3+2x"),
    ("y = 2x + 3", "2x - y + 3 = 0"),
    ("5x - 7y + 11z + 4 = 0", "10x - 14y + 22z = -8"),
    ("k \\geqslant 2", "2 \\le k"),
    ("x \\in [-2,7]", "[-2,7]"),
    ("[-2,7]", r"-2 \le x \le 7"),
    ("(2,\\infty)", "x > 2"),
    # Tuples, intervals, lists, sets, unions, matrices
    ("(1,2)", r"\left(1,\ 2\right)"),
    ("(1/2, 3)", r"(\frac12,3)"),
    ("(2,251,252)", "(2, 251, 252)"),
    ("(3,4]", r"(3, 4\rbrack"),
    (r"(-\infty, 0]", r"(-∞,0]"),
    ("1,-2", "-2, 1"),
    ("3, 5, 7", "7, 3 and 5"),
    ("3,5", r"3\text{ or }5"),
    ("3,5", "x=3 or x=5"),
    ("1,1", "1, 1.0"),
    (r"\{1,2\}", r"\{2, 1\}"),
    (r"\{1,2\}", "1, 2"),
    (r"\{1,2\}", r"\{1,2,2\}"),
    (r"1 \pm \sqrt{19}", r"1-\sqrt{19}, 1+\sqrt{19}"),
    (r"\{1\pm\sqrt{5},-2\}", r"-2, 1+\sqrt5, 1-\sqrt5"),
    (r"(0,9) \cup (9,36)", r"(9,36)\cup(0,9)"),
    ("$(1,1), (3,2)$", "(3,2),(1,1)"),
    (r"\begin{pmatrix} -1/3 \\ 2/3 \end{pmatrix}", r"\begin{bmatrix} -\frac13 \\ \frac23 \end{bmatrix}"),
    (r"\begin{pmatrix} -1 & 0 \\ 0 & 1 \end{pmatrix}", r"\begin{pmatrix}-1&0\\0&1\\\end{pmatrix}"),
    (r"\emptyset", r"\varnothing"),
    # Words and bases
    (r"\text{Evelyn}", "evelyn"),
    ("even", r"\textbf{Even}"),
    (r"\text{(C)}", "C"),
    (r"\text{(C)}", "(c)"),
    ("yes", "Yes."),
    ("TS", r"\text{TS}"),
    ("no", "NO"),
    (r"\text{xy}", "xy"),
    ("xy", "yx"),
    ("kT", "Tk"),
    ("RC", r"C \cdot R"),
    (r"3 \pmod{5}", r"3\pmod{5}"),
    ("52_8", "52_{8}"),
    ("4210_{5}", r"(4210)_5"),
    ("2516_8", r"2516_{\text{8}}"),
]

DIFFERENT = [
    ("5", "6"),
    ("5", "-5"),
    ("5", "50"),
    ("0.5", "0.05"),
    ("1/3", "0.33"),
    ("1/3", "0.3333333333333333"),
    ("0.0000001", "0.00000011"),
    ("9/5", r"1\cdot\frac{4}{5}"),
    ("4/5", r"1\frac{4}{5}"),
    ("10", "10%"),
    ("50", r"50\%"),
    ("50%", "50"),
    ("0.5%", "1/2"),
    ("2125", "2.125"),
    ("12", "1,2"),
    ("1000", "1,00"),
    ("3", "3 million"),
    ("5.4 cents", "5.4 dollars"),
    ("15 cm^2", "15 cm"),
    ("5 km", "5 m"),
    ("5 a.m.", "5 p.m."),
    (r"5\text{ am}", "5 pm"),
    ("5", "5 squared"),
    ("5", r"5\text{ squared}"),
    ("5 cm", "5 cm squared"),
    ("5", "5 or 6"),
    ("5", "x"),
    ("x", "5"),
    ("x", "X"),
    ("T", "t"),
    ("3t", "3"),
    ("5m", "5n"),
    (r"\sqrt{2}", "1.41421356"),
    (r"\sqrt{2}", "2"),
    (r"\pi", "3.14159265358979"),
    (r"\pi", "22/7"),
    ("x^2+2x+1", "(x-1)^2"),
    ("p - q", "q - p"),
    (r"\frac{1}{23}", r"\frac{12}{3}"),
    ("x=5", "y=5"),
    ("x=5", "x=6"),
    ("y = 2x + 3", "y = 2x - 3"),
    ("x+y=1", "2x+3y=1"),
    ("x+y=1", "x+y=2"),
    ("k \\ge 2", "k > 2"),
    ("k \\ge 2", "k \\le 2"),
    ("(1,2)", "(2,1)"),
    ("(1,2)", "(1,2,3)"),
    ("(1,2)", "[1,2]"),
    ("(3,4]", "[3,4)"),
    (r"\{1,2\}", "(1,2)"),
    ("1,2", "(1,2)"),
    ("1,2", "1"),
    ("1,2", "1,2,3"),
    ("1,1", "1"),
    ("6,5", "6"),
    ("5", "6, 5"),
    (r"1 \pm \sqrt{19}", r"1+\sqrt{19}"),
    (r"1 \pm \sqrt{19}", r"-1 \pm \sqrt{19}"),
    (r"(0,9) \cup (9,36)", "(0,36)"),
    (r"\begin{pmatrix} 1 \\ 2 \end{pmatrix}", r"\begin{pmatrix} 1 & 2 \end{pmatrix}"),
    (r"\begin{pmatrix} 1 \\ 2 \end{pmatrix}", r"\begin{pmatrix} 1 \\ 3 \end{pmatrix}"),
    (r"\text{Evelyn}", "Angela"),
    ("even", "odd"),
    ("TS", "ST"),
    (r"\text{TS}", "ST"),
    (r"\text{xy}", "yx"),
    ("no", "on"),
    ("to be", "be to"),
    ("AB", "BA"),
    ("TS", "ts"),
    ("x > 5", "x > 6"),
    ("x > 5", "y > 5"),
    (r"x \ne 2", r"x \ne 3"),
    (r"\text{(C)}", "D"),
    ("yes", "5"),
    ("52_8", "52_9"),
    ("52_8", "52"),
    ("52_8", "42"),
    ("I(0)", "0"),
    ("f(x)", "f(y)"),
]

OTHERWISE = [
    # (gold, answer, status): neither right nor called wrong
    ("5", "", Status.EMPTY),
    ("5", "$ $", Status.EMPTY),
    ("5", "9" * 5_000, Status.TOO_LONG),
    ("5", "9" * 1_500, Status.TOO_LONG),
    ("5", "+".join("1" * 300), Status.TOO_LONG),
    ("5", ", ".join("123" * 30), Status.TOO_LONG),
    ("5", "(" * 50 + "5" + ")" * 50, Status.TOO_DEEP),
    ("5", "9**9**9", Status.TOO_LARGE),
    ("5", "10^{10^{10}}", Status.TOO_LARGE),
    ("5", "1e30000000", Status.TOO_LARGE),
    ("5", "1e5000000000000", Status.TOO_LARGE),
    ("5", "((9^{99})^{99})^{99}", Status.TOO_LARGE),
    ("5", "1/9^{99999}", Status.TOO_LARGE),
    ("5", "100000!", Status.TOO_LARGE),
    ("5", "5!!!!!!", Status.TOO_LARGE),
    ("5", "1/0", Status.UNSUPPORTED),
    ("5", "5(", Status.UNSUPPORTED),
    ("5", "5 5", Status.UNSUPPORTED),
    ("5", r"\sin 5", Status.UNSUPPORTED),
    ("5", r"\sqrt[3]{125}", Status.UNSUPPORTED),
    ("5", "__import__('os').getpid()", Status.UNSUPPORTED),
    (r"\frac{dM}{dt}=k", r"\frac{M}{t}=k", Status.UNSUPPORTED),
    (r"\sin x", r"\cos x", Status.UNSUPPORTED),
    ("3", r"3 \pmod 5", Status.UNSUPPORTED),
    ("3, -3", r"3 \pmod 5", Status.UNSUPPORTED),
    ("x > 5", "2x > 10", Status.UNSUPPORTED),
    (r"(5, \infty)", "2x > 10", Status.UNSUPPORTED),
    (r"(-\infty, 2) \cup (5, \infty)", "x < 2 or x > 5", Status.UNSUPPORTED),
]


@pytest.mark.parametrize(("gold", "answer"), SAME)
def test_same(gold, answer):
    assert compare(gold, answer)[0] is Status.OK
    assert compare(answer, gold)[0] is Status.OK


@pytest.mark.parametrize(("gold", "answer"), DIFFERENT)
def test_different(gold, answer):
    assert compare(gold, answer)[0] is Status.WRONG
    assert compare(answer, gold)[0] is Status.WRONG


@pytest.mark.parametrize(("gold", "answer", "status"), OTHERWISE)
def test_neither(gold, answer, status):
    assert compare(gold, answer)[0] is status


def test_the_tables_are_large_enough():
    assert len(SAME) + len(DIFFERENT) + len(OTHERWISE) >= 200


@pytest.mark.parametrize(
    ("gold", "answer", "same"),
    [("25", "25%", True), ("25%", "25", True), ("25%", "1/4", True), ("25", "1/4", False), ("25", "2500%", True),
     ("0.25", "25", False), ("25%", "0.25%", False)],
)  # fmt: skip
def test_percent_as_a_unit(gold, answer, same):
    assert (compare(gold, answer, percent_is_unit=True)[0] is Status.OK) == same


@pytest.mark.parametrize(
    ("gold", "answer", "tolerance", "same"),
    [
        ("1/3", "0.333", 0.01, True),
        ("1/3", "0.33", 0.001, False),
        (r"\sqrt{2}", "1.414", 0.001, True),
        (r"\frac{\pi}{2}", "1.5708", 1e-4, True),
        ("4.5e33", "4.49e33", 0.01, True),
        ("1e400", "1e400", 0.01, True),
        ("0", "1e-9", 0.01, False),
        ("x", "1.01x", 0.1, False),
        ("i", "1", 0.5, False),
    ],
)
def test_a_tolerance_is_relative_and_for_real_numbers_alone(gold, answer, tolerance, same):
    assert (compare(gold, answer, tolerance=tolerance)[0] is Status.OK) == same


def test_what_is_read_exactly_never_asks_the_oracle():
    asked = []

    def oracle(one, other):
        asked.append((one, other))
        return Status.OK

    for gold, answer in SAME + DIFFERENT:
        compare(gold, answer, oracle)
    assert asked == []
    assert compare(r"(5, \sin x)", r"(5, \cos x)", oracle) == (Status.OK, "symbolic")
    assert compare(r"(5, \sin x)", r"(6, \cos x)", oracle)[0] is Status.WRONG  # one difference is enough
    assert asked == [(r"\sin x", r"\cos x")]


@pytest.mark.parametrize("status", [Status.TIMEOUT, Status.MEMORY, Status.ERROR, Status.UNSUPPORTED])
def test_a_doubt_of_the_oracle_is_passed_on(status):
    assert compare(r"1, \sin x", r"\cos x, 1", lambda one, other: status) == (status, "")


ANSWERS = st.one_of(
    st.text(max_size=60),
    st.text(alphabet=st.sampled_from("0123456789.,/^*+-=<>(){}[]_%$!\\ xyi"), max_size=40),
    st.lists(
        st.sampled_from(
            [
                "\\frac",
                "\\sqrt",
                "{",
                "}",
                "1",
                "2",
                "x",
                "\\pi",
                "\\pm",
                ",",
                "(",
                ")",
                "\\{",
                "\\}",
                "\\cup",
                "\\text{",
                " and ",
                "^",
                "_",
                "\\%",
                "=",
                "\\le",
                "\\begin{pmatrix}",
                "\\end{pmatrix}",
                "\\\\",
                "&",
                " cm",
                "^\\circ",
                "million",
            ]
        ),
        max_size=14,
    ).map("".join),
)


@given(ANSWERS, ANSWERS)
@settings(max_examples=400)
def test_no_input_raises_and_the_relation_is_symmetric(one, other):
    status = compare(one, other)[0]
    assert isinstance(status, Status)
    assert (status is Status.OK) == (compare(other, one)[0] is Status.OK)


@given(ANSWERS)
@settings(max_examples=200)
def test_whatever_can_be_read_equals_itself(text):
    assert compare(text, text)[0] is not Status.WRONG
    if compare(text, text)[0] is Status.OK:
        assert compare(text, f"\\boxed{{{text}}}")[0] is not Status.WRONG


@given(st.fractions(max_denominator=10**6), st.integers(1, 50))
def test_every_writing_of_a_rational_is_that_rational(value, factor):
    top, bottom = value.numerator * factor, value.denominator * factor
    gold = f"{value.numerator}/{value.denominator}"
    for answer in (f"{top}/{bottom}", f"\\frac{{{top}}}{{{bottom}}}", f"{100 * top}/{bottom}\\%", f"{top:,}/{bottom}"):
        assert compare(gold, answer)[0] is Status.OK
    other = value + Fraction(1, 7 * factor)
    assert compare(gold, f"{other.numerator}/{other.denominator}")[0] is Status.WRONG
