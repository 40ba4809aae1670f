"""Through a real SLURM of one node: jobs are submitted and finish, and the study survives cancelled and killed ones."""

import contextlib
import re
import sys
from pathlib import Path

import psutil
import pytest
from workspaces import TINY, Workspace

sys.path.append(str(Path(__file__).with_name("slurm")))
from cluster import Cluster, Unavailable, installed

pytestmark = [pytest.mark.workflow, pytest.mark.engines]
pytest.importorskip("snakemake_executor_plugin_slurm", reason="make env-engines")

BREADTH = "results/tiny/measures/problems/base.parquet"
POLICIES = ["results/tiny/policies/grpo-s1-step1", "results/tiny/policies/grpo-s1-step2"]
QUICKLY = [
    *("--seconds-between-status-checks", "2"),
    *("--slurm-init-seconds-before-status-checks", "2"),
    *("--latency-wait", "5"),
]


@pytest.fixture(scope="module")
def cluster(tmp_path_factory):
    try:
        installed()
        running = Cluster(tmp_path_factory.mktemp("slurm")).start()
    except Unavailable as error:
        pytest.skip(str(error))
    yield running
    running.stop()


@pytest.fixture(scope="module")
def local(tmp_path_factory, sources):
    """The same targets made on this machine, beside the tests."""
    run = Workspace(tmp_path_factory.mktemp("local"), TINY, sources).started(BREADTH, POLICIES[-1], cores=1)
    yield run
    run.stop()


@pytest.fixture(scope="module")
def submitting(tmp_path_factory, sources, cluster, local):
    """A working directory whose Snakemake talks to the cluster."""
    workspace = Workspace(tmp_path_factory.mktemp("on a cluster") / "work here", TINY, sources)
    workspace.environment = cluster.variables
    return workspace


@pytest.fixture
def submitted(submitting):
    """Starts Snakemake there; whatever a failed test leaves of it ends with the test."""
    started = []

    def call(*arguments):
        started.append(submitting.started(*arguments))
        return started[-1]

    yield call
    for run in started:
        run.process.kill()  # asked politely it would wait for its jobs, which end with the cluster
        run.stop()


def profile(workspace, name):
    return ["--workflow-profile", str(workspace.sources / "profiles" / name), *QUICKLY]


def text_of(run):
    run.log.seek(0)
    return run.log.read()


def halted(cluster, run, rule, stage):
    """Number of the job of a rule, whose stage is stopped as soon as it is seen at work, as if it hung."""

    def found():
        assert run.process.poll() is None, text_of(run)
        for process in psutil.process_iter():
            with contextlib.suppress(psutil.Error):
                here = process.cwd() == str(run.workspace.folder)
                if here and any(part.endswith(f".{stage}") for part in process.cmdline()[1:2]):
                    process.suspend()
                    return True
        return False

    cluster.wait(found, 300)
    return next(number for number, comment in cluster.jobs("R") if comment == rule)


def files_below(folder):
    return {path.name: path.read_bytes() for path in sorted(folder.glob("[!.]*")) if path.name != "manifest.json"}


def test_a_cancelled_job_stops_its_branch_and_the_next_call_goes_on(submitting, submitted, cluster, local):
    options = [*profile(submitting, "slurm"), "--default-resources", "slurm_partition=cpu"]
    run = submitted(BREADTH, *options, "--retries", "0")
    job = halted(cluster, run, "rule_rollouts_wildcards_base", "rollouts.py")
    assert cluster.shown(job)["Partition"] == "cpu"
    cluster.said("scancel", str(job))
    assert run.process.wait(120) != 0
    assert f"SLURM-job '{job}' failed, SLURM status is: 'CANCELLED'" in text_of(run)
    assert not (submitting.results / "rollouts/base.parquet").exists()

    assert {job.rule for job in submitting.jobs(BREADTH)} == {"rollouts", "scores", "problem_breadth"}
    last = cluster.jobs()[-1][0]
    said = submitting.snakemake(BREADTH, *options).stderr
    later = [comment for number, comment in cluster.jobs() if number > last]
    assert later == ["rule_rollouts_wildcards_base", "rule_judged_problem_breadth_scores"], said
    assert submitting.leftovers() == []
    made, expected = submitting.folder / BREADTH, local.finished().folder / BREADTH
    assert made.read_bytes() == expected.read_bytes()


def test_a_segment_killed_at_its_time_limit_is_repeated_with_more(submitting, submitted, cluster, local):
    first, second = (submitting.folder / policy for policy in POLICIES)
    last = max([number for number, _ in cluster.jobs()], default=0)
    run = submitted(*profile(submitting, "slurm-gpus"), POLICIES[-1])
    cluster.wait(lambda: "grpo_1_2" in str(cluster.jobs("R")), 300)
    killed = halted(cluster, run, "rule_train_segment_wildcards_grpo_1_2", "train_segment.py")
    kept = {path: path.stat().st_mtime_ns for path in first.iterdir()}
    cluster.said("scontrol", "update", f"JobId={killed}", "TimeLimit=0:01")
    cluster.wait(lambda: cluster.shown(killed)["JobState"] == "TIMEOUT", 120)
    run.finished()

    assert f"SLURM-job '{killed}' failed, SLURM status is: 'TIMEOUT'" in text_of(run)
    jobs = [job for job in cluster.jobs() if job[0] > last]
    assert [rule.removeprefix("rule_train_segment_wildcards_") for _, rule in jobs] == [
        "grpo_1_1",
        "grpo_1_2",
        "grpo_1_2",
    ]
    attempts = [cluster.shown(number) for number, _ in jobs]
    assert {job["TresPerJob"] for job in attempts} == {"gres:gpu:1"}
    assert {job["Partition"] for job in attempts} == {"gpu"}
    assert [job["NumTasks"] for job in attempts] == ["1", "1", "1"]
    assert [job["TimeLimit"] for job in attempts[::2]] == ["04:00:00", "08:00:00"]
    assert [job["MinMemoryNode"] for job in attempts[::2]] == ["62.50G", "125G"]

    assert {path: path.stat().st_mtime_ns for path in first.iterdir()} == kept
    assert submitting.leftovers() == []
    for made in (first, second):
        assert files_below(made) == files_below(local.finished().folder / made.relative_to(submitting.folder))


@pytest.mark.parametrize(
    ("name", "asked"), [("slurm-gpus", "gpu={gpus}"), ("slurm-gres", "gres=gpu:{gpus}")], ids=["gpus", "gres"]
)
def test_every_gpu_rule_of_the_paper_asks_slurm_for_its_gpus(tmp_path, sources, cluster, name, asked):
    workspace = Workspace(tmp_path / "work here", sources / "config/paper.yaml", sources)
    workspace.environment = cluster.variables
    text = workspace.planned("all", "companions", *profile(workspace, name))
    planned = re.findall(r"^rule (\w+):$.*?^    resources: ([^\n]*)$", text, flags=re.MULTILINE | re.DOTALL)
    wanting = {}
    for rule, resources in planned:
        gpus = re.search(r"\bgpus=(\d+)", resources)
        if gpus and gpus[1] != "0":
            wanting[rule] = gpus[1]
            assert f", {asked.format(gpus=gpus[1])}, tasks_per_gpu=0, " in resources, resources
            assert "slurm_partition=gpu" in resources
        else:
            assert "gpu=" not in resources
            assert "gres=" not in resources
    stated = {
        "verl_segment": "2",
        "rollouts": "1",
        "likelihoods": "1",
        "scicode_verl_segment": "4",
        "scicode_rollouts": "1",
    }
    assert stated.items() <= wanting.items()
