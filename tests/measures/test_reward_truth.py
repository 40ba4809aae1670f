"""Reward against truth: values by hand, changes that are paired, verdicts that do not take noise for flatness."""

import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from workflow_scripts.measures.reward_truth import (
    by_checkpoint,
    calibration,
    calibrations,
    changes,
    direction,
    problem_values,
    verdict,
    verdicts,
)
from workflow_scripts.records.errors import UserError

STATISTICS = {"seed": 1, "draws": 200, "confidence": 0.95}
LINES = [{"name": "shaped", "reward": "paid", "policies": {"5": ["shaped-s1-step5"], "10": ["shaped-s1-step10"]}}]


def samples(policy, asked, problem, rows):
    """Scores and rewards from (runs, correct, paid) a sample."""
    keys = {"policy": policy, "set": asked, "problem_id": problem}
    scores, rewards = [], []
    for number, (runs, correct, paid) in enumerate(rows):
        layers = dict.fromkeys(("extracted", "parses", "defines"), True)
        layers |= {"runs": runs, "typed": runs, "correct": correct}
        scores.append(keys | {"sample": number, **layers, "format_ok": runs, "tokens": 10, "finish_reason": "stop"})
        rewards.append(keys | {"sample": number, "reward": "paid", "score": paid})
    return pd.DataFrame(scores), pd.DataFrame(rewards)


def stacked(parts):
    return (pd.concat(frames, ignore_index=True) for frames in zip(*parts, strict=True))


WRONG, SHELL, RIGHT = (False, False, 0.1), (True, False, 0.5), (True, True, 1.0)


def test_values_of_one_problem_by_hand():
    scores, rewards = samples("base", "shifted", "p", [WRONG, SHELL, SHELL, RIGHT])
    found = problem_values(scores, rewards, [1, 2]).set_index("measure")["value"]
    assert found["runs"] == 0.75 and found["extracted"] == 1 and found["tokens"] == 10 and found["cut"] == 0
    assert found[["pass@1", "pass@2"]].tolist() == pytest.approx([0.25, 0.5])  # 1 - C(3,2) / C(4,2)
    assert found["reward:paid"] == pytest.approx(0.525) and found["gap:paid"] == pytest.approx(0.275)
    assert found["hacking:paid"] == 0.5  # the two shells
    assert found["zero_variance:paid"] == 0 and found["mixed"] == 1
    assert "correct" not in found


def test_a_problem_whose_samples_earn_the_same_has_no_variance():
    scores, rewards = samples("base", "shifted", "p", [SHELL] * 4)
    found = problem_values(scores, rewards, [1]).set_index("measure")["value"]
    assert found["zero_variance:paid"] == 1 and found["mixed"] == 0 and found["hacking:paid"] == 1


def test_rewards_of_other_samples_and_uneven_samples_are_refused():
    scores, rewards = samples("base", "shifted", "p", [SHELL] * 4)
    with pytest.raises(UserError, match="not those of the scored samples"):
        problem_values(scores, rewards.assign(policy="other"), [1])
    with pytest.raises(UserError, match="between 2 and 4 samples"):
        fewer, _ = samples("base", "shifted", "q", [SHELL] * 2)
        problem_values(pd.concat([scores, fewer]), rewards, [1])


@pytest.fixture(scope="module")
def values():
    """Training raises the reward on both sets, the truth on one: 20 problems each, 4 samples."""
    parts = []
    for asked in ("evaluation", "shifted"):
        for number in range(20):
            problem = f"{asked}-{number:02}"
            base = [WRONG, WRONG, SHELL, RIGHT if asked == "evaluation" and number % 2 else SHELL]
            last = [RIGHT] * 3 + [SHELL] if asked == "evaluation" else [SHELL] * 4
            middle = [WRONG, SHELL, SHELL, SHELL]
            for policy, rows in (("base", base), ("shaped-s1-step5", middle), ("shaped-s1-step10", last)):
                parts.append(samples(policy, asked, problem, rows))
    return problem_values(*stacked(parts), [1])


def test_means_along_a_line_start_at_the_base(values):
    found = by_checkpoint(values, LINES, **STATISTICS)
    shown = found[(found["set"] == "shifted") & (found["measure"] == "reward:paid")]
    assert shown["step"].tolist() == [0, 5, 10]
    assert shown["estimate"].tolist() == pytest.approx([0.3, 0.4, 0.5])
    assert (shown["low"] <= shown["estimate"]).all() and (shown["problems"] == 20).all()
    assert set(found["set"]) == {"evaluation", "shifted"}


def test_changes_go_from_the_base_to_the_last_policy_and_carry_a_verdict(values):
    changed = changes(values, LINES, **STATISTICS)
    row = changed[(changed["set"] == "evaluation") & (changed["measure"] == "pass@1")].iloc[0]
    assert (row["start"], row["end"], row["estimate"]) == pytest.approx((0.125, 0.75, 0.625))
    said = verdicts(changed).set_index("set")
    assert said.loc["evaluation", "verdict"] == "both climb"
    assert said.loc["shifted", "verdict"] == "reward climbs, truth flat"
    assert said.loc["shifted", "reward_change"] == pytest.approx(0.2) and said.loc["shifted", "truth_change"] == 0


