"""A symbolic comparison that cannot hurt: it runs in a process of its own, killed and replaced when it overruns.

Why a process and not a signal or a thread: what has to be stopped may be one multiplication of huge numbers, and a
signal's handler would wait for it. The kernel ends the worker when a request has used its processor time (so that the
verdict does not depend on how busy the machine is); memory is limited, too; the parent kills it when it is silent too
long.
"""

import atexit
import json
import os
import select
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from workflow_scripts.records.errors import UserError
from workflow_scripts.tasks.maths import symbolic_worker
from workflow_scripts.tasks.maths.verdicts import Status

SECONDS = 1.0
"""Processor time of one request."""
MEMORY = 2 << 30
"""Bytes of address space of the worker."""
PATIENCE = 20
"""Times `SECONDS` that the parent waits by the clock, for a machine that is busy."""
START = 120.0
"""Seconds for the worker to import its libraries."""

_PACKAGE_FOLDER = Path(__file__).resolve().parents[3]


class Symbolic:
    """The worker's handle: `with Symbolic() as symbolic: symbolic("x+x", "2x")`. It starts with the first question.

    Callable as an `equivalence.Oracle`. Equal questions are asked once. seconds, memory: limits, see above.
    requests, killed: how many were answered or ended, for reports.
    """

    def __init__(self, *, seconds: float = SECONDS, memory: int = MEMORY) -> None:
        self.seconds, self.memory = seconds, memory
        self.requests = self.killed = 0
        self._worker: subprocess.Popen | None = None
        self._known: dict[tuple[str, ...], Status] = {}

    def __enter__(self) -> "Symbolic":
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def __call__(self, one: str, other: str) -> Status:
        """OK, WRONG, or why it could not be told; the same for (one, other) and (other, one)."""
        return self.ask("formulas", *sorted((one, other)))

    def ask(self, task: str, *texts: str) -> Status:
        """Runs one of `symbolic_worker.TASKS`.  Raises UserError where the worker cannot start at all."""
        question = (task, *texts)
        if question not in self._known:
            self._known[question] = self._answer(question)
        return self._known[question]

    def close(self) -> None:
        """Ends the worker; the next question starts another one."""
        worker, self._worker = self._worker, None
        if worker is None:
            return
        atexit.unregister(self.close)
        worker.kill()
        worker.wait()
        worker.stdin.close()
        worker.stdout.close()

    def _answer(self, question: tuple[str, ...]) -> Status:
        worker = self._running()
        self.requests += 1
        try:
            worker.stdin.write(json.dumps(question).encode() + b"\n")
            worker.stdin.flush()
            word = self._line(PATIENCE * self.seconds)
        except BrokenPipeError:
            word = ""
        if word in Status.__members__ and word != Status.MEMORY:
            return Status(word)
        self.killed += 1
        silent = word is None
        if silent:
            worker.kill()
        ended_by = worker.wait()
        self.close()
        if word == Status.MEMORY:
            return Status.MEMORY
        return Status.TIMEOUT if silent or ended_by == -signal.SIGPROF else Status.ERROR

    def _running(self) -> subprocess.Popen:
        if self._worker is None:
            atexit.register(self.close)
            keep = {
                key: os.environ[key] for key in ("PATH", "LANG", "LD_LIBRARY_PATH", "SYSTEMROOT") if key in os.environ
            }
            self._worker = subprocess.Popen(
                # -P: the folder that this runs in must not lend modules.
                [sys.executable, "-P", "-m", symbolic_worker.__name__, str(self.memory), str(self.seconds)],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.DEVNULL,
                cwd=tempfile.gettempdir(),
                env={**keep, "PYTHONPATH": str(_PACKAGE_FOLDER), "PYTHONHASHSEED": "0", "OMP_NUM_THREADS": "1"},
            )
            if self._line(START) != "ready":
                self.close()
                raise UserError(
                    "the symbolic worker does not start: check that math-verify is installed beside this package "
                    f"({sys.executable} -c 'import math_verify'), or judge with exact comparison alone"
                )
        return self._worker

    def _line(self, seconds: float) -> str | None:
        """The worker's next line, '' when it has ended, None when it stays silent for so long."""
        stream, read = self._worker.stdout, b""
        deadline = time.monotonic() + seconds
        while not read.endswith(b"\n"):
            wait = deadline - time.monotonic()
            if wait <= 0 or not select.select([stream], [], [], wait)[0]:
                return None
            byte = os.read(stream.fileno(), 64)
            if not byte:
                return ""
            read += byte
        return read.decode(errors="replace").strip()
