"""Files that are not what they should be: the run names the file and the way out, and leaves nothing half done."""

import json

import numpy as np
import pytest
from safetensors.numpy import load_file, save_file
from workspaces import TINY, Workspace, differing

from workflow_scripts.records.manifests import sha256

pytestmark = pytest.mark.workflow


def stopped(workspace, *arguments, unmade):
    """What a run says that must stop without having made `unmade` (paths below the results)."""
    said = workspace.said(*arguments)
    assert "Traceback" not in said
    for name in unmade:
        assert not (workspace.results / name).exists(), name
    assert workspace.leftovers() == []
    return said


def rewrite_manifest(file):
    """Makes the manifest of a policy folder agree with a changed file, as another tool's would."""
    manifest = file.with_name("manifest.json")
    content = json.loads(manifest.read_text())
    content["files"][file.name] = {"bytes": file.stat().st_size, "sha256": sha256(file)}
    manifest.write_text(json.dumps(content))


def poison(file):
    tensors = load_file(file)
    name = sorted(tensors)[0]
    tensors[name] = tensors[name].copy()
    tensors[name].flat[3] = np.nan
    save_file(tensors, file)
    rewrite_manifest(file)
    return name


def test_a_truncated_table_is_named_and_made_anew_once_deleted(own, tiny):
    rollouts = own.results / "rollouts/base.parquet"
    rollouts.write_bytes(rollouts.read_bytes()[:-100])
    unmade = ["scores/base.parquet", "scores/base.manifest.json"]
    said = stopped(own, unmade=unmade)
    size = rollouts.stat().st_size
    assert f"scores: results/tiny/rollouts/base.parquet holds {size} bytes" in said
    assert "delete it and run snakemake again" in said
    assert {job.rule for job in own.jobs()} >= {"scores", "problem_breadth", "table1"}
    rollouts.unlink()
    own.snakemake()
    assert differing(own.outputs(), tiny.outputs()) == []


def test_a_job_that_failed_is_still_to_be_done(own, tiny, tmp_path):
    """Where files made from its outputs exist from an earlier run, Snakemake alone would see nothing to do."""
    config = tmp_path / "other contract.yaml"
    config.write_text(f"{TINY.read_text()}\n".replace("measures: {", "measures: {contract: paper_grpo, "))
    changed = Workspace(own.folder, config, own.sources)
    manifest = own.results / "problems/evaluation.manifest.json"
    whole = manifest.read_bytes()
    manifest.write_text("{}")
    said = changed.said("--keep-going")
    assert "scores: results/tiny/problems/evaluation.manifest.json is damaged" in said
    manifest.write_bytes(whole)
    jobs = changed.jobs()
    assert {job.rule for job in jobs} >= {"scores", "problem_breadth", "summary", "table1"}
    assert any("the job failed" in job.reason for job in jobs)
    own.snakemake()
    assert differing(own.outputs(), tiny.outputs()) == []


