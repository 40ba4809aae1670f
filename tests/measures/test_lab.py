"""The lab's numbers on scores worked out by hand."""

import numpy as np
import pandas as pd
import pytest

from workflow_scripts.measures.lab import MEASURES, lab_values, training_numbers, vote_values
from workflow_scripts.records.errors import UserError
from workflow_scripts.records.maths_schemas import MATHS_SCORES

REWARDS = {"correctness": 1.0, "format_bonus": 0.1, "invalid_penalty": 0.1}

# problem, correct, format_ok, extracted, first calculation
SAMPLES = [
    ("w-0", True, True, "17", "4 * 3"),
    ("w-0", True, False, "17.0", "3 * 4"),  # equals the gold answer: one vote with the one above
    ("w-0", False, True, "12", "4 * 3"),
    ("w-0", False, False, None, None),
    ("w-1", False, True, "5", "2 + 3"),
    ("w-1", False, True, "5", "2 + 3"),
    ("w-1", True, True, "6", "2 * 3"),
    ("w-1", False, False, "7", "2 * 3"),
]


@pytest.fixture
def scores():
    rows = [
        {
            "policy": "base",
            "benchmark": "words",
            "problem_id": problem,
            "sample": place % 4,
            "status": "OK" if correct else "WRONG" if answer else "NO_ANSWER",
            "correct": correct,
            "format_ok": ok,
            "extracted": answer,
            "first_calculation": first,
            "numeric_trace": "x",
            "p1": 1,
            "tokens": 20 + place,
            "finish_reason": "stop",
        }
        for place, (problem, correct, ok, answer, first) in enumerate(SAMPLES)
    ]
    return pd.DataFrame(rows)[MATHS_SCORES.names]


def values(scores, **given):
    table = lab_values(scores, pass_at=[1, 2, 4], draws=[1, 4], rewards=REWARDS, seed=1, **given)
    return table.set_index(["problem_id", "measure"])["value"].to_dict()


def test_numbers_of_two_problems(scores):
    found = values(scores)
    expected = {
        ("w-0", "pass@1"): 2 / 4,
        ("w-0", "pass@2"): 1 - 1 / 6,  # C(2, 2) / C(4, 2) of two wrong ones
        ("w-1", "pass@4"): 1.0,
        ("w-0", "format_rate"): 2 / 4,
        ("w-0", "format_wrong"): 1 / 4,
        ("w-0", "unmarked_correct"): 1 / 4,
        ("w-0", "reward"): (1.1 + 1.0 + 0.1 - 0.1) / 4,
        ("w-1", "reward"): (0.1 + 0.1 + 1.1 + 0.0) / 4,
        ("w-0", "tokens"): 21.5,
        ("w-1", "entropy"): np.log(2),
        ("w-0", "best@4"): 1.0,
        ("w-0", "best@1"): 2 / 4,
        # 17 and 17.0 vote together: two against one, one does not vote
        ("w-0", "majority@4"): 1.0,
        ("w-1", "majority@4"): 0.0,
        ("w-1", "majority@1"): 1 / 4,
    }
    for key, value in expected.items():
        assert found[key] == pytest.approx(value), key


def test_every_measure_is_explained(scores):
    known = {*MEASURES, "pass"}
    told = {measure.split("@")[0] for _, measure in values(scores)}
    from workflow_scripts.measures import first_calculations

    assert told <= known | set(first_calculations.MEASURES)
    assert set(MEASURES) - told == {"kl", "token_entropy"}


def test_drift_goes_along(scores):
    drift = pd.DataFrame(
        {"policy": "base", "reference": "base", "benchmark": "words", "problem_id": ["w-0", "w-1"], "samples": 4}
        | {"kl": [0.1, 0.3], "token_entropy": [0.5, 0.7]}
    )
    found = values(scores, drift=drift)
    assert found["w-1", "kl"] == 0.3 and found["w-0", "token_entropy"] == 0.5


def test_votes_do_not_depend_on_other_benchmarks(scores):
    other = scores.assign(benchmark="shifted", problem_id=scores["problem_id"] + "s")
    both = vote_values(pd.concat([scores, other]), [2, 3], seed=1)
    alone = vote_values(scores, [2, 3], seed=1)
    pd.testing.assert_frame_equal(
        both[both["benchmark"] == "words"].reset_index(drop=True)[alone.columns], alone, check_like=True
    )


def test_a_training_runs_numbers_are_those_of_its_last_steps():
    training = pd.DataFrame(
        {"step": range(1, 51), "zero_variance": [1.0] * 25 + [0.5] * 25, "reward": 0.4, "kl": 0.1}
        | {"token_entropy": 0.3, "length": 20.0, "seconds": 2.0}
    )
    found = training_numbers(training, samples=100)
    assert found["zero_variance"] == 0.5
    assert found["tokens_a_second"] == pytest.approx(20 * 100 / 2)


def test_refusals(scores):
    with pytest.raises(UserError, match="see 'formatbonus'"):
        lab_values(scores, pass_at=[1], draws=[1], rewards=REWARDS | {"formatbonus": 1}, seed=1)
    with pytest.raises(UserError, match="pass@8"):
        lab_values(scores, pass_at=[8], draws=[1], rewards=REWARDS, seed=1)
    with pytest.raises(UserError, match="no training steps"):
        training_numbers(pd.DataFrame({"step": []}), samples=1)
