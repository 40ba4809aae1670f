"""Programs that return much do not make the owner hold all of it."""

import os
import signal

import pytest

from workflow_scripts.tasks.scicode.execution import judge_code
from workflow_scripts.tasks.scicode.problems import Check, Problem
from workflow_scripts.tasks.scicode.sandbox import Limits, Program, Sandbox, Status, pool

LARGE = [Program(f"def answer(): return 'x' * 40_000 # {n}") for n in range(7)]


@pytest.fixture
def sandbox(monkeypatch):
    monkeypatch.setattr(pool, "HELD", 100_000)
    with Sandbox(workers=2) as opened:
        yield opened


def test_a_run_ends_where_it_holds_enough(sandbox):
    found = sandbox.run(LARGE)
    assert 3 <= len(found) <= 4
    assert all(outcome.calls[0].status is Status.OK for outcome in found)
    small = [Program(f"def answer(): return {n}") for n in range(20)]
    assert [outcome.calls[0].value for outcome in sandbox.run(small + LARGE[:1] + small[:2])][-1] == "1"


def test_the_first_outcomes_are_those_given(sandbox):
    slow = Program("import time\ntime.sleep(0.5)\ndef answer(): return 'slow'")
    found = sandbox.run([slow, *LARGE])
    assert found[0].calls[0].value == '"slow"'
    assert 3 <= len(found) <= 5


def test_a_program_that_lost_its_process_still_gets_its_outcome(sandbox, monkeypatch):
    real, lost = pool.Worker.receive, []

    def losing(worker, program):
        if program == LARGE[0] and not lost:
            lost.append(program)
            os.kill(worker._process.pid, signal.SIGKILL)
            raise EOFError
        return real(worker, program)

    monkeypatch.setattr(pool, "HELD", 1)
    monkeypatch.setattr(pool.Worker, "receive", losing)
    found = sandbox.run(LARGE)
    assert lost and found[0].calls[0].value.startswith('"xx')


def test_verdicts_are_the_same(sandbox):
    problem = Problem("p", "", "", "", "", "", (Check("exact", '"' + "x" * 40_000 + '"'),))
    sources = [program.source for program in LARGE] + ["def answer(): return 'y' * 50_000"]
    assert [verdict.correct for verdict in judge_code([(source, problem) for source in sources], sandbox)] == [
        *[True] * 7,
        False,
    ]


def test_the_usual_limits_bound_what_one_program_returns():
    with Sandbox(workers=1) as sandbox:
        found = sandbox.run([Program(f"def answer(): return 'x' * {Limits().value_bytes + more}") for more in (-2, 9)])
    assert [outcome.calls[0].status for outcome in found] == [Status.OK, Status.OUTPUT]
    assert len(found[0].calls[0].value) == Limits().value_bytes
