"""Figures of roads: plane, dose–response, continuation, partner curve. Their data and the same bytes each time."""

import matplotlib
import pandas as pd
import pytest

from workflow_scripts.figures import continuation, dose_response, partner_curve, plane, style
from workflow_scripts.records.errors import UserError


def with_interval(frame):
    return frame.assign(low=frame["estimate"] - 0.01, high=frame["estimate"] + 0.01, problems=150)


ROADS = {"SFT": [("k = 1", "sft1"), ("k = 4", "sft4")], "arms": [("KL", "kl"), ("control", "control")]}
LINES = {"grpo": [("base", "base"), ("25", "g25")], "ppo": [("base", "base"), ("25", "p25")]}


@pytest.fixture
def on_plane():
    entries = ["base", "g25", "p25", "sft1", "sft4", "kl", "control"]
    rows = [
        {"entry": entry, "measure": measure, "estimate": (0.1 if measure == "pass@1" else 0.5) + place / 50}
        for place, entry in enumerate(entries)
        for measure in ("pass@1", *plane.PANELS)
    ]
    return with_interval(pd.DataFrame(rows))


@pytest.fixture
def doses():
    measures = [measure for curves in dose_response.PANELS.values() for measure in curves]
    rows = [{"k": k, "measure": m, "estimate": 0.2 + k / 20} for m in reversed(measures) for k in (8, 1, 4, 2)]
    trend = [{"measure": "coverage_paper", "quantity": "slope", "estimate": 0.07, "low": -0.05, "high": 0.09}]
    return with_interval(pd.DataFrame(rows)), pd.DataFrame(trend)


@pytest.fixture
def metrics():
    rows = [
        {"line": line, "seed": seed, "step": step, "token_entropy": 0.1, "reward": 0.2}
        | {"entrance_entropy": float(step + seed)}
        for line in ("sft", "base")
        for seed in (1, 2)
        for step in range(6, 0, -1)
    ]
    return pd.DataFrame(rows)


@pytest.fixture
def partners():
    rows = [
        {"line": line, "intervention": name, "step": step, "measure": measure, "estimate": step / 100}
        for line in ("ppo", "grpo")
        for name in ("interp", "both")
        for step in (75, 25, 50)
        for measure in ("pass@1", "coverage_paper", "families")
    ]
    return with_interval(pd.DataFrame(rows))


def test_plane_data(on_plane):
    frame = plane.data(on_plane, ROADS, LINES)
    assert len(frame) == (4 + 4) * 2
    row = frame[(frame["entry"] == "sft4") & (frame["measure"] == "coverage_paper")].iloc[0]
    assert (row["kind"], row["group"], row["label"]) == ("road", "SFT", "k = 4")
    assert row[["precision", "breadth", "breadth_low"]].tolist() == pytest.approx([0.18, 0.58, 0.57])
    with pytest.raises(UserError, match="pass@1 and coverage_paper of dpo"):
        plane.data(on_plane, {"DPO": [("DPO", "dpo")]}, LINES)


def test_every_road_is_named_beside_its_point(on_plane):
    with style.styled():
        figure = plane.draw(plane.data(on_plane, ROADS, LINES), samples=64)
        for axes in figure.axes:
            assert [text.get_text() for text in axes.texts] == ["k = 1", "k = 4", "KL", "control"]
            boxes = [text.get_window_extent() for text in axes.texts]
            # labels touch none of the others
            assert not any(a.overlaps(b) for i, a in enumerate(boxes) for b in boxes[i + 1 :])
            assert all(axes.bbox.padded(20).contains(*box.min) for box in boxes)
        assert figure.axes[0].get_ylabel() == "share of expressible solutions, n = 64"


def test_dose_data_is_in_order(doses):
    points, trend = doses
    frame = dose_response.data(points)
    assert frame["k"].head(4).tolist() == [1, 2, 4, 8]
    assert frame["measure"].iloc[0] == "coverage_formula"
    with style.styled():
        figure = dose_response.draw(frame, trend=trend)
    assert "+0.070\n[−0.050, +0.090]" in figure.axes[0].texts[0].get_text()
    two = pd.concat([points.assign(choice="diverse"), points.assign(choice="uniform")])
    with style.styled():
        figure = dose_response.draw(dose_response.data(two))
    assert len(figure.axes[0].get_lines()) == 6
    with pytest.raises(UserError, match="needs opening_coverage"):
        dose_response.data(points[points["measure"] != "opening_coverage"])


def test_continuation_smooths_each_seed_and_takes_their_mean(metrics):
    frame = continuation.data(metrics, {"base": "base → GRPO", "sft": "SFT → GRPO"}, window=2)
    rows = frame[(frame["road"] == "sft") & (frame["measure"] == "entrance_entropy")]
    # seeds 1 and 2 have step + seed: of steps 2 and 3 their means are 3.5 and 4.5
    assert rows["step"].tolist() == [1, 2, 3, 4, 5, 6]
    assert rows.iloc[0][["estimate", "low", "high", "seeds"]].tolist() == [2.5, 2, 3, 2]
    assert rows.iloc[2][["estimate", "low", "high"]].tolist() == [4, 3.5, 4.5]
    assert frame["road"].iloc[0] == "base"
    with pytest.raises(UserError, match="no training metrics of dpo"):
        continuation.data(metrics, {"dpo": "DPO"})


def test_partner_data(partners):
    frame = partner_curve.data(partners, {"both": "half and half", "interp": "interpolation"})
    assert len(frame) == 2 * 2 * 2 * 3
    assert frame["step"].head(3).tolist() == [25, 50, 75]
    assert frame["label"].iloc[0] == "half and half"
    with pytest.raises(UserError, match="coverage_paper of mixing on line ppo"):
        partner_curve.data(partners, {"mixing": "mixing"})


def written_twice(write, tmp_path):
    paths = [tmp_path / f"figure.{suffix}" for suffix in ("svg", "csv")]
    write(paths)
    first = [path.read_bytes() for path in paths]
    with matplotlib.rc_context({"font.size": 20}):
        write(paths)
    assert [path.read_bytes() for path in paths] == first


def test_same_bytes_of_the_plane(on_plane, tmp_path):
    written_twice(lambda paths: plane.figure(on_plane, ROADS, LINES, paths, samples=64), tmp_path)


def test_same_bytes_of_doses(doses, tmp_path):
    written_twice(lambda paths: dose_response.figure(doses[0], paths, trend=doses[1]), tmp_path)


def test_same_bytes_of_the_continuation(metrics, tmp_path):
    written_twice(lambda paths: continuation.figure(metrics, {"base": "base", "sft": "SFT"}, paths), tmp_path)


def test_same_bytes_of_the_partner_curve(partners, tmp_path):
    written_twice(lambda paths: partner_curve.figure(partners, {"both": "both"}, paths), tmp_path)
