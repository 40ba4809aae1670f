"""figures/trajectories.py: what is drawn, that nothing is cut off, and the same bytes each time."""

import matplotlib
import numpy as np
import pandas as pd
import pytest

from workflow_scripts.figures import style, trajectories
from workflow_scripts.records.errors import UserError

STEPS = [0, 25, 50]
LINES = {"grpo": [(0, "base"), (25, "g25"), (50, "g50")], "ppo": [(0, "base"), (25, "p25")]}


@pytest.fixture
def summary():
    entries = ["base", "g25", "g50", "p25"]
    rows = [
        {"entry": entry, "measure": measure, "estimate": level, "low": level - 0.05, "high": level + 0.04}
        for i, measure in enumerate(trajectories.MEASURES)
        for level, entry in zip(np.array([0.6, 0.4, 0.3, 0.35]) + i / 100, entries, strict=True)
    ]
    return pd.DataFrame(rows)


def drawn(frame):
    with style.styled():
        return trajectories.draw(frame, samples=320)


def test_data_holds_what_is_drawn(summary):
    frame = trajectories.data(summary, LINES)
    assert list(frame.columns) == ["line", "step", "entry", "measure", "estimate", "low", "high"]
    assert len(frame) == 5 * len(trajectories.MEASURES)
    row = frame[(frame["line"] == "ppo") & (frame["step"] == 25) & (frame["measure"] == "entropy_think")].iloc[0]
    assert (row["entry"], row["estimate"]) == ("p25", 0.35)


def test_one_curve_a_line_and_quantity_with_a_band(summary):
    figure = drawn(trajectories.data(summary, LINES))
    curves = [len(axes.get_lines()) for axes in figure.axes]
    assert curves == [2 * len(panel.curves) for panel in trajectories.PANELS]
    assert [len(axes.collections) for axes in figure.axes] == curves
    first = figure.axes[0].get_lines()[0]
    np.testing.assert_allclose(first.get_xydata(), [[0, 0.6], [25, 0.4], [50, 0.3]])


def test_axes_say_quantity_and_unit(summary):
    figure = drawn(trajectories.data(summary, LINES))
    labels = [axes.get_ylabel().replace("\n", " ") for axes in figure.axes]
    assert labels == [
        "entropy, nats",
        "Cov@320, share of expressible solutions",
        "pass@1, probability",
        "share of a problem's samples",
    ]
    assert {axes.get_xlabel() for axes in figure.axes[2:]} == {"training step (0: base policy)"}
    assert [text.get_text() for text in figure.legends[0].get_texts()] == ["grpo", "ppo"]


def test_nothing_is_cut_off_or_written_over(summary):
    figure = drawn(trajectories.data(summary, LINES))
    figure.canvas.draw()
    renderer = figure.canvas.get_renderer()
    labels = [axes.yaxis.label.get_window_extent(renderer) for axes in figure.axes]
    for box in [*labels, *(axes.title.get_window_extent(renderer) for axes in figure.axes)]:
        assert box.x0 >= 0 and box.y0 >= 0
        assert box.x1 <= figure.bbox.x1 and box.y1 <= figure.bbox.y1
    assert not labels[1].overlaps(labels[3])
    assert not labels[0].overlaps(labels[2])


def test_a_policy_without_a_value_leaves_a_gap(summary):
    summary.loc[(summary["entry"] == "g25") & (summary["measure"] == "entropy_think"), "estimate"] = np.nan
    first = drawn(trajectories.data(summary, LINES)).axes[0].get_lines()[0]
    np.testing.assert_allclose(first.get_xdata(), [0, 50])


def test_all_zero_still_has_an_axis(summary):
    frame = trajectories.data(summary.assign(estimate=0.0, low=0.0, high=0.0), LINES)
    assert [axes.get_ylim() for axes in drawn(frame).axes] == [(0, 1)] * 4


def test_missing_measure_is_named(summary):
    with pytest.raises(UserError, match="mass_first of base"):
        trajectories.data(summary[summary["measure"] != "mass_first"], LINES)


def test_same_bytes_each_time(summary, tmp_path):
    paths = [tmp_path / f"trajectories.{suffix}" for suffix in ("svg", "csv")]
    trajectories.figure(summary, LINES, paths, samples=320)
    first = [path.read_bytes() for path in paths]
    with matplotlib.rc_context({"font.size": 20}):
        trajectories.figure(summary, LINES, paths, samples=320)
    assert [path.read_bytes() for path in paths] == first
    assert first[1].decode().splitlines()[0] == "line,step,entry,measure,estimate,low,high"
