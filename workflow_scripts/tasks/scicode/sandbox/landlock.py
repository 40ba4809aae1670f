"""Landlock: a process without namespaces gives up every file but some, for good and for its children.

Applies to root as well. Sizes and dates of other files stay visible, their contents and folders' lists do not.
"""

import ctypes
import os
import struct
from collections.abc import Sequence
from pathlib import Path

from workflow_scripts.tasks.scicode.sandbox.kernel import syscall

_CREATE, _ADD, _RESTRICT = 444, 445, 446
_READ_FILE, _READ_FOLDER = 1 << 2, 1 << 3
_OF_FILES = _READ_FILE | 1 << 1 | 1 << 14 | 1 << 15  # write, truncate, control a device
_ALL = {1: 13, 2: 14, 3: 15, 4: 15}
"""Version of the interface -> how many rights it knows; 16 from the fifth on."""


def version() -> int:
    """Of the kernel's interface; 0 where there is none."""
    try:
        return syscall("landlock", _CREATE, None, ctypes.c_size_t(0), 1)
    except OSError:
        return 0


def keep_only(readable: Sequence[str], writable: Sequence[str]) -> None:
    """From now on this process can read what is below `readable`, and do everything below `writable`.

    Raises OSError where the kernel has no Landlock. `kernel.forbid_new_privileges` comes first.
    """
    every = (1 << _ALL.get(version(), 16)) - 1
    wanted = struct.pack("=Q", every)
    rules = syscall("landlock", _CREATE, wanted, ctypes.c_size_t(len(wanted)), 0)
    try:
        for rights, paths in ((_READ_FILE | _READ_FOLDER, readable), (every, writable)):
            for path in paths:
                _allow(rules, path, rights)
        syscall("landlock", _RESTRICT, rules, 0)
    finally:
        os.close(rules)


def _allow(rules: int, path: str, rights: int) -> None:
    place = os.open(path, os.O_PATH | os.O_CLOEXEC)
    try:
        if not Path(path).is_dir():
            rights &= _OF_FILES
        syscall("landlock", _ADD, rules, 1, struct.pack("=Qi", rights, place), 0)
    finally:
        os.close(place)
