"""measures/calibration.py: cells and summaries worked by hand, and a policy whose samples follow its probabilities."""

import numpy as np
import pandas as pd
import pytest

from workflow_scripts.measures import calibration
from workflow_scripts.measures.breadth import FORM_COUNTS
from workflow_scripts.measures.calibration import cells, mass_rows, summary
from workflow_scripts.measures.statistics import Bootstrap
from workflow_scripts.records.errors import UserError
from workflow_scripts.records.schemas import MASSES, OPENINGS

PROBLEMS = pd.DataFrame({"problem_id": ["3_7-10", "5_5-25"], "numbers": [[7, 3], [5, 5]], "target": [10, 25]})
MENU = pd.DataFrame(
    [
        ("3_7-10", "3+", 1, True, ""),
        ("3_7-10", "7+", 1, True, ""),
        ("3_7-10", "3-", 1, False, ""),
        ("5_5-25", "5*", 1, True, ""),
    ],
    columns=OPENINGS.names,
)


def masses():
    first = np.full((2, 4), 0.1), np.array([[0.5, 0, 0, 0], [0.25, 0, 0, 0]])
    second = np.full((1, 4), 0.125), np.array([[0, 0, 1, 0]])
    return mass_rows("p", PROBLEMS, MENU, [first, second])


def counted(*rows):
    full = [("p", problem, "think", form, count, 0, True, True) for problem, form, count in rows]
    return pd.DataFrame(full, columns=FORM_COUNTS.names)


def test_masses_by_hand():
    frame = masses()
    assert list(frame.columns) == MASSES.names
    assert list(frame["opening"]) == [
        "3+", "3-", "3*", "3/", "7+", "7-", "7*", "7/", "outside", "5+", "5-", "5*", "5/", "outside",
    ]  # fmt: skip
    assert list(frame.loc[frame["feasible"], "opening"]) == ["3+", "7+", "5*"]
    sums = frame.groupby("problem_id")[["probability", "decoded"]].sum()
    assert sums.to_numpy() == pytest.approx(1)
    outside = frame[frame["opening"] == "outside"]
    assert outside["probability"].tolist() == pytest.approx([0.2, 0.5])
    assert outside["decoded"].tolist() == pytest.approx([0.25, 0])
    assert calibration.asked_openings([10, 7, 10, 2]) == (["2", "7", "10"], ["+", "-", "*", "/"])
    with pytest.raises(UserError, match=r"2 problems.*not 1"):
        mass_rows("p", PROBLEMS, MENU, [masses()])


def test_cells_by_hand():
    counts = counted(("3_7-10", "3+", 3), ("3_7-10", "7+", 1), ("3_7-10", "9+", 2), ("5_5-25", "5*", 8))
    table = cells(masses(), counts, samples=8).set_index(["problem_id", "opening"])
    assert len(table) == 14
    row = table.loc[("3_7-10", "3+")]
    # Binomial(8, 1/2): P(X <= 0) = 1/256, P(X <= 1) = 9/256, so the region is 1…7
    assert (row["exact"], row["sampled"], row["count"], row["low"], row["high"]) == (0.5, 3 / 8, 3, 1, 7)
    assert row["region"] == pytest.approx(254 / 256)
    # 9 is no given number: outside, with the two samples that state nothing
    assert table.loc[("3_7-10", "outside"), ["exact", "count"]].tolist() == [0.25, 4]
    assert table.loc[("5_5-25", "5*"), ["exact", "low", "high", "count", "region"]].tolist() == [1, 8, 8, 8, 1]
    assert table.loc[("5_5-25", "5+"), ["exact", "low", "high", "count"]].tolist() == [0, 0, 0, 0]


