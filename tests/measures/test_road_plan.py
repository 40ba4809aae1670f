"""measures/road_plan.py: which roads play which part, and what they cost."""

import pandas as pd
import pytest

from workflow_scripts.measures.road_plan import arms_of, continuation_of, doses_of, training_tokens


def road(name, kind, start="base", role="road", **more):
    plain = {"source": "solver", "choice": "diverse", "lora": 0, "demonstrations": 4} if kind == "sft" else {}
    steps = {"samples_a_step": 512} if kind == "grpo" else {}
    return {
        "name": name,
        "kind": kind,
        "start": start,
        "role": role,
        "policies": [f"{name}-s1"],
        **plain,
        **steps,
        **more,
    }


ROADS = [
    road("sft8", "sft", demonstrations=8),
    road("sft1", "sft", demonstrations=1),
    road("sft4", "sft"),
    road("uniform", "sft", choice="uniform", demonstrations=2),
    road("own", "sft", source="own", demonstrations=3),
    road("lora", "sft", lora=8, demonstrations=5),
    road("dpo", "dpo", start="sft4"),
    road("dpo-grpo", "grpo", start="dpo"),
    road("sft4-grpo", "grpo", start="sft4"),
    road("bonus", "grpo", role="arm"),
    road("control", "grpo", role="arm"),
]


def test_doses_are_plain_fine_tuning_on_solver_built_solutions():
    assert doses_of(ROADS) == {1: ["sft1-s1"], 4: ["sft4-s1"], 8: ["sft8-s1"]}


def test_the_control_is_first_and_without_one_there_are_no_arms():
    assert list(arms_of(ROADS)) == ["control", "bonus"]
    assert arms_of([r for r in ROADS if r["name"] != "control"]) == {}


def test_the_continuation_starts_from_four_solutions():
    assert continuation_of(ROADS)["name"] == "sft4-grpo"
    assert continuation_of([r for r in ROADS if r["name"] not in ("sft4-grpo", "dpo-grpo")]) is None


def test_tokens_count_the_starts_too():
    metrics = {
        "sft4-s1": pd.DataFrame({"tokens": [10, 20]}),
        "dpo-s1": pd.DataFrame({"tokens": [3, 7]}),
        "dpo-grpo-s1": pd.DataFrame({"length": [2.0, 3.0]}),
        "control-s1": pd.DataFrame({"length": [1.0]}),
    }
    assert training_tokens(ROADS, "control", metrics) == 512
    assert training_tokens(ROADS, "dpo-grpo", metrics) == pytest.approx(5 * 512 + 7 + 20)
