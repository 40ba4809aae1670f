"""The runner's own view of the machine: new namespaces, a root of read-only library folders, one empty folder.

Runs in the runner before it meets any program. As root, the mounts are made first, while every folder can be reached,
then a user namespace whose root is an identity that owns nothing outside; as anybody else, the user namespace first.
"""

import os
from collections.abc import Sequence
from pathlib import Path

from workflow_scripts.tasks.scicode.sandbox import kernel

BOX = "/box"
"""The one folder that a program may write to, its working directory."""
TEMPORARY = "/tmp"
"""Another name of it, unless packages that programs find lie there."""
PROGRAM_ID = 1000
"""The user and group that programs run under, inside the namespace."""

SHOWN, EMPTY = "shown", "empty"

_NAMESPACES = ("user", "mount", "pid", "net", "ipc", "uts", "cgroup")
_FIRST_USER, _USERS = 1_900_000_000, 1 << 23  # above what distributions and containers hand out
DEVICES = ("null", "zero", "full", "random", "urandom")


def enter(shown: Sequence[Sequence[str]], identities: Sequence[int]) -> None:
    """Leave the host: after this only `shown` is there, and the next child is the first process of its namespace.

    shown: (SHOWN or EMPTY, path) in this order: files and folders at
    their own places, and folders below them that are emptied. identities: the users outside that stand for root and
    for programs inside; none where this is not root, and programs have the one identity of the runner.
    Raises OSError where the kernel refuses.
    """
    processes = os.open("/proc", os.O_PATH | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        if not identities:
            user, group = os.geteuid(), os.getegid()
            kernel.unshare(*_NAMESPACES)
            kernel.write_text(processes, "self/setgroups", "deny")
            kernel.write_text(processes, "self/uid_map", kernel.identities({0: (user, 1)}))
            kernel.write_text(processes, "self/gid_map", kernel.identities({0: (group, 1)}))
            _build(shown)
        else:
            kernel.unshare("mount")
            _build(shown)
            _become_nobody(processes, dict(zip((0, PROGRAM_ID), identities)))
    finally:
        os.close(processes)
    kernel.name_host("sandbox")


def identities() -> tuple[int, ...]:
    """Two users that nothing else has, for as long as this process lives; none unless it is root.

    Numbers above those that systems hand out, where this root may use them (in a container it may have fewer).
    """
    if os.geteuid():
        return ()
    lines = [tuple(map(int, line.split())) for line in Path("/proc/self/uid_map").read_text().splitlines()]
    end = max(first + count for first, _, count in lines)
    if end > _FIRST_USER + _USERS:
        first, count = _FIRST_USER, _USERS
    elif end > 60_000:
        first, count = 30_000, 30_000
    else:
        raise PermissionError(f"root has {end} users here, none to spare for programs")
    place = 2 * os.getpid() % count
    return first + place, first + place + 1


def fresh_box(megabytes: int) -> None:
    """A new empty folder, instead of the one that an earlier call mounted."""
    kernel.mount_memory(BOX, size=f"{megabytes}m", nr_inodes=1000, mode="1777")
    os.chdir(BOX)


def drop_box() -> None:
    """Forget the folder and what is in it."""
    os.chdir("/")
    kernel.unmount(BOX)


def _become_nobody(processes: int, outside: dict[int, int]) -> None:
    """Enter the namespaces; a helper that stays outside, and so may, maps their identities."""
    own, (ready, say_ready), (done, say_done) = os.getpid(), os.pipe(), os.pipe()
    helper = os.fork()
    if not helper:
        try:
            os.close(say_ready)
            if os.read(ready, 1):
                text = kernel.identities({inside: (user, 1) for inside, user in outside.items()})
                kernel.write_text(processes, f"{own}/uid_map", text)
                kernel.write_text(processes, f"{own}/gid_map", text)
                os.write(say_done, b"y")
        finally:
            os._exit(0)
    os.close(say_done)
    os.close(ready)
    try:
        kernel.unshare(*_NAMESPACES)
        os.write(say_ready, b"y")
    finally:
        os.close(say_ready)
        mapped = os.read(done, 1)
        os.close(done)
        os.waitpid(helper, 0)
    if not mapped:
        raise PermissionError("the identities of a user namespace could not be set")
    os.setgroups([])
    os.setresgid(0, 0, 0)
    os.setresuid(0, 0, 0)


def _build(shown: Sequence[Sequence[str]]) -> None:
    staging = "/proc"  # a folder that every system has and nothing shown is in
    kernel.keep_mounts_private()
    kernel.mount_memory(staging, size="1m", mode="755")
    for kind, path in shown:
        if kind == EMPTY and Path(staging + path).is_dir():
            kernel.mount_memory(staging + path, size="1m", mode="755")
        elif kind == SHOWN and os.path.lexists(path) and not os.path.lexists(staging + path):
            _show(path, Path(staging + path))
    for name in DEVICES:
        _show(f"/dev/{name}", Path(staging, "dev", name))
    Path(staging + BOX).mkdir()
    if not os.path.lexists(staging + TEMPORARY):  # unless packages lie in it
        Path(staging + TEMPORARY).symlink_to(BOX)
    kernel.pivot(staging)
    kernel.make_read_only("/")


def _show(path: str, place: Path) -> None:
    place.parent.mkdir(parents=True, exist_ok=True)
    if Path(path).is_symlink():
        place.symlink_to(Path(path).readlink())
    elif Path(path).is_dir():
        place.mkdir()
        kernel.bind(path, str(place))
    else:
        place.touch()
        kernel.bind(path, str(place))
