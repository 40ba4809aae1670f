"""What goes into the sandbox and what comes out."""

import json
from dataclasses import dataclass, fields
from enum import StrEnum
from typing import NamedTuple

from workflow_scripts.records.errors import UserError


class Program(NamedTuple):
    """A module that defines `answer`, and the calls to make of it: encoded lists of positional arguments."""

    source: str
    calls: tuple[str, ...] = ("[]",)


class Status(StrEnum):
    """How a program, or one of its calls, ended."""

    OK = "ok"
    SYNTAX = "syntax"  # does not compile
    NO_ANSWER = "no_answer"  # defines no callable `answer`
    ERROR = "error"  # raised, SystemExit included
    TIMEOUT = "timeout"  # of CPU time, or of the far longer wall time
    MEMORY = "memory"
    OUTPUT = "output"  # printed or returned too much
    KILLED = "killed"  # ended by a signal, or ended itself, without a report


class Returned(NamedTuple):
    """One call: the encoded value where status is OK, else why there is none."""

    status: Status
    value: str | None = None
    error: str = ""


class Outcome(NamedTuple):
    """One program. status: OK when the module ran and defines a callable `answer`; calls may fail on their own.

    calls: one for each of the program's, whatever happened; where the module failed, or a call ended the process, with
    the status of that. seconds: CPU time. output: the beginning of what it printed.
    """

    status: Status
    calls: tuple[Returned, ...]
    error: str = ""
    seconds: float = 0.0
    output: str = ""


@dataclass(frozen=True)
class Limits:
    """What a program may use.

    cpu_seconds: decides; of the module and all of its calls together. wall_seconds: for those that wait. memory_mb: of
    address space, for each process, beyond what the libraries take. output_bytes: printed. value_bytes: of one encoded
    value. file_mb: in the one folder. source_bytes: longer programs do not run. threads: at once. processes: at once;
    1 means that none can be started, and is the only choice without namespaces.
    Raises UserError for what is not positive.
    """

    cpu_seconds: float = 2.0
    wall_seconds: float = 20.0
    memory_mb: int = 512
    file_mb: int = 8
    output_bytes: int = 1 << 20
    value_bytes: int = 4 << 20
    source_bytes: int = 1 << 18
    threads: int = 16
    processes: int = 1

    def __post_init__(self) -> None:
        for field in fields(self):
            value = getattr(self, field.name)
            if isinstance(value, bool) or not isinstance(value, int | float) or not 0 < value < 1 << 40:
                raise UserError(f"the sandbox's {field.name} is {value!r}; it must be a positive number")
            if field.type is int and not isinstance(value, int):
                raise UserError(f"the sandbox's {field.name} is {value!r}; it must be a whole number")


def outcome_of(program: Program, report: bytes, ending: Returned, seconds: float, output: str) -> Outcome:
    """The outcome that a report tells; what it leaves out gets the status and the error of the ending.

    report: lines of JSON, the module's first, then one for each call. It comes from a process in which a program ran,
    so that anything may be in it: it ends where it makes no sense.
    """
    told = _told(report, 1 + len(program.calls))
    ran, *calls = [*told, *[ending] * (1 + len(program.calls) - len(told))]
    if ran.status is not Status.OK:
        calls = [Returned(ran.status, None, ran.error)] * len(program.calls)
    return Outcome(ran.status, tuple(calls), ran.error, seconds, output)


def _told(report: bytes, most: int) -> list[Returned]:
    found = []
    for line in report.split(b"\n", most)[:most]:
        try:
            heard = json.loads(line)
        except (ValueError, RecursionError):
            break
        if not isinstance(heard, list) or len(heard) != 3 or heard[0] not in list(Status):
            break
        status, value, error = Status(heard[0]), *heard[1:]
        if not isinstance(value, str | None) or not isinstance(error, str):
            break
        if found and (status is Status.OK) != (value is not None):
            break
        found.append(Returned(status, value, error[:1000]))
        if found[0].status is not Status.OK:
            break
    return found
