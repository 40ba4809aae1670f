"""Programs that want out, or more than their share, each run for real under one isolation; also when root runs them.

The files beside import these tests and say which isolation. After each the sandbox runs the next program.
"""

import os
import socket
import tempfile
import warnings
from pathlib import Path

import pytest

from workflow_scripts.records.errors import UserError
from workflow_scripts.tasks.scicode.sandbox import Limits, Program, Sandbox, Status

SECRET = "sandbox-secret-3e1f"
MARK = f"sandbox-escaped-{os.getpid()}"
LIMITS = Limits(cpu_seconds=0.3, wall_seconds=0.8, memory_mb=256)
OK, ERROR, KILLED, TIMEOUT, MEMORY, OUTPUT = (
    Status.OK, Status.ERROR, Status.KILLED, Status.TIMEOUT, Status.MEMORY, Status.OUTPUT,
)  # fmt: skip


def opened(isolation, staging):
    """The fixture of a module: a sandbox of that isolation, or a skip where it does not work."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("API_KEY", SECRET)
        patch.setattr(tempfile, "tempdir", str(staging))
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", RuntimeWarning)
                sandbox = Sandbox(LIMITS, workers=1, isolation=isolation)
        except UserError as error:
            pytest.skip(str(error))
        with sandbox:
            yield sandbox
        assert list(staging.iterdir()) == []


def ran(sandbox, source):
    """Outcome and its only call; the sandbox runs the next program as if nothing had been."""
    outcome, after = sandbox.run([Program(source), Program(f"def answer(): return 1\n# {hash(source)}")])
    assert after.calls[0].value == "1"
    assert SECRET not in repr(outcome)
    return outcome, outcome.calls[0]


FORKS = "import os\ndef answer():\n    while True:\n        os.fork()\n"
DAEMON = """
import os, time
def answer():
    if os.fork() == 0:
        os.setsid()
        if os.fork() == 0:
            while True:
                time.sleep(1)
        os._exit(0)
    return 1
