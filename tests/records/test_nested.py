"""records/nested.py: Snakemake asked from inside a job, in a folder that another run has locked."""

import pytest

from workflow_scripts.records import nested
from workflow_scripts.records.errors import UserError

SNAKEFILE = """
rule all:
    input: config["study"] + ".txt"

rule made:
    output: config["study"] + ".txt"
    shell: "exit 1"
"""


@pytest.fixture
def study(tmp_path, monkeypatch):
    root, folder = tmp_path / "check out", tmp_path / "work here"
    for path in (root, folder / ".snakemake" / "locks"):
        path.mkdir(parents=True)
    (root / "Snakefile").write_text(SNAKEFILE)
    for kind in ("input", "output"):
        (folder / ".snakemake" / "locks" / f"0.{kind}.lock").write_text("läb.txt\n")
    monkeypatch.setattr(nested, "ROOT", root)
    monkeypatch.chdir(folder)
    return folder


def test_the_rule_graph_under_a_lock(study, capfd):
    dot = nested.snakemake({"study": "läb"}, ["all"], "--rulegraph", "dot")
    assert '"made"' in dot
    assert "->" in dot
    assert "Building DAG" in capfd.readouterr().err
    assert sorted(path.name for path in (study / ".snakemake" / "locks").iterdir()) == [
        "0.input.lock",
        "0.output.lock",
    ]
    assert not (study / "läb.txt").exists()


def test_a_failure_says_what_snakemake_said(study):
    with pytest.raises(UserError, match=r"(?s)--rulegraph dot failed.*nothing_like_it"):
        nested.snakemake({"study": "x"}, ["nothing_like_it"], "--rulegraph", "dot")
