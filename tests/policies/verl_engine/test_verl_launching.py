import os
import signal
import subprocess
import sys
import time
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from workflow_scripts.policies.verl_engine.launching import checkpoint, launch, reason, session_members
from workflow_scripts.records.errors import UserError

PARENT_WITH_CHILD = """
import os, subprocess, sys, time
child = subprocess.Popen([sys.executable, "-c", "import os, time; os.setpgid(0, 0); time.sleep(60)"])
open(sys.argv[1], "w").write(f"{os.getpid()} {child.pid}")
print("started", flush=True)
time.sleep(float(sys.argv[2]))
"""


@dataclass
class Command:
    """What `launch` reads of a command."""

    arguments: list[str]
    environment: dict = field(default_factory=dict)
    links: dict = field(default_factory=dict)
    temporary: str = ""


def alive(process: int) -> bool:
    stat = Path(f"/proc/{process}/stat")
    return stat.exists() and stat.read_text().rpartition(")")[2].split()[0] not in "ZX"


def test_output_is_passed_on_and_its_end_kept(capsys):
    lines = launch(
        Command([sys.executable, "-c", "import os; print(os.environ['WORD']); raise SystemExit(3)"], {"WORD": "verl"})
    )
    assert lines == ["verl\n"] and capsys.readouterr().out == "verl\n"


def test_children_that_stay_behind_are_ended(tmp_path):
    launch(Command([sys.executable, "-c", PARENT_WITH_CHILD, str(tmp_path / "ids"), "0"]))
    parent, child = map(int, (tmp_path / "ids").read_text().split())
    assert not alive(parent) and not alive(child)


def test_a_terminated_job_takes_its_children_along(tmp_path):
    ids, folder = tmp_path / "ids", tmp_path / "ray"
    folder.mkdir()
    job = (
        "import sys; from test_verl_launching import *; "
        "launch(Command([sys.executable, '-c', PARENT_WITH_CHILD, sys.argv[1], '60'], temporary=sys.argv[2]))"
    )
    paths = os.pathsep.join([str(Path(__file__).parent), *sys.path])
    process = subprocess.Popen(
        [sys.executable, "-c", job, str(ids), str(folder)], env={**os.environ, "PYTHONPATH": paths}
    )
    while not ids.exists() or len(ids.read_text().split()) < 2:
        assert process.poll() is None
        time.sleep(0.05)
    process.send_signal(signal.SIGTERM)
    assert process.wait(30) == 128 + signal.SIGTERM
    assert not any(map(alive, map(int, ids.read_text().split())))
    assert not folder.exists()


def test_a_session_holds_its_own_processes_only():
    process = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(60)"], start_new_session=True)
    try:
        assert session_members(process.pid) == [process.pid]
    finally:
        process.kill()
        process.wait()
    assert session_members(process.pid) == []


def test_links_are_made_before_the_start(tmp_path):
    (tmp_path / "target").mkdir()
    for _ in range(2):  # and once more over an old one
        launch(Command(["true"], links={str(tmp_path / "a" / "global_step_2"): str(tmp_path / "target")}))
    assert (tmp_path / "a" / "global_step_2").resolve() == (tmp_path / "target").resolve()


def test_the_reason_is_the_last_error_named():
    lines = ["loading\n", "ValueError: first\n", "at work\n", "(pid=3) RuntimeError: gloo\n", "Shutdown\n"]
    assert reason(lines) == "ValueError: first | (pid=3) RuntimeError: gloo"
    assert reason(["a\n", "killed\n"]) == "a | killed"
    assert reason([]) == "it said nothing"


def left(work, step=4, world=2):
    folder = work / f"global_step_{step}" / "actor"
    folder.mkdir(parents=True)
    for rank in range(world):
        for kind in ("model", "optim", "extra_state"):
            (folder / f"{kind}_world_size_{world}_rank_{rank}.pt").write_bytes(b"weights")
    (work / "latest_checkpointed_iteration.txt").write_text(str(step))
    return folder


def test_the_step_reached_counts_and_every_worker_s_file(tmp_path):
    folder = left(tmp_path)
    assert checkpoint(tmp_path, 4, 2, "actor", []) == tmp_path / "global_step_4"
    with pytest.raises(UserError, match="should have reached step 6, but kept step 4: OSError: full"):
        checkpoint(tmp_path, 6, 2, "actor", ["OSError: full\n"])
    with pytest.raises(UserError, match=r"critic/model_world_size_2_rank_0\.pt is missing"):
        checkpoint(tmp_path, 4, 2, "critic", [])
    (folder / "optim_world_size_2_rank_1.pt").write_bytes(b"")
    with pytest.raises(UserError, match=r"optim_world_size_2_rank_1.pt is missing or empty"):
        checkpoint(tmp_path, 4, 2, "actor", [])


def test_a_run_that_does_nothing_is_no_success(tmp_path):
    with pytest.raises(UserError, match="kept step none"):
        checkpoint(tmp_path, 4, 1, "actor", launch(Command(["true"])))
