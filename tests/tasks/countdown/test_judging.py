"""The strict contract by tables: bare answers, whole completions, think parts; then what must hold of any text."""

import json
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from workflow_scripts.records.errors import UserError
from workflow_scripts.tasks.countdown.appraisal import think_opening
from workflow_scripts.tasks.countdown.grammar import MAX_DEPTH, MAX_DIGITS, MAX_LENGTH, MAX_LITERALS
from workflow_scripts.tasks.countdown.judging import CONTRACTS, Status, judge_answer, judge_completion

SHARED_CASES = Path(__file__).parents[4] / "shared" / "cases" / "countdown_answers.jsonl"

ACCEPTED = [
    ([4, 5, 7, 9], 24, "4*7-9+5"),
    ([4, 5, 7, 9], 24, "(4 * 7) - (9 - 5)"),
    ([4, 5, 7, 9], 24, "((4)*(7))-((9)-(5))"),
    ([3, 3, 8, 8], 24, "8/(3-8/3)"),
    ([1, 3, 72], 24, "1/3*72"),
    ([1, 3, 4, 6], 24, "6/(1-3/4)"),
    ([6, 6, 6, 6], 24, "6+6+6+6"),
    ([8, 3], -5, "3-8"),
    ([8, 3], -5, "3-8 = -5"),
    ([8, 3], -5, "3−8 = −5"),
    ([8, 8], 0, "8-8=0"),
    ([4, 6, 0], 24, "4*6+0"),
    ([4, 6], 24, "4×6"),
    ([8, 2, 6], 24, "8÷2×6"),
    ([9, 4], 5, "9 − 4"),
    ([4, 6], 24, "4*6=24"),
    ([4, 6], 24, " 4\t*\r\n6 = 24\n"),
    ([24], 24, "24"),
    ([24], 24, "(24)"),
    ([4, 6], 24, "(" * MAX_DEPTH + "4*6" + ")" * MAX_DEPTH),
    ([1] * MAX_LITERALS, MAX_LITERALS, "+".join("1" * MAX_LITERALS)),
    ([10**99], 10**99, str(10**99)),
    ([23, 10**18 - 1, 10**18, 1], 24, f"23+({10**18 - 1}+1)/{10**18}"),
]

