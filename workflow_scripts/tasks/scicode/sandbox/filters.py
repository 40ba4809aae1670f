"""Seccomp filters: system calls that no scientific program needs, refused with EPERM.

A second line behind the namespaces, and the first where there are none. Tables for x86-64 and 64-bit ARM; elsewhere
there is no filter, and `Isolation` says so.
"""

import ctypes
import os
import platform
import struct

# audit name of the architecture, then system call -> number
_MACHINES = {
    "x86_64": (
        0xC000003E,
        {
            "clone": 56, "prctl": 157, "fork": 57, "vfork": 58, "execve": 59, "execveat": 322, "clone3": 435,
            "kill": 62, "tkill": 200, "tgkill": 234, "rt_sigqueueinfo": 129, "rt_tgsigqueueinfo": 297,
            "prlimit64": 302, "sched_setaffinity": 203, "sched_setscheduler": 144, "sched_setparam": 142,
            "sched_setattr": 314, "setpriority": 141, "ioprio_set": 251, "setpgid": 109, "process_madvise": 440,
            "socket": 41, "ptrace": 101, "process_vm_readv": 310, "process_vm_writev": 311, "kcmp": 312,
            "shmget": 29, "shmat": 30, "semget": 64, "msgget": 68, "mq_open": 240,
            "mount": 165, "umount2": 166, "pivot_root": 155, "chroot": 161, "unshare": 272, "setns": 308,
            "keyctl": 250, "add_key": 248, "request_key": 249, "bpf": 321, "perf_event_open": 298,
            "userfaultfd": 323, "init_module": 175, "finit_module": 313, "delete_module": 176, "kexec_load": 246,
            "kexec_file_load": 320, "reboot": 169, "swapon": 167, "swapoff": 168, "open_by_handle_at": 304,
            "name_to_handle_at": 303, "personality": 135, "memfd_create": 319, "acct": 163, "syslog": 103,
            "ioperm": 173, "iopl": 172, "settimeofday": 164, "clock_settime": 227, "modify_ldt": 154, "quotactl": 179,
            "chmod": 90, "fchmod": 91, "fchmodat": 268, "chown": 92, "fchown": 93, "lchown": 94, "fchownat": 260,
            "utime": 132, "utimes": 235, "futimesat": 261, "utimensat": 280, "setxattr": 188, "lsetxattr": 189,
            "fsetxattr": 190, "removexattr": 197, "lremovexattr": 198, "fremovexattr": 199,
        },
    ),
    "aarch64": (
        0xC00000B7,
        {
            "clone": 220, "prctl": 167, "execve": 221, "execveat": 281, "clone3": 435,
            "kill": 129, "tkill": 130, "tgkill": 131, "rt_sigqueueinfo": 138, "rt_tgsigqueueinfo": 240,
            "prlimit64": 261, "sched_setaffinity": 122, "sched_setscheduler": 119, "sched_setparam": 118,
            "sched_setattr": 274, "setpriority": 140, "ioprio_set": 30, "setpgid": 154, "process_madvise": 440,
            "socket": 198, "ptrace": 117, "process_vm_readv": 270, "process_vm_writev": 271, "kcmp": 272,
            "shmget": 194, "shmat": 196, "semget": 190, "msgget": 186, "mq_open": 180,
            "mount": 40, "umount2": 39, "pivot_root": 41, "chroot": 51, "unshare": 97, "setns": 268,
            "keyctl": 219, "add_key": 217, "request_key": 218, "bpf": 280, "perf_event_open": 241,
            "userfaultfd": 282, "init_module": 105, "finit_module": 273, "delete_module": 106, "kexec_load": 104,
            "kexec_file_load": 294, "reboot": 142, "swapon": 224, "swapoff": 225, "open_by_handle_at": 265,
            "name_to_handle_at": 264, "personality": 92, "memfd_create": 279, "acct": 89, "syslog": 116,
            "settimeofday": 170, "clock_settime": 112, "quotactl": 60,
            "fchmod": 52, "fchmodat": 53, "fchown": 55, "fchownat": 54, "utimensat": 88, "setxattr": 5, "lsetxattr": 6,
            "fsetxattr": 7, "removexattr": 14, "lremovexattr": 15, "fremovexattr": 16,
        },
    ),
}  # fmt: skip
_EVERYWHERE = {
    "pidfd_send_signal": 424, "io_uring_setup": 425, "io_uring_enter": 426, "io_uring_register": 427, "open_tree": 428,
    "move_mount": 429, "fsopen": 430, "fsconfig": 431, "fsmount": 432, "fspick": 433, "pidfd_getfd": 438,
    "mount_setattr": 442, "memfd_secret": 447, "fchmodat2": 452,
}  # fmt: skip
_STARTING = ("fork", "vfork", "execve", "execveat")
_SIGNALLING = ("kill", "tkill", "tgkill", "rt_sigqueueinfo", "rt_tgsigqueueinfo")
_OWN_ALONE = (
    "prlimit64", "sched_setaffinity", "sched_setscheduler", "sched_setparam", "sched_setattr", "process_madvise",
)  # fmt: skip
# Of files, which Landlock does not guard
_MARKING = (
    "chmod", "fchmod", "fchmodat", "fchmodat2", "chown", "fchown", "lchown", "fchownat", "utime", "utimes", "futimesat",
    "utimensat", "setxattr", "lsetxattr", "fsetxattr", "removexattr", "lremovexattr", "fremovexattr",
)  # fmt: skip
_OTHERS = (*_SIGNALLING, *_OWN_ALONE, *_MARKING, "setpriority", "ioprio_set", "setpgid", "pidfd_send_signal")
_SERVING = ("mount", "umount2", "unshare", "setns")

