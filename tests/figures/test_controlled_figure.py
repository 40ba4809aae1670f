"""Figure and table of the controlled experiment: their data, refusals, and the same bytes each time."""

import numpy as np
import pandas as pd
import pytest

from workflow_scripts.figures import controlled, tables
from workflow_scripts.measures.controlled import Judged, along, row_of
from workflow_scripts.records.errors import UserError

JUDGED = Judged(
    np.tile([1.1, 0.1, 1.0, -0.1], (2, 1)), np.tile([1.0, 0, 1, 0], (2, 1)), np.tile([1.0, 1, 0, 0], (2, 1))
)


@pytest.fixture
def steps():
    logits = np.linspace(0, 1, 4)[:, None, None] * np.tile([1.0, 0, 0.5, -1], (2, 1))
    seeds = np.stack([logits, 2 * logits], axis=1)
    roads = [(logits, "sft", 0), (logits, "dpo", 3), (logits, "grpo", 3), (seeds, "sampled_1", 3)]
    return pd.concat([along(path, JUDGED, road=road, first=first) for path, road, first in roads], ignore_index=True)


@pytest.fixture
def incentive():
    rows = [
        {"divide": divide, "format_bonus": bonus, "invalid_penalty": penalty, "starts": 40}
        | {"reinforced": bonus * 5 + penalty, "prevails": 0.25}
        for divide in (True, False)
        for bonus in (0.0, 0.1)
        for penalty in (0.0, 0.1)
    ]
    return pd.DataFrame(rows)


@pytest.fixture
def policies():
    one, several = np.tile([0.0, 1, 0.2, -0.2], (2, 1)), np.zeros((3, 2, 4))
    return pd.concat(
        [
            row_of("base", one, JUDGED),
            row_of("sft", one, JUDGED, {"loss": 0.6052}),
            row_of("dpo", one, JUDGED, {"loss": 0.0647}),
            row_of("grpo", one, JUDGED, {"loss": 0.0, "overtaking": 392}),
            row_of("sampled_5", several, JUDGED, {"clipped": np.array([0.1, 0.2, 0.3])}),
        ],
        ignore_index=True,
    )


def made(policies, incentive, **constants):
    return controlled.table(
        policies,
        incentive,
        controlled.row_labels(8, [5]),
        constants={"format_bonus": 0.1, "invalid_penalty": 0.1} | constants,
        problems=2,
    )


def test_data(steps, incentive):
    frame = controlled.data(steps, incentive, sampled="sampled_1")
    assert set(frame["panel"]) == {"probability", "metric", "incentive"}
    assert len(frame) == 4 * 4 * 4 + 3 * 4 * 4 + 8
    cell = frame[(frame["road"] == "divided") & (frame["format_bonus"] == 0.1) & (frame["invalid_penalty"] == 0)]
    assert cell["estimate"].tolist() == [0.5]
    drawn = frame[(frame["road"] == "sampled_1") & (frame["measure"] == "p_boxed") & (frame["update"] == 6)].iloc[0]
    assert drawn["low"] < drawn["estimate"] < drawn["high"]
    with pytest.raises(UserError, match="no steps of sampled_7"):
        controlled.data(steps, incentive, sampled="sampled_7")


def test_figure_is_written_twice_alike(steps, incentive, tmp_path):
    for folder in ("a", "b"):
        (tmp_path / folder).mkdir()
        paths = [tmp_path / folder / f"f.{ending}" for ending in ("pdf", "png", "svg", "csv")]
        controlled.figure(steps.sample(frac=1, random_state=1), incentive, paths, sampled="sampled_1")
    for path in (tmp_path / "a").iterdir():
        assert path.read_bytes() == (tmp_path / "b" / path.name).read_bytes(), path.name
        assert path.stat().st_size > 1000


def test_table(policies, incentive, tmp_path):
    table = made(policies, incentive)
    text = tables.markdown(table)
    lines = text.splitlines()
    base = next(line for line in lines if line.startswith("| base"))
    assert base.startswith("| base | 0.174 | 0.472 | 0.212 | 0.142 | 0.00 | 1.00 | 0.10 |")
    assert base.endswith("| – | – | – | – |")
    drawn = next(line for line in lines if "8 drawn, 5 updates a batch" in line)
    assert "0.200 [0.100, 0.300]" in drawn
    assert "lowest and highest of 3 seeds" in text
    assert "after update 392" in text
    assert "in 60 % of 40 starts" in text
    assert "without either constant 0 % and 25 %" in text
    paths = [tmp_path / f"t.{ending}" for ending in ("csv", "md", "tex")]
    tables.write(table, paths)
    assert len(pd.read_csv(paths[0])) == 5


def test_table_without_overtaking(policies, incentive):
    text = tables.markdown(made(policies[policies["measure"] != "overtaking"], incentive))
    assert "never gets ahead" in text


def test_constants_must_have_been_swept(policies, incentive):
    with pytest.raises(UserError, match=r"bonus 0\.7 with penalty 0\.1 once, it has 0"):
        made(policies, incentive, format_bonus=0.7)
