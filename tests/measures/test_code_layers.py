"""Rates of layers on scores worked out by hand."""

import pandas as pd
import pytest

from workflow_scripts.measures.code_layers import ALL, MEASURES, layer_rates, layer_values
from workflow_scripts.records.errors import UserError
from workflow_scripts.records.scicode_schemas import SCICODE_SCORES
from workflow_scripts.tasks.scicode.verdicts import LAYERS

# policy, set, problem, layers passed, checks passed (of 2), format_ok
SAMPLES = [
    ("base", "evaluation", "a-1", 6, 2, True),
    ("base", "evaluation", "a-1", 5, 1, True),
    ("base", "evaluation", "a-1", 0, 0, False),
    ("base", "evaluation", "a-1", 4, 1, False),
    ("base", "evaluation", "b-1", 1, 0, False),
    ("base", "evaluation", "b-1", 3, 1, True),
    ("base", "shifted", "a-2", 2, 0, False),
    ("after-s1", "evaluation", "a-1", 6, 2, True),
    ("after-s1", "evaluation", "b-1", 6, 2, True),
    ("after-s1", "shifted", "a-2", 4, 0, True),
    ("after-s2", "evaluation", "a-1", 4, 0, True),
    ("after-s2", "evaluation", "b-1", 6, 2, True),
    ("after-s2", "shifted", "a-2", 4, 0, True),
]
ENTRIES = {"base": ["base"], "after": ["after-s1", "after-s2"]}
DRAWN = {"seed": 3, "draws": 200}


@pytest.fixture
def scores():
    rows = [
        {"policy": policy, "set": name, "problem_id": problem, "family": {"a": "alpha", "b": "beta"}[problem[0]],
         "sample": place, "status": "x", **{layer: held > rank for rank, layer in enumerate(LAYERS)}, "passed": passed,
         "checks": 2, "format_ok": ok, "tokens": 1, "characters": 1, "value": None, "finish_reason": "stop"}
        for place, (policy, name, problem, held, passed, ok) in enumerate(SAMPLES)
    ]  # fmt: skip
    return pd.DataFrame(rows)[SCICODE_SCORES.names]


def rates(scores):
    return layer_rates(scores, ENTRIES, **DRAWN)


def test_values_of_problems(scores):
    found = layer_values(scores).set_index(["policy", "problem_id", "measure"])["value"].sort_index()
    assert found["base", "a-1"].to_dict() == {
        "extracted": 0.75, "parses": 0.75, "defines": 0.75, "runs": 0.75, "typed": 0.5, "correct": 0.25,
        "passed_share": 0.5, "format_ok": 0.5,
    }  # fmt: skip
    assert found["base", "b-1", "defines"] == 0.5 and found["base", "b-1", "runs"] == 0


def test_rates_are_means_over_problems_and_seeds(scores):
    found = rates(scores).set_index(["entry", "set", "family", "measure"])
    assert found.loc[("base", "evaluation", ALL, "parses"), "estimate"] == pytest.approx((0.75 + 0.5) / 2)
    assert found.loc[("base", "evaluation", "alpha", "parses"), "estimate"] == pytest.approx(0.75)
    assert found.loc[("after", "evaluation", ALL, "correct"), "estimate"] == pytest.approx(3 / 4)
    assert found.loc[("after", "shifted", ALL, "runs"), ["estimate", "low", "high"]].tolist() == [1, 1, 1]
    assert found.loc[("base", "evaluation", ALL, "runs"), "problems"] == 2
    assert (found["low"] <= found["estimate"]).all() and (found["estimate"] <= found["high"]).all()


def test_no_layer_is_above_the_one_before_it(scores):
    wide = rates(scores).pivot(index=["entry", "set", "family"], columns="measure", values="estimate")
    assert (wide[[*LAYERS]].diff(axis=1).iloc[:, 1:] <= 0).all().all()
    assert wide.notna().all().all()


def test_rows_come_in_order_and_do_not_depend_on_that_of_scores(scores):
    found = rates(scores)
    assert list(dict.fromkeys(zip(found["set"], found["family"], strict=True))) == [
        ("evaluation", ALL), ("evaluation", "alpha"), ("evaluation", "beta"), ("shifted", ALL), ("shifted", "alpha"),
    ]  # fmt: skip
    assert list(found["measure"][:8]) == list(MEASURES) and list(dict.fromkeys(found["entry"])) == list(ENTRIES)
    pd.testing.assert_frame_equal(found, rates(scores.sample(frac=1, random_state=1)))


def test_what_does_not_fit_is_named(scores):
    with pytest.raises(UserError, match="other"):
        layer_rates(scores, {"x": ["other"]}, **DRAWN)
    with pytest.raises(UserError, match="no scores"):
        layer_values(scores[:0])
    with pytest.raises(UserError, match="say runs and not defines"):
        layer_values(scores.assign(runs=True))
