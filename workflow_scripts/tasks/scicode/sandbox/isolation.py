"""What keeps a program in, and which of the choices this machine allows.

namespaces: the kernel's own, see `namespaces`. bubblewrap: the same view of the machine from `bwrap`, for machines that
allow that program what they refuse others. process: limits, a filter of system calls, Landlock where the kernel has it,
another user where this one is root; without Landlock a program can read and write what that user can.
"""

import functools
import os
import shutil
import sys
import sysconfig
from collections.abc import Sequence
from importlib.util import find_spec
from pathlib import Path
from typing import NamedTuple

from workflow_scripts.tasks.scicode.sandbox.namespaces import BOX, DEVICES, EMPTY, SHOWN, TEMPORARY

CHOICES = ("namespaces", "bubblewrap", "process")
"""From the strongest to the weakest."""

PACKAGES = ("numpy", "scipy", "sympy", "mpmath", "gmpy2")
"""Packages that programs find, those that are installed."""

_LIBRARIES = ("/lib", "/lib64", "/lib32", "/usr/lib", "/usr/lib64", "/nix/store", "/etc/ld.so.cache")


class Isolation(NamedTuple):
    """What is in force. stops, leaves: in words. reason: why nothing stronger is in force, or empty."""

    name: str
    stops: tuple[str, ...]
    leaves: tuple[str, ...]
    reason: str = ""


def described(name: str, *, files: bool, reason: str) -> Isolation:
    """What an isolation of that name stops, and what it does not. files: whether those outside are out of reach."""
    root = os.geteuid() == 0
    stops = ["environment", "memory, CPU and wall time, output, file size", "network", "signals to other processes"]
    leaves = ["the kernel"]
    if name == "process":
        stops.append("further processes")
        leaves += ["names, sizes and dates of files", "the list of processes", "the size of its folder"]
    if files:
        stops.append("files")
    else:
        leaves.append(f"files that {'everybody' if root else 'this user'} may read or write, those of /proc among them")
    if not root and name == "process":
        leaves.append("the name of this user")
    elif root and name == "bubblewrap":
        leaves.append("the name of root, without its rights")
    else:
        stops.append("the rights of this user")
    return Isolation(name, tuple(stops), tuple(leaves), reason)


@functools.cache
def shown() -> tuple[tuple[str, str], ...]:
    """The interpreter's library, the system's, and PACKAGES, for `namespaces.enter`; no other package is in view."""
    paths = sysconfig.get_paths(vars={"base": sys.base_prefix, "platbase": sys.base_prefix})
    standard = {paths["stdlib"], paths["platstdlib"], f"{sys.base_prefix}/lib"}
    standard |= {os.path.realpath(path) for path in standard}
    hidden = {
        f"{folder}/{name}" for folder in (*standard, "/usr/lib/python3") for name in ("site-packages", "dist-packages")
    }
    plan = [(SHOWN, path) for path in (*_LIBRARIES, *sorted(standard, key=len)) if os.path.lexists(path)]
    plan += [(EMPTY, path) for path in sorted(hidden) if Path(path).is_dir()]
    return (*plan, *((SHOWN, path) for path in packages()))


@functools.cache
def packages() -> tuple[str, ...]:
    """Files and folders of PACKAGES, with the shared libraries that their wheels bring."""
    found = []
    for name in PACKAGES:
        spec = find_spec(name)
        if spec is None or spec.origin is None:
            continue
        place = Path(spec.origin)
        place = place.parent if spec.submodule_search_locations else place
        found += [str(path) for path in (place, place.parent / f"{name}.libs") if path.exists()]
    return tuple(found)


def search_path() -> list[str]:
    """Folders that hold PACKAGES, for the interpreter inside."""
    return list(dict.fromkeys(str(Path(path).parent) for path in packages()))


def bubblewrap(sources: Sequence[str], megabytes: int) -> list[str]:
    """The command that puts another into the same view of the machine, where this interpreter and these files are, too.

    There is no /proc in it: the pipes to this side could be opened there. megabytes: of the one folder.
    Raises OSError where bwrap is not installed.
    """
    program = shutil.which("bwrap")
    if program is None:
        raise OSError("bwrap is not installed")
    command = [program, "--unshare-all", "--new-session", "--cap-drop", "ALL"]
    command += ["--uid", "1000", "--gid", "1000", "--hostname", "sandbox"]
    for kind, path in (*shown(), (SHOWN, os.path.realpath(sys.executable)), *((SHOWN, path) for path in sources)):
        if kind == EMPTY:
            command += ["--tmpfs", path]
        elif Path(path).is_symlink():
            command += ["--symlink", str(Path(path).readlink()), path]
        else:
            command += ["--ro-bind", path, path]
    for name in DEVICES:
        command += ["--dev-bind", f"/dev/{name}", f"/dev/{name}"]
    command += ["--size", str(megabytes << 20), "--tmpfs", BOX]
    if not any(Path(path).is_relative_to(TEMPORARY) for path in command):
        command += ["--symlink", BOX, TEMPORARY]
    command += ["--remount-ro", "/", "--chdir", BOX]
    return [*command, os.path.realpath(sys.executable)]
