"""Figure and table of reward against truth: what they show, and the same bytes each time."""

import pandas as pd
import pytest

from workflow_scripts.figures import tables
from workflow_scripts.figures.reward_truth import ROWS, data, figure, table

MEASURES = {"reward:paid": 0.2, "reward:other": 0.9, "pass@1": 0.1, "runs": 0.6, "format_ok": 0.5, "tokens": 20.0}


def checkpoints():
    rows = []
    for line in ("shaped", "plain"):
        for step in (0, 30, 60):
            for asked in ("evaluation", "shifted"):
                for measure, start in MEASURES.items():
                    value = start + step * (0.2 if measure == "tokens" else 0.005)
                    keys = {"line": line, "reward": "paid", "step": step, "set": asked, "measure": measure}
                    rows.append(keys | {"estimate": value, "low": value - 0.02, "high": value + 0.02, "problems": 20})
    return pd.DataFrame(rows)


def training():
    rows = [{"line": line, "seed": 1, "step": step, "reward": step / 30, "correct": step / 120}
            for line in ("shaped", "plain") for step in range(1, 61)]  # fmt: skip
    return pd.DataFrame(rows)


def test_each_line_shows_its_own_reward_and_the_truth_on_both_sets():
    frame = data(checkpoints())
    shown = frame[(frame["line"] == "shaped") & (frame["panel"] == "official-style")]
    assert shown.groupby("curve")["estimate"].first().to_dict() == {"reward": 0.2, "right (pass@1)": 0.1}
    assert set(frame["panel"]) == set(ROWS) and set(frame["source"]) == {"checkpoints"}
    assert len(frame) == 2 * 3 * sum(map(len, ROWS.values()))


def test_length_is_told_by_the_base_s():
    frame = data(checkpoints())
    lengths = frame[(frame["curve"].str.startswith("length")) & (frame["line"] == "plain")]
    assert lengths["estimate"].tolist() == pytest.approx([1.0, 1.3, 1.6])
    assert lengths["high"].iloc[0] == pytest.approx(20.02 / 20)


def test_training_is_shown_step_by_step_as_a_share_of_the_largest():
    frame = data(checkpoints(), training(), {"shaped": 2.0})
    thin = frame[(frame["source"] == "training") & (frame["curve"] == "reward")].set_index(["line", "step"])["estimate"]
    assert thin["plain", 60] == pytest.approx(58 / 30) and thin["shaped", 60] == pytest.approx(29 / 30)
    right = frame[(frame["source"] == "training") & (frame["curve"] == "right (pass@1)")]
    assert right.loc[right["step"] == 60, "estimate"].tolist() == pytest.approx([58 / 120] * 2)


def test_the_files_have_the_same_bytes_each_time(tmp_path):
    written = []
    for folder in ("one", "two"):
        (tmp_path / folder).mkdir()
        paths = [tmp_path / folder / f"f.{ending}" for ending in ("png", "csv")]
        figure(checkpoints(), paths, training())
        written.append([path.read_bytes() for path in paths])
    assert written[0] == written[1] and all(written[0])


def test_the_table_says_before_after_and_verdict():
    rows = []
    for measure in ("reward:paid", "reward:other", "pass@1", "gap:paid", "hacking:paid", "zero_variance:paid", "runs",
                    "format_ok", "tokens"):  # fmt: skip
        keys = {"line": "shaped", "reward": "paid", "set": "shifted", "measure": measure}
        rows.append(keys | {"start": 0.2, "end": 0.5, "estimate": 0.3, "low": 0.25, "high": 0.35, "problems": 20})
    said = pd.DataFrame([("shaped", "paid", "shifted", 0.3, 0.0, "reward climbs, truth flat")],
                        columns=["line", "reward", "set", "reward_change", "truth_change", "verdict"])  # fmt: skip
    made = table(pd.DataFrame(rows), said, samples=32, seeds={"shaped": 1})
    wide = tables.frame_of(made).iloc[0]
    assert wide["reward before"] == 0.2 and wide["reward after"] == 0.5
    assert (wide["reward change"], wide["reward change_low"], wide["reward change_high"]) == (0.3, 0.25, 0.35)
    text = tables.markdown(made)
    assert "shaped (paid), official-style: reward climbs, truth flat" in text
    assert "20 problems of a set, 32 samples" in text
    assert "within ± 0.05" in text and "training seeds" not in text