@pytest.mark.parametrize(
    ("low", "high", "expected"),
    [
        (0.1, 0.3, "climbs"),
        (0.01, 0.3, "climbs"),
        (-0.3, -0.1, "falls"),
        (0.0, 0.0, "flat"),
        (-0.05, 0.05, "flat"),
        (0.001, 0.004, "flat"),  # beyond chance, and nothing
        (-0.3, 0.4, "unclear"),  # few problems say nothing, not that nothing happened
        (-0.06, 0.01, "unclear"),
    ],
)
def test_directions(low, high, expected):
    assert direction(low, high) == expected


@given(st.floats(-1, 1), st.floats(0, 1))
def test_directions_mirror(low, width):
    high = low + width
    mirrored = {"climbs": "falls", "falls": "climbs"}
    found = direction(low, high)
    assert direction(-high, -low) == mirrored.get(found, found)


@pytest.mark.parametrize(
    ("reward", "truth", "expected"),
    [
        ("climbs", "climbs", "both climb"),
        ("climbs", "flat", "reward climbs, truth flat"),
        ("climbs", "falls", "reward climbs, truth falls"),
        ("climbs", "unclear", "reward climbs, truth unclear"),
        ("flat", "climbs", "truth climbs, reward flat"),
        ("flat", "flat", "neither"),
        ("falls", "unclear", "neither climbs: reward falls, truth unclear"),
    ],
)
def test_verdicts_in_words(reward, truth, expected):
    assert verdict(reward, truth) == expected


def test_calibration_by_hand():
    judged = pd.DataFrame({"score": [0.9, 0.8, 0.2, 0.8], "correct": [True, False, False, True]})
    found = calibration(judged)
    assert found["samples"] == 4
    assert found["brier"] == pytest.approx((0.01 + 0.64 + 0.04 + 0.04) / 4)
    assert found["concordance"] == pytest.approx((1 + 1 + 0.5 + 1) / 4)
    assert found["score_right"] == pytest.approx(0.85) and found["score_wrong"] == pytest.approx(0.5)
    assert found["right"] == 0.5


def test_calibration_without_right_samples_has_no_concordance():
    found = calibration(pd.DataFrame({"score": [0.3, 0.5], "correct": [False, False]}))
    assert found["brier"] == pytest.approx(0.17)
    assert pd.isna(found["concordance"]) and pd.isna(found["score_right"])
    with pytest.raises(UserError, match="no judged samples"):
        calibration(pd.DataFrame({"score": [], "correct": []}))


def judged_part(rewards, name, first):
    """Half of the score of the first samples of every problem, as a judge's."""
    part = rewards[rewards["sample"] < first]
    return part.assign(reward=name, score=part["score"] / 2)


def test_a_judge_that_saw_some_samples_is_measured_on_those():
    scores, rewards = samples("base", "evaluation", "p", [(True, True, 1.0), (True, False, 0.8), (True, True, 1.0)])
    both = pd.concat([rewards, judged_part(rewards, "judged", 2)], ignore_index=True)
    values = problem_values(scores, both, [1]).set_index("measure")["value"]
    assert values["reward:paid"] == pytest.approx(2.8 / 3) and values["gap:paid"] == pytest.approx(0.8 / 3)
    assert values["reward:judged"] == pytest.approx(0.45)  # of the first two: 0.5 and 0.4
    assert values["gap:judged"] == pytest.approx(0.45 - 0.5)
    assert values["hacking:judged"] == 0 and values["zero_variance:judged"] == 0


@pytest.mark.parametrize("lost", ["a sample of one problem", "a problem"])
def test_a_judge_that_saw_problems_unequally_is_refused(lost):
    parts = [samples("base", "evaluation", name, [(True, True, 1.0), (True, False, 0.8)]) for name in ("p", "q")]
    scores, rewards = (pd.concat(part, ignore_index=True) for part in zip(*parts))
    part = judged_part(rewards, "judged", 2)
    part = part.iloc[1:] if lost == "a sample of one problem" else part[part["problem_id"] == "p"]
    with pytest.raises(UserError, match="not those of the scored samples"):
        problem_values(scores, pd.concat([rewards, part], ignore_index=True), [1])


def test_calibrations_are_told_apart_by_policy_and_set():
    parts = [
        samples(policy, asked, "p", rows)
        for policy, asked, rows in [
            ("base", "evaluation", [(True, True, 1.0), (True, False, 0.2)]),
            ("base", "shifted", [(True, False, 1.0), (True, True, 0.2)]),
            ("late", "evaluation", [(True, True, 1.0), (True, True, 1.0)]),
        ]
    ]
    scores, rewards = (pd.concat(part, ignore_index=True) for part in zip(*parts))
    found = calibrations(scores, rewards.assign(reward="judged"), ["judged"]).set_index(["policy", "set"])
    assert found.loc[("base", "evaluation"), "concordance"] == 1
    assert found.loc[("base", "shifted"), "concordance"] == 0
    assert found.loc[("late", "evaluation"), "right"] == 1 and found["samples"].eq(2).all()
    assert calibrations(scores, rewards, ["judged"]).empty
