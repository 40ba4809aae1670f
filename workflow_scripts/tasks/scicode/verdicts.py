"""Verdicts on programs: six layers, each only where those before it hold, and one closed list of reasons."""

from enum import StrEnum
from typing import NamedTuple

LAYERS = ("extracted", "parses", "defines", "runs", "typed", "correct")
"""Flags of a verdict in order: a later one holds only where all before it do."""

SHOWN_VALUE = 1000
"""Characters of a returned value that a verdict keeps."""


class Status(StrEnum):
    """The reason of a verdict; `OK` alone is an acceptance. In the order of the layers that they break."""

    OK = "OK"
    # Not extracted
    NO_CODE = "NO_CODE"  # neither a fenced block nor a text that is a program
    EMPTY = "EMPTY"  # nothing is in the block, or in the text
    UNCLOSED_THINK = "UNCLOSED_THINK"  # the think part never ends, and nothing was said before it
    # Does not parse
    SYNTAX = "SYNTAX"
    TOO_LONG = "TOO_LONG"  # characters of the program beyond extraction.LONGEST
    TOO_DEEP = "TOO_DEEP"  # nests deeper than Python's parser goes
    # Does not define answer
    NO_ANSWER = "NO_ANSWER"  # no callable `answer` on the top level
    # Does not run: the module, or one of its calls
    ERROR = "ERROR"
    TIMEOUT = "TIMEOUT"
    MEMORY = "MEMORY"
    OUTPUT = "OUTPUT"  # printed or returned too much
    KILLED = "KILLED"
    # Not the right type
    WRONG_TYPE = "WRONG_TYPE"
    # Not the right value
    WRONG_VALUE = "WRONG_VALUE"
    UNDECIDED = "UNDECIDED"  # it cannot be told whether the value is right; counted as not right


class Verdict(NamedTuple):
    """What is found out about one program.

    status: of the first layer that does not hold, and there of the first call. Layers: `runs` when every call returned,
    `typed` when every value has the right type, `correct` when every check passes. passed, total: checks, all of them
    looked at, whatever the others gave. format_ok: the completion is one closed block and nothing else, with one
    definition of `answer` (see `extraction`). code: the program, None where there is none. value: what the first call
    returned, encoded and cut to SHOWN_VALUE characters, None where it did not. error: why, in a few words.
    """

    status: Status
    extracted: bool = False
    parses: bool = False
    defines: bool = False
    runs: bool = False
    typed: bool = False
    correct: bool = False
    passed: int = 0
    total: int = 0
    format_ok: bool = False
    code: str | None = None
    value: str | None = None
    error: str = ""
