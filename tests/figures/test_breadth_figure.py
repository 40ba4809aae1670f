"""figures/breadth.py and style.py: what is drawn, and that it is drawn the same way each time."""

import matplotlib
import numpy as np
import pandas as pd
import pytest

from workflow_scripts.figures import breadth, style
from workflow_scripts.records.errors import UserError

STEPS = ["base", "25", "50", "75"]
LINES = {"grpo": [(label, f"g{label}") for label in STEPS]}


@pytest.fixture
def summary():
    levels = {
        "pass@1": [0.1, 0.2, 0.3, 0.31],
        "coverage_paper": [0.6, 0.4, 0.3, 0.3],
        "coverage_formula": [0.7, 0.5, 0.4, 0.39],
    }
    return pd.DataFrame(
        [
            {"entry": f"g{label}", "measure": measure, "estimate": value, "low": value - 0.02, "high": value + 0.03}
            for measure, values in levels.items()
            for label, value in zip(STEPS, values, strict=True)
        ]
    )


def test_data_holds_what_is_drawn(summary):
    frame = breadth.data(summary, LINES)
    assert len(frame) == 8
    row = frame[(frame["label"] == "25") & (frame["equivalence"] == "paper")].iloc[0]
    assert (row["pass@1"], row["coverage"]) == (0.2, 0.4)
    assert (row["coverage_low"], row["coverage_high"]) == pytest.approx((0.38, 0.43))


def test_curves_and_labels(summary):
    with style.styled():
        figure = breadth.draw(breadth.data(summary, LINES), samples=320)
    axes = figure.axes[0]
    curves = {line.get_label(): line.get_xydata() for line in axes.get_lines() if len(line.get_xydata()) == 4}
    np.testing.assert_allclose(curves["paper"], [[0.1, 0.6], [0.2, 0.4], [0.3, 0.3], [0.31, 0.3]])
    np.testing.assert_allclose(curves["formula"][:, 1], [0.7, 0.5, 0.4, 0.39])
    assert "320" in axes.get_ylabel()
    # 50 lies too near the last point for both labels.
    assert {text.get_text() for text in axes.texts} == {"base", "25", "75"}


def test_a_panel_per_line(summary):
    more = pd.concat([summary, summary.assign(entry="p" + summary["entry"].str[1:])])
    lines = LINES | {"ppo": [(label, f"p{label}") for label in STEPS]}
    with style.styled():
        figure = breadth.draw(breadth.data(more, lines), samples=320)
    assert [axes.get_title() for axes in figure.axes] == ["grpo", "ppo"]


def test_same_bytes_each_time(summary, tmp_path):
    paths = [tmp_path / f"breadth.{suffix}" for suffix in ("pdf", "png", "svg", "csv")]
    breadth.figure(summary, LINES, paths, samples=320)
    first = [path.read_bytes() for path in paths]
    with matplotlib.rc_context({"font.size": 20, "lines.linewidth": 9}):  # a user's own style changes nothing
        breadth.figure(summary, LINES, paths, samples=320)
    assert [path.read_bytes() for path in paths] == first
    assert first[0].startswith(b"%PDF")
    assert first[1].startswith(b"\x89PNG")
    assert b"<svg" in first[2]
    assert first[3].decode().splitlines()[0].startswith("line,label,entry,equivalence,pass@1")


def test_style_leaves_matplotlib_as_it_was():
    before = dict(matplotlib.rcParams)
    with style.styled():
        assert matplotlib.rcParams["font.size"] == 8
    assert dict(matplotlib.rcParams) == before


def test_missing_policy_is_named(summary):
    with pytest.raises(UserError, match="g99"):
        breadth.data(summary, {"grpo": [("99", "g99")]})


def test_unknown_suffix_is_refused(summary, tmp_path):
    with pytest.raises(UserError, match=r"breadth\.gif"):
        breadth.figure(summary, LINES, [tmp_path / "breadth.gif"], samples=320)