REFUSED = [
    ([4, 6], 24, "", Status.EMPTY),
    ([4, 6], 24, " \n ", Status.EMPTY),
    # Literals
    ([4, 5, 2], 9, "4.5*2", Status.DECIMAL_LITERAL),
    ([4, 6], 24, "(4+6)*2.4", Status.DECIMAL_LITERAL),
    ([25, 4, 4], 21, "25.4-4", Status.DECIMAL_LITERAL),
    ([4, 6], 24, "4.*6", Status.DECIMAL_LITERAL),
    ([4, 6], 24, "4*6*.5", Status.DECIMAL_LITERAL),
    ([4, 6], 24, "4 . 0 * 6", Status.DECIMAL_LITERAL),
    ([8, 3], 5, "08-3", Status.LEADING_ZERO),
    ([8, 0], 8, "8+00", Status.LEADING_ZERO),
    ([1000, 976], 24, "1,000-976", Status.THOUSANDS_SEPARATOR),
    ([1000, 976], 24, "1'000-976", Status.THOUSANDS_SEPARATOR),
    ([10, 14], 24, "1_0+14", Status.THOUSANDS_SEPARATOR),
    ([24], 24, "0x18", Status.WORD),
    ([10, 14], 24, "1e1+14", Status.WORD),
    ([1, 24], 24, "True*24", Status.WORD),
    ([4, 6], 24, "４*６", Status.FOREIGN_DIGIT),
    ([4, 6], 24, "٤*٦", Status.FOREIGN_DIGIT),
    ([5, 1], 24, "5²-1", Status.FOREIGN_DIGIT),
    ([4, 6], 24, "④*⑥", Status.FOREIGN_DIGIT),
    ([8, 3], 11, "8--3", Status.SIGNED_LITERAL),
    ([8, 3], 11, "8+++3", Status.SIGNED_LITERAL),
    ([3, 8], 5, "-3+8", Status.SIGNED_LITERAL),
    ([3, 8], 5, "−3+8", Status.SIGNED_LITERAL),
    ([3, 8], 11, "+3+8", Status.SIGNED_LITERAL),
    ([3, 8], -24, "8*-3", Status.SIGNED_LITERAL),
    ([3, 8], 5, "-(3-8)", Status.SIGNED_LITERAL),
    ([3, 8], 5, "(-3)+8", Status.SIGNED_LITERAL),
    # Operators
    ([2, 5, 7], 25, "2**5-7", Status.FOREIGN_OPERATOR),
    ([9, 9, 9, 9], 24, "9**9**9**9", Status.FOREIGN_OPERATOR),
    ([7, 2, 4], 12, "7//2*4", Status.FOREIGN_OPERATOR),
    ([7, 4], 3, "7%4", Status.FOREIGN_OPERATOR),
    ([5, 2], 25, "5^2", Status.FOREIGN_OPERATOR),
    ([4], 24, "4!", Status.FOREIGN_OPERATOR),
    ([4, 6], 24, "4·6", Status.FOREIGN_CHARACTER),
    ([4, 6], 24, "4∗6", Status.FOREIGN_CHARACTER),
    ([9, 4], 5, "9–4", Status.FOREIGN_CHARACTER),
    ([4, 6], 24, "4x6", Status.WORD),
    ([4, 6], 24, "4(6)", Status.IMPLICIT_PRODUCT),
    ([4, 6], 24, "(4)6", Status.IMPLICIT_PRODUCT),
    ([4, 6], 24, "(4)(6)", Status.IMPLICIT_PRODUCT),
    ([4, 6], 24, "4 6 *", Status.MISSING_OPERATOR),
    ([4, 6], 24, "* 4 6", Status.MISSING_OPERATOR),
    ([4, 6], 24, "4*\n6\n4*6", Status.MISSING_OPERATOR),
    ([4, 6], 24, "4*", Status.MISSING_OPERAND),
    ([4, 6], 24, "*4", Status.MISSING_OPERAND),
    ([4, 6], 24, "4*6+()", Status.MISSING_OPERAND),
    ([4, 6], 24, "4+*6", Status.MISSING_OPERAND),
    # Words, comments, code
    ([4, 6], 24, "4*6#", Status.FOREIGN_CHARACTER),
    ([4, 6], 24, "4*6,", Status.FOREIGN_CHARACTER),
    ([4, 6], 24, "4*6;", Status.FOREIGN_CHARACTER),
    ([4, 6], 24, "4*6.", Status.DECIMAL_LITERAL),
    ([4, 6], 24, "[4*6]", Status.FOREIGN_CHARACTER),
    ([4, 6], 24, "4*\u00a06", Status.FOREIGN_CHARACTER),
    ([4, 6], 24, "4*6\u200b", Status.FOREIGN_CHARACTER),
    ([4, 6], 24, "4*6\0", Status.FOREIGN_CHARACTER),
    ([4, 6], 24, "4*6\ud800", Status.FOREIGN_CHARACTER),
    ([576], 24, "sqrt(576)", Status.WORD),
    ([4, 6], 24, "4*6+Integer(0)-0*x", Status.WORD),
    ([4, 6], 24, "__import__('os').getpid() or 4*6", Status.WORD),
    ([4, 6], 24, "(4).real*6", Status.WORD),
    ([4, 6], 24, "the answer is 4*6", Status.WORD),
    ([4, 6], 24, "<answer>4*6</answer>", Status.WORD),
    ([4, 6], 24, "4 \\times 6", Status.LATEX),
    ([48, 2], 24, "\\frac{48}{2}", Status.LATEX),
    ([4, 6], 24, "\\boxed{4*6}", Status.LATEX),
    ([4, 6], 24, "$4*6$", Status.FOREIGN_CHARACTER),
    # Brackets and limits
    ([4, 6], 24, "(4*6", Status.UNBALANCED),
    ([4, 6], 24, "4*6)", Status.UNBALANCED),
    ([4, 6], 24, ")4*6(", Status.UNBALANCED),
    ([4, 6], 24, "(4*6))+((4)", Status.UNBALANCED),
    ([4, 6], 24, "(" * 33 + "4*6" + ")" * 33, Status.TOO_DEEP),
    ([4, 6], 24, "(" * 200 + "4*6" + ")" * 200, Status.TOO_DEEP),
    ([4, 6], 24, "(" * 10**5 + "4*6" + ")" * 10**5, Status.TOO_LONG),
    ([4, 6], 24, "4*6" + " " * MAX_LENGTH + "+0", Status.TOO_LONG),
    ([1] * 65, 65, "+".join("1" * (MAX_LITERALS + 1)), Status.TOO_LONG),
    ([10**100], 10**100, "1" + "0" * MAX_DIGITS, Status.TOO_LONG),
    # Equations
    ([4, 6], 24, "4*6 = 23", Status.WRONG_RIGHT_SIDE),
    ([4, 6], 24, "4*6 = 999", Status.WRONG_RIGHT_SIDE),
    ([4, 6], 24, "4*6 = -24", Status.WRONG_RIGHT_SIDE),
    ([4, 6], 25, "4*6 = 25", Status.WRONG_VALUE),
    ([4, 6], 24, "4*6 = 24 = 24", Status.MULTIPLE_EQUALS),
    ([4, 6], 24, "4*6 == 24", Status.MULTIPLE_EQUALS),
    ([4, 6], 24, "24 = 4*6", Status.MALFORMED_EQUATION),
    ([4, 6], 24, "4*6 =", Status.MALFORMED_EQUATION),
    ([4, 6], 24, "= 24", Status.MALFORMED_EQUATION),
    ([4, 6], 24, "4*6 = 24.0", Status.MALFORMED_EQUATION),
    ([4, 6], 24, "4*6 = 024", Status.MALFORMED_EQUATION),
    ([4, 6], 24, "4*6 = +24", Status.MALFORMED_EQUATION),
    ([4, 6], 24, "4*6 = ２４", Status.MALFORMED_EQUATION),
    ([4, 6], 24, "4*6 = 20+4", Status.MALFORMED_EQUATION),
    ([4, 6], 24, "4*6 = (24)", Status.MALFORMED_EQUATION),
    ([4, 6], 24, "4*6 = 24 units", Status.MALFORMED_EQUATION),
    # Arithmetic
    ([4, 6, 0], 24, "4*6/0", Status.DIVISION_BY_ZERO),
    ([4, 6, 5, 5], 24, "4*6/(5-5)", Status.DIVISION_BY_ZERO),
    ([4, 6, 0], 24, "0/0+4*6", Status.DIVISION_BY_ZERO),
    ([4, 6, 5], 24, "4*6", Status.UNUSED_NUMBER),
    ([6, 6, 6, 6], 18, "6+6+6", Status.UNUSED_NUMBER),
    ([4, 6], 24, "4*6*1", Status.FOREIGN_NUMBER),
    ([4, 6], 24, "24", Status.FOREIGN_NUMBER),
    ([4, 6], 46, "46", Status.FOREIGN_NUMBER),
    ([4, 6], 20, "4*6-4", Status.REPEATED_NUMBER),
    ([-3, 8], 5, "8-3", Status.FOREIGN_NUMBER),
    ([4, 6], 25, "4*6", Status.WRONG_VALUE),
    ([23, 99999999, 100000000], 24, "23+99999999/100000000", Status.WRONG_VALUE),
    ([23, 10**18 - 1, 10**18], 24, f"23+{10**18 - 1}/{10**18}", Status.WRONG_VALUE),
    ([1, 3], 0, "1/3", Status.WRONG_VALUE),
]


