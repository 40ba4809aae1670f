"""The table of layers, from small rates."""

import pandas as pd
import pytest

from workflow_scripts.figures import tables
from workflow_scripts.figures.code_layers import COLUMNS, layer_table
from workflow_scripts.measures.code_layers import ALL, MEASURES
from workflow_scripts.records.errors import UserError
from workflow_scripts.tasks.scicode.verdicts import LAYERS

ROWS = [("Base", "base"), ("Strict", "strict")]


@pytest.fixture
def rates():
    rows = [
        {"entry": entry, "set": name, "family": family, "measure": measure, "estimate": 1 - place / 10 - lower}
        for lower, name in ((0, "evaluation"), (0.1, "shifted"))
        for family in (ALL, "alpha")
        for entry in ("base", "strict")
        for place, measure in enumerate(MEASURES)
    ]
    return pd.DataFrame(rows).assign(low=0.0, high=1.0, problems=5)


def test_every_layer_is_a_column_and_explained(rates):
    made = layer_table(rates, ROWS, samples=8)
    frame = tables.frame_of(made)
    assert set(LAYERS) < {column.name for column in COLUMNS} == set(MEASURES)
    assert set(MEASURES) < set(frame)
    assert all(any(note.startswith(f"{column.heading}: ") for note in made.notes) for column in COLUMNS)
    assert frame["policy"].tolist() == ["evaluation: Base", "evaluation: Strict", "shifted: Base", "shifted: Strict"]
    assert frame.loc[2, "extracted"] == pytest.approx(0.9)
    assert (frame[[*LAYERS]].diff(axis=1).iloc[:, 1:] <= 0).all().all()


def test_families_have_rows_of_their_own(rates):
    frame = tables.frame_of(layer_table(rates, ROWS, samples=8, families=True))
    assert frame["policy"].tolist()[:4] == [
        "evaluation: Base", "evaluation: Strict", "evaluation, alpha: Base", "evaluation, alpha: Strict",
    ]  # fmt: skip


def test_files_are_the_same_every_time(rates, tmp_path):
    written = []
    for folder in ("one", "two"):
        paths = [tmp_path / folder / f"layers.{kind}" for kind in ("csv", "md", "tex")]
        tables.write(layer_table(rates, ROWS, samples=8), paths)
        written.append([path.read_bytes() for path in paths])
    assert written[0] == written[1] and all(written[0])
    assert b"defines answer" in written[0][1] and b"8 samples" in written[0][2]


def test_a_missing_rate_is_named(rates):
    with pytest.raises(UserError, match="typed for shifted all strict"):
        gone = (rates["entry"] == "strict") & (rates["set"] == "shifted") & (rates["measure"] == "typed")
        tables.markdown(layer_table(rates[~gone], ROWS, samples=8))
