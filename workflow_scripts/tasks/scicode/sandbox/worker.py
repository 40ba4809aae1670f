"""This side of one sandbox process: start it, hand it a program, read what became of it."""

import contextlib
import json
import os
import signal
import subprocess
import sys
import tempfile
from dataclasses import asdict
from pathlib import Path

from workflow_scripts.tasks.scicode.sandbox import isolation
from workflow_scripts.tasks.scicode.sandbox.outcomes import Limits, Outcome, Program, Returned, Status, outcome_of
from workflow_scripts.tasks.scicode.sandbox.protocol import CPU, HEADER, LENGTH, OUTPUT, WALL

ROOT = Path(__file__).resolve().parents[4]
_RUNNER = Path(__file__).with_name("runner.py")
_ENVIRONMENT = {
    "PATH": "/usr/bin:/bin",
    "LANG": "C.UTF-8",
    "PYTHONHASHSEED": "0",
    "PYTHONDONTWRITEBYTECODE": "1",
    **dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"), "1"),
}
_INTERPRETER = ("-P", "-s", "-S", "-B", "-X", "utf8")


class Worker:
    """One process of the sandbox with some libraries loaded. Raises OSError, saying why, where it cannot be started.

    name: of the isolation. libraries: modules to load beforehand.
    """

    def __init__(self, name: str, libraries: tuple[str, ...], limits: Limits) -> None:
        self._box = None
        if name == "process":
            self._box = tempfile.TemporaryDirectory(prefix="sandbox-", ignore_cleanup_errors=True)
        self._limits = limits
        terms = asdict(limits)
        del terms["source_bytes"]
        settings = {
            "isolation": name,
            "parent": 0 if name == "bubblewrap" else os.getpid(),
            "box": self._box.name if self._box else isolation.BOX,
            "shown": isolation.shown(),
            "packages": isolation.search_path(),
            "libraries": libraries,
            "limits": terms,
        }
        start = isolation.bubblewrap(_sources(), limits.file_mb) if name == "bubblewrap" else [sys.executable]
        command = [*start, *_INTERPRETER, str(_RUNNER), str(ROOT), json.dumps(settings)]
        try:
            self._process = subprocess.Popen(
                command,
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                cwd="/",
                env=_ENVIRONMENT | dict.fromkeys(("HOME", "TMPDIR"), settings["box"]),
                start_new_session=True,
                bufsize=0,
            )
            (size,) = LENGTH.unpack(self._read(LENGTH.size))
            told = json.loads(self._read(size))
        except EOFError:
            said = self._process.stderr.read(2000).decode(errors="replace").strip().splitlines()
            self.stop()
            raise OSError(f"the runner ended before it served: {said[-1] if said else 'nothing said'}") from None
        except BaseException:
            self.stop()
            raise
        if "failed" in told:
            self.stop()
            raise OSError(told["failed"])
        self.files: bool = told["files"]
        self._try_out()

    def _try_out(self) -> None:
        """What keeps every program from running must not look like a fault of theirs."""
        trivial = Program("def answer():\n    return 1\n")
        try:
            self.send(trivial)
            outcome = self.receive(trivial)
        except (EOFError, OSError):
            self.stop()
            raise OSError("the runner ended when it was tried") from None
        if outcome.calls[0].value != "1":
            self.stop()
            raise OSError(f"a trivial program does not run: {outcome.calls[0].status}, {outcome.calls[0].error}")

    def fileno(self) -> int:
        """The descriptor that replies come from."""
        return self._process.stdout.fileno()

    def send(self, program: Program) -> None:
        """Ask for one program. Raises OSError when the process is gone."""
        text = json.dumps([program.source, program.calls]).encode()
        self._process.stdin.write(LENGTH.pack(len(text)) + text)

    def receive(self, program: Program) -> Outcome:
        """What became of it. Raises EOFError when the process is gone."""
        report_bytes, output_bytes, status, reason, seconds = HEADER.unpack(self._read(HEADER.size))
        report, output = self._read(report_bytes), self._read(output_bytes)
        ending = self._ending(status, reason)
        return outcome_of(program, report, ending, seconds, output.decode(errors="replace"))

    def _ending(self, status: int, reason: int) -> Returned:
        limits = self._limits
        if reason == CPU or (os.WIFSIGNALED(status) and os.WTERMSIG(status) == signal.SIGXCPU):
            return Returned(Status.TIMEOUT, None, f"more than {limits.cpu_seconds:g} s of CPU time")
        if reason == WALL:
            return Returned(Status.TIMEOUT, None, f"more than {limits.wall_seconds:g} s of wall time")
        if reason == OUTPUT:
            return Returned(Status.OUTPUT, None, "printed or returned too much")
        if os.WIFSIGNALED(status):
            return Returned(Status.KILLED, None, f"ended by {_name(os.WTERMSIG(status))}")
        return Returned(Status.KILLED, None, f"ended with exit status {os.WEXITSTATUS(status)} and no report")

    def stop(self) -> None:
        """End it and all that is in it; the folder goes, too."""
        process = getattr(self, "_process", None)
        if process is not None:
            for stream in (process.stdin, process.stdout, process.stderr):
                with contextlib.suppress(OSError):
                    stream.close()
            try:  # it ends with its requests, unless a program is running
                process.wait(0.5)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()
        if self._box is not None:
            self._box.cleanup()

    def _read(self, count: int) -> bytes:
        found = bytearray()
        while len(found) < count:
            if not (part := self._process.stdout.read(count - len(found))):
                raise EOFError
            found += part
        return bytes(found)


def _name(number: int) -> str:
    """Of a signal; those for real time have none."""
    try:
        return signal.Signals(number).name
    except ValueError:
        return f"signal {number}"


def _sources() -> list[str]:
    """The files of this package that the runner imports; they are all that is seen of it."""
    folders = [ROOT / "workflow_scripts", *(_RUNNER.parents[2 - up] for up in range(2))]
    values = [_RUNNER.parents[1] / name for name in ("values.py", "encoding.py")]
    return [str(path) for path in (*(folder / "__init__.py" for folder in folders), *values, _RUNNER.parent)]
