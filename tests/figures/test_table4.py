"""Table 4: a row per baseline and intervention, with setting, mark and ratio of tokens."""

import pandas as pd
import pytest

from workflow_scripts.figures import tables
from workflow_scripts.figures.table4 import Block, table4
from workflow_scripts.records.errors import UserError

LABELS = {"interpolation": "layer interpolation", "checkpoints": "two checkpoints", "allocation": "entrances"}


def differences(*settings):
    rows = [
        {"before": "baseline", "after": setting, "measure": measure, "start": start, "end": start + gain}
        | {"estimate": gain, "low": gain - 0.01, "high": gain + 0.01, "problems": 100}
        for setting in settings
        for measure, start, gain in (
            ("coverage_paper", 0.2, 0.1),
            ("coverage_formula", 0.3, 0.2),
            ("families", 0.25, 0.4),
            ("pass@1", 0.4, -0.05),
            ("samples", 64, 0),
            ("tokens", 1600, -160),
        )
    ]
    return pd.DataFrame(rows)


@pytest.fixture
def blocks():
    late = Block(
        "ppo late",
        differences("i 2-3 .5", "i 0-1 .1", "half"),
        {"checkpoints": "half", "interpolation": "i 2-3 .5"},
        {"i 2-3 .5": "blocks 2 to 3, 0.5", "half": "32 + 32"},
        ["checkpoints"],
    )
    return [late, Block("ppo early", differences("spread"), {"allocation": "spread"}, {"spread": ""})]


def make(blocks, **more):
    return table4(blocks, labels=LABELS, samples=64, calibration=50, tolerance=0.02, **more)


def test_rows_and_cells(blocks):
    frame = tables.frame_of(make(blocks)).set_index("intervention")
    assert list(frame.index) == [
        "ppo late: layer interpolation (blocks 2 to 3, 0.5)",
        "ppo late: two checkpoints (32 + 32) †",
        "ppo early: entrances",
    ]
    row = frame.iloc[0]
    assert row[["coverage_paper", "coverage_formula", "families", "pass@1"]].tolist() == [0.1, 0.2, 0.4, -0.05]
    assert (row["tokens_ratio"], row["pass@1_low"]) == pytest.approx((0.9, -0.06))


def test_what_is_said_below(blocks):
    notes = " ".join(make(blocks, notes=["Seeds: 1."]).notes)
    assert "over 100 held-out problems" in notes and "lost at most 0.02 of pass@1" in notes
    assert "ppo late, plain: coverage 0.200 (paper), 0.300 (formula), openings 0.250, pass@1 0.400." in notes
    assert "†" in notes and notes.endswith("Seeds: 1.")
    assert not any("†" in note for note in make([blocks[1]]).notes)


def test_what_is_refused(blocks):
    with pytest.raises(UserError, match="no words for the intervention 'steering'"):
        make([blocks[0]._replace(settings={"steering": "half"})])
    with pytest.raises(UserError, match="one difference in coverage_paper of 'gone'"):
        make([blocks[0]._replace(settings={"checkpoints": "gone"})])
    with pytest.raises(UserError, match="no interventions"):
        make([])


def test_written_the_same_each_time(blocks, tmp_path):
    paths = [tmp_path / f"table4.{suffix}" for suffix in ("csv", "md", "tex")]
    tables.write(make(blocks), paths)
    first = [path.read_bytes() for path in paths]
    shuffled = [block._replace(differences=block.differences[::-1]) for block in blocks]
    tables.write(make(shuffled), paths)
    assert [path.read_bytes() for path in paths] == first
    assert "−0.050 [−0.060, −0.040]" in paths[1].read_text()
