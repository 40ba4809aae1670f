"""The paper's contracts against restatements of its evaluators that use Python's own parser, and by table."""

import pytest
from countdown_oracles import (
    grpo_answer_accepted,
    grpo_completion_accepted,
    ppo_answer_accepted,
    ppo_completion_accepted,
    python_canonical,
)
from hypothesis import given, settings
from hypothesis import strategies as st

from workflow_scripts.tasks.countdown.judging import Status, judge_answer, judge_completion

# (numbers, target, answer, paper_ppo accepts, paper_grpo accepts), from the evaluators that were run or read
ANSWERS = [
    ([4, 6], 24, "4*6", True, True),
    ([1, 3, 72], 24, "1/3*72", True, True),
    ([4, 6], 24, "(4+6)*2.4", True, False),
    ([4, 6], 24, "4*6+0.0", True, False),
    ([4, 5, 2], 9, "4.5*2", False, False),
    ([25, 4, 4], 21.4, "25.4-4", False, False),
    ([1, 24], 24, "True*24", True, False),
    ([1, 0, 14], 24, "1_0+14", False, False),
    ([10, 14], 24, "1_0+14", True, False),
    ([24], 24, "0x18", True, False),
    ([2, 5, 7], 25, "2**5-7", False, False),
    ([7, 2, 4], 12, "7//2*4", False, False),
    ([3, 8], 5, "-3+8", True, True),
    ([3, 8], 11, "8--3", True, True),
    ([3, 8], 11, "8+++3", True, True),
    ([23, 99999999, 100000000], 24, "23+99999999/100000000", True, False),
    ([4, 6], 24, "4*6#", True, False),
    ([4, 6], 24, "4*6 # = 24, as wanted × 2", True, False),
    ([4], 24, "4!", False, False),
    ([576], 24, "sqrt(576)", False, False),
    ([4, 6], 24, "__import__('os').getpid() or 4*6", False, False),
    ([9, 9, 9, 9], 24, "9**9**9**9", False, False),
    ([4, 6], 24, "4*6 = 24", False, True),
    ([4, 6], 24, "4*6 = +24", False, True),
    ([4, 6], 24, "4*6 = ２４", False, True),
    ([4, 6], 24, "4*6 = 23", False, False),
    ([4, 6], 24, "4*6 = 24 = 24", False, False),
    ([4, 6], 24, "24 = 4*6", False, False),
    ([4, 6], 24, "4×6", False, False),
    ([8, 3], 5, "08-3", False, False),
    ([8, 0], 8, "8+00", True, True),
    ([1000, 976], 24, "1,000-976", False, False),
    ([4, 6], 24, "4(6)", False, False),
    ([10, 14], 24, "1e1+14", False, False),
    ([14], 24, "1e1+14", True, False),
    ([4, 6], 24, "4*6,", False, False),
    ([4, 6, 0], 24, "4*6/0", False, False),
    ([4, 6], 24, "4*6*1", False, False),
    ([4, 6], 24, "(" * 200 + "4*6" + ")" * 200, True, True),
    ([4, 6], 24, "(" * 201 + "4*6" + ")" * 201, False, False),
    ([4, 6], 24, "", False, False),
    ([4, 6], 24, "(4\n*6)", True, True),
    ([4, 6], 24, "4\n*6", False, False),
    ([4, 6], 24, "4\\\n*6", True, False),
    ([4, 6], 24, "4\f*6", True, True),
    ([4, 6], 24, "4\v*6", False, False),
    ([4, 6], 24, "# so\n4*6", True, False),
    ([4, 6], 24, "# so\n 4*6", False, False),
    ([4, 6], 24, "4*6\n# so", True, False),
]


@pytest.mark.parametrize(("numbers", "target", "answer", "ppo", "grpo"), ANSWERS)
def test_answers(numbers, target, answer, ppo, grpo):
    assert judge_answer(answer, numbers, target, "paper_ppo").accept == ppo
    assert judge_answer(answer, numbers, target, "paper_grpo").accept == grpo


pieces = st.sampled_from(
    [
        *"0146()()+-*/+-*/ ._e",
        *["24", "08", "4*6", "(4", "6)", "0.0", "4.", ".5", "1e0", "1E-1", "0x4", "0b1_0", "0o6", "6_0", "True"],
        *["#", "# and so\n", "\n", "\r\n", "\t", "\v", "\u00a0", "=", "= 24", ",", "**", "//", "é"],
    ]
)
python_texts = st.lists(pieces, max_size=14).map("".join)


def grown(inner):
    signs = st.sampled_from(["-", "+", "- -", ""])
    operators = st.sampled_from(["+", "-", " * ", "/", "*\t"])
    return (
        st.tuples(signs, inner, operators, inner).map("".join)
        | inner.map("({})".format)
        | inner.map("(\n{} # so\n)".format)
    )


literals = st.sampled_from(["4", "6", "24", "0.0", "1_0", "2.4", "0x6", "True", "00", "1."])
readable_texts = st.recursive(literals, grown, max_leaves=8)


READABLE = {
    Status.OK,
    Status.FOREIGN_NUMBER,
    Status.REPEATED_NUMBER,
    Status.UNUSED_NUMBER,
    Status.WRONG_VALUE,
    Status.WRONG_RIGHT_SIDE,
}


