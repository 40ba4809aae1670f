"""The loop of the sandbox's process: one child for each request, watched until nothing of it is left.

The child reads its request, so that nothing of one program is in the memory that another starts with. Reports are not
looked into here.
"""

import contextlib
import gc
import json
import os
import platform
import resource
import select
import shutil
import time
from dataclasses import dataclass
from pathlib import Path

from workflow_scripts.tasks.scicode.sandbox import filters, kernel, namespaces, programs
from workflow_scripts.tasks.scicode.sandbox.protocol import (
    CPU,
    ENDED,
    HEADER,
    KEPT_OUTPUT,
    LENGTH,
    OUTPUT,
    WALL,
    receive,
    send,
)

_SLACK = 32 << 20
_DESCRIPTORS = 64


@dataclass(frozen=True)
class Terms:
    """What every program gets; fields as in `Limits`, and base: bytes of address space that the libraries take."""

    cpu_seconds: float
    wall_seconds: float
    memory_mb: int
    file_mb: int
    output_bytes: int
    value_bytes: int
    processes: int
    threads: int
    base: int = 0


class Server:
    """Serves requests from descriptor 0 to descriptor 1.

    user: what programs run under; None for that of this process. own_processes: a descriptor of this process
    namespace, where each program gets one of its own, and a folder mounted for it; None where that is not possible.
    reading: whether programs keep root's right to read files. parent: a descriptor of the process to end with, or None.
    """

    def __init__(
        self, terms: Terms, *, user: int | None, own_processes: int | None, reading: bool, parent: int | None
    ) -> None:
        self._terms, self._user, self._own_processes, self._reading = terms, user, own_processes, reading
        self._nothing = os.open("/dev/null", os.O_RDONLY | os.O_CLOEXEC)
        self._ends = select.poll()
        self._ends.register(0, select.POLLIN)
        if parent is not None:
            self._ends.register(parent, select.POLLIN)
        self._filter = None
        if filters.available():
            self._filter = filters.CallFilter(single=terms.processes == 1, alone=own_processes is None)
        elif own_processes is None:
            raise OSError(f"system calls cannot be filtered on {platform.machine()}")
        self._fresh: tuple[int, int] | None = None

    def serve(self) -> None:
        """Until the requests, or the parent, end."""
        kernel.forbid_new_privileges()
        if self._filter is not None:
            kernel.filter_calls(self._filter.shared())
        self._clean()
        gc.collect()
        gc.freeze()
        gc.disable()
        while True:
            ready = dict(self._ends.poll())
            if set(ready) != {0} or not ready[0] & select.POLLIN:
                return
            report, output, status, reason, seconds = self._child()
            send(HEADER.pack(len(report), len(output), status, reason, seconds) + report + output)
            self._clean()

    def _clean(self) -> None:
        """An empty folder for the next program: a new one where the last one left anything in it, or changed it."""
        if self._own_processes is not None:
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

    def _child(self) -> tuple[bytes, bytes, int, int, float]:
        (reports, report), (outputs, output) = os.pipe2(os.O_CLOEXEC | os.O_NONBLOCK), os.pipe2(os.O_CLOEXEC)
        os.set_blocking(report, True)
        os.set_blocking(outputs, False)
        if self._own_processes is not None:
            kernel.enter_pid(self._own_processes)
            kernel.unshare("pid")
        child = os.fork()
        if not child:
            try:
                self._become_program(report, output)
            finally:
                os._exit(1)
        os.close(report)
        os.close(output)
        watched = os.pidfd_open(child)
        try:
            found, said, reason = self._watch(child, watched, reports, outputs)
            _, status, usage = os.wait4(child, 0)
        finally:
            for descriptor in (watched, reports, outputs):
                os.close(descriptor)
        return bytes(found), bytes(said), status, reason, usage.ru_utime + usage.ru_stime

    def _watch(self, child: int, watched: int, reports: int, outputs: int) -> tuple[bytearray, bytearray, int]:
        """Read along until the child is gone, which the kernel tells when all that it started is gone, too."""
        poll = select.poll()
        for descriptor in (watched, reports, outputs):
            poll.register(descriptor, select.POLLIN)
        poll.register(0, 0)  # tells when nobody waits for the reply any more
        found, said, printed, reason = bytearray(), bytearray(), 0, ENDED
        deadline = time.monotonic() + self._terms.wall_seconds
        largest = 2 * self._terms.value_bytes + (1 << 16)
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
                os.kill(child, 9)
            # Threads on two cores use up what is left in half the time.
            for descriptor, _ in poll.poll(1000 * max(0.005, min(left / 2, deadline - time.monotonic()))):
                if descriptor == watched:
                    alive = False
                    continue
                if descriptor == 0:
                    os.kill(child, 9)
                    poll.unregister(0)
                    continue
                while part := _read(descriptor, 1 << 18):
                    if descriptor == reports:
                        found += part
                    else:
                        printed += len(part)
                        said += part[: max(0, KEPT_OUTPUT - len(said))]
                    if len(found) > largest or printed > self._terms.output_bytes:
                        break
                if part == b"":
                    poll.unregister(descriptor)
        while len(found) <= largest and (part := _read(reports, 1 << 18)):
            found += part
        while len(said) < KEPT_OUTPUT and (part := _read(outputs, KEPT_OUTPUT)):
            said += part[: KEPT_OUTPUT - len(said)]
        if reason == ENDED and (len(found) > largest or printed > self._terms.output_bytes):
            reason = OUTPUT
        return found, said, reason

    def _become_program(self, report: int, output: int) -> None:
        source, calls = json.loads(receive(0, *LENGTH.unpack(receive(0, LENGTH.size))))
        os.dup2(self._nothing, 0)
        os.dup2(output, 1)
        os.dup2(output, 2)
        os.dup2(report, 3)
        os.closerange(4, 1024)
        self._limit()
        if self._reading:
            kernel.keep_capabilities()
        if self._user is not None:
            os.setgroups([])
            os.setresgid(self._user, self._user, self._user)
            os.setresuid(self._user, self._user, self._user)
        if self._user is None or self._reading:
            kernel.drop_capabilities(but_reading=self._reading)
        if self._own_processes is None:
            kernel.die_with_parent()
        if self._filter is not None:
            kernel.filter_calls(self._filter.program(os.getpid()))
        gc.enable()
        programs.run(source, calls, 3, largest=self._terms.value_bytes, memory=_SLACK)

    def _limit(self) -> None:
        terms = self._terms
        seconds = int(terms.cpu_seconds) + 2  # a second line: it counts in whole seconds
        space = terms.base + (terms.memory_mb << 20)
        size = terms.file_mb << 20
        for what, soft, hard in (
            (resource.RLIMIT_CPU, seconds, seconds),
            (resource.RLIMIT_AS, space, space + _SLACK),
            (resource.RLIMIT_FSIZE, size, size),
            (resource.RLIMIT_NOFILE, _DESCRIPTORS, _DESCRIPTORS),
            (resource.RLIMIT_CORE, 0, 0),
            (resource.RLIMIT_MEMLOCK, 0, 0),
        ):
            resource.setrlimit(what, (soft, hard))
        if self._user is not None or self._own_processes is not None:
            # Counted by user, of whom this process may be one.
            tasks = terms.processes * terms.threads + 2
            resource.setrlimit(resource.RLIMIT_NPROC, (tasks, tasks))


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
