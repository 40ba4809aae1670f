"""Linux calls that Python 3.11 has no names for: namespaces, mounts, process controls. Each raises OSError."""

import ctypes
import mmap
import os
import platform
import resource
import struct
from collections.abc import Mapping

CLONE = {
    "mount": 0x00020000, "cgroup": 0x02000000, "uts": 0x04000000, "ipc": 0x08000000,
    "user": 0x10000000, "pid": 0x20000000, "net": 0x40000000,
}  # fmt: skip
"""Kinds of namespaces and their flags."""

# System calls that glibc does not wrap; those above 424 have one number everywhere.
_NUMBERS = {"x86_64": {"pivot_root": 155, "capset": 126}, "aarch64": {"pivot_root": 41, "capset": 91}}
_MOUNT_SETATTR = 442

_READ_ONLY, _NO_SUID, _NO_DEVICES, _NO_EXEC = 1, 2, 4, 8
_BIND, _RECURSIVE, _PRIVATE = 4096, 16384, 1 << 18
_DETACH = 2
_COLLAPSE, _LARGE_PAGE = 25, 1 << 21
_PARENT_DEATH_SIGNAL, _DUMPABLE, _KEEP_CAPABILITIES, _NO_NEW_PRIVILEGES = 1, 4, 8, 38
_SECCOMP, _SECCOMP_FILTER = 22, 2

_CAPABILITIES_OF_SELF = struct.pack("=Ii", 0x20080522, 0)
_READING = struct.pack("=6I", 1 << 2, 1 << 2, 0, 0, 0, 0)  # effective, permitted: CAP_DAC_READ_SEARCH

_libc = ctypes.CDLL(None, use_errno=True)


def _called(result: int, what: str) -> int:
    if result < 0:
        number = ctypes.get_errno()
        raise OSError(number, f"{what}: {os.strerror(number)}")
    return result


def syscall(name: str, number: int | None, *values: object) -> int:
    """A system call by its number; name: for the message."""
    if number is None:
        raise OSError(f"{name}: unknown on {platform.machine()}")
    return _called(_libc.syscall(ctypes.c_long(number), *values), name)


def unshare(*kinds: str) -> None:
    """Leave the namespaces of these kinds for new ones; of `pid`, the next child is the first in the new one."""
    _called(_libc.unshare(sum(CLONE[kind] for kind in kinds)), f"unshare {' '.join(kinds)}")


def enter_pid(descriptor: int) -> None:
    """Children from now on are in the process namespace that the descriptor names."""
    _called(_libc.setns(descriptor, CLONE["pid"]), "setns")


def keep_mounts_private() -> None:
    """What is mounted from now on is seen in this mount namespace alone."""
    _called(_libc.mount(b"none", b"/", None, ctypes.c_ulong(_RECURSIVE | _PRIVATE), None), "mount --make-rprivate /")


def mount_memory(target: str, **options: object) -> None:
    """An empty file system in memory; options: size, nr_inodes, mode."""
    text = ",".join(f"{key}={value}" for key, value in options.items())
    flags = ctypes.c_ulong(_NO_SUID | _NO_DEVICES | _NO_EXEC)
    _called(_libc.mount(b"tmpfs", os.fsencode(target), b"tmpfs", flags, text.encode()), f"mount tmpfs on {target}")


def bind(source: str, target: str) -> None:
    """Show a file or folder at a second place, with what is mounted below it."""
    flags = ctypes.c_ulong(_BIND | _RECURSIVE)
    _called(_libc.mount(os.fsencode(source), os.fsencode(target), None, flags, None), f"bind {source}")


def make_read_only(target: str) -> None:
    """Nothing in the mounted target, nor in what is mounted below it, can be written, or gives rights."""
    wanted = (ctypes.c_uint64 * 4)(_READ_ONLY | _NO_SUID, 0, 0, 0)
    size = ctypes.c_size_t(ctypes.sizeof(wanted))
    syscall("mount_setattr", _MOUNT_SETATTR, -100, os.fsencode(target), 0x8000, ctypes.byref(wanted), size)


def unmount(target: str) -> None:
    """Take a mount off, busy or not."""
    _called(_libc.umount2(os.fsencode(target), _DETACH), f"umount {target}")


