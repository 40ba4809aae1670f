"""measures/maths_claims.py with verdicts.evaluate: what decides each claim about mathematics."""

import numpy as np
import pandas as pd
import pytest

from workflow_scripts.measures.maths_claims import claims, pipeline_rows
from workflow_scripts.measures.verdicts import ESTIMANDS, evaluate
from workflow_scripts.records.errors import UserError

STATISTICS = {"seed": 1, "draws": 200}
SETS = ["words", "shifted"]


def rows(**measures):
    """Rows of line maths from measure=(low, high)."""
    made = [
        ("maths", "base", "late", name.replace("pass_", "pass@"), np.nan, np.nan, (low + high) / 2, low, high, 9)
        for name, (low, high) in measures.items()
    ]
    return pd.DataFrame(made, columns=ESTIMANDS)


def verdicts_of(**measures):
    return evaluate(rows(**measures), claims=claims(SETS)).set_index("id")["verdict"].to_dict()


UP, DOWN, AROUND = (0.1, 0.2), (-0.2, -0.1), (-0.01, 0.01)


def test_the_ids_and_their_order():
    assert [claim.id for claim in claims(SETS)] == ["C24", "C25", "C26", "C27", "C28", "C29", "C34"]


@pytest.mark.parametrize(
    ("measures", "claim", "expected"),
    [
        ({"entropy": DOWN, "pass_1": UP}, "C24", "confirmed"),
        ({"entropy": DOWN, "pass_1": AROUND}, "C24", "inconclusive"),
        ({"entropy": UP, "pass_1": UP}, "C24", "refuted"),
        ({"entropy": DOWN}, "C24", "not run"),
        ({"pass_64": AROUND}, "C25", "confirmed"),
        ({"pass_64": UP}, "C25", "refuted"),
        ({"pass_64": (-0.05, 0.01)}, "C25", "inconclusive"),
        ({"did_words": UP, "did_shifted": UP}, "C26", "confirmed"),
        ({"did_words": UP, "did_shifted": AROUND}, "C26", "inconclusive"),
        ({"did_words": UP, "did_shifted": DOWN}, "C26", "refuted"),
        ({"did_words": UP}, "C26", "not run"),
        ({"did": UP}, "C26", "not run"),  # the mean alone does not decide
        ({}, "C27", "not run"),
        ({"did_semantic_worst": UP}, "C27", "confirmed"),
        ({"did_semantic": UP, "did_semantic_worst": AROUND}, "C27", "inconclusive"),
        ({"distinct_traces": DOWN}, "C28", "confirmed"),
        ({"entropy_change_gap": UP}, "C29", "confirmed"),
        ({"entropy_change_gap": DOWN}, "C29", "refuted"),
        ({"example_entropy": DOWN}, "C34", "confirmed"),
    ],
)
def test_what_decides(measures, claim, expected):
    assert verdicts_of(**measures)[claim] == expected


def test_margin_depth_and_other_models_are_the_studys():
    made = {claim.id: claim for claim in claims(SETS, pass_at=16, margin=0.5, depth=32, also=["maths-14b"])}
    assert made["C25"].parts[0].measure == "pass@16"
    assert made["C25"].parts[0].margin == 0.5
    assert "32 samples" in made["C28"].statement
    assert [part.line for part in made["C24"].parts] == ["", "", "maths-14b", "maths-14b"]
    assert evaluate(rows(entropy=DOWN, pass_1=UP), claims=list(made.values()))["verdict"][0] == "not run"
    table = evaluate(rows(pass_64=(0.04, 0.06)), claims=claims(SETS), margins={"C25": 0.1})
    assert table.set_index("id")["verdict"]["C25"] == "confirmed"
    with pytest.raises(UserError, match="at least one benchmark"):
        claims([])


def values(**policies):
    made = [
        (policy, "words", f"words-{i}", measure, value)
        for policy, numbers in policies.items()
        for measure in ("entropy", "pass@1")
        for i, value in enumerate(numbers)
    ]
    return pd.DataFrame(made, columns=["policy", "benchmark", "problem_id", "measure", "value"])


def test_pipelines_by_hand():
    # Straight: 2 → 1 and 4 → 1. Pipeline: 2 → 2 and 3 → 2. Changes −1, −3 and 0, −1: the gap is 1 and 2.
    table = values(base=[2, 4], rl=[1, 1], sft=[2, 3], end=[2, 2])
    found = pipeline_rows(
        table, straight=(["base"], ["rl"]), pipeline=(["sft"], ["end"]), line="maths", statistics=STATISTICS
    ).set_index("measure")
    assert found.columns.tolist() == [name for name in ESTIMANDS if name != "measure"]
    assert found.loc["entropy_change_gap", ["estimate", "low", "high"]].tolist() == [1.5, 1.0, 2.0]
    assert found.loc["entropy_gap", "estimate"] == 1.0
    assert found.loc["pass@1_gap", "problems"] == 2


def test_a_change_that_is_equal_everywhere_is_no_gap():
    # Straight 0.3 → 0.1, pipeline 0.9 → 0.7: in floating point the changes differ in the last bit.
    table = values(base=[0.3] * 5, rl=[0.1] * 5, sft=[0.9] * 5, end=[0.7] * 5)
    found = pipeline_rows(
        table, straight=(["base"], ["rl"]), pipeline=(["sft"], ["end"]), line="maths", statistics=STATISTICS
    )
    gap = found.set_index("measure").loc["entropy_change_gap", ["estimate", "low", "high"]]
    assert (0.7 - 0.1) - (0.9 - 0.3) != 0 and gap.tolist() == [0, 0, 0]
    assert evaluate(found, claims=claims(SETS)).set_index("id")["verdict"]["C29"] == "inconclusive"


def test_pipelines_with_seeds():
    table = values(base=[2, 2], r1=[1, 1], r2=[0, 0], sft=[2, 2], e1=[2, 2], e2=[2, 2])
    found = pipeline_rows(
        table, straight=(["base"], ["r1", "r2"]), pipeline=(["sft"], ["e1", "e2"]), line="maths", statistics=STATISTICS
    ).set_index("measure")
    assert found.loc["entropy_change_gap", ["estimate", "low", "high"]].tolist() == [1.5, 1.0, 2.0]
    with pytest.raises(UserError, match="one policy per training seed"):
        pipeline_rows(
            table, straight=(["base"], ["r1", "r2"]), pipeline=(["sft"], ["e1", "e2", "r1"]), line="m",
            statistics=STATISTICS,
        )  # fmt: skip
    with pytest.raises(UserError, match="no values of nobody"):
        pipeline_rows(
            table, straight=(["base"], ["nobody"]), pipeline=(["sft"], ["e1"]), line="m", statistics=STATISTICS
        )
