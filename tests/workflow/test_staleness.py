"""What a change makes stale: exactly what depends on it. Every case is a dry run over a finished study."""

import os
import subprocess
import sys

import pytest
import yaml
from rule_groups import (
    AFTER_ENTRANCES,
    AFTER_LADDER,
    AFTER_SAMPLES,
    AFTER_TRAINING,
    AT_DEPTH,
    CLAMPS_OF_MENUS,
    DRAWING,
    IN_ACCESS,
    IN_NATS,
    IN_RECOVERY,
    INTERVENED,
    ON_LADDER,
    PARTNERED,
    SAMPLED,
    clamped,
    named,
    rules,
    stale_by_themselves,
)
from workspaces import Workspace, copy_sources

pytestmark = pytest.mark.workflow

EDIT = "\nEDITED = 1\n"
"""A statement of no consequence: it changes what a module is, not what it does."""

# file: (rules whose own code it is, all rules that run again, clamped sets that are sampled again)
EDITED_FILES = {
    "figures/breadth.py": ({"breadth"}, {"breadth"}, ""),
    "figures/ladder.py": ({"clamp_ladder", "table3"}, {"clamp_ladder", "table3"}, ""),
    "measures/claims.py": ({"scorecard"}, {"scorecard"}, ""),
    "measures/shapley.py": ({"access"}, IN_ACCESS | {"scorecard"}, ""),
    "measures/screening.py": ({"screening"}, ON_LADDER | {"scorecard"}, ""),
    "tasks/countdown/continuations.py": (
        {"likelihoods", "policy_card"},
        {"likelihoods", "policy_card", "scorecard"} | IN_NATS,
        "",
    ),
    "tasks/countdown/scaffolds.py": ({"ladder_clamps"}, {"ladder_clamps"} | AFTER_LADDER, "ladder"),
    "tasks/countdown/depth_clamps.py": (
        {"depth_clamps"},
        {"depth_clamps", "step_masses", "clamped_rollouts", "scores", "scorecard"} | AT_DEPTH,
        "depth",
    ),
    "tasks/countdown/clamps.py": (
        {"menu_clamps", "tail_clamps", "ladder_clamps"},
        {"menu_clamps", "tail_clamps", "ladder_clamps"} | AFTER_ENTRANCES | ON_LADDER,
        "entrances ladder",
    ),
    # Of what is sampled, only the entrances of the tail pool that no policy opens hang on exact masses.
    "policies/likelihood.py": (
        {"masses", "step_masses", "likelihoods", "figure1"},
        {"masses", "step_masses", "likelihoods", "figure1", "tail_clamps", "calibration"}.union(
            AFTER_ENTRANCES, IN_NATS, AT_DEPTH
        ),
        "entrances",
    ),
    "policies/sampling.py": (
        SAMPLED | {"figure1", "partner_outcomes"},
        SAMPLED.union({"figure1"}, AFTER_SAMPLES, AT_DEPTH, PARTNERED),
        "entrances ladder depth",
    ),
    "policies/mixing.py": (
        {"calibration_outcomes", "partner_outcomes"},
        {"scorecard"}.union(INTERVENED, PARTNERED),
        "",
    ),
    "policies/objectives/surrogate.py": ({"train_segment"}, AFTER_TRAINING, "entrances ladder depth"),
    # The reward is the judge, and training counts distinct formulas: segments are made anew, the base is not.
    "tasks/countdown/strict.py": ({"scores", "train_segment"}, AFTER_TRAINING, "entrances ladder depth"),
    "tasks/countdown/expressions.py": (
        {"solutions", "scores", "train_segment"},
        AFTER_TRAINING.union({"solutions"}, CLAMPS_OF_MENUS),
        "entrances ladder depth",
    ),
}

# key, value, rules whose own params it is, all rules that run again, clamped sets that are sampled again
CHANGED_SETTINGS = [
    (
        "measures.bootstrap",
        150,
        DRAWING,
        {"table1", "breadth", "trajectories", "scorecard", "table4", "cost_of_loss"}.union(
            DRAWING, IN_NATS, ON_LADDER, IN_ACCESS, IN_RECOVERY, AT_DEPTH
        ),
        "",
    ),
    ("measures.margins", {"C07": 0.2}, {"scorecard"}, {"scorecard"}, ""),
    ("instance", {"numbers": [1, 2, 3, 4], "target": 10}, {"figure1"}, {"figure1"}, ""),
    (
        "interventions.tolerance",
        0.5,
        {"intervention_choice"},
        INTERVENED - {"calibration_outcomes"} | {"scorecard"},
        "",
    ),
    ("clamps.permutations", 19, {"screening"}, ON_LADDER | {"scorecard"}, ""),
    ("clamps.scaffolds", 1, {"ladder_clamps"}, {"ladder_clamps"} | AFTER_LADDER, "ladder"),
    ("clamps.tail_cells", 7, {"tail_clamps"}, {"tail_clamps"} | AFTER_ENTRANCES, "entrances"),
    ("clamps.continuations", 3, {"clamped_rollouts"}, AFTER_ENTRANCES | ON_LADDER | AT_DEPTH, "entrances ladder depth"),
    (
        "sampling.samples",
        20,
        {"rollouts", "figure1", "policy_card"},
        {"rollouts", "figure1", "policy_card"} | AFTER_SAMPLES,
        "ladder",
    ),
]


