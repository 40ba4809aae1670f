"""Programs in the sandbox beside a fresh interpreter for each, which isolates nothing: one by one, and in batches.

Rates are of two workers; `extra_info` has the CPU time of the process that runs it, which a busy machine changes
less than the rate.
"""

import subprocess
import sys

import pytest

from workflow_scripts.tasks.scicode.sandbox import Program, Sandbox, Status

PROGRAMS = {
    "plain": "from math import sqrt\ndef answer():\n    return [sqrt(n) for n in range(%d)]\n",
    "numpy": "import numpy as np\ndef answer():\n    return float(np.linalg.norm(np.arange(%d)))\n",
    "sympy": "import sympy as sp\ndef answer():\n    x = sp.Symbol('x')\n    return (x + %d).diff(x)\n",
    "scipy": "from scipy.special import erf\ndef answer():\n    return float(erf(%d))\n",
}
BATCH = 300


@pytest.fixture(scope="module")
def sandbox():
    with Sandbox() as sandbox:
        sandbox.run([Program(source % 0) for source in PROGRAMS.values()] * 2)
        yield sandbox


def answered(outcomes):
    return sum(outcome.calls[0].status is Status.OK for outcome in outcomes)


@pytest.mark.parametrize("kind", PROGRAMS)
@pytest.mark.benchmark(group="one program")
def test_sandbox_one_by_one(benchmark, sandbox, kind):
    program = Program(PROGRAMS[kind] % 5)
    assert answered(benchmark(sandbox.run, [program])) == 1


@pytest.mark.parametrize("kind", PROGRAMS)
@pytest.mark.benchmark(group="one program")
def test_fresh_interpreter(benchmark, kind):
    source = PROGRAMS[kind] % 5 + "print(answer())\n"
    call = [sys.executable, "-I", "-c", source]
    done = benchmark.pedantic(subprocess.run, (call,), {"capture_output": True, "check": True}, rounds=3)
    assert done.stdout


@pytest.mark.parametrize("kind", PROGRAMS)
@pytest.mark.benchmark(group="300 programs")
def test_sandbox_batch(benchmark, sandbox, kind):
    programs = [Program(PROGRAMS[kind] % n) for n in range(1, BATCH + 1)]
    outcomes = benchmark.pedantic(sandbox.run, (programs,), rounds=3)
    assert answered(outcomes) == BATCH
    benchmark.extra_info["programs per second"] = round(BATCH / benchmark.stats.stats.min)
    benchmark.extra_info["CPU milliseconds of a program"] = round(1000 * sum(o.seconds for o in outcomes) / BATCH, 2)


@pytest.mark.benchmark(group="300 programs")
def test_equal_programs_are_run_once(benchmark, sandbox):
    outcomes = benchmark(sandbox.run, [Program(PROGRAMS["plain"] % 5)] * BATCH)
    assert answered(outcomes) == BATCH
