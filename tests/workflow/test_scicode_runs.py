"""Scientific coding on the smoke study: what a change makes stale, and the same bytes on one core."""

import pytest
import yaml
from rule_groups import named, rules, stale_by_themselves
from workspaces import SAME_BYTES, Workspace, copy_sources, differing

pytestmark = pytest.mark.workflow

TARGETS = ("reward_gap", "code_layers", "run_diagnostics", "reward_audit", "scicode_leakage")
OF_SCORES = {"reward_truth", "reward_gap", "code_layers", "run_diagnostics"}
OF_POLICIES = {"scicode_rollouts", "scicode_scores"} | OF_SCORES
ALL = {"scicode_problems", "scicode_base", "scicode_segment", "scicode_leakage"} | OF_POLICIES

# file: (rules whose own code it is, but for those that follow from another, all rules that run again)
EDITED_FILES = {
    "figures/reward_truth.py": ({"reward_gap"}, {"reward_gap"}),
    "figures/code_layers.py": ({"code_layers"}, {"code_layers"}),
    "measures/run_warnings.py": ({"run_diagnostics"}, {"run_diagnostics"}),
    "tasks/scicode/leakage.py": ({"scicode_leakage"}, {"scicode_leakage"}),
    "measures/reward_audit.py": ({"reward_audit"}, {"reward_audit"}),
    "tasks/scicode/families/optics.py": (
        {"scicode_audited", "scicode_leakage"},
        {"scicode_audited", "scicode_leakage", "reward_audit"},
    ),
    # What a sample earns: segments are made anew, the base is not; the audit pays as well.
    "tasks/scicode/rewards/terms.py": (
        {"scicode_segment", "scicode_scores", "scicode_leakage", "reward_audit"},
        {"scicode_segment", "scicode_leakage", "reward_audit"} | OF_POLICIES,
    ),
    "tasks/scicode/sandbox/kernel.py": (
        {"scicode_segment", "scicode_scores", "scicode_audited", "scicode_leakage"},
        {"scicode_segment", "scicode_audited", "reward_audit", "scicode_leakage"} | OF_POLICIES,
    ),
}

# key, value, rules whose own params it is (see above), all rules that run again
CHANGED_SETTINGS = [
    ("sampling.samples", 9, {"scicode_rollouts"}, OF_POLICIES),
    ("pass_at", [1, 4], {"reward_truth"}, {"reward_truth", "reward_gap"}),
    ("sets.audited", 2, {"scicode_audited"}, {"scicode_audited", "reward_audit"}),
    ("base.steps", 61, {"scicode_base"}, ALL - {"scicode_problems", "scicode_leakage"}),
    (
        "rewards.execution",
        {"terms": {"executes": 0.5, "correct": 0.5}},
        {"scicode_segment", "scicode_scores", "reward_audit"},
        {"scicode_segment", "reward_audit"} | OF_POLICIES,
    ),
]


@pytest.fixture
def edited(smoke, tmp_path) -> Workspace:
    """The finished smoke study under a copy of its sources."""
    return Workspace(smoke.folder, smoke.config, copy_sources(tmp_path / "edited sources"))


def overlay(tmp_path, workspace, path, value):
    """The workspace under the smoke study with one key of scientific coding changed."""
    config = yaml.safe_load(workspace.config.read_text())
    place = config["scicode"]
    *sections, last = path.split(".")
    for section in sections:
        place = place.setdefault(section, {})
    place[last] = value
    changed = tmp_path / "changed.yaml"
    changed.write_text(yaml.safe_dump(config))
    return Workspace(workspace.folder, changed, workspace.sources)


@pytest.mark.parametrize("file", EDITED_FILES)
def test_editing_a_file_reruns_what_uses_it_and_what_follows(edited, file):
    own, everything = EDITED_FILES[file]
    with (edited.sources / "workflow_scripts" / file).open("a") as handle:
        handle.write("\nEDITED = 1\n")
    jobs = edited.jobs(*TARGETS)
    assert rules(jobs) == everything
    assert stale_by_themselves(jobs) == own


@pytest.mark.parametrize(("key", "value", "own", "everything"), CHANGED_SETTINGS)
def test_changing_a_setting_reruns_what_reads_it_and_what_follows(smoke, tmp_path, key, value, own, everything):
    jobs = overlay(tmp_path, smoke, key, value).jobs(*TARGETS)
    assert rules(jobs) == everything
    assert stale_by_themselves(jobs) == own


def test_another_reward_is_one_more_line_and_trains_no_other(smoke, tmp_path):
    config = yaml.safe_load(smoke.config.read_text())
    line = {"reward": "mine", "steps": 2, "segment": 1, "prompts": 4}
    config["scicode"] |= {"rewards": {"mine": {"terms": {"correct": 1.0}}}}
    config["scicode"]["lines"]["mine"] = line
    changed = tmp_path / "changed.yaml"
    changed.write_text(yaml.safe_dump(config))
    jobs = Workspace(smoke.folder, changed, smoke.sources).jobs(*TARGETS)
    assert named(jobs, "scicode_segment", "line") == {"mine"}
    assert named(jobs, "scicode_rollouts", "sampled") == {"mine-s1-step1", "mine-s1-step2"}


def test_one_core_and_two_give_the_same_bytes(smoke, tmp_path):
    alone = Workspace(tmp_path / "on one core", smoke.config)
    alone.snakemake(*TARGETS, cores=1)
    ours, theirs = (workspace.outputs((*SAME_BYTES, ".safetensors")) for workspace in (alone, smoke))
    policies = [name for name in ours if "/policies/" in name]
    assert len(policies) == 4  # base, execution at two steps, strict at one
    assert differing(ours, {name: theirs.get(name) for name in ours}) == []
    assert "smoke/tables/reward_gap.csv" in ours and "smoke/figures/reward_truth.png" in ours