@pytest.mark.parametrize(("numbers", "target", "answer"), ACCEPTED)
def test_answer_accepted(numbers, target, answer):
    verdict = judge_answer(answer, numbers, target)
    assert (verdict.accept, verdict.status, verdict.detail) == (True, Status.OK, "")
    assert verdict.extracted == answer.strip()
    assert verdict.paper_form and verdict.formula_form


@pytest.mark.parametrize(("numbers", "target", "answer", "status"), REFUSED)
def test_answer_refused(numbers, target, answer, status):
    verdict = judge_answer(answer, numbers, target)
    assert (verdict.accept, verdict.status) == (False, status)


@pytest.mark.skipif(not SHARED_CASES.exists(), reason="the shared cases lie beside the repository, not in it")
def test_shared_cases():
    rows = [json.loads(line) for line in SHARED_CASES.read_text().splitlines()]
    wrong = [r for r in rows if judge_answer(r["answer"], r["numbers"], r["target"]).accept != r["accept"]]
    assert rows and not wrong


GOOD = "<answer> 4 * 6 </answer>"


@pytest.mark.parametrize(
    ("completion", "status", "format_ok"),
    [
        (f"try 4 * 6 = 24 </think> {GOOD}", Status.OK, True),  # the prompt ended with <think>
        (f"<think>try 4 * 6 = 24</think>\n{GOOD}\n", Status.OK, True),
        (f"</think>{GOOD}", Status.OK, True),
        ("</think><answer>\n4*6 = 24\n</answer>", Status.OK, True),
        (f"so </think> {GOOD} and more", Status.OK, False),
        (f"so </think> hence {GOOD}", Status.OK, False),
        (f"Let me see. <think> so </think> {GOOD}", Status.OK, False),
        (f"<think> a <think> b </think> {GOOD}", Status.OK, False),
        (f"{GOOD} </think> {GOOD}", Status.OK, False),
        (f"<answer>9</answer> no </think> {GOOD}", Status.OK, False),
        (f"<answer> not yet </think> {GOOD}", Status.OK, False),
        (f"so </think> {GOOD} <Answer>5</Answer>", Status.OK, False),
        ("</think> <answer> 4 + 6 </answer>", Status.WRONG_VALUE, True),
        ("</think> <answer> 4 + 6 </answer> oh", Status.WRONG_VALUE, False),
        ("</think> <answer></answer>", Status.EMPTY, True),
        ("", Status.UNCLOSED_THINK, False),
        (GOOD, Status.UNCLOSED_THINK, False),
        (f"<think> so {GOOD}", Status.UNCLOSED_THINK, False),
        (f"so </THINK> {GOOD}", Status.UNCLOSED_THINK, False),
        (f"{GOOD} </think>", Status.NO_ANSWER, False),
        ("so </think> 4 * 6", Status.NO_ANSWER, False),
        ("so </think> <Answer>4*6</Answer>", Status.NO_ANSWER, False),
        ("so </think> <ANSWER>4*6</ANSWER>", Status.NO_ANSWER, False),
        ("so </think> <answer >4*6</answer>", Status.UNOPENED_ANSWER, False),
        (f"so </think> {GOOD} </think>", Status.REPEATED_THINK, False),
        (f"so </think> so </think> {GOOD}", Status.REPEATED_THINK, False),
        (f"<think>a</think><think>b</think>{GOOD}", Status.REPEATED_THINK, False),
        (f"a</think><think>b {GOOD}", Status.REPEATED_THINK, False),
        ("so </think> <answer> 4 * 6", Status.UNCLOSED_ANSWER, False),
        ("so </think> <answer> 4 * 6 </Answer>", Status.UNCLOSED_ANSWER, False),
        ("so <answer> 4 * </think> 6 </answer>", Status.UNOPENED_ANSWER, False),
        ("so </think> 4 * 6 </answer>", Status.UNOPENED_ANSWER, False),
        ("so </think> </answer> 4 * 6 <answer>", Status.UNOPENED_ANSWER, False),
        (f"so </think> {GOOD} </answer>", Status.UNOPENED_ANSWER, False),
        (f"so </think> <answer>{GOOD}</answer>", Status.NESTED_ANSWER, False),
        ("so </think> <answer> <answer> 4 * 6 </answer>", Status.NESTED_ANSWER, False),
        (f"so </think> {GOOD} <answer> 5 </answer>", Status.MULTIPLE_ANSWERS, False),
        (f"so </think> <answer> 5 </answer> {GOOD}", Status.MULTIPLE_ANSWERS, False),
        (f"so </think> {GOOD} {GOOD}", Status.MULTIPLE_ANSWERS, False),
        (f"so </think> {GOOD} <answer>", Status.UNCLOSED_ANSWER, False),
    ],
)
def test_completion(completion, status, format_ok):
    verdict = judge_completion(completion, [4, 6], 24)
    assert (verdict.status, verdict.format_ok) == (status, format_ok)
    assert verdict.accept == (status is Status.OK)