@pytest.mark.parametrize(
    ("file", "rule", "unmade"),
    [
        ("measures/summary.csv", "table1", "tables/table1.csv"),
        ("measures/summary.csv", "breadth", "figures/breadth.svg"),
        ("measures/retention/grpo.csv", "scorecard", "tables/claims.csv"),
        ("measures/problems/base.parquet", "summary", "measures/summary.csv"),
        ("training/grpo-s1-step1.parquet", "training_curves", "tables/training_curves.csv"),
        ("solutions/evaluation_openings.parquet", "menu_clamps", "clamps/menu.parquet"),
        ("masses/tail/grpo-s1-step2.parquet", "tail_clamps", "clamps/grpo-s1.tail.parquet"),
        ("scores/grpo-s1-step2.parquet", "ladder_clamps", "clamps/grpo-s1.ladder.parquet"),
        ("clamps/menu.parquet", "clamped_rollouts", "rollouts/base.entrances.parquet"),
        ("clamps/depth_menus.parquet", "step_masses", "masses/depth/grpo-s1-step1.parquet"),
        ("rollouts/grpo-s1-step2.ladder.parquet", "screening", "measures/screening/grpo.csv"),
        ("measures/screening/grpo.csv", "ladder", "measures/ladder/grpo.csv"),
        ("measures/ladder/grpo.rungs.csv", "table3", "tables/table3.csv"),
        ("measures/ladder/grpo.csv", "scorecard", "tables/claims.csv"),
        ("masses/evaluation/base.parquet", "access", "measures/access/grpo.csv"),
        ("measures/access/grpo.families.parquet", "theory", "measures/theory/grpo.csv"),
        ("clamps/grpo-s1.cells.csv", "recoverability", "measures/recoverability/grpo.csv"),
        ("likelihoods/grpo-s1-step2.parquet", "likelihood_changes", "measures/likelihood/grpo.csv"),
        ("masses/depth/grpo-s1-step2.parquet", "depth", "measures/depth/grpo.csv"),
    ],
)
def test_a_file_that_differs_from_its_manifest_is_refused(own, file, rule, unmade):
    path = own.results / file
    content = bytearray(path.read_bytes())
    content[len(content) // 2] ^= 1
    path.write_bytes(content)
    target = f"results/tiny/{unmade}"
    said = stopped(own, target, "--forcerun", target, unmade=[unmade])
    assert f"{rule}: results/tiny/{file} differs from its manifest" in said
    assert "delete it and run snakemake again" in said


def test_clamps_that_were_cut_short_are_made_anew_with_all_that_follows(own, tiny):
    """Samples of prefixes that are no longer asked for, or the reverse, must not meet in a table."""
    clamps = own.results / "clamps/grpo-s1.ladder.parquet"
    clamps.write_bytes(clamps.read_bytes()[:-100])
    step = "rollouts/grpo-s1-step2.ladder.parquet"
    said = stopped(own, f"results/tiny/{step}", unmade=[step])
    assert f"clamped_rollouts: results/tiny/clamps/grpo-s1.ladder.parquet holds {clamps.stat().st_size} bytes" in said
    clamps.unlink()
    assert {job.rule for job in own.jobs()} >= {"ladder_clamps", "clamped_rollouts", "screening", "ladder", "table3"}
    own.snakemake()
    assert differing(own.outputs(), tiny.outputs()) == []


def test_a_damaged_or_missing_manifest_is_named(own):
    manifest = own.results / "measures/summary.manifest.json"
    manifest.write_text(manifest.read_text()[:50])
    said = stopped(own, "--until", "table1", "--forcerun", "table1", unmade=["tables/table1.csv"])
    assert "table1: results/tiny/measures/summary.manifest.json is damaged" in said
    manifest.unlink()
    said = stopped(own, "--until", "table1", "--forcerun", "table1", unmade=["tables/table1.csv"])
    assert "table1: results/tiny/measures/summary.csv has no manifest" in said


def test_weights_that_are_not_numbers_are_refused_by_all_that_reads_them(own):
    name = poison(own.results / "policies/base/model.safetensors")
    said = stopped(own, "--until", "rollouts", "--forcerun", "rollouts", unmade=["rollouts/base.parquet"])
    assert "rollouts: results/tiny/policies/base" in said
    assert name in said
    assert "NaN" in said or "not finite" in said
    for rule, made in (("masses", "masses/evaluation/base.parquet"), ("figure1", "figures/figure1.svg")):
        said = stopped(own, f"results/tiny/{made}", "--forcerun", f"results/tiny/{made}", unmade=[made])
        assert f"{rule}: results/tiny/policies/base" in said
        assert name in said
    step = "policies/grpo-s1-step1"
    said = stopped(own, f"results/tiny/{step}", "--forcerun", f"results/tiny/{step}", unmade=[step])
    assert f"train_segment: results/tiny/policies/base/model.safetensors: {name} holds NaN" in said


def test_a_state_that_is_not_numbers_is_refused(own):
    name = poison(own.results / "training/grpo-s1-step1/state.safetensors")
    last = "policies/grpo-s1-step2"
    said = stopped(own, f"results/tiny/{last}", "--forcerun", f"results/tiny/{last}", unmade=[last])
    assert "train_segment: results/tiny/training/grpo-s1-step1/state.safetensors" in said
    assert name in said


def test_policies_whose_words_differ_are_not_compared(own):
    tokenizer = own.results / "policies/grpo-s1-step2/tokenizer.json"
    content = json.loads(tokenizer.read_text())
    words = content["model"]["vocab"]
    words["4"], words["5"] = words["5"], words["4"]
    tokenizer.write_text(json.dumps(content))
    rewrite_manifest(tokenizer)
    changes = "measures/likelihood/grpo.csv"
    said = stopped(own, f"results/tiny/{changes}", "--forcerun", f"results/tiny/{changes}", unmade=[changes])
    assert "likelihood_changes: " in said
    assert "results/tiny/policies/grpo-s1-step2" in said


@pytest.mark.parametrize("listed", [True, False])
def test_a_missing_tokenizer_is_named(own, listed):
    policy = own.results / "policies/base"
    (policy / "tokenizer.json").unlink()
    if not listed:
        manifest = json.loads((policy / "manifest.json").read_text())
        del manifest["files"]["tokenizer.json"]
        (policy / "manifest.json").write_text(json.dumps(manifest))
    said = stopped(own, "--until", "rollouts", "--forcerun", "rollouts", unmade=["rollouts/base.parquet"])
    assert "rollouts: results/tiny/policies/base/tokenizer.json is missing" in said


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("lines: {grpo: {stepz: 3}}", "lines.grpo.stepz: unknown key (did you mean 'steps'?)"),
        ("sampling: {samples: many}", "sampling.samples: "),
        ("lines: {grpo: {early: 7}}", "early (7) is no kept step"),
        ("study: a/b", "study: "),
    ],
)
def test_a_wrong_config_is_named_with_its_file_and_key(tmp_path, sources, text, message):
    config = tmp_path / "my study.yaml"
    config.write_text(text)
    workspace = Workspace(tmp_path / "work here", config, sources)
    said = workspace.said("--dry-run")
    assert message in said
    assert "my study.yaml" in said
    assert not (workspace.folder / "results").exists()


def test_a_config_that_is_no_yaml_is_named_by_the_command_that_checks_it(tmp_path, sources):
    config = tmp_path / "my study.yaml"
    config.write_text("study: tiny\nlines: [")
    workspace = Workspace(tmp_path / "work here", config, sources)
    assert "is not valid JSON or YAML" in workspace.said("--dry-run")
    checked = workspace.entrances("config", "check", str(config))
    assert checked.returncode == 2
    assert f"{config}, line 2: not valid YAML" in checked.stderr
