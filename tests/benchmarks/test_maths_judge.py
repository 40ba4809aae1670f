"""The maths judge beside math-verify on the same mixed answers, and on hostile text."""

import pytest

from workflow_scripts.tasks.maths.extraction import extract
from workflow_scripts.tasks.maths.judging import judge_answer, judge_completion

PAIRS = [
    ("18", "18"),
    ("18", "19"),
    ("2,125", "2125"),
    (r"\frac{14}{3}", r"4\frac{2}{3}"),
    (r"3\sqrt{13}", r"\sqrt{117}"),
    ("p - q", "-q+p"),
    (r"\left( 3, \frac{\pi}{2} \right)", r"(3, \pi/2)"),
    ("6 - 5i", "-5i + 6"),
    ("(a+5)(b+2)", "ab + 2a + 5b + 10"),
    (r"\begin{pmatrix} 1 \\ 2 \end{pmatrix}", r"\begin{pmatrix} 1 \\ 2 \end{pmatrix} "),
]
PROSE = "First 12 + 5 = 17 apples, then 17 - 4 = 13 of them. " * 40
HOSTILE = {
    "power tower": r"\boxed{9**9**9}",
    "exponent": r"\boxed{1e30000000}",
    "brackets": "\\boxed{" + "(" * 10**6,
    "boxes": "\\boxed{1" * 10**5,
    "digits": "9" * 10**6,
    "markers": "answer: " * 10**5,
    "terms": "\\boxed{" + "(x+y+z+w)^{9}" * 9 + "}",
}


def by_math_verify(completion, gold):
    from math_verify import parse, verify

    return verify(parse(f"\\boxed{{{gold}}}", parsing_timeout=None), parse(completion, parsing_timeout=None),
                  timeout_seconds=None)  # fmt: skip


@pytest.mark.benchmark(group="ten mixed answers after a page of prose")
def test_ours(benchmark):
    texts = [(f"{PROSE}\\boxed{{{answer}}}", gold) for gold, answer in PAIRS]
    accepted = benchmark(lambda: sum(judge_completion(text, gold).accept for text, gold in texts))
    assert accepted == 9


@pytest.mark.benchmark(group="ten mixed answers after a page of prose")
def test_math_verify(benchmark):
    pytest.importorskip("math_verify")
    texts = [(f"{PROSE}\\boxed{{{answer}}}", gold) for gold, answer in PAIRS]
    accepted = benchmark(lambda: sum(by_math_verify(text, gold) for text, gold in texts))
    assert accepted >= 8


@pytest.mark.benchmark(group="one bare answer")
@pytest.mark.parametrize("answer", ["18", r"\frac{36}{2}", r"\sqrt{324}", "18 apples"])
def test_bare(benchmark, answer):
    assert benchmark(judge_answer, answer, "18").accept


@pytest.mark.benchmark(group="hostile completions")
@pytest.mark.parametrize("kind", HOSTILE)
def test_hostile(benchmark, kind):
    assert not benchmark(judge_completion, HOSTILE[kind], "5").accept


@pytest.mark.benchmark(group="a million characters")
@pytest.mark.parametrize("unit", ["\\boxed{", "{", "9", "1 ", "a1", "#### ", "answer ", "<think>", ",", " "])
def test_extraction_of_a_megabyte(benchmark, unit):
    text = unit * (10**6 // len(unit))
    found = benchmark(extract, text)
    assert found.text is None or len(found.text) < 10**4
