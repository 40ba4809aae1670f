"""Scientific coding at the paper's size is planned to its end, and what cannot be paid is said before planning."""

import re
from collections import Counter

import pytest
from workspaces import Workspace

pytestmark = pytest.mark.workflow

LINES = {"execution": 2, "strict": 2, "compact": 2, "shaped": 2, "judged": 4}
"""Kept steps of each line of config/paper.yaml."""


@pytest.fixture(scope="module")
def planned(tmp_path_factory):
    """Jobs of the paper's companions by rule."""
    workspace = Workspace(tmp_path_factory.mktemp("paper") / "here", "config/paper.yaml")
    return Counter(job.rule for job in workspace.jobs("companions"))


def test_every_policy_of_the_paper_is_trained_merged_sampled_and_judged(planned):
    kept, ends, wrappings = sum(LINES.values()), 1 + len(LINES), 2
    assert planned["scicode_verl_segment"] == planned["scicode_merged"] == kept
    assert planned["scicode_judged"] == 1 + kept
    assert planned["scicode_scores"] == 1 + kept + 1  # the base, every kept step, the base on the training set
    assert planned["scicode_rollouts"] == planned["scicode_scores"] + ends * wrappings
    assert planned["scicode_submission"] == ends * wrappings
    once = ["scicode_generated", "scicode_given", "scicode_mining", "reward_gap", "judge_calibration", "critpt_outputs"]
    assert {rule: planned[rule] for rule in once} == dict.fromkeys(once, 1)
    assert planned["critpt_problems"] == wrappings
    assert not planned["scicode_base"] + planned["scicode_segment"] + planned["scicode_teacher"]


TEACHER = 'scicode: {teacher: {endpoint: {base_url: "http://127.0.0.1:1/v1", model: m}, specifications: 4}}'


@pytest.mark.parametrize(
    ("overlay", "said"),
    [
        ("scicode: {rewards: {odd: {terms: {runz: 1}}}}", r"scicode\.rewards: .*odd.*runz"),
        ("scicode: {rewards: {odd: executoin}}", r"scicode\.rewards: .*executoin.*execution"),
        (
            "scicode: {rewards: {judged: semantic_judge}, lines: {judged: {reward: judged}}}",
            r"scicode\.lines\.judged: .*asks a judge; set scicode\.judge",
        ),
        (
            "scicode: {rewards: {judged: semantic_judge}, lines: {judged: {reward: judged}}, "
            'judge: {base_url: "http://127.0.0.1:1/v1", model: m}}',
            r"scicode\.lines\.judged: .*asks a judge, which lines of verl can",
        ),
        ("scicode: {lines: {strict: {reward: strict, problems: mined}}}", r"lines\.strict\.problems: set mining"),
        ("scicode: {mining: {problems: 8}}", "mining: the small policy reads short problems only; set policy"),
        ("scicode: {benchmark: {source: notebooks}}", "benchmark: the small policy reads short problems only"),
        (
            "scicode: {policy: {source: models/none}, lines: null, sets: {held_out: [ray_matrxi]}}",
            r"held_out: there is no family 'ray_matrxi'.*ray_matrix",
        ),
    ],
    ids=["term", "reward", "no judge", "small and judged", "no mining", "mining", "benchmark", "family"],
)
def test_what_cannot_be_done_is_said_before_planning(tmp_path, overlay, said):
    (tmp_path / "overlay.yaml").write_text(overlay + "\n")
    workspace = Workspace(tmp_path / "here", tmp_path / "overlay.yaml")
    done = workspace.snakemake("--dry-run", "companions", check=False)
    told = " ".join((done.stdout + done.stderr).split())
    assert done.returncode != 0 and re.search(said, told), told
    assert "Traceback" not in told


def test_a_teacher_s_set_is_planned_for_the_small_policy_too(tmp_path):
    (tmp_path / "overlay.yaml").write_text(TEACHER + "\n")
    workspace = Workspace(tmp_path / "here", tmp_path / "overlay.yaml")
    rules = {job.rule for job in workspace.jobs("results/laptop/scicode/problems/teacher.parquet")}
    assert rules == {"scicode_problems", "scicode_teacher"}
