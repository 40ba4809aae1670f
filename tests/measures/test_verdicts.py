"""measures/claims.py and verdicts.py: the rule of the scorecard."""

import math

import pandas as pd
import pytest

from workflow_scripts.measures.claims import Claim, Part
from workflow_scripts.measures.paper_claims import CLAIMS
from workflow_scripts.measures.verdicts import COLUMNS, combined, evaluate, verdict
from workflow_scripts.records.errors import UserError

nan = math.nan


@pytest.mark.parametrize(
    ("kind", "sign", "margin", "low", "high", "expected"),
    [
        ("directional", 1, nan, 0.1, 0.2, "confirmed"),
        ("directional", 1, nan, -0.1, 0.2, "inconclusive"),
        ("directional", 1, nan, -0.2, -0.1, "refuted"),
        ("directional", -1, nan, -0.2, -0.1, "confirmed"),
        ("directional", -1, nan, 0.1, 0.2, "refuted"),
        ("directional", -1, nan, -0.2, 0.1, "inconclusive"),
        ("directional", 1, nan, 0.0, 0.2, "inconclusive"),  # touching 0 is not beyond it
        ("directional", 1, nan, 0.0, 0.0, "inconclusive"),
        ("directional", 1, nan, nan, nan, "inconclusive"),
        ("null", 1, 0.1, -0.05, 0.05, "confirmed"),
        ("null", 1, 0.1, 0.0, 0.05, "confirmed"),
        ("null", 1, 0.1, -0.05, 0.15, "inconclusive"),
        ("null", 1, 0.1, 0.12, 0.15, "refuted"),
        ("null", 1, 0.1, -0.15, -0.12, "refuted"),
        ("null", 1, 0.1, -0.5, 0.5, "inconclusive"),
        ("null", 1, 0.1, nan, nan, "inconclusive"),
    ],
)
def test_rule(kind, sign, margin, low, high, expected):
    assert verdict(kind, low, high, sign=sign, margin=margin) == expected


@pytest.mark.parametrize(
    "bad", [{"kind": "null"}, {"kind": "null", "margin": 0}, {"kind": "directional", "sign": 0}, {"kind": "x"}]
)
def test_incomplete_rules_are_refused(bad):
    with pytest.raises(ValueError):
        verdict(low=0.1, high=0.2, **bad)


@pytest.mark.parametrize(
    ("verdicts", "expected"),
    [
        (["confirmed", "confirmed"], "confirmed"),
        (["confirmed", "inconclusive"], "inconclusive"),
        (["confirmed", "refuted"], "refuted"),
        (["inconclusive", "refuted"], "refuted"),
        (["confirmed", "not run"], "not run"),
        (["not run"], "not run"),
    ],
)
def test_several_parts(verdicts, expected):
    assert combined(verdicts) == expected


def _estimands(*rows):
    columns = ["line", "measure", "start", "end", "low", "high"]
    frame = pd.DataFrame(rows, columns=columns)
    return frame.assign(before="early", after="late", estimate=frame["end"] - frame["start"], problems=150)


def test_scorecard():
    table = evaluate(
        _estimands(
            ("grpo", "coverage_paper", 0.45, 0.22, -0.28, -0.18),
            ("grpo", "pass@1", 0.2, 0.4, 0.15, 0.25),
            ("grpo", "coverage_formula", 0.5, 0.3, -0.25, -0.15),
            ("grpo", "family_coverage", 0.6, 0.61, -0.02, 0.04),
            ("grpo", "entropy_think", 0.7, 0.8, 0.05, 0.15),
        ),
        points={"grpo": "step 25 → step 300"},
    ).set_index("id")
    assert list(table.reset_index().columns) == list(COLUMNS)
    assert table.loc[["C02", "C03", "C04"], "verdict"].tolist() == ["confirmed", "inconclusive", "refuted"]
    assert table.loc["C02", "measured"] == pytest.approx(-0.23)
    assert (table.loc["C02", "low"], table.loc["C02", "high"]) == (-0.28, -0.18)
    note = table.loc["C02", "note"]
    assert "step 25 → step 300" in note
    assert "coverage_paper -0.230 [-0.280, -0.180] (0.450 → 0.220, -51 %; 150 problems): confirmed" in note
    assert "beside it coverage_formula" in note
    assert table.loc["C02", "rule"].count("interval of") == 2
    others = table.drop(["C02", "C03", "C04"])
    assert (others["verdict"] == "not run").all()
    assert others[["measured", "low", "high"]].isna().all(axis=None)


def test_one_part_of_two_missing_is_not_run():
    table = evaluate(_estimands(("grpo", "coverage_paper", 0.4, 0.2, -0.3, -0.1))).set_index("id")
    assert table.loc["C02", "verdict"] == "not run"
    assert table.loc["C02", "measured"] == pytest.approx(-0.2)


def test_margins_from_the_config():
    rows = _estimands(("ppo", "lost_recovered", nan, nan, 0.0, 0.15)).assign(estimate=0.03, problems=33)
    assert evaluate(rows).set_index("id").loc["C07", "verdict"] == "inconclusive"
    row = evaluate(rows, margins={"C07": 0.2}).set_index("id").loc["C07"]
    assert row["verdict"] == "confirmed"
    assert "±0.2" in row["rule"]
    assert "lost_recovered 0.030 [0.000, 0.150] of 33" in row["note"]


@pytest.mark.parametrize("unknown", ["C99", "C02"])
def test_margin_of_a_claim_without_one_is_refused(unknown):
    with pytest.raises(UserError, match=unknown):
        evaluate(_estimands(), margins={unknown: 0.1})


def test_a_quantity_given_twice_is_refused():
    row = ("grpo", "entropy_think", 0.7, 0.8, 0.05, 0.15)
    with pytest.raises(UserError, match="2 rows measure entropy_think"):
        evaluate(_estimands(row, row))


def test_rows_are_complete():
    assert [claim.id for claim in CLAIMS] == [f"C{i:02}" for i in (*range(1, 24), *range(30, 34))]
    for claim in CLAIMS:
        assert claim.statement and claim.paper and claim.computed_by
        assert all(part.kind == "directional" or part.margin > 0 for part in claim.parts)


def test_a_claim_of_ones_own():
    claim = Claim("X1", "tokens grow", "", "grpo", "summary", (Part("tokens"),))
    row = evaluate(_estimands(("grpo", "tokens", 10, 20, 8, 12)), claims=[claim]).iloc[0]
    assert (row["id"], row["verdict"]) == ("X1", "confirmed")


def test_a_part_may_be_read_on_another_line():
    claim = Claim("X1", "tokens grow", "", "ppo", "summary", (Part("tokens"), Part("tokens", line="grpo")))
    rows = _estimands(("ppo", "tokens", 10, 20, 8, 12), ("grpo", "tokens", 10, 8, -3, -1))
    row = evaluate(rows, claims=[claim]).iloc[0]
    assert (row["verdict"], row["measured"], row["computed_by"]) == ("refuted", 10, "summary")
    assert "grpo tokens -2.000 [-3.000, -1.000] (10.000 → 8.000, -20 %; 150 problems): refuted" in row["note"]
    assert "of line grpo" in row["rule"]


def test_a_row_without_a_number_is_not_run():
    row = evaluate(_estimands(("ppo", "leak_run_cut", nan, nan, nan, nan))).set_index("id").loc["C15"]
    assert row["verdict"] == "not run"
    assert "not measured in this study" in row["note"]
