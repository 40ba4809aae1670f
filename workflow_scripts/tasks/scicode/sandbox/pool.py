"""The sandbox as its users see it: a few processes, one program at a time in each."""

import os
import re
import selectors
import sys
import threading
import warnings
from collections import deque
from collections.abc import Mapping, Sequence
from itertools import takewhile
from typing import Any, Self

from workflow_scripts.records.errors import UserError
from workflow_scripts.tasks.scicode.sandbox.isolation import CHOICES, Isolation, described
from workflow_scripts.tasks.scicode.sandbox.outcomes import Limits, Outcome, Program, Returned, Status
from workflow_scripts.tasks.scicode.sandbox.worker import Worker

HELD = 64 << 20
"""Bytes of values with which a run ends, as programs return what they like."""

_LIBRARIES = {
    "plain": (
        "math", "cmath", "random", "fractions", "decimal", "statistics", "collections", "itertools", "functools",
        "heapq", "bisect", "operator", "dataclasses", "typing", "enum", "string", "re", "copy", "datetime", "time",
        "json",
    ),
    "numpy": ("numpy", "numpy.linalg", "numpy.random"),
    "sympy": ("sympy",),
    "scipy": ("scipy.integrate", "scipy.linalg", "scipy.optimize", "scipy.special"),
}  # fmt: skip
"""What is loaded before a program that mentions a library; each has those above it, too."""
_ORDER = tuple(_LIBRARIES)
_TRIES = 2
_MENTIONED = re.compile(r"\b(numpy|sympy|scipy)\b")


class Sandbox:
    """Runs programs; a context manager, for the process that opens it. Threads take turns.

    limits: for each program. workers: programs at once. isolation: one of isolation.CHOICES, or `auto` for the
    strongest that this machine allows, with a warning where that is `process`.
    Raises UserError where the isolation asked for does not work here.
    """

    def __init__(self, limits: Limits | None = None, workers: int = 2, isolation: str = "auto") -> None:
        if isolation not in ("auto", *CHOICES):
            raise UserError(f"isolation is {isolation!r}; choose from auto, {', '.join(CHOICES)}")
        if workers < 1:
            raise UserError(f"the sandbox has {workers} workers; it needs at least 1")
        self.limits = limits or Limits()
        self._slots: list[dict[str, Worker]] = [{} for _ in range(workers)]
        self._owner, self._turn = os.getpid(), threading.Lock()
        self.isolation = self._chosen(CHOICES if isolation == "auto" else (isolation,))

    def _chosen(self, names: Sequence[str]) -> Isolation:
        refused = []
        for name in names:
            if name != "namespaces" and self.limits.processes > 1:
                refused.append(f"{name}: programs of more than one process need namespaces")
                continue
            try:
                worker = self._slots[0]["plain"] = Worker(name, _libraries("plain"), self.limits)
            except OSError as error:
                refused.append(f"{name}: {error}")
                continue
            chosen = described(name, files=worker.files, reason="; ".join(refused))
            if name == "process":
                warnings.warn(
                    f"programs run with weaker isolation ({chosen.reason or 'as asked for'}); they can reach: "
                    f"{', '.join(chosen.leaves)}",
                    RuntimeWarning,
                    stacklevel=3,
                )
            return chosen
        raise UserError(f"programs cannot be isolated on this machine; {'; '.join(refused)}")

    def run(self, programs: Sequence[Program]) -> list[Outcome]:
        """Outcomes in order; equal programs are run once.

        Of the first programs alone, at least one, where their values are more than HELD: ask again for the others.
        Raises UserError in a process that did not open this.
        """
        if os.getpid() != self._owner:
            raise UserError("a sandbox serves the process that opened it; open another in this one")
        distinct = list(dict.fromkeys(programs))
        known: dict[Program, Outcome] = {}
        waiting = deque()
        for program in distinct:
            if len(program.source.encode(errors="replace")) > self.limits.source_bytes:
                reason = Returned(Status.OUTPUT, None, f"the program is longer than {self.limits.source_bytes} bytes")
                known[program] = Outcome(reason.status, (reason,) * len(program.calls), reason.error)
            else:
                waiting.append((program, _TRIES))
        with self._turn:
            self._work(waiting, known)
        return [known[program] for program in takewhile(known.__contains__, programs)]

    def _work(self, waiting: deque[tuple[Program, int]], known: dict[Program, Outcome]) -> None:
        with selectors.DefaultSelector() as selector:
            try:
                self._take_turns(waiting, known, selector)
            except BaseException:  # their replies would be taken for those to the next requests
                for slot, kind, _, _ in [key.data for key in selector.get_map().values()]:
                    if worker := self._slots[slot].pop(kind, None):
                        worker.stop()
                raise

    def _take_turns(self, waiting, known, selector) -> None:
        idle, held = list(range(len(self._slots))), 0
        while True:
            # One that lost its process is among the first, of which all get an outcome.
            while waiting and idle and (held <= HELD or waiting[0][1] < _TRIES):
                program, tries = waiting.popleft()
                slot, kind = idle.pop(), _kind(program)
                worker = self._worker(slot, kind)
                selector.register(worker, selectors.EVENT_READ, (slot, kind, program, tries))
                try:
                    worker.send(program)
                except BrokenPipeError:
                    selector.unregister(worker)
                    self._lose(slot, kind, program, tries, waiting, known)
                    idle.append(slot)
            if len(idle) == len(self._slots):
                return
            for key, _ in selector.select():
                slot, kind, program, tries = key.data
                try:
                    known[program] = key.fileobj.receive(program)
                    held += sum(sys.getsizeof(call.value) for call in known[program].calls)
                except EOFError:
                    self._lose(slot, kind, program, tries, waiting, known)
                selector.unregister(key.fileobj)
                idle.append(slot)

    def _worker(self, slot: int, kind: str) -> Worker:
        if kind not in self._slots[slot]:
            self._slots[slot][kind] = Worker(self.isolation.name, _libraries(kind), self.limits)
        return self._slots[slot][kind]

    def _lose(self, slot, kind, program, tries, waiting, known) -> None:
        """A process of the sandbox ended, from outside as far as one can tell: its program gets another."""
        self._slots[slot].pop(kind).stop()
        if tries > 1:
            waiting.appendleft((program, tries - 1))
        else:
            reason = Returned(Status.KILLED, None, "the sandbox ended while it ran")
            known[program] = Outcome(reason.status, (reason,) * len(program.calls), reason.error)

    def close(self) -> None:
        """End every process of the sandbox."""
        for slot in self._slots:
            while slot:
                slot.popitem()[1].stop()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


def limited(limits: Mapping[str, Any], workers: int = 2) -> Sandbox:
    """The sandbox that a config's `scicode.limits` describes: seconds, memory_mb, isolation."""
    given = Limits(cpu_seconds=limits["seconds"], memory_mb=limits["memory_mb"])
    return Sandbox(given, workers=workers, isolation=limits["isolation"])


def _kind(program: Program) -> str:
    """The libraries to have ready: a guess from words; what is not loaded yet a program can still import."""
    found = set(_MENTIONED.findall(program.source))
    if any('"$expr"' in call for call in program.calls):
        found.add("sympy")
    return max(found, key=_ORDER.index, default="plain")


def _libraries(kind: str) -> tuple[str, ...]:
    return tuple(name for other in _ORDER[: _ORDER.index(kind) + 1] for name in _LIBRARIES[other])
