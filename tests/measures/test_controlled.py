"""What the controlled experiment measures: fixture, rewards, argmax beside expected, and the format incentive."""

import json
import math

import numpy as np
import pandas as pd
import pytest

from workflow_scripts.measures import controlled, format_incentive
from workflow_scripts.records.errors import UserError

GOOD = {"id": "a", "question": "2 + 2?", "answer": "4", "solution": "2 and 2 make 4."}


@pytest.fixture(scope="module")
def problems():
    return controlled.read_problems(controlled.PROBLEMS)


@pytest.fixture(scope="module")
def judged(problems):
    return controlled.judge(problems)


def test_every_problem_pays_its_candidates_alike(problems, judged):
    assert len(problems) == 12
    for row in judged.rewards:
        assert row.tolist() == pytest.approx([1.1, 0.1, 1.0, -0.1])
    assert (judged.correct == [1, 0, 1, 0]).all()
    assert (judged.formatted == [1, 1, 0, 0]).all()


@pytest.mark.parametrize(
    ("bonus", "penalty", "wanted"),
    [(0, 0, [1, 0, 1, 0]), (0.5, 0, [1.5, 0.5, 1, 0]), (0, 0.3, [1, 0, 1, -0.3]), (1.5, 1, [2.5, 1.5, 1, -1])],
)
def test_constants(problems, bonus, penalty, wanted):
    found = controlled.judge(problems[:2], format_bonus=bonus, invalid_penalty=penalty)
    assert found.rewards.tolist() == pytest.approx(np.array([wanted] * 2))


@pytest.mark.parametrize(("answer", "wrong"), [("54", "55"), ("1/4", "5/4"), ("-1", "0")])
def test_wrong_answer(answer, wrong):
    assert controlled.wrong_answer(answer) == wrong


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("", "holds no problem"),
        ("{", "line 1: no JSON"),
        (json.dumps([1]), "line 1: needs the keys"),
        (json.dumps(GOOD | {"more": 1}), "line 1: needs the keys"),
        (json.dumps(GOOD | {"answer": "four"}), "line 1: answer must be"),
        (json.dumps(GOOD | {"answer": "1/0"}), "line 1: answer must be"),
        (json.dumps(GOOD | {"solution": " "}), "line 1: solution must be"),
        (json.dumps(GOOD | {"answer": 4}), "line 1: answer must be a text"),
        (json.dumps(GOOD) + "\n" + json.dumps(GOOD), "line 2: id a is there twice"),
    ],
)
def test_bad_problems_are_named(tmp_path, text, told):
    path = tmp_path / "problems.jsonl"
    path.write_text(text)
    with pytest.raises(UserError, match=told):
        controlled.read_problems(path)


def test_missing_problems_are_named(tmp_path):
    with pytest.raises(UserError, match=r"none\.jsonl: cannot be read"):
        controlled.read_problems(tmp_path / "none.jsonl")


def test_argmax_and_expected(judged):
    shares = np.array([0.4, 0.3, 0.2, 0.1])
    found = controlled.policy_measures(np.tile(np.log(shares), (12, 1)), judged)
    entropy = -sum(share * math.log(share) for share in shares)
    wanted = {
        "p_boxed": 0.4, "p_wrong_boxed": 0.3, "p_unmarked": 0.2, "p_refusal": 0.1, "pass@1": 1, "format@1": 1,
        "reward@1": 1.1, "expected_pass": 0.6, "expected_format": 0.7, "expected_reward": 0.44 + 0.03 + 0.2 - 0.01,
        "expected_pass@4": 1 - 0.4**4, "entropy": entropy,
    }  # fmt: skip
    assert {name: float(value) for name, value in found.items()} == pytest.approx(wanted)


