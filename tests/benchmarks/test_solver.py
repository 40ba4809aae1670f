"""The solver beside what a user would run instead: the pairwise recursion over Fractions of the paper's code.

`make benchmarks`. The recursion returns canonical strings alone (restated here from its description); the solver also
returns formulas, families, menus, witnesses and expressibility. Ratios are printed and stored with each benchmark.
"""

import ast
import time
from fractions import Fraction
from itertools import combinations

import numpy as np
import pytest

from workflow_scripts.tasks.countdown.problems import draw
from workflow_scripts.tasks.countdown.solver import formula_count, solve, solve_many

COMPARED = 12
"""Problems that the slow recursion solves too."""


SIGNS = {ast.Add: "+", ast.Mult: "*", ast.Sub: "-", ast.Div: "/"}


def canonical(node):
    """Python's syntax tree of an expression as the paper's code spells it."""
    if isinstance(node, ast.Constant):
        return str(node.value)
    sign = SIGNS[type(node.op)]
    if sign in "-/":
        return f"({canonical(node.left)}{sign}{canonical(node.right)})"
    terms, pending = [], [node.left, node.right]
    while pending:
        term = pending.pop()
        if isinstance(term, ast.BinOp) and isinstance(term.op, type(node.op)):
            pending += [term.left, term.right]
        else:
            terms.append(canonical(term))
    return f"({sign.join(sorted(terms))})"


def pairwise(numbers, target):
    """Every canonical solution: replace a pair of (Fraction, text) items by each of its results until one is left."""
    found = set()

    def search(items):
        if len(items) == 1:
            if items[0][0] == target:
                found.add(canonical(ast.parse(items[0][1], mode="eval").body))
            return
        for i, j in combinations(range(len(items)), 2):
            rest = [item for at, item in enumerate(items) if at not in (i, j)]
            (a, x), (b, y) = items[i], items[j]
            merged = [(a + b, f"({x}+{y})"), (a * b, f"({x}*{y})"), (a - b, f"({x}-{y})"), (b - a, f"({y}-{x})")]
            if b:
                merged.append((a / b, f"({x}/{y})"))
            if a:
                merged.append((b / a, f"({y}/{x})"))
            for item in merged:
                search([*rest, item])

    search([(Fraction(number), str(number)) for number in numbers])
    return found


def public_problems(count):
    """As the public data: four numbers 1-99, targets 10-99 (few have many solutions)."""
    rng = np.random.default_rng(1729)
    return [(rng.integers(1, 100, 4).tolist(), int(rng.integers(10, 100))) for _ in range(count)]


@pytest.mark.benchmark(timer=time.process_time)
@pytest.mark.parametrize(("kind", "times"), [("public", 50), ("laptop", 12)])
def test_four_numbers(benchmark, kind, times):
    """Public problems have 2 leaves on average, laptop problems 20; describing a leaf costs more than finding it."""
    problems = draw("benchmark", count=500, sizes=(4,)) if kind == "laptop" else public_problems(500)
    solved = benchmark.pedantic(solve_many, args=(problems,), rounds=5, warmup_rounds=1)
    ours = benchmark.stats.stats.median / len(problems)
    start = time.process_time()
    slow = [pairwise(*problem) for problem in problems[:COMPARED]]
    theirs = (time.process_time() - start) / COMPARED
    assert [{s.paper_form for s in one.solutions} for one in solved[:COMPARED]] == slow
    leaves = sum(len(one.solutions) for one in solved) / len(problems)
    ratio = theirs / ours
    benchmark.extra_info.update(
        {"ms_a_problem": round(ours * 1e3, 3), "pairwise_ms": round(theirs * 1e3, 3), "ratio": round(ratio, 1)}
    )
    print(
        f"\n{kind}, {leaves:.1f} leaves a problem: {ours * 1e3:.3f} ms a problem; "
        f"pairwise Fractions {theirs * 1e3:.1f} ms; {ratio:.0f} times faster"
    )
    assert ours < 1e-3
    assert ratio > times


@pytest.mark.parametrize("numbers", [[3, 7, 8, 25, 50], [3, 7, 9, 25, 50, 75], [2, 3, 4, 6, 8, 12]])
def test_five_and_six_numbers(benchmark, numbers):
    solved = benchmark.pedantic(solve, args=(numbers, 24), rounds=2, warmup_rounds=1)
    seconds = benchmark.stats.stats.median
    print(f"\n{numbers} -> 24: {len(solved.solutions)} leaves in {seconds:.3f} s")
    assert seconds < 10


def test_first_problem_of_a_process(benchmark):
    """Compiling the trees of four numbers, paid once by each process."""
    from workflow_scripts.tasks.countdown.enumeration import Trees

    trees = benchmark(Trees, (1, 1, 1, 1))
    assert sum(len(left) for _, left, _ in trees.whole()) == 3012


def test_formulas_of_five_variables(benchmark):
    assert benchmark.pedantic(formula_count, args=(5,), rounds=1) == 27142
