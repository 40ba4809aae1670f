"""Of the sandbox nothing stays: no process, file, mount or memory, when it is closed and when its owner is killed."""

import os
import resource
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import pytest

from workflow_scripts.records.errors import UserError
from workflow_scripts.tasks.scicode.sandbox import Limits, Program, Sandbox, Status

BOMBS = [
    "import os\ndef answer():\n    while True: os.fork()",
    "import os, time\ndef answer():\n    for _ in range(3):\n        if os.fork() == 0:\n            os.setsid()\n"
    "            if os.fork() == 0: time.sleep(1000)\n            os._exit(0)\n    return 1",
    "import os\nwhile True:\n    if os.fork() == 0:\n        os.setsid()\n        while True: pass",
    "import os, signal\nfor n in set(signal.Signals) - {9, 19}: signal.signal(n, signal.SIG_IGN)\n"
    "os.fork()\nos.kill(-1, 9)\nwhile True: pass",
    "import os\ndef answer():\n    for _ in range(5):\n        if os.fork() == 0: os._exit(0)\n    return 5",
]
"""Programs with more than one process: those that namespaces alone hold."""


def processes():
    """Every process of the machine that runs: number -> (parent, user, command)."""
    found = {}
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit():
            try:
                fields = (entry / "stat").read_text().rpartition(")")[2].split()
                if fields[0] == "Z":  # ended; whoever adopted it has not asked yet
                    continue
                found[int(entry.name)] = (int(fields[1]), entry.stat().st_uid, (entry / "cmdline").read_text())
            except OSError:
                continue
    return found


def below(ancestor, table):
    """Numbers of those that descend from a process."""
    found, grown = {ancestor}, True
    while grown:
        more = {number for number, (parent, *_) in table.items() if parent in found} - found
        found, grown = found | more, bool(more)
    return found - {ancestor}


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    return tmp_path


def isolated(name, **options):
    try:
        return Sandbox(isolation=name, **options)
    except UserError as error:
        pytest.skip(str(error))


def test_processes_that_a_program_starts_end_with_it(folder):
    limits = Limits(cpu_seconds=0.3, wall_seconds=0.6, processes=8)
    mounts = Path("/proc/self/mountinfo").read_text()
    with isolated("namespaces", limits=limits, workers=1) as sandbox:
        sandbox.run([Program("def answer(): return 1")])
        own = below(os.getpid(), processes())
        users = {processes()[number][1] for number in own}
        for source in BOMBS:
            outcome, after = sandbox.run([Program(source), Program(f"def answer(): return 1 # {hash(source)}")])
            assert outcome.calls[0].status in (Status.OK, Status.ERROR, Status.TIMEOUT, Status.KILLED, Status.MEMORY)
            assert after.calls[0].value == "1"
            # The same processes as before, which nothing joined
            assert below(os.getpid(), processes()) == own
        # Those are of users that own nothing else
        assert os.getuid() or 0 not in users
        assert sandbox.run([Program(BOMBS[1])])[0].calls[0].value == "1"
        assert sandbox.run([Program(BOMBS[4])])[0].calls[0].value == "5"
    left = processes()
    assert below(os.getpid(), left) == set()
    assert os.getuid() or {user for _, user, _ in left.values()}.isdisjoint(users)
    assert list(folder.iterdir()) == []
    assert Path("/proc/self/mountinfo").read_text() == mounts


@pytest.mark.parametrize("name", ["namespaces", "bubblewrap", "process"])
@pytest.mark.filterwarnings("ignore:programs run with weaker isolation")
def test_a_closed_sandbox_is_gone(folder, name):
    with isolated(name, workers=2) as sandbox:
        sandbox.run([Program(f"import numpy\nopen('left', 'w')\ndef answer(): return {n}") for n in range(4)])
        assert len(below(os.getpid(), processes())) >= 2
    assert below(os.getpid(), processes()) == set()
    assert list(folder.iterdir()) == []
    descriptors = len(list(Path("/proc/self/fd").iterdir()))
    isolated(name).close()
    assert len(list(Path("/proc/self/fd").iterdir())) == descriptors


@pytest.mark.parametrize("name", ["namespaces", "bubblewrap", "process"])
@pytest.mark.parametrize("busy", [True, False], ids=["busy", "idle"])
def test_it_ends_with_its_owner(tmp_path, project, name, busy):
    owner = (
        "import sys, threading, time\n"
        "from workflow_scripts.tasks.scicode.sandbox import Limits, Program, Sandbox\n"
        "from workflow_scripts.records.errors import UserError\n"
        f"try: sandbox = Sandbox(Limits(wall_seconds=300, processes=4 if {name!r} == 'namespaces' else 1),\n"
        f"                       isolation={name!r})\n"
        "except UserError as error: sys.exit(3)\n"
        "sleeper = Program('import os, time\\ntry: os.fork()\\nexcept OSError: pass\\nprint(1)\\ntime.sleep(1000)')\n"
        "print('serves', flush=True)\n"
        f"sandbox.run([sleeper] if {busy} else [])\n"
        "time.sleep(1000)\n"
    )
    process = subprocess.Popen(
        [sys.executable, "-W", "ignore", "-c", owner],
        stdout=subprocess.PIPE,
        cwd=project,
        env=os.environ | {"TMPDIR": str(tmp_path)},
    )
    with process:
        if not process.stdout.readline():
            assert process.wait() == 3
            pytest.skip(f"no {name} here")
        family, deadline = below(process.pid, processes()), time.monotonic() + 10
        idle = len(family)
        while busy and len(family) == idle and time.monotonic() < deadline:
            time.sleep(0.05)
            family = below(process.pid, processes())
        assert len(family) > idle if busy else family
        process.send_signal(signal.SIGKILL)
        process.wait()
    while family & processes().keys() and time.monotonic() < deadline:
        time.sleep(0.05)
    assert not family & processes().keys()
    # The weakest choice keeps its empty folder there
    assert name == "process" or list(tmp_path.iterdir()) == []


def test_the_owner_does_not_grow(folder):
    programs = [Program(f"def answer():\n    print('x' * 10**5)\n    return 'y' * 10**5, {n}") for n in range(40)]
    with Sandbox() as sandbox:
        sandbox.run(programs)
        before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
        for n in range(3):
            sandbox.run([Program(program.source + "#" * n) for program in programs])
        assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < 16 << 10  # KiB; ten times less than passed


@pytest.mark.parametrize("when", ["idle", "running"])
def test_a_sandbox_whose_process_is_killed_gets_another(folder, when):
    with Sandbox(workers=1) as sandbox:
        assert sandbox.run([Program("def answer(): return 1")])[0].calls[0].value == "1"
        (first,) = [number for number, (parent, *_) in processes().items() if parent == os.getpid()]
        if when == "idle":
            os.kill(first, signal.SIGKILL)
            time.sleep(0.1)
        else:
            killer = subprocess.Popen(["sh", "-c", f"sleep 0.3; kill -9 {first}"])
        outcome = sandbox.run([Program("import time\ntime.sleep(0.6)\ndef answer(): return 2")])[0]
        if when == "running":
            killer.wait()
        assert outcome.calls[0].value == "2"
    assert below(os.getpid(), processes()) == set()
