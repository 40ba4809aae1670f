"""The judge's cost beside what a user would run instead; on hostile text; and against the length of a completion."""

import ast
import re
from fractions import Fraction
from time import process_time

import pytest

from workflow_scripts.tasks.countdown.judging import CONTRACTS, judge_answer, judge_completion

NUMBERS, TARGET = [4, 5, 7, 9], 24
COMPLETION = (
    "try 4 * 5 = 20 , 20 + 7 = 27 , 27 + 9 = 36 no . try 4 * 7 = 28 , 28 - 9 = 19 , 19 + 5 = 24 </think>"
    " <answer> 4 * 7 - 9 + 5 </answer>"
)
HOSTILE = {
    "power tower": "9**9**9**9",
    "brackets": "(" * 10**5 + "4" + ")" * 10**5,
    "digits": "9" * 10**6,
    "long divisions": "/".join(["9" * 60] * 8),
    "code": "__import__('os').getpid() or 4*6",
}


def python_parser(completion, numbers, target):
    """The usual home-made checker at its tightest: a regex, Python's parser, exact rationals; no forms or entrances."""

    def value(node):
        if isinstance(node, ast.Constant) and type(node.value) is int:
            used.append(node.value)
            return Fraction(node.value)
        if not isinstance(node, ast.BinOp):
            raise ValueError
        left, right = value(node.left), value(node.right)
        if isinstance(node.op, ast.Add):
            return left + right
        if isinstance(node.op, ast.Sub):
            return left - right
        if isinstance(node.op, ast.Mult):
            return left * right
        return left / right

    used = []
    blocks = re.findall(r"<answer>(.*?)</answer>", completion, re.DOTALL)
    try:
        result = value(ast.parse(blocks[-1].strip(), mode="eval").body)
    except (SyntaxError, ValueError, ZeroDivisionError, IndexError):
        return False
    return sorted(used) == sorted(numbers) and result == target


@pytest.mark.benchmark(group="one ordinary completion")
@pytest.mark.parametrize("contract", CONTRACTS)
def test_completion(benchmark, contract):
    text = "<feasible>yes</feasible>" * (contract == "paper_ppo") + COMPLETION
    assert benchmark(judge_completion, text, NUMBERS, TARGET, contract).accept
    if contract == "strict":
        assert benchmark.stats["median"] < 50e-6


@pytest.mark.benchmark(group="one ordinary completion")
def test_completion_by_pythons_parser(benchmark):
    assert benchmark(python_parser, COMPLETION, NUMBERS, TARGET)


@pytest.mark.benchmark(group="hostile answers")
@pytest.mark.parametrize("kind", HOSTILE)
def test_hostile_answer(benchmark, kind):
    assert not benchmark(judge_answer, HOSTILE[kind], NUMBERS, TARGET).accept
    assert benchmark.stats["median"] < 300e-6


@pytest.mark.benchmark(group="a million characters")
@pytest.mark.parametrize("contract", CONTRACTS)
@pytest.mark.parametrize(
    "unit", ["<answer>", "<think>", "(", "9", "4 ", "4 * ", " ", "1.", "#\n", "<answer>4</answer>"]
)
def test_linear_in_length(benchmark, contract, unit):
    def seconds(length):
        filling = unit * (length // len(unit))
        texts = (filling, f"<feasible>yes</feasible></think><answer>{filling}</answer>")
        start = process_time()
        for text in texts:
            judge_completion(text, NUMBERS, TARGET, contract)
        return process_time() - start

    whole = benchmark.pedantic(lambda: min(seconds(10**6) for _ in range(3)))
    half = min(seconds(5 * 10**5) for _ in range(3))
    assert whole < 2
    assert whole < 3 * half + 2e-3  # twice the length: 2 where linear, 4 where quadratic
