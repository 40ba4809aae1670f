"""policies/intervention_grid.py: what is tried of every intervention."""

import pytest

from workflow_scripts.policies.intervention_grid import BASELINE, MATCHED, candidates, grid, partners
from workflow_scripts.policies.interventions import settings_of

GIVEN = {
    "blocks": [[0, 1], None],
    "alphas": [0.25, 1.0],
    "mixed": [0.5],
    "drawings": [
        {"temperature": 1.3, "top_p": 0.9, "min_p": 0.0},
        {"temperature": 1.0, "top_p": 1.0, "min_p": 0.1},
    ],
}


def test_every_intervention_has_its_settings():
    tried = candidates(grid(GIVEN))
    assert tried["interpolation"] == [
        "interpolation: blocks 0-0, 0.25 of early",
        "interpolation: blocks 0-0, 1 of early",
        "interpolation: all weights, 0.25 of early",
        "interpolation: all weights, 1 of early",
    ]
    assert tried["temperature"] == ["temperature: temperature 1.3, top-p 0.9"]
    assert tried["min_p"] == ["min_p: temperature 1, min-p 0.1"]
    assert {name for name in tried if name.startswith("mixing")} == {
        f"mixing_{strategy}" for strategy in ("global", "reasoning", "answer", "entropy_adaptive")
    }
    assert [len(tried[name]) for name in ("reordered", "forced_operator", "checkpoints", "allocation")] == [1, 1, 1, 1]
    assert len(tried["proposed"]) == 3


def test_rows_are_settings_and_the_baselines_are_no_candidates():
    rows = grid(GIVEN)
    settings = settings_of(rows)
    assert [row["setting"] for row in rows if row["intervention"] == BASELINE] == ["late", "early"]
    named = {setting for settings in candidates(rows).values() for setting in settings}
    assert named == {setting.setting for setting in settings} - {"late", "early", "early_allocation"}
    matched = [row["setting"] for row in rows if row["intervention"] in MATCHED]
    assert len(matched) == 5 and all(row.get("requests") for row in rows if row["setting"] in matched)


def test_each_kept_policy_is_a_partner_twice():
    rows = partners({"25": 25, "50": 50}, 0.5)
    assert [row["setting"] for row in rows] == [
        "late", "interpolation: 25", "checkpoints: 25", "interpolation: 50", "checkpoints: 50",
    ]  # fmt: skip
    assert all(row["partner"] == row["setting"].split()[-1] for row in rows[1:])
    assert all(row["alpha"] == pytest.approx(0.5) for row in rows[1:] if row["change"] == "interpolation")
