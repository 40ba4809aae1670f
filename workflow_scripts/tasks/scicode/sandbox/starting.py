"""The process that programs are forked from, and what a fork does before it runs one.

A program inherits this process's memory and sees its frames. So nothing of any program may enter it: no source, call,
report, output or file name, and not even how one ended. The child reads its request itself; the rest is `serving`'s,
another process, which made the pipes and is nobody's parent but this one's.
"""

import gc
import json
import mmap
import os
import platform
import resource
import select
import socket
import struct
from dataclasses import dataclass

from workflow_scripts.tasks.scicode.sandbox import filters, kernel, programs
from workflow_scripts.tasks.scicode.sandbox.namespaces import BOX
from workflow_scripts.tasks.scicode.sandbox.protocol import LENGTH, receive

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


class Ending:
    """How the last program ended, written by the kernel into a page that the two processes share and no program has."""

    def __init__(self) -> None:
        self._page = mmap.mmap(-1, mmap.PAGESIZE)

    def hide(self) -> None:
        """Children of this process do not get the page."""
        self._page.madvise(mmap.MADV_DONTFORK)

    def wait(self, child: int) -> None:
        """For a child of this process, which does not get to know how it ended."""
        kernel.wait(child, self._page)

    def told(self) -> tuple[int, float]:
        """Wait status and CPU seconds."""
        status, user, more_user, system, more_system = struct.unpack_from("=i4x4q", self._page)
        return status, user + system + (more_user + more_system) / 1e6


def confine(terms: Terms, *, alone: bool) -> filters.CallFilter | None:
    """Refuse this process the calls that nothing in the sandbox needs. Returns the filter that programs get, too.

    alone: whether programs share the process namespace of others. Raises OSError where they do and there is no filter.
    """
    kernel.forbid_new_privileges()
    if not filters.available():
        if alone:
            raise OSError(f"system calls cannot be filtered on {platform.machine()}")
        return None
    refused = filters.CallFilter(single=terms.processes == 1, alone=alone)
    kernel.filter_calls(refused.shared())
    return refused


class Starter:
    """Forks a program for each request on descriptor 0, which it leaves unread.

    On its channel it gets a byte and two descriptors, for the next program's report and output, and tells that one's
    number with a descriptor of it once it runs, then a byte once it is gone.
    user: what programs run under; None for that of this process. own_processes: a descriptor of this process
    namespace, where each program gets one of its own, and BOX as its folder; None where that is not possible.
    reading: whether programs keep root's right to read files.
    """

    def __init__(
        self,
        terms: Terms,
        channel: socket.socket,
        ending: Ending,
        *,
        user: int | None,
        own_processes: int | None,
        reading: bool,
    ) -> None:
        self._terms, self._channel, self._ending = terms, channel, ending
        self._user, self._own_processes, self._reading = user, own_processes, reading
        self._filter = confine(terms, alone=own_processes is None)
        ending.hide()

    def serve(self) -> None:
        """Until the requests, or the other side, end."""
        gc.collect()
        gc.freeze()
        gc.disable()
        ends = select.poll()
        ends.register(0, select.POLLIN)
        ends.register(self._channel, 0)
        self._channel.send(b".")
        while descriptors := socket.recv_fds(self._channel, 1, 2)[1]:
            ready = dict(ends.poll())
            if set(ready) != {0} or not ready[0] & select.POLLIN:
                return
            if self._own_processes is not None:
                kernel.enter_pid(self._own_processes)
                kernel.unshare("pid")
            child = os.fork()
            if not child:
                try:
                    self._become_program(*descriptors)
                finally:
                    os._exit(1)
            watched = os.pidfd_open(child)
            socket.send_fds(self._channel, [LENGTH.pack(child)], [watched])
            for descriptor in (watched, *descriptors):
                os.close(descriptor)
            self._ending.wait(child)
            self._channel.send(b".")

    def _become_program(self, report: int, output: int) -> None:
        source, calls = json.loads(receive(0, *LENGTH.unpack(receive(0, LENGTH.size))))
        # Opened for each: what a program sets on it, others would find.
        os.dup2(os.open("/dev/null", os.O_RDONLY), 0)
        os.dup2(output, 1)
        os.dup2(output, 2)
        os.dup2(report, 3)
        os.closerange(4, 1024)
        if self._own_processes is not None:
            os.chdir(BOX)
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
            # Counted by user, of whom the processes that serve may be.
            tasks = terms.processes * terms.threads + 3
            resource.setrlimit(resource.RLIMIT_NPROC, (tasks, tasks))
