"""Claims C18–C23 and C30–C32: their rows, from paired frames to verdicts."""

import pandas as pd
import pytest

from workflow_scripts.measures.recovery_claims import RECOVERY
from workflow_scripts.measures.recovery_rows import INTERVENTION_ROWS, intervention_rows, road_rows
from workflow_scripts.measures.verdicts import CONFIRMED, ESTIMANDS, INCONCLUSIVE, NOT_RUN, REFUTED, evaluate
from workflow_scripts.records.errors import UserError

MEASURES = ("coverage_paper", "coverage_formula", "families", "pass@1", "samples", "tokens")


def paired_rows(changes, before="baseline", problems=100):
    """changes: setting to (coverage, families, pass@1) gains; half-width .01."""
    rows = []
    for setting, (coverage, families, precision) in changes.items():
        gains = {"coverage_paper": coverage, "coverage_formula": coverage, "families": families, "pass@1": precision}
        for measure in MEASURES:
            gain = gains.get(measure, 0.0)
            rows.append(
                {"before": before, "after": setting, "measure": measure, "start": 0.2, "end": 0.2 + gain}
                | {"estimate": gain, "low": gain - 0.01, "high": gain + 0.01, "problems": problems}
            )
    return pd.DataFrame(rows)


SETTINGS = {name: f"{name} 1" for name in INTERVENTION_ROWS}
AS_CLAIMED = {
    "interpolation 1": (0.04, 0.1, 0.05),
    "mixing_reasoning 1": (0.02, 0, 0),
    "mixing_answer 1": (0, 0, 0),
    "temperature 1": (0.02, 0, -0.02),
    "reordered 1": (0.01, 0, 0),
    "forced_operator 1": (-0.1, 0, -0.3),
    "checkpoints 1": (0.1, 0, -0.1),
    "allocation 1": (0.1, 0.4, 0),
}


def estimands(changes=AS_CLAIMED, early=0.0):
    late = intervention_rows(paired_rows(changes), SETTINGS | {"proposed": "other"}, line="ppo")
    first = intervention_rows(paired_rows({"spread": (early, 0, 0)}), {"allocation": "spread"}, line="ppo", end="early")
    return pd.concat([late, first], ignore_index=True)


def verdicts_of(frame, margins=None):
    return evaluate(frame, claims=RECOVERY, margins=margins).set_index("id")["verdict"]


def test_rows_have_the_columns_of_estimands():
    frame = estimands()
    assert tuple(frame.columns) == ESTIMANDS
    assert not frame.duplicated("measure").any()
    row = frame.set_index("measure").loc["allocation_late_families"]
    assert row[["start", "end", "estimate", "problems"]].tolist() == pytest.approx([0.2, 0.6, 0.4, 100])


def test_what_the_paper_found_confirms_its_claims():
    found = verdicts_of(estimands())
    assert found[["C18", "C19", "C20", "C21", "C22", "C23"]].eq(CONFIRMED).all()
    assert found[["C30", "C31", "C32"]].eq(NOT_RUN).all()


@pytest.mark.parametrize(
    ("claim", "setting", "change", "verdict"),
    [
        ("C18", "interpolation 1", (0.04, 0, -0.025), INCONCLUSIVE),
        ("C18", "interpolation 1", (0.04, 0, -0.05), REFUTED),
        ("C18", "interpolation 1", (0.04, 0, 0.2), CONFIRMED),
        ("C18", "interpolation 1", (0.0, 0, 0.0), INCONCLUSIVE),
        ("C19", "mixing_answer 1", (0.05, 0, 0), REFUTED),
        ("C20", "temperature 1", (0.02, 0, 0.02), REFUTED),
        ("C21", "forced_operator 1", (0.0, 0, 0), INCONCLUSIVE),
        ("C22", "checkpoints 1", (-0.1, 0, -0.1), REFUTED),
        ("C23", "allocation 1", (0.1, -0.4, 0), REFUTED),
    ],
)
def test_other_findings(claim, setting, change, verdict):
    assert verdicts_of(estimands(AS_CLAIMED | {setting: change}))[claim] == verdict