def test_a_whole_verdict():
    text = "try 5 * 7 = 35 no . try 9 - 5 = 4 , 4 * 7 = 28 , 28 - 4 = 24 </think> <answer> 7 * 4 - (9 - 5) </answer>"
    verdict = judge_completion(text, [4, 5, 7, 9], 24)
    assert verdict.accept and verdict.format_ok and verdict.extracted == "7 * 4 - (9 - 5)"
    assert verdict.paper_form == "((4*7)-(9-5))" and verdict.paper_family == "4*"
    assert (verdict.answer_opening, verdict.think_opening) == ("7*", "5*")
    assert verdict.formula_form == judge_answer("4*7-9+5", [4, 5, 7, 9], 24).formula_form


def test_wrong_answers_keep_their_forms():
    assert judge_answer("4+6", [4, 6], 24).paper_form == "(4+6)"
    assert judge_answer("4*6*1", [4, 6], 24).answer_opening == "4*"
    assert judge_answer("4*6 = 23", [4, 6], 24).formula_form
    assert judge_answer("4*6/0", [4, 6, 0], 24).paper_form is None


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("try 4 * 7 = 28 , 28 - 9 = 19", "4*"),
        ("(4×7)−9", "4*"),
        ("9 − 4", "9-"),
        ("8÷2", "8/"),
        ("4+5*7", "4+"),
        ("we have 4, 5, 7 and 9. 4 * 7. Then 28-9", "4*"),
        ("2.5 * 4 is 10, so 5 + 4", "5+"),
        ("4 * 2.5 no; 5 + 4", "5+"),
        ("4.5*2", None),
        ("-3 + 8 , 8 - 3", "8-"),
        ("x4 * 7", None),
        ("4 * 7x", None),
        ("08 + 3", None),
        ("4 * = 7", None),
        ("", None),
        ("nothing </think> <answer> 4 * 7 </answer>", None),
        ("nothing <answer> 4 * 7 </answer>", None),
        ("4 * 7 <answer> 5 + 4 </answer>", "4*"),
        ("<answer> 4 * 7 </answer> </think>", "4*"),
        ("4 * " + "9" * 5000, "4*"),
        ("9" * 5000 + " * 4 + 5", "4+"),
    ],
)
def test_think_opening(text, expected):
    assert think_opening(text) == expected


