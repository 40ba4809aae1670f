"""What a change makes stale: exactly what depends on it. Every case is a dry run over a finished study."""

import os
import subprocess
import sys

import pytest
import yaml
from workspaces import Workspace, copy_sources

pytestmark = pytest.mark.workflow

EDIT = "\nEDITED = 1\n"
"""A statement of no consequence: it changes what a module is, not what it does."""

CLAMPED = {"tail_clamps", "ladder_clamps", "clamped_rollouts"}
"""Rules whose inputs come from what policies said or would say."""
LOCATED = {"likelihood_changes", "screening", "ladder", "access", "theory", "recoverability", "depth"}
MEASURED = {"problem_breadth", "survivors", "more_rollouts", "retention", "summary"} | CLAMPED | LOCATED
LOCATED_SHOWN = {
    "table2", "table3", "figure2", "token_costs", "calibration", "clamp_ladder", "recoverability_curve", "theory_test",
    "depth_curve",
}  # fmt: skip
SHOWN = {"table1", "breadth", "scorecard", "trajectories", "coverage_curve"} | LOCATED_SHOWN
FROM_POLICIES = {"masses", "likelihoods", "step_masses", "figure1"}
"""Rules that read nothing of a policy but its folder."""


@pytest.fixture
def edited(tiny, sources, tmp_path) -> Workspace:
    """The finished tiny study under a copy of its sources."""
    return Workspace(tiny.folder, tiny.config, copy_sources(tmp_path / "edited sources", sources))


def append(workspace, name, text=EDIT):
    with (workspace.sources / name).open("a") as handle:
        handle.write(text)


def rules(jobs):
    return {job.rule for job in jobs}


def stale_by_themselves(jobs):
    """Rules whose own params, the digest of the code among them, have changed."""
    return {job.rule for job in jobs if "Params have changed" in job.reason}


def overlay(tmp_path, workspace, change):
    """The workspace under the tiny study with some keys changed."""
    config = yaml.safe_load(workspace.config.read_text())
    for path, value in change.items():
        *sections, last = path.split(".")
        place = config
        for section in sections:
            place = place.setdefault(section, {})
        place[last] = value
    path = tmp_path / "changed.yaml"
    path.write_text(yaml.safe_dump(config))
    return Workspace(workspace.folder, path, workspace.sources)


def test_another_copy_of_the_same_sources_reruns_nothing(edited):
    assert edited.jobs() == []


@pytest.mark.parametrize("cores", [1, 7])
def test_another_number_of_cores_reruns_nothing(tiny, cores):
    assert tiny.jobs(cores=cores) == []


def test_touching_every_source_file_reruns_nothing(edited):
    for path in edited.sources.rglob("*"):
        os.utime(path)
    assert edited.jobs() == []


def test_commenting_every_source_file_reruns_nothing(edited):
    remark = "# A remark.\n"
    touched = [p for p in edited.sources.rglob("*") if p.suffix in {".py", ".smk", ".yaml"} or p.name == "Snakefile"]
    assert len(touched) > 60
    for path in touched:
        path.write_text(f"{path.read_text()}\n{remark}")
    for path in edited.sources.glob("workflow_scripts/**/*.py"):
        text = path.read_text()
        path.write_text(f'"""Another docstring."""\n{text}' if not text.startswith('"""') else f"{remark}{text}")
    assert edited.jobs() == []


def test_editing_a_plot_redraws_it_and_nothing_else(edited):
    append(edited, "workflow_scripts/figures/breadth.py")
    assert rules(edited.jobs()) == {"breadth"}


def test_editing_a_claim_recomputes_the_scorecard_and_nothing_else(edited):
    append(edited, "workflow_scripts/measures/claims.py")
    assert rules(edited.jobs()) == {"scorecard"}


def test_editing_canonical_forms_reruns_what_uses_them(edited):
    append(edited, "workflow_scripts/tasks/countdown/expressions.py")
    jobs = edited.jobs()
    # The reward is the judge, and training counts distinct formulas: segments are made anew, the base is not.
    assert stale_by_themselves(jobs) == {"solutions", "scores", "train_segment"}
    assert rules(jobs) == {"solutions", "scores", "train_segment", "rollouts", "training_curves"} | MEASURED | SHOWN
    assert {job.wildcards["policy"] for job in jobs if job.rule == "rollouts"} == {"grpo-s1-step1", "grpo-s1-step2"}


