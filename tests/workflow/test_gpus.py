"""Jobs that declare GPUs share those that a machine has: no two at a time on one."""

import json
from itertools import combinations

import pytest
from workspaces import TINY, Workspace

pytestmark = pytest.mark.workflow

DECODING = ["rollouts", "masses", "likelihoods"]
TARGETS = [
    f"results/tiny/{name}.parquet"
    for name in ("rollouts/base", "masses/evaluation/base", "masses/tail/base", "likelihoods/base")
]


@pytest.fixture(scope="module")
def workspace(tmp_path_factory, sources):
    """The tiny study, made to say that decoding takes a GPU, up to what decodes."""
    config = tmp_path_factory.mktemp("config") / "tiny.yaml"
    text = TINY.read_text().replace("sampling: {", "sampling: {gpus: 1, ")
    assert "gpus: 1" in text
    config.write_text(text)
    made = Workspace(tmp_path_factory.mktemp("gpus") / "work here", config, sources)
    made.snakemake("results/tiny/policies/base", "results/tiny/solutions/evaluation.parquet")
    made.snakemake("results/tiny/solutions/tail.parquet")
    return made


def spans(workspace):
    """Start and end, seconds since the epoch, of every decoding job, from Snakemake's own records."""
    records = (json.loads(path.read_text()) for path in workspace.folder.glob(".snakemake/metadata/*"))
    return {tuple(r["log"]): (r["starttime"], r["endtime"]) for r in records if r.get("rule") in DECODING}


def overlapping(found):
    return [
        (one, other)
        for one, other in combinations(sorted(found), 2)
        if found[one][0] < found[other][1] and found[other][0] < found[one][1]
    ]


def test_one_gpu_is_never_shared(workspace):
    workspace.snakemake(*TARGETS, "--resources", "gpus=1")
    found = spans(workspace)
    assert len(found) == len(TARGETS)
    assert overlapping(found) == []


def test_two_gpus_are_used_at_once(workspace):
    workspace.snakemake(*TARGETS, "--forcerun", *DECODING, "--resources", "gpus=2")
    found = spans(workspace)
    assert len(found) == len(TARGETS)
    assert overlapping(found)
