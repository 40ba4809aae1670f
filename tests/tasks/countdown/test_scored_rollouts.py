import pandas as pd
import pytest

from workflow_scripts.records.errors import UserError
from workflow_scripts.records.schemas import SCORES
from workflow_scripts.tasks.countdown.scores import scores_of

PROBLEMS = pd.DataFrame({"problem_id": ["4_5_7_9-24"], "numbers": [[4, 5, 7, 9]], "target": [24]})
RIGHT = "4 * 7 = 28 , 28 - 9 = 19 , 19 + 5 = 24 </think> <answer> 4 * 7 - 9 + 5 </answer>"


def rollouts(*rows):
    frame = pd.DataFrame(rows, columns=["policy", "sample", "prefix", "completion"])
    return frame.assign(problem_id="4_5_7_9-24", tokens=9, finish_reason="stop", seed=0)


def test_prefix_and_continuation_are_one_completion():
    scores = scores_of(
        rollouts(
            ("a", 0, "", f"try {RIGHT}"),
            ("b", 3, "try 4 *", RIGHT.removeprefix("4 * ")),
            ("b", 4, "try 4 *", RIGHT),
            ("b", 5, "", "4 + 5 </think> <answer> 4 + 5 </answer>"),
        ),
        PROBLEMS,
    )
    assert list(scores.columns) == SCORES.names
    assert scores["correct"].tolist() == [True, True, True, False]
    assert scores["sample"].tolist() == [0, 3, 4, 5] and scores["policy"].tolist() == list("abbb")
    assert scores["answer_opening"].tolist() == ["4*", "4*", "4*", "4+"]
    assert scores["status"].tolist()[3] == "UNUSED_NUMBER"


def test_equal_completions_are_judged_once():
    seen = []

    def watched(things):
        seen.extend(things)
        return things

    same = [("a", sample, "", f"try {RIGHT}") for sample in range(5)]
    scores = scores_of(rollouts(*same, ("b", 0, "try", RIGHT)), PROBLEMS, watched=watched)
    assert len(seen) == 1 and scores["correct"].all() and len(scores) == 6


def test_strangers_are_named():
    with pytest.raises(UserError, match="problem 4_5_7_9-24, which is not among"):
        scores_of(rollouts(("a", 0, "", RIGHT)), PROBLEMS.assign(problem_id="1_2-3"))