def test_allocation_that_helps_early_refutes():
    assert verdicts_of(estimands(early=0.16))["C23"] == REFUTED
    assert verdicts_of(estimands(early=0.045))["C23"] == INCONCLUSIVE
    assert verdicts_of(estimands(early=0.045), margins={"C23": 0.06})["C23"] == CONFIRMED


def test_a_missing_intervention_is_not_run_and_a_missing_setting_is_an_error():
    settings = {name: setting for name, setting in SETTINGS.items() if name != "checkpoints"}
    frame = intervention_rows(paired_rows(AS_CLAIMED), settings, line="ppo")
    assert verdicts_of(frame)["C22"] == NOT_RUN
    with pytest.raises(UserError, match="one row of coverage_paper of 'temperature 2' is needed, there are 0"):
        intervention_rows(paired_rows(AS_CLAIMED), {"temperature": "temperature 2"}, line="ppo")


def rows_of_roads(broader=0.1, steps=((0.0, 0.1), (-0.05, 0.01)), slope=0.08, entropy=-0.5):
    level = pd.DataFrame(
        [
            {"after": road, "measure": "coverage_paper", "start": 0.3, "end": 0.3 + gain}
            | {"estimate": gain, "low": gain - 0.01, "high": gain + 0.01, "problems": 150}
            for road, gain in {"sft4": broader, "dpo": -1.0}.items()
        ]
    )
    trend = [
        ("slope", slope, slope - 0.01, slope + 0.01),
        *((f"{i}", low, low, high) for i, (low, high) in enumerate(steps)),
    ]
    trend = pd.DataFrame(trend, columns=["quantity", "estimate", "low", "high"])
    trend = trend.assign(measure="coverage_paper", start=0.0, end=0.0, problems=150)
    names = {"entropy_think": entropy, "coverage_paper": -0.2, "pass@1": 0.1}
    went = [
        {"before": "sft4", "after": "sft4_grpo", "measure": measure, "start": 1.0, "end": 1 + gain}
        | {"estimate": gain, "low": gain - 0.01, "high": gain + 0.01, "problems": 150}
        for measure, gain in names.items()
    ]
    return road_rows(
        line="grpo", broader=level, trend=trend, continuation=pd.DataFrame(went), broad="sft4", start="sft4",
        end="sft4_grpo",
    )  # fmt: skip


def test_roads_as_the_paper_has_them():
    frame = rows_of_roads()
    assert tuple(frame.columns) == ESTIMANDS
    assert frame.set_index("measure").loc["sft4_broader", "end"] == pytest.approx(0.4)
    assert verdicts_of(frame)[["C30", "C31", "C32"]].eq(CONFIRMED).all()


@pytest.mark.parametrize(
    ("change", "claim", "verdict"),
    [
        ({"broader": -0.1}, "C30", REFUTED),
        ({"slope": 0.0}, "C31", INCONCLUSIVE),
        # one step is a fall for sure: not monotone, however steep the rest
        ({"steps": ((0.1, 0.2), (-0.1, -0.05))}, "C31", REFUTED),
        ({"entropy": 0.5}, "C32", REFUTED),
    ],
)
def test_roads_otherwise(change, claim, verdict):
    assert verdicts_of(rows_of_roads(**change))[claim] == verdict


def test_ids_and_rules():
    assert [claim.id for claim in RECOVERY] == ["C18", "C19", "C20", "C21", "C22", "C23", "C30", "C31", "C32"]
    assert {claim.line for claim in RECOVERY} == {"ppo", "grpo"}
    table = evaluate(estimands(), claims=RECOVERY).set_index("id")
    assert "coverage with reordered numbers − coverage without" in table.loc["C21", "rule"]
    assert "beside it interpolation_pass +0.050" in table.loc["C18", "note"]
