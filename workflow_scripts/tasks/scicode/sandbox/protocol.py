"""How the two sides of the sandbox talk: through pipes, in lengths and texts.

A request is a length and JSON, [source, calls]. A reply is HEADER (bytes of the report, bytes of the output, wait
status, reason, CPU seconds), the report, the output.
"""

import os
import struct

HEADER = struct.Struct("=IIiId")
LENGTH = struct.Struct("=I")
ENDED, CPU, WALL, OUTPUT = range(4)
"""Why a child is gone: by itself, or killed for one of these."""
KEPT_OUTPUT = 10_000
"""Bytes of a program's output that are passed on."""


def receive(descriptor: int, count: int) -> bytes:
    """Exactly so many bytes. Raises EOFError when there are fewer."""
    found = bytearray()
    while len(found) < count:
        if not (part := os.read(descriptor, count - len(found))):
            raise EOFError
        found += part
    return bytes(found)


def send(text: bytes) -> None:
    """All of it to descriptor 1."""
    view = memoryview(text)
    while view:
        view = view[os.write(1, view) :]
