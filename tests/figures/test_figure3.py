"""Figure 3: its data, what it refuses to show, and the same bytes twice."""

import pandas as pd
import pytest

from workflow_scripts.figures.figure3 import PLACEBOS, data, draw, figure, shown_placebos
from workflow_scripts.measures.trace_differences import PLACEMENTS
from workflow_scripts.records.errors import UserError

BENCHMARKS = ["words", "shifted"]
PAIRS = [
    {"name": "straight", "before": "base", "after": "rlvr"},
    {"name": "pipeline", "before": "sft", "after": "sft-grpo"},
]


@pytest.fixture
def summary():
    rows = [
        {"entry": entry, "benchmark": benchmark, "measure": measure, "estimate": value + place / 10}
        for place, entry in enumerate(["base", "rlvr", "sft", "sft-grpo"])
        for benchmark in [*BENCHMARKS, "mean"]
        for measure, value in (("pass@1", 0.2), ("entropy", 1.5), ("pass@64", 0.8))
    ]
    frame = pd.DataFrame(rows)
    return frame.assign(low=frame["estimate"] - 0.05, high=frame["estimate"] + 0.05, problems=40)


@pytest.fixture
def differences():
    rows = [
        {"pair": pair["name"], "origin": origin, "benchmark": benchmark, "measure": measure, "estimate": value}
        for pair in PAIRS
        for origin in ("both", "before", "after")
        for benchmark in [*BENCHMARKS, "mean"]
        for value, measure in enumerate([*PLACEMENTS, "commitment"])
    ]
    frame = pd.DataFrame(rows)
    return frame.assign(low=frame["estimate"] - 0.5, high=frame["estimate"] + 0.5, problems=40)


def test_data_holds_both_ends_and_every_cut_by_origin(summary, differences):
    frame = data(summary, differences, PAIRS, BENCHMARKS)
    plane, cuts = (frame[frame["panel"] == panel] for panel in ("plane", "differences"))
    assert len(plane) == 2 * 3 * 2 * 2 and len(cuts) == 2 * 3 * 3 * len(PLACEMENTS)
    after = plane[(plane["pair"] == "pipeline") & (plane["entry"] == "after") & (plane["measure"] == "entropy")]
    assert after["estimate"].tolist() == pytest.approx([1.8] * 3)
    assert set(cuts["measure"]) == {"did", *PLACEBOS} == set(PLACEMENTS)
    assert set(zip(frame["before"], frame["after"])) == {("base", "rlvr"), ("sft", "sft-grpo")}


def test_one_benchmark_has_no_mean_beside_it(summary, differences):
    assert set(data(summary, differences, PAIRS, ["words"])["benchmark"]) == {"words"}


@pytest.mark.parametrize("placebo", ["did_permuted", "did_anywhere"])
@pytest.mark.parametrize("origin", ["both", "after"])
def test_no_difference_without_its_placebos(summary, differences, placebo, origin):
    gone = (differences["measure"] == placebo) & (differences["origin"] == origin)
    with pytest.raises(UserError, match=f"{placebo} of pair straight on words"):
        data(summary, differences[~gone], PAIRS, BENCHMARKS)


def test_an_origin_without_traces_is_left_out(summary, differences):
    frame = data(summary, differences[differences["origin"] != "after"], PAIRS, BENCHMARKS)
    assert set(frame.loc[frame["panel"] == "differences", "entry"]) == {"both", "before"}


def test_a_placebo_that_no_trace_has_and_a_benchmark_without_traces_are_left_out(summary, differences):
    gone = (differences["measure"] == "did_second") | (differences["benchmark"] == "shifted")
    frame = data(summary, differences[~gone], PAIRS, BENCHMARKS)
    cuts = frame[frame["panel"] == "differences"]
    assert set(cuts["benchmark"]) == {"words", "mean"} and "did_second" not in set(cuts["measure"])
    assert len(frame[frame["panel"] == "plane"]) == 2 * 3 * 2 * 2


def test_placebos_that_are_equal_everywhere_are_drawn_once(summary, differences):
    assert shown_placebos(data(summary, differences, PAIRS, BENCHMARKS)) == PLACEBOS
    second = differences["measure"] == "did_second"
    values = ["estimate", "low", "high"]
    alike = differences.copy()
    alike.loc[second, values] = differences.loc[differences["measure"] == "did_sentence_end", values].to_numpy()
    shown = shown_placebos(data(summary, alike, PAIRS, BENCHMARKS))
    assert "did_second" not in shown and shown["did_sentence_end"][0] == "nearest other unit end = second calculation"
    legend = [text.get_text() for text in draw(data(summary, alike, PAIRS, BENCHMARKS)).legends[-1].get_texts()]
    assert sum("second calculation" in text for text in legend) == 1
    alike.loc[alike[second].index[0], "low"] -= 1  # one row differs
    assert shown_placebos(data(summary, alike, PAIRS, BENCHMARKS)) == PLACEBOS


def test_a_missing_end_is_named(summary, differences):
    with pytest.raises(UserError, match="needs entropy of rlvr on shifted"):
        gone = (summary["entry"] == "rlvr") & (summary["benchmark"] == "shifted") & (summary["measure"] == "entropy")
        data(summary[~gone], differences, PAIRS, BENCHMARKS)


def test_more_pairs_than_fit_side_by_side_go_below(summary, differences):
    pairs = [PAIRS[0] | {"name": f"pair {place}"} for place in range(4)]
    straight = differences[differences["pair"] == "straight"]
    copies = pd.concat([straight.assign(pair=pair["name"]) for pair in pairs])
    drawn = draw(data(summary, copies, pairs, ["words"]))
    assert [axes.axison for axes in drawn.axes].count(True) == 8 and len(drawn.axes) == 12
    titles = [axes.get_title(loc="left").partition("\n")[0] for axes in drawn.axes]
    assert [title for title in titles if title] == [pair["name"] for pair in pairs]


def test_written_twice_with_the_same_bytes(tmp_path, summary, differences):
    files = []
    for name in ("one", "two"):
        paths = [tmp_path / f"{name}.{ending}" for ending in ("svg", "csv")]
        figure(summary, differences, PAIRS[:1], ["words"], paths)
        files.append([path.read_bytes() for path in paths])
    assert files[0] == files[1] and all(files[0])
