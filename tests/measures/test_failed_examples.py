"""Which failed answers are kept, and that the choice depends on nothing but their identity."""

import pandas as pd
import pytest

from workflow_scripts.measures.failed_examples import COLUMNS, failed_examples
from workflow_scripts.records.errors import UserError
from workflow_scripts.tasks.maths.word_faults import fault


@pytest.fixture
def tables():
    rows = []
    for policy in ("base", "rlvr"):
        for problem in ("words-0", "words-1"):
            for sample in range(6):
                correct = sample == 0
                none = sample in (4, 5)
                completion = "</think>" if none else f"1 + {sample} = {1 + sample} </think> the answer is {1 + sample}"
                rows.append(
                    (
                        policy,
                        problem,
                        sample,
                        correct,
                        "OK" if correct else "NO_ANSWER" if none else "WRONG",
                        completion,
                    )
                )
    frame = pd.DataFrame(rows, columns=["policy", "problem_id", "sample", "correct", "status", "completion"])
    frame = frame.assign(benchmark="words", prefix="", extracted=None)
    problems = pd.DataFrame({"problem_id": ["words-0", "words-1"], "question": "how many ?", "gold": "1"})
    return frame.drop(columns=["completion", "prefix"]), frame, problems


def test_each_reason_of_each_policy_has_its_examples(tables):
    found = failed_examples(*tables, each=2, seed=1)
    assert list(found.columns) == COLUMNS
    assert found.groupby(["policy", "reason"]).size().to_dict() == {
        ("base", "NO_ANSWER"): 2,
        ("base", "WRONG"): 2,
        ("rlvr", "NO_ANSWER"): 2,
        ("rlvr", "WRONG"): 2,
    }
    # three wrong and two without an answer, of each of two problems
    assert set(zip(found["reason"], found["count"])) == {("WRONG", 6), ("NO_ANSWER", 4)}
    assert (found["sample"] > 0).all()


def test_equal_completions_are_shown_once(tables):
    found = failed_examples(*tables, each=10, seed=1)
    assert (found["reason"] == "NO_ANSWER").sum() == 2 * 2  # one of each problem and policy
    assert (found["reason"] == "WRONG").sum() == 2 * 2 * 3


def test_the_choice_depends_on_seed_and_identity_alone(tables):
    scores, rollouts, problems = tables
    first = failed_examples(scores, rollouts, problems, each=2, seed=1)
    mixed = failed_examples(scores.sample(frac=1, random_state=1), rollouts[::-1], problems[::-1], each=2, seed=1)
    pd.testing.assert_frame_equal(first, mixed)
    alone = scores["policy"] == "rlvr"
    pd.testing.assert_frame_equal(
        failed_examples(scores[alone], rollouts, problems, each=2, seed=1),
        first[first["policy"] == "rlvr"].reset_index(drop=True),
    )
    chosen = {tuple(failed_examples(*tables, each=1, seed=seed)["sample"]) for seed in range(8)}
    assert len(chosen) > 1


def test_reasons_can_be_finer(tables):
    found = failed_examples(*tables, each=5, seed=1, reason=fault)
    assert set(found["reason"]) == {"no_answer", "plan"}


def test_a_sample_without_rollout_or_problem_is_refused(tables):
    scores, rollouts, problems = tables
    with pytest.raises(UserError, match="on words-0 has no rollout"):
        failed_examples(scores, rollouts[rollouts["problem_id"] != "words-0"], problems, each=1, seed=1)
    with pytest.raises(UserError, match="on words-1 has no problem"):
        failed_examples(scores, rollouts, problems.head(1), each=1, seed=1)
