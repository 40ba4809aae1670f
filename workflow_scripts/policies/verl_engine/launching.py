"""A command of verl as a child process: its log passed on, its children ended with it, its work checked by what it
left and not by its exit code."""

import os
import re
import shutil
import signal
import subprocess
import sys
import threading
import time
from collections import deque
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO

from workflow_scripts.policies.verl_engine.commands import Command
from workflow_scripts.records.errors import UserError

PATIENCE = 20
"""Seconds between asking processes to end and ending them."""

_KEPT_LINES = 400
_TOLD_LINES = 3
_LONGEST_LINE = 400
_ERROR = re.compile(r"\b\w*(?:Error|Exception)\b:")


def launch(command: Command) -> list[str]:
    """Runs a command to its end and passes its output on to this process's own; returns the output's last lines.

    The exit code is not looked at: whoever calls checks what was made. Whatever ends the run (an error here, SIGTERM,
    SIGINT), the command and all processes of its session are ended too, and Ray's folder is removed.
    """
    last: deque[str] = deque(maxlen=_KEPT_LINES)
    for place, target in command.links.items():
        Path(place).parent.mkdir(parents=True, exist_ok=True)
        Path(place).unlink(missing_ok=True)
        Path(place).symlink_to(target)
    with _terminated_as_error(), _temporary(command.temporary):
        process = subprocess.Popen(
            command.arguments,
            env={**os.environ, **command.environment},
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            start_new_session=True,
        )
        reader = threading.Thread(target=_pass_on, args=(process.stdout, last), daemon=True)
        reader.start()
        try:
            process.wait()
        finally:
            end_session(process.pid)
            process.wait()
            reader.join(PATIENCE)
    return list(last)


def reason(lines: list[str]) -> str:
    """The lines of a log that most likely say what went wrong: the last ones that name an error, or simply the last."""
    told = [line.strip() for line in lines if line.strip()]
    named = [line for line in told if _ERROR.search(line) and len(line) < _LONGEST_LINE]
    return " | ".join(line[-_LONGEST_LINE:] for line in (named or told)[-_TOLD_LINES:]) or "it said nothing"


def end_session(leader: int) -> None:
    """Ends every process of the session that process `leader` began, Ray's and vLLM's among them, and no other."""
    for kind in (signal.SIGTERM, signal.SIGKILL):
        waited = time.monotonic() + PATIENCE
        for member in session_members(leader):
            try:
                os.kill(member, kind)
            except (ProcessLookupError, PermissionError):
                continue
        while time.monotonic() < waited:
            if not session_members(leader):
                return
            time.sleep(0.1)


def session_members(leader: int) -> list[int]:
    """Live processes of a session, from /proc; the leader alone where there is no /proc."""
    root = Path("/proc")
    if not (root / "self" / "stat").exists():
        return [leader] if _lives(leader) else []
    found = []
    for entry in root.iterdir():
        if not entry.name.isdecimal():
            continue
        try:
            # The name in brackets may hold spaces; then come state, parent, group, session.
            state, _, _, session = (entry / "stat").read_text().rpartition(")")[2].split()[:4]
        except (OSError, ValueError):
            continue
        if int(session) == leader and state not in "ZX":
            found.append(int(entry.name))
    return found


def _lives(process: int) -> bool:
    try:
        os.kill(process, 0)
    except OSError:
        return False
    return True


def _pass_on(pipe: IO[bytes], last: deque[str]) -> None:
    for line in pipe:
        text = line.decode(errors="replace")
        last.append(text)
        sys.stdout.write(text)
        sys.stdout.flush()


@contextmanager
def _terminated_as_error() -> Iterator[None]:
    """SIGTERM becomes an exception of the main thread, so that what was started is ended before this process is."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return

    def stop(number: int, _: object) -> None:
        raise SystemExit(128 + number)

    before = signal.signal(signal.SIGTERM, stop)
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, before)


@contextmanager
def _temporary(folder: str) -> Iterator[None]:
    if folder:
        shutil.rmtree(folder, ignore_errors=True)
    try:
        yield
    finally:
        if folder:
            shutil.rmtree(folder, ignore_errors=True)


def checkpoint(work: Path, step: int, world: int, part: str, lines: list[str]) -> Path:
    """Folder `global_step_N` of verl's checkpoint, having checked that the run reached it.

    part: sub-folder that holds the model ("" for the folder itself). lines: of the log, to tell why not.
    Raises UserError where verl's tracker names another step, or a worker's file is missing.
    """
    tracker = work / "latest_checkpointed_iteration.txt"
    reached = tracker.read_text().strip() if tracker.exists() else "none"
    if reached != str(step):
        raise UserError(f"verl should have reached step {step}, but kept step {reached}: {reason(lines)}")
    folder = work / f"global_step_{step}"
    for rank in range(world):
        for kind in ("model", "optim", "extra_state"):
            file = folder / part / f"{kind}_world_size_{world}_rank_{rank}.pt"
            if not file.is_file() or not file.stat().st_size:
                raise UserError(f"{file} is missing or empty although verl names step {step} as kept")
    return folder