@pytest.mark.parametrize(
    ("row", "metrics", "expected_reward", "entropy"),
    [  # the published rows: pass@1, format@1, reward@1 of the likeliest candidate; means of a sample
        ([0.1737, 0.4721, 0.2121, 0.1422], (0, 1, 0.1), 0.436, 1.265),
        ([0.1183, 0.2302, 0.5505, 0.1011], (1, 0, 1.0), 0.694, 1.151),
        ([0.4923, 0.2470, 0.1523, 0.1085], (1, 1, 1.1), 0.708, 1.222),
        ([0.6045, 1e-9, 0.3955, 1e-9], (1, 1, 1.1), 1.061, 0.671),
    ],
)
def test_published_metrics(judged, row, metrics, expected_reward, entropy):
    found = controlled.policy_measures(np.log(np.tile(row, (12, 1))), judged)
    assert tuple(float(found[name]) for name in ("pass@1", "format@1", "reward@1")) == pytest.approx(metrics)
    assert float(found["expected_reward"]) == pytest.approx(expected_reward, abs=6e-4)
    assert float(found["entropy"]) == pytest.approx(entropy, abs=6e-4)


def test_rows_of_seeds(judged):
    even, sure = np.zeros((12, 4)), np.tile([50.0, 0, 0, 0], (12, 1))
    found = controlled.row_of("x", np.stack([even, sure]), judged, {"clipped": np.array([0.1, 0.3])})
    cells = found.set_index("measure")
    assert cells.loc["p_boxed", ["estimate", "low", "high", "seeds"]].tolist() == pytest.approx([0.625, 0.25, 1, 2])
    assert cells.loc["clipped", ["estimate", "low", "high"]].tolist() == pytest.approx([0.2, 0.1, 0.3])
    alone = controlled.row_of("x", even, judged, {"loss": -1e-17}).set_index("measure")
    assert alone["low"].isna().all()
    assert str(alone.loc["loss", "estimate"]) == "0.0"  # neither noise nor -0


def test_steps(judged):
    logits = np.zeros((3, 2, 12, 4))
    logits[2, 0, :, 1] = 50
    found = controlled.along(logits, judged, road="sampled", first=60)
    last = found[(found["measure"] == "p_wrong_boxed") & (found["update"] == 62)].iloc[0]
    assert last[["estimate", "low", "high"]].tolist() == pytest.approx([0.625, 0.25, 1])
    assert sorted(found["update"].unique()) == [60, 61, 62]


def test_overtaking():
    logits = np.zeros((4, 2, 3, 4))
    logits[2:, 0, :, controlled.BOXED] = 1
    logits[3:, 1, :2, controlled.BOXED] = 1  # one problem never
    assert controlled.overtaking(logits)[0] == 2
    assert np.isnan(controlled.overtaking(logits)[1])


def test_starts():
    starts = format_incentive.start_rows([0.2, 0.5], [0.25])
    shares = controlled.probabilities(format_incentive.start_logits(starts))
    assert shares.tolist() == pytest.approx(np.array([[0.1, 0.2, 0.1, 0.6], [0.25, 0.125, 0.25, 0.375]]))


def test_incentive_tells_reinforced_from_raised():
    starts = format_incentive.start_rows([0.2], [0.25, 0.5])
    first = format_incentive.start_logits(starts)
    second, third = first.copy(), first.copy()
    second[0, 1] += 1  # raised, then gone
    third[:, controlled.BOXED] += 5
    second[1, 3] -= 3  # only its rival sinks
    gradient = np.array([[0, 0.1, 0, 0], [0, -0.1, 0, 0]])
    found = format_incentive.incentive(starts, np.stack([first, second, third]), gradient)
    assert found["reinforced"].tolist() == [True, False]
    assert found["raised"].tolist() == [True, True]
    assert found["peak_update"].tolist() == [1, 1]
    assert found["start"].tolist() == pytest.approx([0.2, 0.4])
    assert not found["prevails"].any()
    stays = format_incentive.incentive(starts, np.stack([first, first]), gradient)
    assert stays["prevails"].tolist() == [False, True]  # .2 against .2, .4 against .2
    both = pd.concat([part.assign(divide=True, format_bonus=0.1, invalid_penalty=0.1) for part in (found, stays)])
    row = format_incentive.shares_of_starts(both).iloc[0]
    assert (row["starts"], row["reinforced"], row["raised"], row["prevails"]) == (4, 0.5, 0.5, 0.25)
