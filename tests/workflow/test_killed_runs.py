"""kill -9 of everything at random moments, and on: the tables are those of an undisturbed run."""

import contextlib
import json
import os
import random
import signal
import subprocess
import time

import psutil
import pytest
from workspaces import Workspace, differing

pytestmark = pytest.mark.workflow

KILLS = 6
LONGEST = 8  # seconds from the lock to the kill


class Reproduction:
    """What `make reproduce` does after the environment is there: clear a dead run's lock, then Snakemake."""

    def __init__(self, workspace):
        cleared = workspace.entrances("unlock")
        assert cleared.returncode == 0, cleared.stderr
        self.workspace = workspace
        self.log = (workspace.folder.parent / "said.txt").open("a")
        self.process = subprocess.Popen(
            workspace.call(),
            stdout=self.log,
            stderr=subprocess.STDOUT,
            env=workspace.variables(),
            cwd=workspace.folder,
            start_new_session=True,
        )

    def wait_for_lock(self):
        """Until the run holds the folder; True if it ended before."""
        while not list(self.workspace.folder.glob(".snakemake/locks/*.lock")):
            if self.process.poll() is not None:
                return True
            time.sleep(0.05)
        return False

    def ended_within(self, seconds):
        with contextlib.suppress(subprocess.TimeoutExpired):
            self.process.wait(seconds)
            return True
        return False

    def kill(self):
        """SIGKILL to every process of the run, jobs included."""
        ours = psutil.Process(self.process.pid).children(recursive=True)
        os.killpg(self.process.pid, signal.SIGKILL)
        for process in ours:
            with contextlib.suppress(psutil.NoSuchProcess):
                process.kill()
        self.process.wait()
        psutil.wait_procs(ours, timeout=10)
        self.log.close()


def assert_whole(workspace):
    """Whatever carries the name of a result can be read to its end."""
    import pyarrow.parquet as pq
    from safetensors import safe_open

    for path in workspace.folder.glob("results/**/[!.]*"):
        if any(part.startswith(".") for part in path.relative_to(workspace.folder).parts):
            continue
        if path.suffix == ".parquet":
            pq.read_table(path)
        elif path.suffix == ".json":
            json.loads(path.read_text())
        elif path.suffix == ".safetensors":
            with safe_open(path, "np") as file:
                assert all(file.get_tensor(name) is not None for name in file.keys())  # noqa: SIM118
        elif path.suffix in {".csv", ".md", ".tex", ".svg"}:
            assert path.read_bytes().endswith(b"\n"), path


def test_a_run_killed_again_and_again_ends_with_the_same_tables(tiny, tmp_path):
    workspace = Workspace(tmp_path / "work here", tiny.config, tiny.sources)
    moments = random.Random("killed runs")
    kills = 0
    while kills < KILLS:
        run = Reproduction(workspace)
        if run.wait_for_lock() or run.ended_within(moments.uniform(0, LONGEST)):
            break
        if kills == 0:
            refused = workspace.entrances("unlock")
            assert refused.returncode == 2
            assert "in use by a running workflow" in refused.stderr
            assert list(workspace.folder.glob(".snakemake/locks/*.lock"))
        run.kill()
        kills += 1
        assert_whole(workspace)
    assert kills >= 3, (workspace.folder.parent / "said.txt").read_text()

    # A plain run says what holds it up, and how to go on.
    said = workspace.said()
    assert "LockException" in said
    assert "--unlock" in said
    assert json.loads(workspace.entrances("unlock", "--json").stdout) == {"cleared": True}
    assert json.loads(workspace.entrances("unlock", "--json").stdout) == {"cleared": False}

    workspace.snakemake()
    assert differing(workspace.outputs(), tiny.outputs()) == []
    assert differing(workspace.outputs((".safetensors",)), tiny.outputs((".safetensors",))) == []
    assert workspace.leftovers() == []
    assert workspace.jobs() == []


def test_snakemake_itself_clears_the_lock_when_told_to(tiny, tmp_path):
    workspace = Workspace(tmp_path / "work here", tiny.config, tiny.sources)
    run = Reproduction(workspace)
    assert not run.wait_for_lock()
    run.kill()
    assert "LockException" in workspace.said()
    workspace.snakemake("--unlock")
    assert workspace.jobs()


def test_a_half_written_policy_is_not_taken_for_one(own):
    """A writer killed in the middle of a folder leaves nothing under its name, and its leftovers go with the next."""
    policy = own.results / "policies/grpo-s1-step2"
    left = policy.with_name(f".{policy.name}.writing-{dead_process()}")
    policy.rename(left)
    (left / "model.safetensors").write_bytes((left / "model.safetensors").read_bytes()[:1000])
    target = f"results/tiny/policies/{policy.name}"
    assert [job.rule for job in own.jobs(target)] == ["train_segment"]
    own.snakemake(target)
    assert own.leftovers() == []
    assert policy.is_dir()


def dead_process():
    process = subprocess.Popen(["/bin/true"])
    process.wait()
    return process.pid