def test_summary_by_hand():
    counts = counted(("3_7-10", "3+", 8), ("5_5-25", "5*", 7), ("5_5-25", "5/", 1))
    table = cells(masses(), counts, samples=8)
    frame = summary(table, 8, list(PROBLEMS["problem_id"]), Bootstrap.over(2, seed=1, draws=50))
    found = frame.set_index("measure")["estimate"]
    # open cells: 3+ (.5, 8 of 8), 7+ (.25, 0 of 8) and outside (.25, 0 of 8), all of the first problem
    assert found["absolute_error"] == pytest.approx((0.5 + 0.25 + 0.25) / 3)
    assert found["inside"] == pytest.approx(2 / 3)  # 0 of 8 lies in Binomial(8, 1/4)'s region 0…5
    half = sum(abs(k - 4) * n for k, n in enumerate([1, 8, 28, 56, 70, 56, 28, 8, 1])) / 256 / 8
    quarter = sum(abs(k - 2) * n * 3 ** (8 - k) for k, n in enumerate([1, 8, 28, 56, 70, 56, 28, 8, 1])) / 4**8 / 8
    assert found["noise_error"] == pytest.approx((half + 2 * quarter) / 3)
    assert found["impossible"] == pytest.approx(1 / 2)  # 5/ has probability 0
    x, y = table["exact"], table["sampled"]
    assert found["slope"] == pytest.approx(np.polyfit(x, y, 1)[0])
    problems = frame.set_index("measure")["problems"]
    assert (problems["absolute_error"], problems["slope"]) == (1, 2)


def sampled_as(shares, policy, samples, stream):
    """MASSES and FORM_COUNTS of a policy whose samples really have these probabilities, (problems, openings)."""
    rows, counts = [], []
    for problem, row in enumerate(shares):
        drawn = stream.multinomial(samples, row)
        names = [*(f"{at}+" for at in range(len(row) - 1)), "outside"]
        rows += [(policy, f"p{problem:03d}", name, True, q, q) for name, q in zip(names, row)]
        counts += [
            (policy, f"p{problem:03d}", "think", name, n, 0, True, True) for name, n in zip(names[:-1], drawn) if n
        ]
    return pd.DataFrame(rows, columns=MASSES.names), pd.DataFrame(counts, columns=FORM_COUNTS.names)


def test_true_probabilities_are_told_from_wrong_ones():
    stream = np.random.default_rng(3)
    shares = stream.dirichlet(np.full(6, 0.5), size=100)
    shares[:20, :2], shares[:20, 2] = 0, shares[:20, :3].sum(axis=1)
    truth, counts = sampled_as(shares, "true", 320, stream)
    wrong, again = sampled_as(shares, "flat", 320, stream)
    wrong["decoded"] = 0.8 * wrong["decoded"] + 0.2 / 6
    problems = sorted(truth["problem_id"].unique())
    table = cells(pd.concat([truth, wrong]), pd.concat([counts, again]), 320)
    frame = summary(table, 320, problems, Bootstrap.over(100, seed=1, draws=300))
    row = frame.set_index(["entry", "measure"])
    assert row.loc[("true", "slope"), "low"] < 1 < row.loc[("true", "slope"), "high"]
    assert row.loc[("flat", "slope"), "low"] > 1.15
    inside = row.loc[("true", "inside")]
    assert inside["low"] < row.loc[("true", "inside_expected"), "estimate"] < inside["high"]
    assert row.loc[("flat", "inside"), "high"] < 0.8
    error = row.loc[("true", "absolute_error")]
    assert error["low"] < row.loc[("true", "noise_error"), "estimate"] < error["high"]
    assert row.loc[("true", "impossible"), "estimate"] == 0
    pooled = summary(
        table, 320, problems, Bootstrap.over(100, seed=1, draws=50, seeds_per_line=2), {"x": ["true", "flat"]}
    )
    error = pooled.set_index("measure").loc["absolute_error", "estimate"]
    assert row.loc[("true", "absolute_error"), "estimate"] < error < row.loc[("flat", "absolute_error"), "estimate"]


@pytest.mark.parametrize(
    ("spoil", "match"),
    [
        (lambda m, c: (m, c.assign(samples=9)), "more than 8 samples of problem 3_7-10"),
        (lambda m, c: (pd.concat([m, m.iloc[:1]]), c), "3_7-10 is given twice"),
    ],
)
def test_bad_frames_are_named(spoil, match):
    with pytest.raises(UserError, match=match):
        cells(*spoil(masses(), counted(("3_7-10", "3+", 3))), samples=8)
