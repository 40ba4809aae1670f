"""The scheduler of a workflow that runs here looks at its jobs when one has ended, and not every second."""

import os
import subprocess
import sys

import pytest

SNAKEFILE = """
from workflow_scripts.records.scheduling import start_when_a_core_is_free

rule all:
    input: expand("{number}.txt", number=range(4))

rule one:
    output: "{number}.txt"
    shell: "sleep 1.2; touch {output}"

looks = []

onstart:
    select = workflow.scheduler.job_selector
    workflow.scheduler.job_selector = lambda jobs: (looks.append(len(jobs)), select(jobs))[1]
    ON

onsuccess:
    print("looks:", len(looks))
"""


@pytest.mark.parametrize(
    ("on", "expected"), [("start_when_a_core_is_free(workflow)", range(5, 7)), ("pass", range(8, 99))]
)
def test_looks_at_waiting_jobs(tmp_path, project, on, expected):
    """The second case is Snakemake's own way: once it looks no oftener, the module is not needed any more."""
    (tmp_path / "Snakefile").write_text(SNAKEFILE.replace("ON", on))
    call = [sys.executable, "-m", "snakemake", "--cores", "1", "--directory", tmp_path]
    done = subprocess.run(
        [*map(str, call), "--snakefile", str(tmp_path / "Snakefile")],
        env=os.environ | {"PYTHONPATH": str(project)},
        capture_output=True,
        text=True,
        check=True,
    )
    looks = int(done.stdout.rpartition("looks: ")[2].split()[0])
    assert looks in expected, done.stdout + done.stderr