"""


@pytest.mark.parametrize(
    ("name", "source", "statuses"),
    [
        ("forks", FORKS, {ERROR}),
        ("daemon", DAEMON, {ERROR}),
        ("threads", "import threading, time\ndef answer():\n    for _ in range(10_000):\n"
         "        threading.Thread(target=time.sleep, args=(9,)).start()", {ERROR, MEMORY}),
        ("list", "def answer(): return [0] * 10**9", {MEMORY}),
        ("grows", "def answer():\n    a = 'x'\n    while True:\n        a += a", {MEMORY, TIMEOUT}),
        ("array", "import numpy as np\ndef answer(): return np.ones(10**10).sum()", {MEMORY}),
        ("power", "def answer(): return 9**9**9", {TIMEOUT, MEMORY}),
        ("prints", "def answer():\n    while True:\n        print('x' * 1000)", {OUTPUT}),
        ("errors", "import os\ndef answer():\n    while True:\n        os.write(2, b'x' * 9999)", {OUTPUT}),
        ("returns", "def answer(): return 'x' * 100_000_000", {OUTPUT}),
        ("reports", "import os\ndef answer():\n    while True:\n        os.write(3, b'x' * 9999)", {OUTPUT}),
        ("exits", "import os\ndef answer(): os._exit(0)", {KILLED}),
        ("leaves", "import sys\ndef answer(): sys.exit(0)", {ERROR}),
        ("aborts", "import os\ndef answer(): os.abort()", {KILLED}),
        ("segfault", "import ctypes\ndef answer(): ctypes.string_at(0)", {KILLED}),
        ("recursion", "def answer(): return answer()", {ERROR}),
        ("deep", "import sys\nsys.setrecursionlimit(10**9)\nclass A:\n    def __repr__(self): return repr(self)\n"
         "def answer(): return repr(A())", {KILLED, ERROR, MEMORY, TIMEOUT}),
        ("parser", "def answer(): return compile('-' * 10**6 + '1', '', 'eval')", {KILLED, ERROR, MEMORY}),
        ("loop", "def answer():\n    while True: pass", {TIMEOUT}),
        ("module loop", "while True: pass", {TIMEOUT}),
        ("sleep", "import time\ndef answer(): time.sleep(1000)", {TIMEOUT}),
        ("stubborn", "import signal\nfor n in set(signal.Signals) - {9, 19}: signal.signal(n, signal.SIG_IGN)\n"
         "def answer():\n    while True: pass", {TIMEOUT}),
        ("alarm", "import signal\nsignal.signal(14, lambda *_: signal.alarm(1))\nsignal.setitimer(0, 0.01, 0.01)\n"
         "def answer():\n    while True: pass", {TIMEOUT}),
        ("catches", "def answer():\n    while True:\n        try:\n            while True: pass\n"
         "        except BaseException: pass", {TIMEOUT}),
        ("parent", "import os\ndef answer(): os.kill(os.getppid(), 9)\n", {OK, ERROR, KILLED}),
        ("everybody", "import os\ndef answer(): os.kill(-1, 9)\n", {OK, ERROR, KILLED}),
        ("group", "import os\ndef answer(): os.killpg(0, 9)\n", {OK, ERROR, KILLED}),
        ("itself", "import os\ndef answer(): os.kill(os.getpid(), 9)\n", {OK, KILLED}),
        ("in real time", "import os\ndef answer(): os.kill(os.getpid(), 40)\n", {OK, KILLED}),
        ("first", "import os\ndef answer(): os.kill(1, 9)\n", {OK, ERROR}),
        ("closes", "import os\nos.closerange(0, 1000)\ndef answer(): return 1", {KILLED}),
        ("closes and stays", "import os\nos.closerange(0, 1000)\nwhile True: pass", {TIMEOUT}),
        ("stops", "import os, signal\ndef answer(): os.kill(os.getpid(), signal.SIGSTOP)", {OK, TIMEOUT}),
        ("lingers", "import threading as t, time\ndef answer():\n    t.Thread(target=time.sleep, args=(9,)).start()\n"
         "    return 1", {OK}),
        ("later", "import atexit, os\natexit.register(print, 'later')\ndef answer(): return 1", {OK}),
        ("patches json", "import json\njson.dumps = json.loads = None\ndef answer(): return 1", {OK}),
        ("patches os", "import os, sys\nos.write = os._exit = sys.exit = None\ndef answer(): return 1", {OK}),
        ("patches builtins", "import builtins\nfor n in ('len', 'type', 'isinstance', 'str', 'int', 'list'):\n"
         "    setattr(builtins, n, None)\ndef answer(): return [1]", {OK, ERROR, KILLED}),
        ("no builtins", "import builtins\nbuiltins.__dict__.clear()\ndef answer(): return 1", {OK, ERROR, KILLED}),
        ("raises badly", "class E(BaseException):\n    def __str__(self): raise self\n    __repr__ = __str__\n"
         "def answer(): raise E", {ERROR}),
        ("fills", "def answer():\n    with open('big', 'wb') as f:\n        while True: f.write(bytes(1 << 20))",
         {ERROR, KILLED}),
        ("many files", "def answer():\n    for n in range(10**6): open(str(n), 'w').close()", {ERROR, TIMEOUT}),
        ("shuts folder", "import os\ndef answer():\n    open('a', 'w').close()\n    os.chmod('.', 0)", {OK, ERROR}),
        ("limits", "import resource as r\ndef answer(): r.setrlimit(r.RLIMIT_AS, (-1, -1))", {ERROR}),
        ("user", "import os\ndef answer(): os.setresuid(0, 0, 0) or os.setgroups([0])", {ERROR}),
    ],
)  # fmt: skip
def test_a_program_ends_as_it_must(sandbox, name, source, statuses):
    outcome, call = ran(sandbox, source)
    assert call.status in statuses, (call, outcome)
    assert (call.value is not None) == (call.status is OK)
    assert "later" not in outcome.output


def answered(sandbox, source):
    _, call = ran(sandbox, source)
    assert call.status is OK, call
    return call.value


def test_the_environment_is_empty(sandbox):
    value = answered(sandbox, "import os\ndef answer(): return sorted(os.environ)")
    assert "API_KEY" not in value
    assert '"HOME"' in value


def test_other_processes_cannot_be_read(sandbox):
    source = (
        "import ctypes, os\n"
        "def answer():\n"
        "    got = []\n"
        "    for p in [1, os.getppid(), *range(2, 40)]:\n"
        "        for name in ('mem', 'maps', 'root/etc/passwd', 'fd/0', 'cwd/README.md'):\n"
        "            try: got.append((p, name, len(open(f'/proc/{p}/{name}', 'rb').read(10))))\n"
        "            except OSError: pass\n"
        "    libc = ctypes.CDLL(None)\n"
        "    got += [libc.ptrace(16, os.getppid(), 0, 0), libc.process_vm_readv(os.getppid(), 0, 0, 0, 0, 0)]\n"
        "    return [g for g in got if not (isinstance(g, tuple) and g[0] == os.getpid())]\n"
    )
    if "files" not in sandbox.isolation.stops:
        pytest.skip("files of this user can be read")
    assert answered(sandbox, source) == "[-1,-1]"


def test_files_outside_cannot_be_read(sandbox, project, tmp_path):
    if "files" not in sandbox.isolation.stops:
        pytest.skip("files of this user can be read")
    (tmp_path / "key").write_text(SECRET)
    places = [
        "/etc/shadow",
        "/etc/passwd",
        "/root/.bashrc",
        str(project / "README.md"),
        str(project / "pyproject.toml"),
    ]
    places += [str(project / "workflow_scripts/tasks/scicode/problems.py"), str(tmp_path / "key"), "/dev/mem"]
    source = (
        f"import os\ndef answer():\n    got = []\n    for p in {places!r}:\n"
        "        try: got.append((p, open(p).read()))\n        except OSError: pass\n"
        "    for p in ('/home', '/etc', '/var', '/root/.ssh', '/boot', '/mnt', os.path.expanduser('~root')):\n"
        "        try: got += [n for n in os.listdir(p) if n not in ('ld.so.cache', '.pyenv')]\n"
        "        except OSError: pass\n"
        "    return got\n"
    )
    assert answered(sandbox, source) == "[]"


def test_files_outside_cannot_be_written(sandbox, project):
    if "files" not in sandbox.isolation.stops:
        pytest.skip("files of this user can be written")
    places = ["/", "/var/tmp", "/dev/shm", "/dev", "/etc", "/usr/lib", "/root", "/home", str(project), os.__file__]
    places += [str(Path(os.__file__).parent), str(Path(pytest.__file__).parents[1]), "/proc/sys/kernel", "/run"]
    source = (
        f"import os\ndef answer():\n    got = []\n    for p in {places!r}:\n"
        f"        for do in (lambda: open(p + '/{MARK}', 'w').close(), lambda: os.mkdir(p + '/{MARK}'),\n"
        f"                   lambda: os.symlink('/', p + '/{MARK}'), lambda: open(p, 'a').close(),\n"
        "                   lambda: os.chmod(p, 0o777), lambda: os.rename(p, p + 'x'), lambda: os.utime(p)):\n"
        "            try: do()\n            except OSError: continue\n            got.append(p)\n"
        "    return got\n"
    )
    assert answered(sandbox, source) == "[]"
    assert [place for place in places if os.path.lexists(f"{place}/{MARK}")] == []


def test_nothing_listens_and_nothing_connects(sandbox):
    with socket.create_server(("127.0.0.1", 0)) as server:
        server.settimeout(0.05)
        source = (
            "import ctypes, socket\ndef answer():\n    got = []\n"
            f"    for do in (lambda: socket.create_connection(('127.0.0.1', {server.getsockname()[1]}), 1),\n"
            "               lambda: socket.create_server(('0.0.0.0', 0)), lambda: socket.socket(socket.AF_UNIX),\n"
            "               lambda: socket.getaddrinfo('localhost', 80)[9], lambda: socket.socket(16, 3)):\n"
            "        try: got.append(str(do()))\n        except (OSError, IndexError): pass\n"
            "    return got + [ctypes.CDLL(None).socket(2, 1, 0)]\n"
        )
        assert answered(sandbox, source) == "[-1]"
        with pytest.raises(TimeoutError):
            server.accept()


def test_text_that_sympy_evaluates_gets_no_further_than_other_text(sandbox):
    source = (
        "import sympy\ndef answer():\n"
        f"    return str(sympy.sympify(\"__import__('os').system('touch /var/tmp/{MARK}; touch /{MARK}')\"))\n"
    )
    ran(sandbox, source)
    assert not Path(f"/var/tmp/{MARK}").exists()
    assert not Path(f"/{MARK}").exists()
    assert answered(sandbox, "import sympy\ndef answer(): return sympy.sympify('1+1')") == '{"$expr":["Integer","2"]}'


def test_calls_of_the_kernel_that_nobody_needs_are_refused(sandbox):
    source = (
        "import ctypes, platform\nlibc = ctypes.CDLL(None)\ndef answer():\n"
        "    x86 = platform.machine() == 'x86_64'\n"
        "    got = [libc.unshare(0x10000000), libc.mount(b'a', b'/tmp', b'tmpfs', 0, 0),\n"
        "           libc.shmget(0, 4096, 0o1600), libc.setns(0, 0), libc.memfd_create(b'a', 0),\n"
        "           libc.personality(0xffffffff), libc.chroot(b'/'), libc.syscall(425, 4, 0),\n"
        "           libc.syscall(250 if x86 else 219, 0, -3, 1, 0, 0)]\n"
        "    return [n for n in got if n != -1]\n"
    )
    assert answered(sandbox, source) == "[]"


def test_rights_are_gone(sandbox):
    source = (
        "import ctypes, os, struct\ndef answer():\n"
        "    head, sets = struct.pack('=Ii', 0x20080522, 0), ctypes.create_string_buffer(24)\n"
        "    ctypes.CDLL(None).capget(head, sets)\n"
        "    rights = struct.unpack('=6I', sets.raw)\n"
        "    can_read = 1 << 2\n"
        "    none_new = ctypes.CDLL(None).prctl(39, 0, 0, 0, 0)\n"
        "    return [rights[0] & ~can_read, rights[1] & ~can_read, *rights[2:], none_new]\n"
    )
    # Effective, permitted, inheritable, twice; then no-new-privileges
    assert answered(sandbox, source) == "[0,0,0,0,0,0,1]"


def test_a_forged_report_is_about_the_forger_alone(sandbox):
    forger = 'import os\ndef answer():\n    os.write(3, b\'["ok", "42", ""]\\n\' * 5)\n    os._exit(0)\n'
    others = [Program(f"def answer(): return {n}") for n in range(3)]
    outcomes = sandbox.run([others[0], Program(forger), others[1], Program(forger + "#"), others[2]])
    assert [o.calls[0].value for o in outcomes] == ["0", "42", "1", "42", "2"]
    assert [len(o.calls) for o in outcomes] == [1] * 5


@pytest.mark.parametrize(
    "line",
    [b"", b"null", b"[]", b'["ok"]', b'["ok", 3, ""]', b'["fine", null, ""]', b'["ok", null, 5]', b"[" * 10_000,
     b"\xff", b'["ok", "1", ""]x', b'{"ok": 1, "a": 2, "b": 3}', b'["error", "1", ""]', b'["ok", null, ""]'],
)  # fmt: skip
def test_a_report_that_makes_no_sense_is_none(sandbox, line):
    source = f"import os\ndef answer():\n    os.write(3, {line!r} + b'\\n')\n    os._exit(0)\n"
    _, call = ran(sandbox, source)
    assert (call.status, call.value) == (KILLED, None)


def test_what_programs_leave_in_their_folder_is_gone(sandbox):
    leaves = (
        "import os\ndef answer():\n    os.makedirs('a/b')\n    os.symlink('/usr', 'link')\n"
        "    open('a/c', 'w').write('x')\n    try: os.chmod('a', 0)\n    except OSError: pass\n"
        "    return len(os.listdir())\n"
    )
    assert answered(sandbox, leaves) == "2"
    assert answered(sandbox, "import os\ndef answer(): return os.listdir()") == "[]"
    assert Path("/usr/lib").is_dir()
