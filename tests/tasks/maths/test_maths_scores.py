"""tasks/maths/scores.py: verdict and trace of every sample."""

import pandas as pd
import pytest

from workflow_scripts.records import manifests
from workflow_scripts.records.errors import UserError
from workflow_scripts.records.maths_schemas import MATHS_PROBLEMS, MATHS_SCORES
from workflow_scripts.records.schemas import ROLLOUTS
from workflow_scripts.records.tables import read_table, write_table
from workflow_scripts.tasks.maths.numeric_traces import trace_key
from workflow_scripts.tasks.maths.scores import scores_of

PROBLEMS = pd.DataFrame(
    [("words", "words-0000", "q", "17", None), ("shifted", "shifted-0000", "r", "5", None)],
    columns=MATHS_PROBLEMS.names,
)
RIGHT = r"4 * 3 = 12 , 12 + 5 = 17 </think> the answer is \boxed{ 17 }"


def rollouts(*rows, prefix=""):
    made = [("p", problem, prefix, i, text, 9, "stop", 0) for i, (problem, text) in enumerate(rows)]
    return pd.DataFrame(made, columns=ROLLOUTS.names)


def test_rows_in_order_with_trace_and_verdict(tmp_path):
    frame = scores_of(
        rollouts(("words-0000", RIGHT), ("shifted-0000", RIGHT), ("words-0000", "no idea"), ("words-0000", RIGHT)),
        PROBLEMS,
    )
    assert frame.columns.tolist() == MATHS_SCORES.names
    assert frame["benchmark"].tolist() == ["words", "shifted", "words", "words"]
    assert frame["correct"].tolist() == [True, False, False, True]
    assert frame["status"].tolist() == ["OK", "WRONG", "NO_ANSWER", "OK"]
    assert frame["extracted"].tolist()[:2] == ["17", "17"]
    assert frame["first_calculation"].isna().tolist() == [False, False, True, False]
    assert set(frame["first_calculation"].dropna()) == {"4 * 3"}
    assert frame["numeric_trace"].fillna("").tolist() == [trace_key(RIGHT), trace_key(RIGHT), "", trace_key(RIGHT)]
    assert frame["p1"].tolist()[:2] == [len("4 * 3 = 12 ,")] * 2
    assert pd.isna(frame["p1"][2])
    write_table(frame, tmp_path / "scores.parquet", MATHS_SCORES)
    manifests.write([tmp_path / "scores.parquet"], [], {})
    assert read_table(tmp_path / "scores.parquet", MATHS_SCORES)["p1"].isna().sum() == 1


def test_equal_completions_of_a_problem_are_judged_once():
    seen = []

    def judge(rows):
        seen.extend(rows)
        return [{"status": "OK", "accept": True, "format_ok": True, "extracted": "1"} for _ in rows]

    frame = scores_of(rollouts(*[("words-0000", RIGHT)] * 3, ("shifted-0000", RIGHT)), PROBLEMS, judge)
    assert seen == [
        {"question": "q", "gold": "17", "completion": RIGHT},
        {"question": "r", "gold": "5", "completion": RIGHT},
    ]
    assert len(frame) == 4


def test_strangers_and_clamped_samples_are_refused():
    with pytest.raises(UserError, match="words-0009, which is not among"):
        scores_of(rollouts(("words-0009", RIGHT)), PROBLEMS)
    with pytest.raises(UserError, match="clamped"):
        scores_of(rollouts(("words-0000", RIGHT), prefix="4 *"), PROBLEMS)


def test_no_rollouts_give_no_scores():
    assert scores_of(rollouts(), PROBLEMS).columns.tolist() == MATHS_SCORES.names
