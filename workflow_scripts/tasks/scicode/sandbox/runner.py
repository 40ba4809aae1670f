"""The sandbox's processes: an interpreter that leaves the host, and one with the libraries loaded that starts programs.

`worker` starts it as a script, with the folder of this package and its settings as JSON. The first answers requests,
see `serving`; the second is forked from it before any program, see `starting`. First reply: a length and JSON,
{"files": whether files are out of reach} once it serves, {"failed": why} otherwise; then those of `protocol`.
"""

import contextlib
import importlib
import json
import os
import select
import socket
import sys
import types
from pathlib import Path

if __name__ == "__main__":
    # Only what runs in here: the folder stands for the package, whose own file loads the other side.
    sys.path.insert(0, sys.argv[1])
    # No hooks for children: that of `random` takes a new seed, the others look after threads, of which this process has
    # one; they double what a child has to copy before it starts.
    os.register_at_fork = lambda **_: None
    package = types.ModuleType("workflow_scripts.tasks.scicode.sandbox")
    package.__path__ = [str(Path(__file__).parent)]
    sys.modules[package.__name__] = package

from workflow_scripts.tasks.scicode.sandbox import kernel, landlock, namespaces, programs, serving, starting
from workflow_scripts.tasks.scicode.sandbox.protocol import LENGTH, send


def main(settings: types.SimpleNamespace) -> serving.Server | starting.Starter | None:
    """Become what the settings say, two processes. Returns what this one serves as; None where it has nothing to do."""
    parent = os.pidfd_open(settings.parent) if settings.parent else None
    if settings.parent and os.getppid() != settings.parent:
        return None
    users = namespaces.identities() if settings.isolation != "bubblewrap" else ()
    user, own = users[1] if users else None, None
    processes = None if settings.isolation == "bubblewrap" else os.open("/proc", os.O_PATH | os.O_CLOEXEC)
    if settings.isolation == "namespaces":
        namespaces.enter(settings.shown, users)
        if inside := os.fork():
            os.close(processes)
            _wait(inside, parent)
            return None
        user = namespaces.PROGRAM_ID if users else None
        kernel.die_with_parent()
        own = os.open("self/ns/pid", os.O_RDONLY | os.O_CLOEXEC, dir_fd=processes)
        os.close(parent)
        parent = None
    os.umask(0o077)
    if own is None:
        os.chdir(settings.box)
        kernel.hide_memory()
    if settings.isolation == "process":
        os.chown(".", -1 if user is None else user, -1)
    (channel, other), ending = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET), starting.Ending()
    if not os.fork():
        kernel.die_with_parent()
        channel.close()
        if parent is not None:
            os.close(parent)
        return _starter(settings, other, ending, user=user, own=own, processes=processes)
    other.close()
    for descriptor in (processes, own):
        if descriptor is not None:
            os.close(descriptor)
    files = _keep_few_files(settings, user)[0] if settings.isolation == "process" else True
    terms = starting.Terms(**settings.limits)
    server = serving.Server(terms, channel, ending, own_folders=own is not None, parent=parent)
    if not channel.recv(1):  # the other said why
        return None
    _say({"files": files})
    return server


def _starter(
    settings: types.SimpleNamespace,
    channel: socket.socket,
    ending: starting.Ending,
    *,
    user: int | None,
    own: int | None,
    processes: int | None,
) -> starting.Starter:
    """processes: a descriptor of /proc, None where there is none; the rest as of the Starter."""
    _load(settings.libraries)
    if processes is not None:
        with os.fdopen(os.open("self/maps", os.O_RDONLY | os.O_CLOEXEC, dir_fd=processes)) as maps:
            kernel.use_large_pages(maps.read())
        os.close(processes)
    reading = _keep_few_files(settings, user)[1] if settings.isolation == "process" else False
    terms = starting.Terms(**settings.limits, base=kernel.address_space())
    return starting.Starter(terms, channel, ending, user=user, own_processes=own, reading=reading)


def _keep_few_files(settings: types.SimpleNamespace, user: int | None) -> tuple[bool, bool]:
    """Give up all files but those shown and the box, where the kernel can.

    Returns whether it could, and whether programs need root's right to read, for a library in a folder that is closed
    to others. Raises PermissionError where they would and files are not given up.
    """
    libraries = [path for kind, path in settings.shown if kind == namespaces.SHOWN]
    closed = [path for path in libraries if user is not None and not _open_to_all(path)]
    if landlock.version():
        kernel.forbid_new_privileges()
        landlock.keep_only(libraries, [settings.box, "/dev/null", "/dev/zero", "/dev/random", "/dev/urandom"])
        return True, bool(closed)
    if closed:
        raise PermissionError(f"other users cannot read {closed[0]}; install Python and its packages elsewhere")
    return False, False


def _open_to_all(path: str) -> bool:
    """Whether other users can come to it."""
    place = Path(path).resolve()
    return bool(place.stat().st_mode & 0o004) and all(folder.stat().st_mode & 0o001 for folder in place.parents)


def _load(libraries: list[str]) -> None:
    """Import them. Equal programs draw equal numbers, where they ask for no seed: children keep the state of now."""
    import random  # not before its hook can be refused

    for name in libraries:
        with contextlib.suppress(ImportError):
            importlib.import_module(name)
    programs.warm_up()
    random.seed(0)
    for name in ("numpy.random", "sympy.core.random"):  # what programs use that make no generator of their own
        if name in sys.modules:
            sys.modules[name].seed(0)


def _wait(inside: int, parent: int) -> None:
    """End when the process inside does, and take it along when the parent ends first."""
    os.close(0)
    os.close(1)
    poll = select.poll()
    poll.register(os.pidfd_open(inside), select.POLLIN)
    poll.register(parent, select.POLLIN)
    poll.poll()
    os.kill(inside, 9)
    os.waitpid(inside, 0)


def _say(what: dict) -> None:
    text = json.dumps(what).encode()
    send(LENGTH.pack(len(text)) + text)


if __name__ == "__main__":
    settings = types.SimpleNamespace(**json.loads(sys.argv[2]))
    sys.path[:] = [*sys.path[1:], *settings.packages]
    sys.argv[:] = sys.orig_argv[:] = ["program"]
    try:
        serves = main(settings)
    except Exception as error:
        _say({"failed": f"{type(error).__name__}: {error}"})
        sys.exit(1)
    if serves is not None:
        serves.serve()
