"""figures/scorecard.py: the scorecard as Markdown."""

import math

import pandas as pd
import pytest

from workflow_scripts.figures import scorecard
from workflow_scripts.measures.verdicts import COLUMNS, ESTIMANDS, evaluate
from workflow_scripts.records.errors import UserError


@pytest.fixture
def claims():
    estimands = pd.DataFrame(
        [
            ("grpo", "early", "late", "coverage_paper", 0.45, 0.22, -0.23, -0.27, -0.19, 150),
            ("grpo", "early", "late", "pass@1", 0.2, 0.39, 0.19, 0.15, 0.23, 150),
            ("grpo", "early", "late", "entropy_think", 1.55, 0.52, -1.03, -1.1, 0.02, 150),
        ],
        columns=list(ESTIMANDS),
    )
    return evaluate(estimands, points={"grpo": "step 25 → step 300"})


def test_every_claim_is_a_row_with_value_interval_and_verdict(claims):
    lines = scorecard.markdown(claims).splitlines()
    rows = {line.split("|")[1].strip(): line for line in lines if line.startswith("| C")}
    assert list(rows) == list(claims["id"])
    assert "pass@1 .121 → .429; Cov@320 .467 → .268, −43 %" in rows["C02"]
    assert "| −0.230 [−0.270, −0.190] | **confirmed** |" in rows["C02"]
    assert "| −1.030 [−1.100, 0.020] | **inconclusive** |" in rows["C04"]
    assert "| – | **not run** |" in rows["C01"]
    assert len({line.count("|") for line in lines if line.startswith("|")}) == 1


def test_rules_and_notes_stand_beneath(claims):
    text = scorecard.markdown(claims)
    for claim in claims.itertuples():
        assert f"* **{claim.id}, {claim.verdict}.** Rule: {claim.rule}. Here: " in text
        assert f"Computed by `{claim.computed_by}`." in text
    assert "step 25 → step 300; coverage_paper −0.230 [−0.270, −0.190] (0.450 → 0.220, −51 %; 150 problems)" in text
    assert text.count("not measured in this study") == (claims["verdict"] == "not run").sum() == 25


def test_tally(claims):
    assert scorecard.tally(claims) == "1 confirmed, 0 refuted, 1 inconclusive, 25 not run"
    assert "27 claims: 1 confirmed" in scorecard.markdown(claims)


@pytest.mark.parametrize(("confidence", "heading"), [(0.95, "95 %"), (0.9, "90 %"), (0.999, "99.9 %")])
def test_heading_has_the_confidence(claims, confidence, heading):
    assert f"measured [{heading} interval]" in scorecard.markdown(claims, confidence=confidence)


def test_hyphens_inside_words_are_no_minus():
    claim = dict.fromkeys(COLUMNS, "x") | {"measured": math.nan, "low": math.nan, "high": math.nan}
    claim |= {"id": "C1", "verdict": "not run", "note": "512-sample half, grpo-s1 -0.5|1", "paper": "a|b"}
    text = scorecard.markdown(pd.DataFrame([claim]))
    assert "512-sample half, grpo-s1 −0.5" in text
    assert "a\\|b" in text


def test_missing_column_is_named(claims, tmp_path):
    with pytest.raises(UserError, match="verdict"):
        scorecard.write(claims.drop(columns="verdict"), tmp_path / "s.md")


def test_same_bytes_each_time(claims, tmp_path):
    for name in ("a.md", "b.md"):
        scorecard.write(claims, tmp_path / name)
    assert (tmp_path / "a.md").read_bytes() == (tmp_path / "b.md").read_bytes()
    assert b"\r" not in (tmp_path / "a.md").read_bytes()