def test_editing_the_judge_does_not_solve_or_pretrain_again(edited):
    append(edited, "workflow_scripts/tasks/countdown/strict.py")
    jobs = edited.jobs()
    assert stale_by_themselves(jobs) == {"scores", "train_segment"}
    assert not rules(jobs) & {"problem_sets", "solutions", "base_policy"}


def test_editing_the_sampler_trains_nothing(edited):
    append(edited, "workflow_scripts/policies/sampling.py")
    jobs = edited.jobs()
    assert stale_by_themselves(jobs) == {"rollouts", "more_rollouts"}
    assert not rules(jobs) & {"problem_sets", "solutions", "base_policy", "train_segment", "training_curves"}


def test_a_new_objective_retrains_nothing(edited):
    new = edited.sources / "workflow_scripts/policies/objectives/preference.py"
    assert not new.exists()
    new.write_text(
        '"""An objective that no line uses yet."""\n\n\ndef loss(chosen, rejected):\n    return rejected - chosen\n'
    )
    assert edited.jobs() == []


def test_editing_an_objective_retrains_the_lines_from_the_same_base(edited):
    append(edited, "workflow_scripts/policies/objectives/surrogate.py")
    jobs = edited.jobs()
    assert stale_by_themselves(jobs) == {"train_segment"}
    assert not rules(jobs) & {"problem_sets", "solutions", "base_policy"}


def test_more_steps_are_only_trained_and_measured_themselves(tiny, tmp_path):
    jobs = overlay(tmp_path, tiny, {"lines.grpo.steps": 4}).jobs()
    steps = [job.wildcards["step"] for job in jobs if job.rule == "train_segment"]
    assert sorted(steps) == ["3", "4"]
    new = {f"grpo-s1-step{step}" for step in steps}
    for rule, name in (("rollouts", "policy"), ("scores", "sampled"), ("problem_breadth", "policy")):
        assert {job.wildcards[name] for job in jobs if job.rule == rule} == new, rule
    every_step = {"summary", "table1", "breadth", "trajectories", "training_curves", "scorecard"}
    assert rules(jobs) == {"train_segment", "rollouts", "scores", "problem_breadth"} | every_step


def test_another_seed_is_one_more_chain(tiny, tmp_path):
    jobs = overlay(tmp_path, tiny, {"lines.grpo.seeds": [1, 2]}).jobs()
    assert [job.wildcards["seed"] for job in jobs if job.rule == "train_segment"] == ["2", "2"]
    assert not rules(jobs) & {"problem_sets", "solutions", "base_policy"}
    assert {job.wildcards["policy"] for job in jobs if job.rule == "rollouts"} == {"grpo-s2-step1", "grpo-s2-step2"}


def test_more_bootstrap_draws_only_move_intervals(tiny, tmp_path):
    jobs = overlay(tmp_path, tiny, {"measures.bootstrap": 150}).jobs()
    assert rules(jobs) == {"summary", "retention"} | SHOWN


def test_the_digest_follows_what_python_really_imports(sources):
    """The digest's list of modules, against the modules that running a stage's imports loads."""
    program = """
import ast, importlib, pathlib, sys
from workflow_scripts.records import digest
root = pathlib.Path(digest.__file__).parents[1]
known, waiting = set(), [root / "stages" / sys.argv[1]]
while waiting:
    path = waiting.pop()
    if path not in known:
        known.add(path)
        waiting += digest._read(path)[1]
for line in ast.parse((root / "stages" / sys.argv[1]).read_text()).body:
    if isinstance(line, ast.ImportFrom):
        importlib.import_module(line.module)
loaded = {pathlib.Path(m.__file__) for n, m in list(sys.modules.items()) if n.startswith("workflow_scripts.")}
print("\\n".join(sorted(str(path) for path in loaded - known - {pathlib.Path(digest.__file__)})))
"""
    for stage in ("train_segment.py", "scores.py", "trajectories.py"):
        done = subprocess.run(
            [sys.executable, "-c", program, stage],
            env={**os.environ, "PYTHONPATH": str(sources)},
            cwd=sources,
            capture_output=True,
            text=True,
            check=False,
        )
        assert (done.returncode, done.stdout.strip()) == (0, ""), (stage, done.stdout + done.stderr)
