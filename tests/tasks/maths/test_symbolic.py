"""The symbolic worker: right on what the exact path leaves, killed and replaced when it overruns, never orphaned."""

import os
import signal
from pathlib import Path
from types import SimpleNamespace

import pytest

from workflow_scripts.records.errors import UserError
from workflow_scripts.tasks.maths import symbolic as symbolic_module
from workflow_scripts.tasks.maths.equivalence import compare
from workflow_scripts.tasks.maths.symbolic import Symbolic
from workflow_scripts.tasks.maths.verdicts import Status

pytest.importorskip("math_verify")
pytestmark = pytest.mark.skipif(not Path("/proc/self/task").is_dir(), reason="children are counted in /proc")


def children() -> set[int]:
    return {
        int(child) for task in Path("/proc/self/task").iterdir() for child in (task / "children").read_text().split()
    }


@pytest.fixture(scope="module")
def worker():
    before = children()
    # More time than by default: what is tested here are verdicts, on a machine that may be slow.
    with Symbolic(seconds=10) as symbolic:
        yield symbolic
    assert children() <= before


@pytest.mark.parametrize(
    ("gold", "answer"),
    [
        (r"\cot x", r"\frac{\cos x}{\sin x}"),
        (r"e^{t} / 3", r"\frac{1}{3}e^t"),
        ("np.arcsin(10/13)", r"\arcsin\frac{10}{13}"),
        (r"2^{n}-n-1", r"2\cdot2^{n-1}-n-1"),
        (r"\binom{2n}{n}", r"\frac{(2n)!}{n!^2}"),
        (r"5 \sqrt[3]{4}", r"\sqrt[3]{500}"),
        (r"\frac{\log 2}{\log 2-\log 3}", r"\frac{\ln 2}{\ln(2/3)}"),
        (r"\frac{\cos (2 t)+\sin (2 t)}{4}", r"\frac{\sqrt2}{4}\cos(2t-\pi/4)"),
        (r"-\sin (3 t) / 5+ C_{1} \sin (2 t)", r"C_1 \sin 2t - \frac{1}{5}\sin 3t"),
        (r"\lceil n / 2\rceil+1", r"\lfloor (n+1)/2 \rfloor + 1"),
        (r"\frac{d x}{d t}=k x-a", r"kx - a = \frac{dx}{dt}"),
        (r"(4, \log _{10} 2)", r"(4, \frac{\ln 2}{\ln 10})"),
        (r"\tan x", r"\sin x/\cos x"),
        (r"\sqrt{1+8 n}", r"(8n+1)^{1/2}"),
        (r"e^{i\pi/3}", r"\frac{1+\sqrt3 i}{2}"),
    ],
)
def test_same(worker, gold, answer):
    assert compare(gold, answer, worker) == (Status.OK, "symbolic")
    assert compare(answer, gold, worker) == (Status.OK, "symbolic")


@pytest.mark.parametrize(
    ("gold", "answer", "status"),
    [
        (r"\cot x", r"\tan x", Status.WRONG),
        (r"\sin 3t", r"\sin 3", Status.WRONG),
        (r"e^{-t/R}", r"e^{-t/r}", Status.WRONG),
        (r"\sin 10^{-7}", r"\sin(1.1\cdot 10^{-7})", Status.WRONG),
        (r"\frac{d x}{d t}=k x-a", r"\frac{dx}{dt}=kx+a", Status.WRONG),
        (r"\frac{dM}{dt}=k", r"\frac{M}{t}=k", Status.WRONG),
        (r"y=2^x", r"y=3^x", Status.WRONG),
        (r"\lceil n / 2\rceil", r"\lfloor n/2 \rfloor", Status.WRONG),
        (r"\sin x", "it is sin of something", Status.WRONG),
        (r"\sin x", r"\sin x where x is small", Status.UNSUPPORTED),
        (r"\sin x", r"\frac{", Status.UNSUPPORTED),
        (r"\sin x", "__import__('os').getpid()", Status.UNSUPPORTED),
    ],
)
def test_not_the_same(worker, gold, answer, status):
    assert compare(gold, answer, worker)[0] is status


def test_equal_questions_are_asked_once(worker):
    before = worker.requests
    for _ in range(3):
        compare(r"\sin 7x", r"\sin(7x)", worker)
        compare(r"\sin(7x)", r"\sin 7x", worker)
    assert worker.requests == before + 1


def test_an_overrun_is_a_timeout_and_the_worker_is_replaced():
    before = children()
    with Symbolic(seconds=0.5) as symbolic:
        assert symbolic(r"\sin(9^{9^{9}})", "5") is Status.TIMEOUT
        assert symbolic.killed == 1
        assert children() == before
        assert symbolic(r"\sin^2 x + \cos^2 x", "1") in (Status.OK, Status.TIMEOUT)
        assert len(children() - before) <= 1
    assert children() == before


def test_memory_is_limited():
    with Symbolic(seconds=10, memory=1 << 20) as symbolic:  # less than it has already: the next page is refused
        long = " + ".join(f"\\sin {factor}x^{{{factor}}}" for factor in range(2, 60))
        assert symbolic(long, f"{long} + 1") in (Status.MEMORY, Status.ERROR)
        assert symbolic.killed == 1


def test_a_worker_that_dies_or_falls_silent_is_replaced(monkeypatch):
    before = children()
    with Symbolic(seconds=10) as symbolic:
        symbolic._running()
        os.kill(symbolic._worker.pid, signal.SIGKILL)
        assert symbolic(r"\cos x", r"\sin x") is Status.ERROR
        symbolic._running()
        os.kill(symbolic._worker.pid, signal.SIGSTOP)
        monkeypatch.setattr(symbolic_module, "PATIENCE", 0.02)
        assert symbolic(r"\sin x", r"\sin(x)") is Status.TIMEOUT
        assert children() == before


def test_an_unstartable_worker_is_explained(monkeypatch):
    monkeypatch.setattr(symbolic_module, "symbolic_worker", SimpleNamespace(__name__="no_such_module"))
    with Symbolic() as symbolic, pytest.raises(UserError, match="math-verify is installed"):
        symbolic("x", "y")