def pivot(root: str) -> None:
    """Make a mounted folder the root, and let go of the old one."""
    os.chdir(root)
    syscall("pivot_root", _NUMBERS.get(platform.machine(), {}).get("pivot_root"), b".", b".")
    unmount(".")
    os.chdir("/")


def name_host(name: str) -> None:
    """The host's name in this namespace."""
    _called(_libc.sethostname(name.encode(), ctypes.c_size_t(len(name))), "sethostname")


def die_with_parent() -> None:
    """SIGKILL for this process when the thread that started it ends."""
    _called(_libc.prctl(_PARENT_DEATH_SIGNAL, ctypes.c_ulong(9), 0, 0, 0), "prctl")


def forbid_new_privileges() -> None:
    """No exec gives this process more rights, and others of its user may not look into it."""
    _called(_libc.prctl(_NO_NEW_PRIVILEGES, ctypes.c_ulong(1), 0, 0, 0), "prctl")


def hide_memory() -> None:
    """Other processes of the same user may not trace this one."""
    _called(_libc.prctl(_DUMPABLE, ctypes.c_ulong(0), 0, 0, 0), "prctl")


def keep_capabilities() -> None:
    """The next change of user leaves them."""
    _called(_libc.prctl(_KEEP_CAPABILITIES, ctypes.c_ulong(1), 0, 0, 0), "prctl")


def drop_capabilities(*, but_reading: bool = False) -> None:
    """Give up every capability, for good once `forbid_new_privileges` was called; but_reading: save that of reading
    files that belong to others."""
    number = _NUMBERS.get(platform.machine(), {}).get("capset")
    syscall("capset", number, _CAPABILITIES_OF_SELF, _READING if but_reading else bytes(24))


def wait(child: int, page: mmap.mmap) -> None:
    """Until the child has ended; the kernel writes its status, and from byte 8 on its use of resources, to the page."""
    place = ctypes.addressof(ctypes.c_char.from_buffer(page))
    _called(_libc.wait4(child, ctypes.c_void_p(place), 0, ctypes.c_void_p(place + 8)), "wait4")


def filter_calls(program: ctypes.Structure) -> None:
    """Install a seccomp filter; `forbid_new_privileges` comes first."""
    _called(_libc.prctl(_SECCOMP, ctypes.c_ulong(_SECCOMP_FILTER), ctypes.byref(program), 0, 0), "seccomp")


def address_space() -> int:
    """Bytes of address space that this process takes, to the next MiB: the least limit under which it can have more.

    Asked of the limit itself, as there need not be a /proc.
    """
    soft, hard = resource.getrlimit(resource.RLIMIT_AS)
    low, high = 0, 1 << 47
    while high - low > 1 << 20:
        middle = (low + high) // 2
        resource.setrlimit(resource.RLIMIT_AS, (middle, hard))
        try:
            mmap.mmap(-1, mmap.PAGESIZE).close()
            high = middle
        except (OSError, MemoryError):
            low = middle
        finally:
            resource.setrlimit(resource.RLIMIT_AS, (soft, hard))
    return high


def use_large_pages(maps: str) -> None:
    """Move this process's writable memory to pages of 2 MiB, which makes it cheaper to fork; a no-op before Linux 6.1.

    maps: the text of /proc/self/maps.
    """
    for line in maps.splitlines():
        place, rights, _, _, _, *name = line.split()
        start, end = (int(edge, 16) for edge in place.split("-"))
        start, end = -(-start // _LARGE_PAGE) * _LARGE_PAGE, end // _LARGE_PAGE * _LARGE_PAGE
        if rights.startswith("rw") and name in ([], ["[heap]"]) and start < end:
            _libc.madvise(ctypes.c_void_p(start), ctypes.c_size_t(end - start), _COLLAPSE)


def write_text(folder: int, name: str, text: str) -> None:
    """Write a file of an opened folder in one call, as the files of /proc want it."""
    descriptor = os.open(name, os.O_WRONLY | os.O_CLOEXEC, dir_fd=folder)
    try:
        os.write(descriptor, text.encode())
    finally:
        os.close(descriptor)


def identities(mapped: Mapping[int, tuple[int, int]]) -> str:
    """The text of a uid_map: first identity inside -> (first outside, how many)."""
    return "".join(f"{inside} {outside} {count}\n" for inside, (outside, count) in mapped.items())
