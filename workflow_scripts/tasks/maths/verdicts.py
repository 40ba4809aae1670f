"""Verdicts on maths answers: one closed list of reasons."""

from dataclasses import dataclass
from enum import StrEnum


class Status(StrEnum):
    """The reason of a verdict; `OK` alone is an acceptance, and `WRONG` alone says that the answer is wrong."""

    OK = "OK"
    WRONG = "WRONG"  # both were read, and they differ
    # Nothing to compare
    NO_ANSWER = "NO_ANSWER"  # no box, no marker, no number
    EMPTY = "EMPTY"  # the box, or the text after the marker, holds nothing
    # Refused before reading
    TOO_LONG = "TOO_LONG"  # characters, literals or elements beyond the limits
    TOO_DEEP = "TOO_DEEP"  # brackets inside one another beyond the limit
    TOO_LARGE = "TOO_LARGE"  # a value beyond the limit of magnitude: 9**9**9, 1e30000000
    # Not decided
    UNSUPPORTED = "UNSUPPORTED"  # gold or answer is written in a way that is not read
    TIMEOUT = "TIMEOUT"  # the symbolic worker used up its time
    MEMORY = "MEMORY"  # the symbolic worker used up its memory
    ERROR = "ERROR"  # the symbolic worker failed otherwise


UNDECIDED = frozenset({Status.UNSUPPORTED, Status.TOO_DEEP, Status.TIMEOUT, Status.MEMORY, Status.ERROR})
"""Rejected because nothing could be found out; counted apart from `WRONG` wherever shares are reported."""


class Rejected(Exception):
    """A text that cannot be read or compared.

    status: the named reason.  detail: what and where, in a few words, fit for a person.
    """

    def __init__(self, status: Status, detail: str = ""):
        super().__init__(status, detail)
        self.status = status
        self.detail = detail


@dataclass(slots=True)
class Verdict:
    """What the verifier says of one answer.

    accept: equal to the gold answer.  status: why.  extracted: the answer as written, None where there is none.
    source: where it stood: 'boxed', 'hash', 'marker', 'number', or 'answer' where it was given bare.
    format_ok: it stood in a closed box or after ``####``, right or wrong.
    method: what decided: 'exact' (rationals, roots, polynomials), 'text', 'symbolic' (the worker), '' (nothing).
    detail: for people.
    """

    accept: bool
    status: Status
    extracted: str | None = None
    source: str = ""
    format_ok: bool = False
    method: str = ""
    detail: str = ""
