"""Nothing of one program is in the memory, the frames or the descriptors that the next one starts with."""

import json
import secrets

import pytest

from workflow_scripts.records.errors import UserError
from workflow_scripts.tasks.scicode.sandbox import Program, Sandbox, Status


@pytest.fixture(scope="module", params=["namespaces", "bubblewrap", "process"])
def sandbox(request):
    try:
        with pytest.warns(RuntimeWarning) if request.param == "process" else pytest.MonkeyPatch.context():
            opened = Sandbox(workers=1, isolation=request.param)
    except UserError as error:
        pytest.skip(str(error))
    with opened:
        yield opened


def values(sandbox, *programs):
    """Of the first call of each, decoded; its status where there is none."""
    calls = [outcome.calls[0] for outcome in sandbox.run(programs)]
    return [json.loads(call.value) if call.status is Status.OK else call.status for call in calls]


LEAVING = """
def answer(mark):  # %(mark)ssource!
    print(mark.replace("call", "print") * %(times)d, flush=True)
    open(mark.replace("call", "name"), "w").close()
    return [mark.replace("call", "value") * %(times)d]
"""
FRAMES = """
import sys
def answer():
    frame, found = sys._getframe(), []
    while frame := frame.f_back:
        if frame.f_code.co_name not in ("_run", "run", "_become_program"):
            found += [repr(value) for value in frame.f_locals.values()]
    return found
"""
STORED = """
import ctypes, gc, os, re
libc = ctypes.CDLL(None)
libc.write.argtypes = [ctypes.c_int, ctypes.c_void_p, ctypes.c_size_t]
libc.sbrk.restype, CHUNK = ctypes.c_void_p, 1 << 16
def memory():
    # Where objects are, and the heap beside; what is not mapped cannot be written to the pipe
    gc.unfreeze()
    places = {id(item) >> 21 for one in gc.get_objects() for item in (one, *gc.get_referents(one))}
    places |= {(libc.sbrk(0) >> 21) - n for n in range(8)}
    reader, writer = os.pipe()
    for place in sorted(places):
        for start in range(place << 21, place + 1 << 21, CHUNK):
            if (count := libc.write(writer, start, CHUNK)) > 0:
                yield os.read(reader, count)
"""
SCAN = """
def answer():
    own = bytes(reversed(%r))
    kept, seen = own + b"own!", set()
    for part in memory():
        seen |= {m[1].decode() for m in re.finditer(own + b"([a-z]+!)", part)}
    return sorted(seen)
"""


@pytest.mark.parametrize("between", [0, 1, 5])
def test_no_trace_of_earlier_programs_in_memory(sandbox, between):
    mark = secrets.token_hex(8)
    leaving = [Program(LEAVING % {"mark": mark, "times": n}, (f'["{mark}call!"]',)) for n in (1, 20, 5000)]
    others = [Program(f"def answer(): return {n} # {between}") for n in range(between)]
    scan = Program(STORED + SCAN % mark[::-1].encode())
    *left, found = values(sandbox, *leaving, *others, scan)
    assert left == [[f"{mark}value!" * n] for n in (1, 20, 5000)] + list(range(between))
    # It would have found them: its own is there
    assert found == ["own!"]


def test_no_trace_of_earlier_programs_in_frames(sandbox):
    mark = secrets.token_hex(8)
    leaving = Program(LEAVING % {"mark": mark, "times": 1}, (f'["{mark}call!"]',))
    _, found = values(sandbox, leaving, Program(FRAMES + f"# {mark[:4]}"))
    assert any("Starter" in text for text in found)
    assert mark not in str(found)


ENDING = """
import sys
def answer():
    frame = sys._getframe()
    while not hasattr(frame.f_locals.get("self"), "_ending"):
        frame = frame.f_back
    ending = frame.f_locals["self"]._ending
    return %s
"""
MARKING = """
import fcntl, os
def answer():
    seen = [(fcntl.fcntl(n, 11), os.get_blocking(n)) for n in range(4)]  # F_GETSIG
    for n in range(4):
        fcntl.fcntl(n, 10, 40)
        os.set_blocking(n, False)
    return str(seen)
"""


def test_how_the_last_program_ended_is_not_told(sandbox):
    ends = Program("import os\ndef answer(): os._exit(77)")
    status, ending, told = values(sandbox, ends, Program(ENDING % "ending"), Program(ENDING % "str(ending.told())"))
    assert (status, ending) == (Status.KILLED, {"$other": "Ending"})
    assert told is Status.KILLED or str(77 << 8) not in told


def test_no_mark_on_descriptors(sandbox):
    assert values(sandbox, Program(MARKING), Program(MARKING + "#")) == [str([(0, True)] * 4)] * 2


def test_a_run_that_is_interrupted_leaves_no_reply(sandbox, monkeypatch):
    first, second, third = (Program(f"def answer(): return {n}") for n in (101, 102, 103))
    assert values(sandbox, first) == [101]
    with monkeypatch.context() as patch:
        patch.setattr("workflow_scripts.tasks.scicode.sandbox.worker.Worker.receive", lambda *_: 1 / 0)
        with pytest.raises(ZeroDivisionError):
            sandbox.run([second])
    assert values(sandbox, third) == [103]
