"""figures/depth.py: what is drawn, that nothing is cut off, and the same bytes each time."""

import matplotlib
import pandas as pd
import pytest

from workflow_scripts.figures import depth, style
from workflow_scripts.records.errors import UserError


@pytest.fixture
def tables():
    rows = [
        (end, at, measure, level + at / 10, level + at / 10 - 0.05, level + at / 10 + 0.04, 534)
        for end, level in (("base", 0.1), ("early", 0.2), ("late", 0.4))
        for measure, first in (("completion", 0), ("access_decoded", 1), ("entropy", 1), ("top1", 1))
        for at in range(first, 4)
    ]
    table = pd.DataFrame(rows, columns=["end", "at", "measure", "estimate", "low", "high", "problems"])
    return {"grpo": table, "ppo": table}


def drawn(frame):
    with style.styled():
        return depth.draw(frame)


def test_data_holds_what_is_drawn(tables):
    frame = depth.data(tables)
    assert tuple(frame.columns) == depth.COLUMNS
    assert len(frame) == 2 * 2 * (4 + 3 + 3)
    assert set(frame["end"]) == {"early", "late"}
    row = frame[(frame["line"] == "ppo") & (frame["end"] == "late") & (frame["measure"] == "completion")].iloc[3]
    assert (row["at"], row["estimate"]) == (3, pytest.approx(0.7))


def test_a_curve_a_line_and_end_in_every_panel(tables):
    figure = drawn(depth.data(tables))
    assert [len(axes.containers) for axes in figure.axes] == [4, 4, 4]
    assert [axes.get_xlabel() for axes in figure.axes] == ["operations given", "operation to come", "operation to come"]
    names = [text.get_text() for text in figure.legends[0].get_texts()]
    assert names == ["grpo, early", "grpo, late", "ppo, early", "ppo, late"]


def test_nothing_is_cut_off(tables):
    figure = drawn(depth.data(tables))
    figure.canvas.draw()
    renderer = figure.canvas.get_renderer()
    boxes = [part.get_window_extent(renderer) for axes in figure.axes for part in (axes.title, axes.yaxis.label)]
    for box in [*boxes, figure.legends[0].get_window_extent(renderer)]:
        assert box.x0 >= 0 and box.y0 >= 0
        assert box.x1 <= figure.bbox.x1 and box.y1 <= figure.bbox.y1


def test_all_zero_still_has_an_axis(tables):
    frame = depth.data(tables).assign(estimate=0.0, low=0.0, high=0.0)
    assert [axes.get_ylim() for axes in drawn(frame).axes] == [(0, 1)] * 3


def test_missing_rows_are_named(tables):
    table = tables["ppo"]
    tables["ppo"] = table[(table["measure"] != "entropy") | (table["end"] != "late")]
    with pytest.raises(UserError, match="needs entropy of ppo, late"):
        depth.data(tables)


def test_same_bytes_each_time(tables, tmp_path):
    paths = [tmp_path / f"depth.{suffix}" for suffix in ("svg", "csv")]
    depth.figure(tables, paths)
    first = [path.read_bytes() for path in paths]
    with matplotlib.rc_context({"font.size": 20}):
        depth.figure(tables, paths)
    assert [path.read_bytes() for path in paths] == first
    assert first[1].decode().splitlines()[0] == ",".join(depth.COLUMNS)
