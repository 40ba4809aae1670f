"""The cost-of-loss figure: which rows are exact, which a bound, and the same bytes each time."""

import matplotlib
import pandas as pd
import pytest

from workflow_scripts.figures import loss_cost, style
from workflow_scripts.records.errors import UserError

DRAWS = [1, 4, 16, 64]


@pytest.fixture
def curves():
    rows = []
    for entry in ("base", "early", "late"):
        for measure in ("best", "majority", "stratified", "stratified_floor"):
            for n in reversed(DRAWS):
                known = {16: 120, 64: 60}.get(n, 150) if measure == "stratified" else 150
                rows.append({"entry": entry, "measure": measure, "n": n, "estimate": n / 100, "problems": known})
    frame = pd.DataFrame(rows)
    frame = frame.assign(low=frame["estimate"] - 0.01, high=frame["estimate"] + 0.01)
    return pd.concat([frame.assign(line=line) for line in ("ppo", "grpo")])


POINTS = [(line, entry, f"{entry} of it") for line in ("ppo", "grpo") for entry in ("base", "early", "late")]
CROSSINGS = pd.DataFrame(
    [(line, "base", "late", n, 1, 9, 0.0) for line, n in (("ppo", 6.0), ("grpo", float("inf")))],
    columns=["line", "before", "after", "crossing", "low", "high", "never"],
)


def test_data_marks_the_lower_bound(curves):
    frame = loss_cost.data(curves, POINTS)
    assert len(frame) == 2 * 3 * 3 * len(DRAWS)
    assert frame["n"].head(4).tolist() == DRAWS
    spread = frame[(frame["measure"] == "stratified") & (frame["line"] == "ppo") & (frame["entry"] == "late")]
    assert spread["bound"].tolist() == [False, False, True, True]
    assert spread["problems"].tolist() == [150] * 4
    assert not frame.loc[frame["measure"] != "stratified", "bound"].any()


def test_panels_and_crossing(curves):
    with style.styled():
        figure = loss_cost.draw(loss_cost.data(curves, POINTS), crossings=CROSSINGS)
    first = figure.axes[0]
    assert len(figure.axes) == 6
    assert [axes.get_title() for axes in figure.axes[:3]] == list(loss_cost.PANELS.values())
    # the crossing of ppo is marked, that of grpo does not exist
    assert first.texts[0].get_text() == "base ahead\nfrom n = 6"
    assert not figure.axes[3].texts
    assert [len(axes.get_lines()) for axes in figure.axes[:3]] == [4, 3, 6]


def test_missing_curve_is_named(curves):
    with pytest.raises(UserError, match="stratified_floor of base on line ppo"):
        loss_cost.data(curves[curves["measure"] != "stratified_floor"], POINTS)


def test_same_bytes_each_time(curves, tmp_path):
    paths = [tmp_path / f"cost.{suffix}" for suffix in ("svg", "csv")]
    loss_cost.figure(curves, POINTS, paths, crossings=CROSSINGS)
    first = [path.read_bytes() for path in paths]
    with matplotlib.rc_context({"font.size": 20}):
        loss_cost.figure(curves, POINTS, paths, crossings=CROSSINGS)
    assert [path.read_bytes() for path in paths] == first