alphabet = st.sampled_from(
    [
        *"0146()+-*/×÷−=.,#!\\_xé４² \n\t\0\u00a0\ud800",
        *["24", "08", "**", "//", "True", "yes", "no", "NO_SOLUTION", "<|im_end|>"],
        *["<answer>", "</answer>", "<think>", "</think>", "<feasible>", "</feasible>"],
    ]
)
soups = st.lists(alphabet, max_size=30).map("".join) | st.text(max_size=60)


@pytest.mark.parametrize("contract", CONTRACTS)
@given(text=soups)
def test_any_text_gets_a_verdict(contract, text):
    for judge in (judge_answer, judge_completion):
        verdict = judge(text, [4, 6], 24, contract)
        assert type(verdict.status) is Status
        assert verdict.accept == (verdict.status is Status.OK)
        assert verdict.extracted is None or verdict.extracted in text
        assert not verdict.accept or verdict.extracted


@given(soups)
def test_what_strict_accepts_is_right_by_pythons_own_arithmetic(text):
    if judge_answer(text, [4, 6], 24).accept:
        plain = text.partition("=")[0].strip().replace("×", "*").replace("÷", "/").replace("−", "-")
        assert plain.replace(" ", "").replace("\n", "").replace("\t", "").strip("()") in ("4*6", "6*4")


@given(soups, soups)
def test_a_block_in_the_think_part_never_counts(before, after):
    before = before.replace("</think>", "")
    with_block = judge_completion(f"{before}{GOOD}{after}", [4, 6], 24)
    assert not with_block.accept or "</think>" in after


@pytest.mark.parametrize("contract", CONTRACTS)
@pytest.mark.parametrize(
    "unit",
    ["<answer>", "</answer>", "<think>", "</think>", "<answer>4*6</answer>", "(", "9", "4 ", "-", "4*", "1.", "#\n"],
)
def test_a_million_characters_get_a_verdict(contract, unit):
    text = unit * (10**6 // len(unit))
    whole = f"<feasible>yes</feasible></think><answer>{text}</answer>"
    for verdict in (
        judge_answer(text, [4, 6], 24, contract),
        judge_completion(text, [4, 6], 24, contract),
        judge_completion(whole, [4, 6], 24, contract),
    ):
        assert not verdict.accept and type(verdict.status) is Status


def test_numbers_and_targets_of_tables_are_whole_numbers():
    assert judge_answer("4*6", np.array([6, 4]), np.int64(24)).accept
    assert judge_answer("4*6", [4.0, 6.0], 24.0).accept
    assert judge_answer(f"{10**30}", [10**30], 10**30).accept
    # A fractional target is met by exactly its own value, so no decimal literal can sneak in.
    assert judge_answer("25.4-4", [25, 4, 4], 21.4).status is Status.DECIMAL_LITERAL
    assert judge_answer("1/2", [1, 2], 0.5).accept and judge_answer("1/2", [1, 2], Fraction(1, 2)).accept
    assert not judge_answer("107/5", [107, 5], 21.4).accept
    assert not judge_answer("107/5", [107, 5], 21).accept


@pytest.mark.parametrize(("numbers", "target"), [([4, 6.5], 24), ([4, True], 4), ([4, 6], "24"), (["4", 6], 24)])
def test_a_problem_that_is_none_is_the_users_error(numbers, target):
    with pytest.raises(UserError, match="whole"):
        judge_answer("4*6", numbers, target)
    with pytest.raises(UserError, match="whole"):
        judge_completion("</think>", numbers, float("nan"))


def test_an_unknown_contract_is_the_users_error():
    for judge in (judge_answer, judge_completion):
        with pytest.raises(UserError, match="did you mean 'strict'"):
            judge("4*6", [4, 6], 24, "stric")
