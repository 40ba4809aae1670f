"""Table 3 and the ladder figure: their data, their marks, the same bytes each time."""

import matplotlib
import numpy as np
import pandas as pd
import pytest

from workflow_scripts.figures import ladder, style, tables
from workflow_scripts.measures.ladder import MEASURES
from workflow_scripts.records.errors import UserError
from workflow_scripts.tasks.countdown.clamps import RUNGS
from workflow_scripts.tasks.countdown.scaffolds import RUN_RUNGS

LEVEL = {"early": 0.2, "late": 0.4}


def summary_rows(entry, scaffold, rung, problems=150):
    at = LEVEL[entry] + 0.05 * (RUNGS.index(rung) if rung in RUNGS else 8)
    rows = [
        {"entry": entry, "scaffold": scaffold, "rung": rung, "measure": measure, "estimate": at / place}
        for place, measure in enumerate(MEASURES, 1)
    ]
    return [row | {"low": row["estimate"] - 0.03, "high": row["estimate"] + 0.03, "problems": problems} for row in rows]


@pytest.fixture
def summary():
    rows = [
        row
        for entry in LEVEL
        for scaffold, rungs, problems in (("neutral", RUNGS, 150), ("retry", RUNGS, 87), ("run_cut", RUN_RUNGS, 118))
        for rung in reversed(rungs)
        for row in summary_rows(entry, scaffold, rung, problems)
    ]
    return pd.DataFrame(rows)


def make(summary, **more):
    return ladder.table3(summary, line="ppo", early="step 25", late="step 275", continuations=16, **more)


def test_rungs_and_scaffolds_have_words():
    assert set(ladder.RUNG_WORDS) == {*RUNGS, *RUN_RUNGS}


def test_table3_rows_and_columns(summary):
    extinct = pd.DataFrame(
        [{"entry": "late", "measure": "in_family", "estimate": 0.529, "low": 0.4, "high": 0.6, "problems": 28}]
    )
    table = make(summary, excluded=["run_cut"], extra={"extinct openings": extinct})
    frame = tables.frame_of(table).set_index("given")
    assert len(frame) == 7 + 7 + 2 + 1
    assert list(frame.index[:3]) == ["no scaffold: nothing", "no scaffold: first number", "no scaffold: entrance"]
    splice = frame.loc["own failed attempt: entrance (splice)"]
    assert splice["in_family_early"] == pytest.approx(0.2 + 0.1)
    assert splice["in_family_late"] == pytest.approx(0.4 + 0.1)
    assert splice["chance"] == pytest.approx(0.5 / 4)
    assert splice["problems"] == 87
    assert "run cut: up to the answer, excluded: leaks" in frame.index
    last = frame.loc["extinct openings"]
    assert (last["in_family_late"], last["problems"]) == (0.529, 28)
    assert np.isnan(last["in_family_early"])


def test_what_the_screen_left_out_of_a_pooled_row_is_said(summary):
    notes = make(summary, excluded=["retry_closed", "run_cut"]).notes
    assert "Scaffolds that the leak screen failed are left out: retry_closed." in notes
    assert not any("left out" in note for note in make(summary).notes)


def test_two_values_for_one_cell_are_refused(summary):
    with pytest.raises(UserError, match="one in_family of early for the row 'neutral nothing', there are 2"):
        make(pd.concat([summary, summary]))


def test_table3_is_written_the_same_each_time(summary, tmp_path):
    paths = [tmp_path / f"table3.{suffix}" for suffix in ("csv", "md", "tex")]
    tables.write(make(summary), paths)
    first = [path.read_bytes() for path in paths]
    tables.write(make(summary[::-1]), paths)
    assert [path.read_bytes() for path in paths] == first
    assert "| own failed attempt: entrance (splice) | 0.300 [0.270, 0.330] |" in first[1].decode()
    assert "| 87 |" in first[1].decode()


def ends(*lines):
    return [(line, entry, label) for line in lines for entry, label in (("early", "step 25"), ("late", "step 275"))]


def lines_of(summary, *lines):
    return pd.concat([summary.assign(line=line) for line in lines])


def test_data_is_in_the_order_of_the_ladder(summary):
    frame = ladder.data(lines_of(summary, "ppo"), ends("ppo"))
    assert set(frame["measure"]) == {"in_family", "chance"}
    assert set(frame["scaffold"]) == {"neutral", "retry"}
    first = frame[(frame["scaffold"] == "neutral") & (frame["label"] == "step 25") & (frame["measure"] == "in_family")]
    assert list(first["rung"]) == list(RUNGS)
    with pytest.raises(UserError, match="needs late on line grpo"):
        ladder.data(lines_of(summary, "ppo"), [("grpo", "late", "late")])


def test_a_panel_for_each_line_and_scaffold(summary):
    with style.styled():
        figure = ladder.draw(ladder.data(lines_of(summary, "ppo", "grpo"), ends("ppo", "grpo")))
    assert [axes.get_title() for axes in figure.axes] == [
        "ppo: no scaffold (150 problems)",
        "ppo: own failed attempt (87 problems)",
        "grpo: no scaffold (150 problems)",
        "grpo: own failed attempt (87 problems)",
    ]
    early, late = figure.axes[0].containers
    before, after = (np.asarray(end.lines[0].get_xdata(), dtype=float) for end in (early, late))
    np.testing.assert_allclose(after - before, 0.2)
    assert [text.get_text() for text in figure.axes[1].get_legend().get_texts()] == ["step 25", "step 275", "chance"]


def test_a_line_without_own_attempts_is_drawn_all_the_same(summary):
    frame = ladder.data(lines_of(summary[summary["scaffold"] == "neutral"], "ppo"), ends("ppo"))
    with style.styled():
        titles = [axes.get_title() for axes in ladder.draw(frame).axes]
    assert titles == ["ppo: no scaffold (150 problems)", "ppo: own failed attempt"]


def test_figure_is_written_the_same_each_time(summary, tmp_path):
    paths = [tmp_path / f"ladder.{suffix}" for suffix in ("svg", "csv")]
    ladder.figure(lines_of(summary, "ppo"), ends("ppo"), paths)
    first = [path.read_bytes() for path in paths]
    with matplotlib.rc_context({"font.size": 20}):
        ladder.figure(lines_of(summary[::-1], "ppo"), ends("ppo"), paths)
    assert [path.read_bytes() for path in paths] == first
    assert first[1].decode().startswith("line,scaffold,rung,entry,label,measure,estimate,low,high,problems\n")
