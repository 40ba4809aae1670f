"""figures/likelihood.py and calibration.py: what is drawn and written, the same way each time; Table 2."""

import csv
import io

import numpy as np
import pandas as pd
import pytest

from workflow_scripts.figures import calibration, likelihood, style, tables
from workflow_scripts.records.errors import UserError
from workflow_scripts.records.tables import csv_text

SUFFIXES = ("svg", "csv")


@pytest.fixture
def positions():
    """Costs by position of two lines; position 2 lacks a problem."""
    rows = [
        {"line": line, "before": "early", "after": "late", "position": at, "start": 1.0, "end": 1 + change}
        | {"estimate": change, "low": change - 0.1, "high": change + 0.1, "problems": problems, "continuations": 9}
        for line in ("ppo", "grpo")
        for at, change, problems in ((-3, 0.0, 4), (-2, 2.0, 4), (-1, 3.0, 4), (0, 0.5, 4), (1, -0.5, 4), (2, 9.0, 3))
    ]
    return pd.DataFrame(rows)


@pytest.fixture
def estimands():
    levels = {"nll_entrance": 1.5, "nll_execution": 0.25, "nll_entrance_bare": 0.75, "nll_execution_bare": 0.5}
    levels |= {"nll_ratio": 6.0, "nll_ratio_bare": 1.5}
    return pd.DataFrame(
        [
            {"line": line, "measure": measure, "start": 1.0, "end": 1 + level, "estimate": level}
            | {"low": level - 0.125, "high": level + 0.125, "problems": 4}
            for line in ("ppo", "grpo")
            for measure, level in levels.items()
        ]
    )


@pytest.fixture
def cells():
    stream = np.random.default_rng(1)
    exact = np.concatenate([[0, 1], stream.random(58) ** 3])
    count = stream.binomial(320, exact)
    policy, opening, feasible = ["base"] * 30 + ["late"] * 30, ["3+", "7*", "outside"] * 20, [True, False, False] * 20
    return pd.DataFrame(
        {"policy": policy, "problem_id": "p", "opening": opening, "feasible": feasible}
        | {"exact": exact, "sampled": count / 320, "count": count, "low": count - 5, "high": count + 5, "region": 0.95}
    )  # fmt: skip


def test_table2(positions, estimands):
    table = likelihood.table2(estimands, positions, ["ppo", "grpo"], notes=["late is step 300"])
    rows = list(csv.DictReader(io.StringIO(csv_text(tables.frame_of(table)))))
    assert [row["entry"] for row in rows[:4]] == [
        "ppo entrance", "ppo execution", "ppo entrance_bare", "ppo execution_bare",
    ]  # fmt: skip
    assert (rows[0]["early"], rows[0]["late"], rows[0]["change_low"], rows[0]["ratio"]) == ("1", "2.5", "1.375", "6")
    assert (rows[1]["ratio"], rows[1]["pairs"], rows[1]["problems"]) == ("", "9", "4")
    text = tables.markdown(table)
    assert (
        "| ppo: entrance (up to and with the operator) | 1.00 | 2.50 | 1.50 [1.38, 1.62] | 6.0 [5.9, 6.1] | 9 | 4 |"
        in text
    )
    assert "| ppo: execution (the rest) | 1.00 | 1.25 | 0.25 [0.12, 0.38] | – | 9 | 4 |" in text
    assert "* late is step 300" in text and "nats per token" in text
    assert r"\begin{tabular}{lcccccc}" in tables.latex(table)


@pytest.mark.parametrize(
    ("solution_set", "said"),
    [("expressible", "problem's expressible menu,"), ("full", "problem's menu,"), (None, "problem's menu,")],
)
def test_table2_says_which_menu(positions, estimands, solution_set, said):
    assert said in " ".join(likelihood.table2(estimands, positions, ["ppo"], solution_set=solution_set).notes)


def test_table2_names_what_is_missing(positions, estimands):
    with pytest.raises(UserError, match="nll_ratio_bare of line ppo"):
        likelihood.table2(estimands[estimands["measure"] != "nll_ratio_bare"], positions, ["ppo"])
    with pytest.raises(UserError, match="position -1 of line grpo"):
        likelihood.table2(estimands, positions[positions["line"] == "ppo"], ["ppo", "grpo"])


def test_likelihood_data_and_bars(positions):
    frame = likelihood.data(positions, ["ppo", "grpo"])
    assert list(frame["position"]) == [-3, -2, -1, 0, 1] * 2  # not position 2, which a problem lacks
    with style.styled():
        figure = likelihood.draw(frame)
    assert [axes.get_title(loc="left") for axes in figure.axes] == ["ppo", "grpo"]
    heights = [bar.get_height() for container in figure.axes[0].containers[:2] for bar in container]
    assert heights == [1.0] * 5 + [1.0, 3.0, 4.0, 1.5, 0.5]
    labels = [label.get_text() for label in figure.axes[-1].get_xticklabels()]
    assert labels == ["−3\ntry", "−2\n4", "−1\n*", "0\n7", "1\n="]
    with pytest.raises(UserError, match="line dpo"):
        likelihood.data(positions, ["dpo"])


def test_calibration_data_and_panels(cells):
    frame = calibration.data(cells, {"start": "base", "end": "late"})
    assert frame.groupby("panel", sort=False).size().to_dict() == {"start": 30, "end": 30}
    assert frame["kind"].value_counts().to_dict() == {"feasible": 20, "other": 20, "outside": 20}
    with style.styled():
        figure = calibration.draw(frame, samples=320)
    assert [axes.get_title() for axes in figure.axes] == ["start", "end"]
    points = np.concatenate([drawn.get_offsets() for drawn in figure.axes[1].collections[1:]])
    assert sorted(map(tuple, points)) == sorted(
        cells[["exact", "sampled"]].iloc[30:].itertuples(index=False, name=None)
    )
    assert "100.0% of 28" in figure.axes[0].texts[0].get_text()  # those of probability 0 and 1 are not counted
    with pytest.raises(UserError, match="of ppo-s1-step9"):
        calibration.data(cells, {"x": "ppo-s1-step9"})


def test_same_bytes_each_time(positions, cells, tmp_path):
    panels = {"start": "base", "end": "late"}
    for write, name, rows in (
        (lambda paths: likelihood.figure(positions, ["ppo"], paths), "likelihood", 5),
        (lambda paths: calibration.figure(cells, panels, paths, samples=320), "calibration", 60),
    ):
        paths = [tmp_path / f"{name}.{suffix}" for suffix in SUFFIXES]
        write(paths)
        first = [path.read_bytes() for path in paths]
        write(paths)
        assert [path.read_bytes() for path in paths] == first
        assert b"<svg" in first[0]
        assert len(first[1].decode().splitlines()) == 1 + rows
