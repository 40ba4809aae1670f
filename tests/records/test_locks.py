import subprocess
import sys

import pytest

from workflow_scripts.records.errors import UserError
from workflow_scripts.records.locks import clear_stale_lock, live_runs


@pytest.fixture
def locked(tmp_path):
    locks = tmp_path / ".snakemake" / "locks"
    locks.mkdir(parents=True)
    (locks / "0.input.lock").write_text("x\n")
    (locks / "0.output.lock").write_text("y\n")
    return tmp_path


def sleeper(folder, name):
    """A live process in `folder` whose command line looks like a workflow's."""
    script = folder / name
    script.parent.mkdir(parents=True, exist_ok=True)
    script.write_text("import time\nprint('up', flush=True)\ntime.sleep(60)\n")
    process = subprocess.Popen([sys.executable, script], cwd=folder, stdout=subprocess.PIPE)
    process.stdout.readline()
    return process


def test_a_dead_runs_lock_is_cleared_once(locked):
    assert clear_stale_lock(locked) is True
    assert clear_stale_lock(locked) is False
    assert list((locked / ".snakemake" / "locks").iterdir()) == []


@pytest.mark.parametrize("name", ["snakemake", ".snakemake/scripts/tmp1.py"])
def test_a_live_run_keeps_its_lock_and_is_named(locked, name):
    process = sleeper(locked, name)
    try:
        assert live_runs(locked) == [process.pid]
        with pytest.raises(UserError, match=str(process.pid)):
            clear_stale_lock(locked)
        assert len(list((locked / ".snakemake" / "locks").iterdir())) == 2
    finally:
        process.kill()
        process.wait()
    assert clear_stale_lock(locked) is True


def test_a_run_elsewhere_does_not_count(locked, tmp_path_factory):
    process = sleeper(tmp_path_factory.mktemp("elsewhere"), "snakemake")
    try:
        assert live_runs(locked) == []
        assert clear_stale_lock(locked) is True
    finally:
        process.kill()
        process.wait()


def test_another_program_here_does_not_count(locked):
    process = sleeper(locked, "editor.py")
    try:
        assert clear_stale_lock(locked) is True
    finally:
        process.kill()
        process.wait()
