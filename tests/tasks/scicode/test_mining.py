"""Failure mining: severities by hand, and sets that never repeat an evaluation problem."""

import pandas as pd
import pytest

from workflow_scripts.records.errors import UserError
from workflow_scripts.tasks.scicode.generation import content_key, generate, keys_of
from workflow_scripts.tasks.scicode.mining import COLUMNS, Severity, failures, mined

GOOD, OPEN, THOUGHT = (
    "```python\ndef answer():\n    return 1\n```",
    "```python\ndef answer():\n    return 1",
    "<think>\n",
)
PROBLEMS = generate("training", count=12, seed=1, families=["heat_capacity", "boson_states", "grid_minimum"])


def tables(rows):
    """rows: problem_id, completion, passed of 4 checks."""
    rollouts, scores = [], []
    for number, (name, text, passed) in enumerate(rows):
        key = {"policy": "p", "problem_id": name, "sample": number}
        rollouts.append(key | {"completion": text})
        scores.append(key | {"set": "training", "family": "f", "correct": passed == 4, "passed": passed, "checks": 4})
    return pd.DataFrame(rollouts), pd.DataFrame(scores)


ROWS = [
    ("solved", GOOD, 4), ("solved", GOOD, 4),
    ("mixed", GOOD, 4), ("mixed", OPEN, 2),
    ("lost", GOOD, 1), ("lost", GOOD, 1),
    ("thought", THOUGHT + GOOD, 4), ("thought", THOUGHT, 4),
]  # fmt: skip


def test_severities_by_hand():
    found = failures(*tables(ROWS))
    assert list(found.columns) == list(COLUMNS)
    assert found["problem_id"].tolist() == ["lost", "mixed", "thought", "solved"]
    by_name = found.set_index("problem_id")["severity"]
    # 3 all wrong + 1.5 + (0.92 - 0.25) + (0.88 - 0.25)
    assert by_name["lost"] == pytest.approx(3 + 1.5 + 0.67 + 0.63)
    # 1.5 · ½ + (0.92 - 0.75) + (0.88 - 0.5) + 0.35 mixed + 0.2 · ½ unclosed
    assert by_name["mixed"] == pytest.approx(0.75 + 0.17 + 0.38 + 0.35 + 0.1)
    assert by_name["thought"] == pytest.approx(0.15)
    assert by_name["solved"] == 0
    assert found.set_index("problem_id")["selected"].to_dict() == {
        "lost": True, "mixed": True, "thought": True, "solved": False
    }  # fmt: skip


def test_weights_are_arguments():
    found = failures(
        *tables(ROWS), weights=Severity(all_wrong=0, wrong=0, mean_at_least=0, lowest_at_least=0, thinking=9)
    )
    assert found["problem_id"].tolist()[0] == "thought"
    assert found["severity"].tolist()[0] == 9


def test_a_reward_takes_the_place_of_the_checks():
    rollouts, scores = tables(ROWS)
    rewards = scores[["policy", "problem_id", "sample"]].assign(reward="strict", score=1.0)
    found = failures(rollouts, scores, rewards).set_index("problem_id")
    assert not found["useful"].any()
    assert found.loc["lost", "severity"] == pytest.approx(4.5)
    with pytest.raises(UserError, match="one reward, not by loose, strict"):
        failures(rollouts, scores, pd.concat([rewards, rewards.assign(reward="loose")]))


def test_order_of_rows_does_not_matter():
    rollouts, scores = tables(ROWS)
    shuffled = failures(rollouts.sample(frac=1, random_state=1), scores.sample(frac=1, random_state=2))
    pd.testing.assert_frame_equal(shuffled, failures(rollouts, scores))


def test_samples_without_a_score_are_named():
    rollouts, scores = tables(ROWS)
    with pytest.raises(UserError, match=r"sample 0 of solved \(p\) does not have a score and a rollout"):
        failures(rollouts, scores.iloc[1:])


def failing(problems):
    rollouts, scores = tables([(problem.problem_id, GOOD, 0) for problem in problems])
    return failures(rollouts, scores)


def test_the_mined_set_keeps_the_worst_and_adds_fresh_ones():
    table = failing(PROBLEMS[:6])
    found = mined(PROBLEMS, table, count=8, seed=2, share=0.5)
    assert [problem.problem_id for problem in found[:4]] == table["problem_id"].tolist()[:4]
    fresh = found[4:]
    assert keys_of(fresh).isdisjoint(keys_of(PROBLEMS))
    by_id = {problem.problem_id: problem.family for problem in PROBLEMS}
    assert [problem.family for problem in fresh] == [by_id[name] for name in table["problem_id"].tolist()[:4]]
    assert found == mined(PROBLEMS, table, count=8, seed=2, share=0.5)


def test_problems_of_evaluation_lend_their_families_alone():
    evaluation = keys_of(PROBLEMS)
    found = mined(PROBLEMS, failing(PROBLEMS[:3]), count=6, seed=2, exclude=evaluation)
    assert len(found) == 6
    assert keys_of(found).isdisjoint(evaluation)
    assert len({content_key(problem) for problem in found}) == 6


def test_a_set_may_be_mined_from_kept_problems_alone():
    table = failing(PROBLEMS[:6])
    assert len(mined(PROBLEMS, table, count=3, seed=2, share=1.0)) == 3


def test_failures_that_cannot_be_mined_are_explained():
    with pytest.raises(UserError, match="which is in none of the problem tables"):
        mined(PROBLEMS[3:], failing(PROBLEMS[:3]), count=2, seed=1)
    foreign = [type(PROBLEMS[0])(**vars(PROBLEMS[0]) | {"family": "external"})]
    with pytest.raises(UserError, match="none is of a family that is generated here"):
        mined(foreign, failing(foreign), count=4, seed=1)
