import pyarrow as pa
import pytest

from workflow_scripts.records.errors import UserError
from workflow_scripts.records.parts import Parts, parts_folder, remove_parts

SCHEMA = pa.schema([pa.field("name", pa.string(), nullable=False), pa.field("seed", pa.uint64(), nullable=False)])
TABLE = pa.table({"name": ["a", "b"], "seed": [1, 2**64 - 1]}, schema=SCHEMA)


@pytest.fixture
def parts(tmp_path):
    return Parts(parts_folder(tmp_path / "rollouts.parquet"), {"temperature": 0.7, "policy": "base"}, SCHEMA)


def test_a_kept_part_comes_back(parts, tmp_path):
    assert parts.folder == tmp_path / ".rollouts.parquet.parts"
    assert parts.load(["x", 1]) is None
    parts.save(["x", 1], TABLE)
    assert parts.load(["x", 1]).equals(TABLE)
    assert Parts(parts.folder, dict(reversed(parts.settings.items())), SCHEMA).load(["x", 1]).equals(TABLE)
    remove_parts(parts.folder)
    remove_parts(parts.folder)
    assert list(tmp_path.iterdir()) == []


def test_other_settings_and_other_parts_are_not_taken(parts):
    parts.save(["x", 1], TABLE)
    assert parts.load(["x", 2]) is None
    assert Parts(parts.folder, parts.settings | {"temperature": 0.8}, SCHEMA).load(["x", 1]) is None


@pytest.mark.parametrize("spoil", ["cut", "no manifest"])
def test_a_half_written_part_is_not_taken(parts, spoil):
    parts.save("x", TABLE)
    (file,) = parts.folder.glob("*.parquet")
    if spoil == "cut":
        file.write_bytes(file.read_bytes()[:-10])
    else:
        next(parts.folder.glob("*.json")).unlink()
    assert parts.load("x") is None
    parts.save("x", TABLE)
    assert parts.load("x").equals(TABLE)


def test_a_folder_that_cannot_be_made_is_named(parts):
    parts.folder.write_text("in the way")
    with pytest.raises(UserError, match=r"\.rollouts\.parquet\.parts"):
        parts.save("x", TABLE)
