"""The process that replies: it has each program started by `starting`, and watches until nothing of it is left.

It never reads a request, which the program's own process does. Reports, output and what lies in the folder come here
alone, and no program is ever forked from here: nothing of one is in the memory that another starts with. Reports are
not looked into.
"""

import contextlib
import os
import select
import shutil
import signal
import socket
import time
from pathlib import Path

from workflow_scripts.tasks.scicode.sandbox import namespaces
from workflow_scripts.tasks.scicode.sandbox.protocol import CPU, ENDED, HEADER, KEPT_OUTPUT, LENGTH, OUTPUT, WALL, send
from workflow_scripts.tasks.scicode.sandbox.starting import Ending, Terms, confine

_SOON = 0.01
"""Seconds in which most programs are gone; until then their words wait, as waking up for each costs more than it."""

_PIPE = 1 << 16
"""Bytes that a pipe holds."""


class Server:
    """Replies on descriptor 1 to the requests on descriptor 0, one at a time.

    channel: to the Starter. own_folders: whether programs have process namespaces of their own, and each a folder that
    is mounted for it; else they have the working directory. parent: a descriptor of the process to end with, or None.
    """

    def __init__(
        self, terms: Terms, channel: socket.socket, ending: Ending, *, own_folders: bool, parent: int | None
    ) -> None:
        self._terms, self._channel, self._ending, self._own_folders = terms, channel, ending, own_folders
        self._ends = select.poll()
        self._ends.register(0, 0)  # tells when nobody asks any more; the Starter is told of requests
        for descriptor in (channel.fileno(), *(() if parent is None else (parent,))):
            self._ends.register(descriptor, select.POLLIN)
        self._fresh: tuple[int, int] | None = None
        confine(terms, alone=not own_folders)
        self._clean()

    def serve(self) -> None:
        """Until the requests, the parent or the other process end."""
        while True:
            reports, outputs = self._offered()
            if {descriptor for descriptor, _ in self._ends.poll()} != {self._channel.fileno()}:
                return
            number, started, _, _ = socket.recv_fds(self._channel, LENGTH.size, 1)
            if not started:
                return
            report, output, reason = self._watch(*LENGTH.unpack(number), *started, reports, outputs)
            status, seconds = self._ending.told()
            send(HEADER.pack(len(report), len(output), status, reason, seconds) + report + output)
            for descriptor in (*started, reports, outputs):
                os.close(descriptor)
            self._clean()

    def _clean(self) -> None:
        """An empty folder for the next program: a new one where the last one left anything in it, or changed it."""
        if self._own_folders:
            if self._fresh is None or self._looks() != self._fresh or any(Path().iterdir()):
                if self._fresh is not None:
                    namespaces.drop_box()
                namespaces.fresh_box(self._terms.file_mb)
                self._fresh = self._looks()
            return
        Path().chmod(0o700)
        for entry in Path().iterdir():
            if entry.is_dir() and not entry.is_symlink():
                shutil.rmtree(entry, ignore_errors=True)
            else:
                entry.unlink()

    def _looks(self) -> tuple[int, int]:
        seen = Path().stat()
        return seen.st_mode, seen.st_ctime_ns

    def _offered(self) -> tuple[int, int]:
        """Where the next program's report and output are read; the Starter gets the other ends."""
        (reports, report), (outputs, output) = os.pipe2(os.O_CLOEXEC | os.O_NONBLOCK), os.pipe2(os.O_CLOEXEC)
        os.set_blocking(report, True)
        os.set_blocking(outputs, False)
        socket.send_fds(self._channel, [b"."], [report, output])
        os.close(report)
        os.close(output)
        return reports, outputs

    def _watch(self, child: int, watched: int, reports: int, outputs: int) -> tuple[bytearray, bytearray, int]:
        """Read along until the child is gone, of which the Starter hears when all that it started is gone, too.

        Raises EOFError where the Starter is gone itself.
        """
        poll = select.poll()
        gone = self._channel.fileno()
        poll.register(gone, select.POLLIN)
        poll.register(0, 0)  # tells when nobody waits for the reply any more
        found, said, printed, reason = bytearray(), bytearray(), 0, ENDED
        deadline = time.monotonic() + self._terms.wall_seconds
        largest = 2 * self._terms.value_bytes + (1 << 16)
        poll.poll(1000 * _SOON)
        for descriptor in (reports, outputs):
            poll.register(descriptor, select.POLLIN)
        alive = True
        while alive:
            left = self._terms.cpu_seconds - _seconds_of(child)
            if reason == ENDED and left <= 0:
                reason = CPU
            elif reason == ENDED and time.monotonic() > deadline:
                reason = WALL
            elif reason == ENDED and (len(found) > largest or printed > self._terms.output_bytes):
                reason = OUTPUT
            if reason != ENDED:
                _kill(watched)
            # Threads on two cores use up what is left in half the time.
            for descriptor, _ in poll.poll(1000 * max(0.005, min(left / 2, deadline - time.monotonic()))):
                if descriptor == gone:
                    if not self._channel.recv(1):
                        raise EOFError
                    alive = False
                    continue
                if descriptor == 0:
                    _kill(watched)
                    poll.unregister(0)
                    continue
                while part := _read(descriptor, _PIPE):
                    if descriptor == reports:
                        found += part
                    else:
                        printed += len(part)
                        said += part[: max(0, KEPT_OUTPUT - len(said))]
                    if len(found) > largest or printed > self._terms.output_bytes:
                        break
                if part == b"":
                    poll.unregister(descriptor)
        while len(found) <= largest and (part := _read(reports, _PIPE)):
            found += part
        while len(said) < KEPT_OUTPUT and (part := _read(outputs, KEPT_OUTPUT)):
            said += part[: KEPT_OUTPUT - len(said)]
        if reason == ENDED and (len(found) > largest or printed > self._terms.output_bytes):
            reason = OUTPUT
        return found, said, reason


def _kill(watched: int) -> None:
    with contextlib.suppress(ProcessLookupError):
        signal.pidfd_send_signal(watched, 9)


def _seconds_of(process: int) -> float:
    """CPU seconds of a process so far; 0 once it is gone."""
    with contextlib.suppress(OSError):
        return time.clock_gettime((~process << 3) | 2)
    return 0.0


def _read(descriptor: int, count: int) -> bytes | None:
    try:
        return os.read(descriptor, count)
    except BlockingIOError:
        return None
