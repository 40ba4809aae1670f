"""Folders that cannot be written, full disks, odd paths, a read-only checkout."""

import os
import shutil
import subprocess

import pytest
from workspaces import PYTHON, TINY, Workspace, copy_sources, differing

pytestmark = pytest.mark.workflow

WITHOUT_PRIVILEGE = ["setpriv", "--bounding-set=-dac_override,-dac_read_search", "--inh-caps=-all"]
"""Runs a command as root for whom, too, permissions count."""


@pytest.fixture
def under_permissions():
    """What to run Snakemake by, so that a folder without write permission cannot be written."""
    if os.geteuid():
        return []
    probe = [*WITHOUT_PRIVILEGE, "true"]
    if not shutil.which("setpriv") or subprocess.run(probe, capture_output=True, check=False).returncode:
        pytest.skip("root writes everywhere here, and setpriv cannot take that away")
    return WITHOUT_PRIVILEGE


@pytest.fixture
def small_disk(tmp_path):
    """A function that mounts a file system of so many kB, or gives it another size."""
    place = tmp_path / "small disk"
    place.mkdir()

    def resize(kilobytes):
        kind = "remount," if place.is_mount() else ""
        call = ["mount", "-t", "tmpfs", "-o", f"{kind}size={kilobytes}k", "tmpfs", str(place)]
        done = subprocess.run(call, capture_output=True, text=True, check=False)
        if done.returncode:
            pytest.skip(f"no file system can be mounted here: {done.stderr.strip()}")
        return place

    yield resize
    if place.is_mount():
        subprocess.run(["umount", str(place)], check=True)


def frozen(folder):
    """Takes write permission from everything in a folder."""
    for path in (folder, *folder.rglob("*")):
        path.chmod(path.stat().st_mode & ~0o222)


def thawed(folder):
    for path in (folder, *folder.rglob("*")):
        path.chmod(path.stat().st_mode | 0o200)


@pytest.mark.parametrize("name", ["results/tiny", "results", "."])
def test_a_results_folder_that_cannot_be_written_is_named(tmp_path, sources, under_permissions, name):
    workspace = Workspace(tmp_path / "work here", TINY, sources)
    workspace.prefix = under_permissions
    folder = workspace.folder / name
    folder.mkdir(parents=True, exist_ok=True)
    folder.chmod(0o555)
    said = workspace.said()
    assert f"{folder} cannot be written" in said
    assert "--directory" in said
    assert "Traceback" not in said
    assert list(folder.iterdir()) == []
    folder.chmod(0o755)
    assert workspace.jobs("results/tiny/solutions/evaluation.parquet")


@pytest.mark.parametrize(("kilobytes", "unwritten"), [(600, "base"), (1100, "grpo-s1-step1")])
def test_a_full_disk_is_named_and_nothing_half_written_stays(sources, small_disk, tiny, kilobytes, unwritten):
    workspace = Workspace(small_disk(kilobytes) / "work here", TINY, sources)
    said = workspace.said()
    assert f"cannot write results/tiny/policies/{unwritten}/model.safetensors: no space left on device" in said
    assert "free some space and run again" in said
    assert not (workspace.results / "policies" / unwritten).exists()
    assert workspace.leftovers() == []
    small_disk(60_000)
    if unwritten == "base":
        assert "base_policy" in {job.rule for job in workspace.jobs()}
    else:
        workspace.snakemake()
        assert differing(workspace.outputs(), tiny.outputs()) == []


def test_an_interpreter_and_a_checkout_whose_paths_hold_spaces(own, tiny, tmp_path):
    interpreter = tmp_path / "an environment" / "bin" / "python"
    packages = next(path for path in map(str, PYTHON.parents[1].glob("lib/python*/site-packages")))
    subprocess.run([PYTHON, "-m", "venv", "--without-pip", interpreter.parents[1]], check=True)
    (place,) = interpreter.parents[1].glob("lib/python*/site-packages")
    (place / "borrowed.pth").write_text(f"import site; site.addsitedir({packages!r})\n")
    own.python = interpreter
    own.sources = copy_sources(tmp_path / "a checkout", tiny.sources)
    own.snakemake("results/tiny/solutions/evaluation.parquet", "--forcerun", "solutions")
    # The report asks Snakemake from inside a job.
    own.snakemake("report", "--forcerun", "breadth")
    assert (own.results / "report.html").stat().st_size > 100_000
    for name in ("solutions/evaluation.parquet", "figures/breadth.svg"):
        assert (own.results / name).stat().st_mtime > (tiny.results / name).stat().st_mtime
        assert (own.results / name).read_bytes() == (tiny.results / name).read_bytes(), name


def test_a_read_only_checkout_is_enough(tmp_path, sources, tiny, under_permissions):
    checkout = copy_sources(tmp_path / "read only", sources)
    listed = {path: path.stat().st_mtime_ns for path in checkout.rglob("*")}
    frozen(checkout)
    workspace = Workspace(tmp_path / "work here", TINY, checkout)
    workspace.prefix = under_permissions
    try:
        workspace.snakemake("--until", "rollouts")
        assert workspace.snakemake("--lint").returncode == 0
        assert {path: path.stat().st_mtime_ns for path in checkout.rglob("*")} == listed
    finally:
        thawed(checkout)
    for name in ("problems/evaluation.parquet", "rollouts/base.parquet", "rollouts/grpo-s1-step2.parquet"):
        assert (workspace.results / name).read_bytes() == (tiny.results / name).read_bytes(), name