@settings(max_examples=300)
@given(python_texts | readable_texts, st.sampled_from([24, 10, -2]))
def test_answers_agree_with_the_references(text, target):
    for contract, oracle in (("paper_ppo", ppo_answer_accepted), ("paper_grpo", grpo_answer_accepted)):
        readable, accepted = oracle(text, [4, 6], target)
        verdict = judge_answer(text, [4, 6], target, contract)
        assert verdict.accept == accepted
        assert (verdict.status in READABLE) == readable
        expected = python_canonical(text.partition("=")[0].strip()) if readable else None
        assert verdict.paper_form == expected


tags = st.sampled_from(
    [
        *["<think>", "</think>", "<THINK>", "<answer>", "</answer>", "<ANSWER>", "</Answer>", "<anſwer>", "<feasible>"],
        *["</feasible>", "<feasible>yes</feasible>", "<feasible> No </feasible>", "yes", "no", "NO_SOLUTION", "İ", "5"],
        *["4*6", "-4*-6", "4*6 = 24", "<answer>4*6</answer>", "</think><answer>", "<|im_end|>", "<|endoftext|>", " "],
    ]
)


@settings(max_examples=300)
@given(st.lists(tags, max_size=9).map("".join))
def test_completions_agree_with_the_references(text):
    assert judge_completion(text, [4, 6], 24, "paper_ppo").accept == ppo_completion_accepted(text, [4, 6], 24)
    assert judge_completion(text, [4, 6], 24, "paper_grpo").accept == grpo_completion_accepted(text, [4, 6], 24)


@pytest.mark.parametrize(
    ("completion", "status"),
    [
        ("a</think><feasible>yes</feasible><answer>4*6</answer>", Status.OK),
        ("<FEASIBLE> Yes </FEASIBLE><Answer> 4*6 </Answer> and on", Status.OK),
        ("<think><answer>4*6</answer></think><feasible>yes</feasible>", Status.OK),
        ("<feasible>yes</feasible><answer>4*6</answer><answer>5</answer>", Status.OK),
        ("<feasible>yes<answer>4*6", Status.OK),
        ("<feasible>yes</feasible><answer>4*6<|im_end|>5", Status.OK),
        ("<feasible>yes</feasible><answer>5</answer><answer>4*6</answer>", Status.FOREIGN_NUMBER),
        ("<feasible>yes</feasible>", Status.NO_ANSWER),
        ("<feasible>yes</feasible><answer> </answer>", Status.FOREIGN_CHARACTER),
        ("<answer>4*6</answer>", Status.NO_FEASIBILITY),
        ("<feasible>no</feasible><answer>NO_SOLUTION</answer>", Status.WRONG_FEASIBILITY),
    ],
)
def test_ppo_completions(completion, status):
    assert judge_completion(completion, [4, 6], 24, "paper_ppo").status is status


def test_an_infeasible_problem_wants_no_solution():
    def judge(text):
        return judge_completion(text, [1, 1], 24, "paper_ppo", feasible=False)

    assert judge("<feasible>no</feasible><answer>no_solution, alas</answer>").accept
    assert judge("<feasible>no</feasible><answer>none</answer>").status is Status.BAD_NO_SOLUTION
    assert judge("<feasible>yes</feasible><answer>1+1</answer>").status is Status.WRONG_FEASIBILITY


@pytest.mark.parametrize(
    ("completion", "status"),
    [
        ("a</think><answer>4*6</answer>", Status.OK),
        ("<think>a</think> so <answer>4*6 = 24</answer> and on", Status.OK),
        ("a</think></think><answer>4*6</answer>", Status.OK),
        ("a</think><answer>4*6</answer><answer>4*6</answer>", Status.MULTIPLE_ANSWERS),
        ("<think>a</think><think>b</think><answer>4*6</answer>", Status.REPEATED_THINK),
        ("a<answer>4*6</answer></think>", Status.ANSWER_IN_THINK),
        ("a<answer>4*6</answer>", Status.UNCLOSED_THINK),
        ("a</think><answer>4*6", Status.NO_ANSWER),
        ("a</think><answer><answer>4*6</answer></answer>", Status.FOREIGN_CHARACTER),
        ("a</think><answer>4+6</answer>", Status.WRONG_VALUE),
    ],
)
def test_grpo_completions(completion, status):
    verdict = judge_completion(completion, [4, 6], 24, "paper_grpo")
    assert verdict.status is status
    assert verdict.format_ok == (status in (Status.OK, Status.WRONG_VALUE, Status.FOREIGN_CHARACTER))


def test_paper_verdicts_carry_forms_and_entrances():
    verdict = judge_completion("try 6 * 4</think><answer>-4*-6</answer>", [4, 6], 24, "paper_grpo")
    assert (verdict.paper_form, verdict.answer_opening, verdict.think_opening) == ("((-4)*(-6))", "-4*", "6*")
    assert verdict.formula_form == judge_answer("4*6", [4, 6], 24).formula_form
    floats = judge_answer("(4+6)*2.4", [4, 6], 24, "paper_ppo")
    assert floats.accept and floats.paper_form == "((4+6)*2.4)" and floats.formula_form is None
    assert judge_answer("+4*6", [4, 6], 24, "paper_ppo").paper_form is None  # theirs has no form for a plus sign


@pytest.mark.parametrize("answer", ["-" * 300 + "4", "4" + "+0.0" * 200, "9" * 101, "0x" + "f" * 200])
def test_beyond_the_stated_limits_is_too_long(answer):
    assert judge_answer(answer, [4], 4, "paper_ppo").status is Status.TOO_LONG
