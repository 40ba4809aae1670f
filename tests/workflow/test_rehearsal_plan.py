"""The rehearsal runs the paper's rules: same rules, same edges between them; only sizes and places differ."""

import re
import subprocess
import sys

import pytest
import yaml
from workspaces import ROOT

SIZES = {
    "problems.evaluation", "problems.calibration", "problems.training", "problems.depth", "problems.tail",
    "sampling.samples", "sampling.lost", "sampling.halves", "sampling.max_new_tokens", "sampling.gpus",
    "clamps.continuations", "clamps.families", "clamps.scaffolds", "clamps.run_cuts", "clamps.tail_cells",
    "clamps.permutations", "clamps.max_new_tokens",
    "measures.pass_at", "measures.bootstrap",
    "interventions.samples", "interventions.blocks", "interventions.alphas", "interventions.mixed",
    "interventions.proposing",
}  # fmt: skip
OF_A_LINE = {
    "steps", "segment", "early", "late", "seeds", "prompts", "samples", "gpus", "learning_rate",
    "critic_learning_rate", "max_new_tokens",
}  # fmt: skip
PLACES = {"study", "problems.source", "problems.training_source", "policy.source"}
WRITTEN = {"policy.wording"}  # the small policy reads no English
OF_A_GIVEN_LINE = {"source", "revision", "folder"}


def graph(name, folder):
    """Edges of the rule graph of a config without its maths half, as pairs of rule names."""
    overlay = folder / "no_maths.yaml"
    overlay.write_text("maths: {roads: null, policies: null, benchmarks: null, pairs: null, also: [], example: null}\n")
    call = [sys.executable, "-m", "snakemake", "--snakefile", ROOT / "Snakefile", "--directory", folder]
    call += ["--rulegraph", "--configfile", ROOT / "config" / name, overlay, "--cores", "1"]
    done = subprocess.run(list(map(str, call)), capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    labels = dict(re.findall(r'(\d+)\[label = "([^"]+)"', done.stdout))
    edges = re.findall(r"(\d+) -> (\d+)", done.stdout)
    assert len(edges) > 50
    return {(labels[start], labels[end]) for start, end in edges}


def flat(data, before=""):
    for key, value in data.items():
        if isinstance(value, dict):
            yield from flat(value, f"{before}{key}.")
        else:
            yield f"{before}{key}", value


@pytest.fixture(scope="module")
def configs():
    return {
        name: dict(flat(yaml.safe_load((ROOT / "config" / f"{name}.yaml").read_text())))
        for name in ("paper", "rehearsal")
    }


def test_the_rule_graphs_are_equal(tmp_path):
    assert graph("paper.yaml", tmp_path) == graph("rehearsal.yaml", tmp_path)


def test_the_configs_differ_in_sizes_and_places_only(configs):
    from workflow_scripts import settings

    paper, rehearsal = (
        dict(flat(settings.load(ROOT / "config" / f"{name}.yaml").model_dump(mode="json")))
        for name in ("paper", "rehearsal")
    )
    allowed = SIZES | PLACES | WRITTEN
    for key in sorted(paper.keys() | rehearsal.keys()):
        if paper.get(key) == rehearsal.get(key) or key in allowed or key.startswith(("maths.", "scicode.")):
            continue
        section, _, last = key.rpartition(".")
        assert section.startswith("lines."), f"{key}: {paper.get(key)} in the paper, {rehearsal.get(key)} in rehearsal"
        assert last in OF_A_LINE | OF_A_GIVEN_LINE, key