@pytest.fixture
def edited(tiny, sources, tmp_path) -> Workspace:
    """The finished tiny study under a copy of its sources."""
    return Workspace(tiny.folder, tiny.config, copy_sources(tmp_path / "edited sources", sources))


def append(workspace, name, text=EDIT):
    with (workspace.sources / name).open("a") as handle:
        handle.write(text)


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


@pytest.mark.parametrize("file", EDITED_FILES)
def test_editing_a_file_reruns_what_uses_it_and_what_follows(edited, file):
    own, everything, sets = EDITED_FILES[file]
    append(edited, f"workflow_scripts/{file}")
    jobs = edited.jobs()
    assert rules(jobs) == everything
    assert stale_by_themselves(jobs) == own
    assert clamped(jobs) == set(sets.split())


@pytest.mark.parametrize(("key", "value", "own", "everything", "sets"), CHANGED_SETTINGS)
def test_changing_a_setting_reruns_what_reads_it_and_what_follows(tiny, tmp_path, key, value, own, everything, sets):
    jobs = overlay(tmp_path, tiny, {key: value}).jobs()
    assert rules(jobs) == everything
    assert stale_by_themselves(jobs) == own
    assert clamped(jobs) == set(sets.split())


def test_only_runs_of_policies_that_changed_are_sampled_again(edited):
    append(edited, "workflow_scripts/tasks/countdown/expressions.py")
    jobs = edited.jobs()
    assert named(jobs, "rollouts", "policy") == {"grpo-s1-step1", "grpo-s1-step2"}
    assert named(jobs, "masses", "policy") == {"base", "grpo-s1-step1", "grpo-s1-step2"}  # the menus are new


def test_a_new_objective_retrains_nothing(edited):
    new = edited.sources / "workflow_scripts/policies/objectives/preference.py"
    assert not new.exists()
    new.write_text(
        '"""An objective that no line uses yet."""\n\n\ndef loss(chosen, rejected):\n    return rejected - chosen\n'
    )
    assert edited.jobs() == []


def test_a_new_rung_makes_the_ladder_anew_and_trains_nothing(edited):
    source = edited.sources / "workflow_scripts/tasks/countdown/clamps.py"
    text = source.read_text()
    given = 'words.entrance(f"{operand(step.first)}{step.operator}")'
    assert text.count(given) == 1
    source.write_text(text.replace(given, f'{given} + " 1"'))
    jobs = edited.jobs()
    assert rules(jobs) == EDITED_FILES["tasks/countdown/clamps.py"][1]
    assert clamped(jobs) == {"entrances", "ladder"}


def test_more_steps_are_only_trained_and_measured_themselves(tiny, tmp_path):
    jobs = overlay(tmp_path, tiny, {"lines.grpo.steps": 4}).jobs()
    steps = [job.wildcards["step"] for job in jobs if job.rule == "train_segment"]
    assert sorted(steps) == ["3", "4"]
    new = {f"grpo-s1-step{step}" for step in steps}
    for rule in ("rollouts", "masses", "clamped_rollouts", "problem_breadth"):
        assert sorted(named(jobs, rule, "policy")) == sorted(new), rule
    assert named(jobs, "masses", "set") == {"evaluation"}
    assert clamped(jobs) == {"entrances"}
    assert named(jobs, "scores", "sampled") == new | {f"{policy}.entrances" for policy in new}
    every_step = {"summary", "table1", "breadth", "trajectories", "training_curves", "scorecard", "policy_card"}
    every_step |= IN_ACCESS | IN_RECOVERY
    made = {"train_segment", "rollouts", "scores", "problem_breadth", "masses", "clamped_rollouts"}
    assert rules(jobs) == made | every_step


def test_another_seed_is_one_more_chain(tiny, tmp_path):
    jobs = overlay(tmp_path, tiny, {"lines.grpo.seeds": [1, 2]}).jobs()
    assert [job.wildcards["seed"] for job in jobs if job.rule == "train_segment"] == ["2", "2"]
    assert rules(jobs) == AFTER_TRAINING
    new = {"grpo-s2-step1", "grpo-s2-step2"}
    for rule in ("rollouts", "masses", "step_masses", "likelihoods", "clamped_rollouts", "problem_breadth"):
        assert named(jobs, rule, "policy") == new, rule
    for rule in ("tail_clamps", "ladder_clamps", "survivors"):
        assert named(jobs, rule, "seed") == {"2"}, rule


def test_a_road_is_trained_and_compared_and_nothing_else_made_anew(tiny, tmp_path):
    roads = {"mine": {"kind": "sft", "demonstrations": 2}, "further": {"kind": "grpo", "start": "mine", "steps": 2}}
    jobs = overlay(tmp_path, tiny, {f"roads.{name}": road for name, road in roads.items()}).jobs()
    made = {"demonstrations", "road_sft", "road_grpo", "rollouts", "scores"}
    assert rules(jobs) == made | {"roads", "roads_table", "plane", "continuation", "scorecard"}
    assert named(jobs, "rollouts", "policy") == {"mine-s1", "further-s1"}


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
    for stage in ("train_segment.py", "scores.py", "trajectories.py", "figure1.py", "screening.py"):
        done = subprocess.run(
            [sys.executable, "-c", program, stage],
            env={**os.environ, "PYTHONPATH": str(sources)},
            cwd=sources,
            capture_output=True,
            text=True,
            check=False,
        )
        assert (done.returncode, done.stdout.strip()) == (0, ""), (stage, done.stdout + done.stderr)
