"""measures/retention.py: small cases by hand."""

import numpy as np
import pandas as pd
import pytest

from workflow_scripts.measures.breadth import breadth, feasible_forms
from workflow_scripts.measures.comparison import bootstrap_of, problem_values
from workflow_scripts.measures.retention import (
    access_bound,
    kept_forms,
    lost_rows,
    retention_rows,
    survivor_rows,
    survivors,
    zero_access,
    zero_access_rows,
)
from workflow_scripts.measures.verdicts import evaluate
from workflow_scripts.records.errors import UserError

LEAVES = {"p1": "ABCD", "p2": "AB", "p3": "A", "p4": "A"}
FOUND = {
    "old": {"p1": "AABC", "p2": "A", "p3": "", "p4": ""},
    "new": {"p1": "CD", "p2": "", "p3": "AA", "p4": ""},
}


@pytest.fixture
def tables(score_rows):
    """Early finds A, B, C of p1 and A of p2; late finds C, D of p1 and A of p3."""
    solutions = pd.DataFrame(
        [
            {
                "problem_id": p,
                "paper_form": leaf,
                "formula_form": f"f{leaf in 'AB'}",
                "paper_family": "1*",
                "expressible": True,
            }
            for p, leaves in LEAVES.items()
            for leaf in leaves
        ]
    )
    openings = pd.DataFrame(
        [(p, o, leaf) for p in LEAVES for o, leaf in (("1*", True), ("2*", True), ("3*", False))],
        columns=["problem_id", "opening", "expressible"],
    )
    parts = []
    for policy, found in FOUND.items():
        rows = []
        for p, forms in found.items():
            right = [
                {"correct": True, "paper_form": f, "formula_form": f"f{f in 'AB'}", "think_opening": "1*"}
                for f in forms
            ]
            rows += [{"policy": policy, "problem_id": p} | row for row in right + [{}] * (5 - len(forms))]
        parts.append(breadth(score_rows(*rows), solutions, openings))
    problems, counts = (pd.concat(frames, ignore_index=True) for frames in zip(*parts, strict=True))
    values = problem_values(problems, [1])
    return values, counts, bootstrap_of(values, seed=1, draws=500), feasible_forms(solutions, openings), problems


ENTRIES = {"early": ["old"], "late": ["new"]}


def test_survivors(tables):
    groups = survivors(tables[0], "old", "new").set_index("problem_id")["group"]
    assert groups.to_dict() == {"p1": "both", "p2": "lost", "p3": "gained", "p4": "neither"}


def test_survivor_coverage(tables):
    row = survivor_rows(tables[0], tables[2], ENTRIES).set_index("measure").loc["coverage_paper_survivors"]
    assert (row["start"], row["end"], row["estimate"], row["problems"]) == (0.75, 0.5, -0.25, 1)


def test_kept_forms(tables):
    kept = kept_forms(tables[1], "old", "new").set_index("problem_id")
    assert kept.loc["p1"].to_dict() == {"early": 3, "kept": 1, "lost": 2, "gained": 1}
    assert kept.loc["p2"].to_dict() == {"early": 1, "kept": 0, "lost": 1, "gained": 0}
    assert set(kept.index) == {"p1", "p2"}


def test_retention(tables):
    values, counts, bootstrap, *_ = tables
    rows = retention_rows(values, counts, bootstrap, ENTRIES).set_index("measure")
    gap = rows.loc["retention_gap"]
    assert (gap["start"], gap["problems"]) == (0.5, 2)  # p1 is still solved, p2 is not
    assert gap["end"] == pytest.approx((1 / 3 + 0) / 2)
    assert gap["estimate"] == pytest.approx(gap["end"] - gap["start"])
    assert gap["low"] <= gap["estimate"] <= gap["high"] <= 0
    assert rows.loc["retention_gap_formula", "end"] == pytest.approx((1 / 2 + 0) / 2)


def test_retention_from_one_base_to_two_seeds(tables):
    values, counts, _, *_ = tables
    bootstrap = bootstrap_of(values, seed=1, draws=100, seeds_per_line=2)
    rows = retention_rows(values, counts, bootstrap, {"early": ["old"], "late": ["new", "old"]}).set_index("measure")
    assert rows.loc["retention_gap", "end"] == pytest.approx((1 / 3 + 0 + 1 + 1) / 4)
    survived = survivor_rows(values, bootstrap, {"early": ["old"], "late": ["new", "old"]}).set_index("measure")
    # p1 under both seeds, p2 under the second alone, where nothing changed.
    assert survived.loc["coverage_paper_survivors", "estimate"] == pytest.approx(-0.25 / 3)


def test_nothing_kept_because_nothing_was_there(tables):
    values, counts, bootstrap, *_ = tables
    none = counts[counts["policy"] == "new"]
    rows = retention_rows(values, none, bootstrap, ENTRIES)
    assert rows[["start", "end", "estimate", "low", "high"]].isna().all(axis=None)
    assert (rows["problems"] == 0).all()


def test_lost_problems():
    more = pd.DataFrame({"correct": [0, 0, 3], "format_ok": [0, 9, 9]})
    rows = lost_rows(more).set_index("measure")
    assert rows.loc["lost_recovered", "estimate"] == pytest.approx(1 / 3)
    assert rows.loc["lost_format_rate", "estimate"] == pytest.approx(2 / 3)
    assert rows.loc["lost_recovered", "problems"] == 3


@pytest.mark.parametrize(("lost", "expected"), [(33, "confirmed"), (5, "inconclusive"), (0, "not run")])
def test_none_recovered_confirms_only_with_enough_problems(lost, expected):
    more = pd.DataFrame({"correct": np.zeros(lost), "format_ok": np.zeros(lost)})
    table = evaluate(lost_rows(more).assign(line="ppo")).set_index("id")
    assert table.loc["C07", "verdict"] == expected


def test_zero_access(tables):
    _, counts, _, feasible, _ = tables
    old, new = (counts[counts["policy"] == policy] for policy in ("old", "new"))
    missing = zero_access(old, new, feasible)
    # 1* is missing of p3 and p4, 2* everywhere; 3* cannot be written. The second set shows 1* of p3 twice.
    expected = [("p1", "2*", 0), ("p2", "2*", 0), ("p3", "1*", 2), ("p3", "2*", 0), ("p4", "1*", 0), ("p4", "2*", 0)]
    assert list(missing.itertuples(index=False, name=None)) == expected
    row = zero_access_rows(missing).iloc[0]
    assert (row["estimate"], row["problems"]) == (pytest.approx(1 / 6), 6)
    assert row["low"] < 1 / 6 < row["high"]


def test_the_papers_count_confirms():
    missing = pd.DataFrame({"again": [1] + [0] * 336})
    table = evaluate(zero_access_rows(missing).assign(line="ppo")).set_index("id")
    assert table.loc["C08", "verdict"] == "confirmed"
    assert round(access_bound(512), 4) == 0.0058


def test_unknown_kind_is_refused(tables):
    with pytest.raises(UserError, match="'entrance'"):
        zero_access(tables[1], tables[1], tables[3], kind="entrance")
