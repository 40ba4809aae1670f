"""The lab's table, its speeds and its curves, from small frames."""

import math

import pandas as pd
import pytest

from workflow_scripts.figures import lab_curves, tables
from workflow_scripts.figures.lab_table import columns, lab_table, speed, training_cells
from workflow_scripts.records.errors import UserError
from workflow_scripts.records.schemas import TRAINING

ROWS = [
    {"name": "base", "policies": ["base"], "stage": "base"},
    {"name": "sft", "policies": ["sft-s1"], "stage": "sft"},
    {"name": "rlvr", "policies": ["rlvr-s1", "rlvr-s2"], "stage": "grpo", "samples_a_step": 16},
]
LABELS = [(row["name"].upper(), row["name"]) for row in ROWS]
ASKED = {"pass_at": [1, 8], "draws": [8]}


def steps(count, **given):
    """TRAINING of some steps: every column 0.5 but for those given."""
    frame = pd.DataFrame(0.5, index=range(count), columns=TRAINING.names)
    return frame.assign(step=range(1, count + 1), **given)


@pytest.fixture
def reinforced():
    return {"rlvr-s1": steps(30, zero_variance=0.2), "rlvr-s2": steps(30, zero_variance=0.4)}


def summary(benchmarks=("words", "shifted", "mean")):
    names = [column.name for column in columns(**ASKED) if column.name != "zero_variance"]
    rows = [
        {"entry": row["name"], "benchmark": benchmark, "measure": measure, "estimate": place}
        for row in ROWS
        for place, benchmark in enumerate(benchmarks)
        for measure in [*names, "best@8"]
    ]
    return pd.DataFrame(rows).assign(low=0.0, high=1.0, problems=40)


def table(cells, reinforced):
    cells = pd.concat([cells, training_cells(reinforced, ROWS, ["words", "shifted"])], ignore_index=True)
    return lab_table(cells, LABELS, benchmarks=["words", "shifted"], samples=64, **ASKED)


def test_a_row_per_test_set_and_policy(reinforced):
    made = table(summary(), reinforced)
    frame = tables.frame_of(made).set_index("policy")
    assert list(frame.index[:4]) == ["words: BASE", "words: SFT", "words: RLVR", "shifted: BASE"]
    assert frame.loc["words: BASE", "reward"] == 0 and frame.loc["shifted: BASE", "reward"] == 1
    assert frame.loc["words: RLVR", "zero_variance"] == pytest.approx(0.3)
    assert math.isnan(frame.loc["words: SFT", "zero_variance"])
    assert "| pass@8 = best of 8 |" in tables.markdown(made)


def test_every_column_is_explained_below(reinforced):
    made = table(summary(), reinforced)
    plain = [column.heading for column in made.columns if not column.name.startswith(("pass@", "majority@"))]
    assert all(any(note.startswith(f"{heading}: ") for note in made.notes) for heading in plain)


def test_it_says_that_wordings_are_shared_by_design(reinforced):
    assert any("alike by design" in note for note in table(summary(), reinforced).notes)


def test_a_missing_measure_is_named(reinforced):
    cells = summary()
    with pytest.raises(UserError, match="token_entropy for shifted sft"):
        gone = (cells["measure"] == "token_entropy") & (cells["benchmark"] == "shifted") & (cells["entry"] == "sft")
        tables.markdown(table(cells[~gone], reinforced))


def test_speeds_of_every_kind_of_training(reinforced):
    training = {
        "base": pd.DataFrame({"step": [1, 2], "seconds": [1.0, 3.0]}),
        "sft-s1": pd.DataFrame({"step": [1, 2], "seconds": [0.5, 0.5], "tokens": [100, 250]}),  # summed already
        "rlvr-s1": steps(4, seconds=2.0, length=10.0),
        "rlvr-s2": steps(4, seconds=1.0, length=10.0),
    }
    frame = speed(training, ROWS).set_index("policy")
    assert frame["seconds"].tolist() == [4, 1, 8, 4] and frame["steps"].tolist() == [2, 2, 4, 4]
    assert math.isnan(frame.loc["base", "tokens_a_second"])
    assert frame.loc["sft-s1", "tokens_a_second"] == 250
    assert frame.loc["rlvr-s1", "tokens_a_second"] == 4 * 10 * 16 / 8
    with pytest.raises(UserError, match="rlvr-s2 has no training steps"):
        speed(training | {"rlvr-s2": training["rlvr-s2"].head(0)}, ROWS)


@pytest.fixture
def metrics():
    parts = [
        steps(3, reward=[0.0, 0.6, 0.6]).assign(policy="rlvr", seed=0),
        steps(3, reward=[0.0, 0.0, 0.3]).assign(policy="rlvr", seed=1),
        steps(3, reward=[0.9, 0.9, 0.9]).assign(policy="dr", seed=0),
    ]
    return pd.concat(parts, ignore_index=True)


def test_curves_are_running_means_with_the_range_of_seeds(metrics):
    frame = lab_curves.data(metrics, {"rlvr": "base → GRPO", "dr": "base → Dr.GRPO"}, window=2)
    reward = frame[(frame["policy"] == "rlvr") & (frame["measure"] == "reward")]
    assert reward["estimate"].tolist() == pytest.approx([0, 0.15, 0.375])
    assert reward["low"].tolist() == pytest.approx([0, 0, 0.15]) and reward["high"].tolist() == [0, 0.3, 0.6]
    assert set(frame["measure"]) == set(lab_curves.PANELS) and frame["label"].nunique() == 2
    with pytest.raises(UserError, match="no training metrics of sft"):
        lab_curves.data(metrics, {"sft": "SFT"})


def test_curves_are_written_twice_with_the_same_bytes(tmp_path, metrics):
    files = []
    for name in ("one", "two"):
        paths = [tmp_path / f"{name}.{ending}" for ending in ("svg", "csv")]
        lab_curves.figure(metrics, {"rlvr": "base → GRPO"}, paths)
        files.append([path.read_bytes() for path in paths])
    assert files[0] == files[1] and all(files[0])