_LOAD, _EQUAL, _AT_LEAST, _ANY_BIT, _GIVE = 0x20, 0x15, 0x35, 0x45, 0x06
_NUMBER, _MACHINE, _FIRST_ARGUMENT = 0, 4, 16
_ALLOW, _KILL = 0x7FFF0000, 0x80000000
_REFUSE, _UNKNOWN = 0x00050000 | 1, 0x00050000 | 38  # EPERM, ENOSYS
_THREAD, _NEW_NAMESPACES = 0x00010000, 0x7E020000
_X32 = 0x40000000


class _Program(ctypes.Structure):
    _fields_ = [("length", ctypes.c_ushort), ("code", ctypes.c_char_p)]


def available() -> bool:
    """Whether this machine's system calls are in the tables."""
    return os.uname().sysname == "Linux" and platform.machine() in _MACHINES


class CallFilter:
    """The filter of programs, made once; what is the same for the serving process and all programs is installed by it.

    single: no further processes and no exec.  alone: no signal to, and no limit or schedule of, another process, and no
    change of rights or dates of files, for where no namespace keeps them out of sight.
    """

    def __init__(self, *, single: bool, alone: bool) -> None:
        self._numbers = _MACHINES[platform.machine()][1] | _EVERYWHERE
        self._single, self._alone = single, alone

    def shared(self) -> ctypes.Structure:
        """What no process of the sandbox needs, not even the one that serves."""
        kept = {*_SERVING, *_STARTING, "clone", "clone3", "prctl", *_OTHERS}
        return _program([line for name in sorted(self._numbers.keys() - kept) for line in self._refused(name)])

    def program(self, process: int) -> ctypes.Structure:
        """The rest, for the process of that id."""
        lines = []
        for name in (*_SERVING, *(_STARTING if self._single else ()), *(_OTHERS if self._alone else ())):
            if name in self._numbers and name not in (*_SIGNALLING, *_OWN_ALONE):
                lines += self._refused(name)
        # Its flags lie in memory, where a filter cannot look; the C library then falls back to clone.
        lines += [(_EQUAL, 0, 1, self._numbers["clone3"]), (_GIVE, 0, 0, _UNKNOWN)]
        body = [(_LOAD, 0, 0, _FIRST_ARGUMENT), (_ANY_BIT, 0, 1, _NEW_NAMESPACES), (_GIVE, 0, 0, _REFUSE)]
        if self._single:
            body += [(_ANY_BIT, 1, 0, _THREAD), (_GIVE, 0, 0, _REFUSE)]
        lines += self._on("clone", [*body, (_GIVE, 0, 0, _ALLOW)])
        if self._alone:
            lines += self._only_itself(process)
        return _program(lines)

    def _refused(self, name: str) -> list[tuple[int, int, int, int]]:
        return [(_EQUAL, 0, 1, self._numbers[name]), (_GIVE, 0, 0, _REFUSE)]

    def _on(self, name: str, body: list[tuple[int, int, int, int]]) -> list[tuple[int, int, int, int]]:
        return [(_EQUAL, 0, len(body), self._numbers[name]), *body]

    def _only_itself(self, process: int) -> list[tuple[int, int, int, int]]:
        lines = []
        for name in (*_SIGNALLING, *_OWN_ALONE):
            # 0 is oneself, but for signals one's group
            zero = (_EQUAL, 0 if name in _SIGNALLING else 1, 0, 0)
            mine = [(_EQUAL, 2, 0, process), zero, (_GIVE, 0, 0, _REFUSE), (_GIVE, 0, 0, _ALLOW)]
            lines += self._on(name, [(_LOAD, 0, 0, _FIRST_ARGUMENT), *mine])
        # It ends with the process that serves, and may not ask otherwise.
        dying = [(_LOAD, 0, 0, _FIRST_ARGUMENT), (_EQUAL, 0, 1, 1), (_GIVE, 0, 0, _REFUSE), (_GIVE, 0, 0, _ALLOW)]
        return lines + self._on("prctl", dying)


def _program(lines: list[tuple[int, int, int, int]]) -> ctypes.Structure:
    """Allow what none of the lines refuses; other machines' calls end the process."""
    head = [
        (_LOAD, 0, 0, _MACHINE),
        (_EQUAL, 1, 0, _MACHINES[platform.machine()][0]),
        (_GIVE, 0, 0, _KILL),
        (_LOAD, 0, 0, _NUMBER),
    ]
    if platform.machine() == "x86_64":
        head += [(_AT_LEAST, 0, 1, _X32), (_GIVE, 0, 0, _REFUSE)]
    code = b"".join(struct.pack("=HBBI", *line) for line in (*head, *lines, (_GIVE, 0, 0, _ALLOW)))
    return _Program(len(code) // 8, code)
