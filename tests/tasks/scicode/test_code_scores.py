"""Scores of rollouts: a row for each sample, equal completions judged once."""

from typing import NamedTuple

import pandas as pd
import pytest

from workflow_scripts.records.errors import UserError
from workflow_scripts.records.schemas import ROLLOUTS
from workflow_scripts.records.scicode_schemas import SCICODE_REWARDS, SCICODE_SCORES
from workflow_scripts.records.tables import write_table
from workflow_scripts.tasks.scicode.paid import paid
from workflow_scripts.tasks.scicode.problems import Check, Problem, problem_frame
from workflow_scripts.tasks.scicode.rewards import REWARDS
from workflow_scripts.tasks.scicode.rewards.judge_kinds import FIELDS
from workflow_scripts.tasks.scicode.sandbox import Sandbox
from workflow_scripts.tasks.scicode.scores import VALUE, judged, scores_of

ONE = Problem("a-1", "counts", "t", "", "", "", (Check("numeric", "1"),))
TWO = Problem("b-1", "lists", "t", "", "", "", (Check("sequence", "[1,2]"), Check("exact", "[1,2]")))
PROBLEMS = pd.concat([problem_frame([ONE], "evaluation"), problem_frame([TWO], "shifted")], ignore_index=True)

# problem, completion, status, passed, value
SAMPLES = [
    ("b-1", "return [1, 2]", "OK", 2, "[1,2]"),
    ("a-1", "return 1", "OK", 1, "1"),
    ("b-1", "return (1, 2)", "WRONG_TYPE", 1, '{"$tuple":[1,2]}'),
    ("a-1", "return [1, 2]", "WRONG_TYPE", 0, "[1,2]"),
    ("a-1", "return 1", "OK", 1, "1"),
    ("a-1", "return 1 / 0", "ERROR", 0, None),
    ("a-1", "return [7] * 500", "WRONG_TYPE", 0, ("[" + "7," * VALUE)[:VALUE]),
]


def rendered(words):
    return f"```python\ndef answer():\n    {words}\n```"


@pytest.fixture(scope="module")
def sandbox():
    with Sandbox(workers=1) as running:
        yield running


def rollouts(**given):
    rows = [
        {"policy": "base", "problem_id": problem, "prefix": "", "sample": place, "completion": completion,
         "tokens": 5 + place, "finish_reason": "stop", "seed": place}
        for place, (problem, completion, *_) in enumerate(SAMPLES)
    ]  # fmt: skip
    return pd.DataFrame(rows).assign(**given)[ROLLOUTS.names]


class Counting:
    def __init__(self, sandbox):
        self.sandbox, self.count = sandbox, 0

    def run(self, programs):
        self.count += len(programs)
        return self.sandbox.run(programs)


def test_a_row_for_each_sample_in_order(sandbox, tmp_path):
    counting = Counting(sandbox)
    scores = scores_of(judged(rollouts(), PROBLEMS, counting, rendered=rendered))
    assert counting.count == 6  # of 7
    assert list(scores.columns) == SCICODE_SCORES.names
    found = scores[["problem_id", "status", "passed", "value"]].itertuples(index=False, name=None)
    expected = [(problem, status, passed, value) for problem, _, status, passed, value in SAMPLES]
    assert [(*row[:3], None if pd.isna(row[3]) else row[3]) for row in found] == expected
    sets = {"a-1": ("evaluation", "counts"), "b-1": ("shifted", "lists")}
    assert all(sets[row.problem_id] == (row.set, row.family) for row in scores.itertuples())
    assert list(scores["tokens"]) == list(range(5, 12))
    assert list(scores["characters"]) == [len(rendered(completion)) for _, completion, *_ in SAMPLES]
    assert scores["format_ok"].all() and scores["sample"].is_monotonic_increasing
    write_table(scores, tmp_path / "scores.parquet", SCICODE_SCORES)
    assert len(pd.read_parquet(tmp_path / "scores.parquet")) == len(SAMPLES)


def test_completions_are_judged_as_they_are_without_rendering(sandbox):
    scores = scores_of(judged(rollouts(completion="def answer(): return 1"), PROBLEMS, sandbox))
    assert not scores["format_ok"].any() and scores["correct"].sum() == 5
    fenced = scores_of(judged(rollouts(completion="def answer(): return 1"), PROBLEMS, sandbox, form="fenced"))
    assert set(fenced["status"]) == {"NO_CODE"}


BAD = [
    (rollouts(prefix="x"), PROBLEMS, "clamped"), (rollouts(problem_id="c-1"), PROBLEMS, "problem c-1"),
    (rollouts(), pd.concat([PROBLEMS, PROBLEMS]), "a-1 is given twice"),
    (rollouts(), PROBLEMS.assign(checks="[]"), "no checks"),
]  # fmt: skip


@pytest.mark.parametrize(("samples", "problems", "message"), BAD, ids=range(len(BAD)))
def test_what_does_not_fit_is_named(samples, problems, message, sandbox):
    with pytest.raises(UserError, match=message):
        judged(samples, problems, sandbox)


def test_rewards_are_paid_for_the_same_samples(sandbox):
    found = judged(rollouts(), PROBLEMS, sandbox, rendered=rendered)
    rewards = {name: REWARDS[name] for name in ("strict", "execution", "generic_judge")}
    table, scores = paid(found, rewards), scores_of(found)
    assert list(table.columns) == SCICODE_REWARDS.names
    assert list(table["reward"].unique()) == ["strict", "execution"]  # nobody to ask
    strict = table[table["reward"] == "strict"].reset_index(drop=True)
    keys = ["policy", "set", "problem_id", "sample"]
    pd.testing.assert_frame_equal(strict[keys], scores[keys])
    assert list(strict["score"]) == list(scores["correct"].astype(float)) and 0 < strict["score"].sum() < len(strict)
    execution = table.loc[table["reward"] == "execution", "score"].to_numpy()
    assert (execution >= strict["score"].to_numpy()).all() and len(set(execution)) > 2


class Reply(NamedTuple):
    value: object


class Asked:
    """A judge that gives every completion the same mark and counts the questions."""

    def __init__(self, mark):
        self.count, self.value = 0, None if mark is None else dict.fromkeys(FIELDS["semantic"], mark)

    def __call__(self, requests, repeat):
        self.count += len(requests)
        return [Reply(None if self.value is None else self.value | {"fatal_error": False, "tags": []})] * len(requests)


BOTH = {"strict": REWARDS["strict"], "judged": REWARDS["semantic_judge"]}


def test_a_judge_is_asked_about_equal_completions_once(sandbox):
    found = judged(rollouts(), PROBLEMS, sandbox, rendered=rendered)
    judge = Asked(10)
    table = paid(found, BOTH, judge)
    marked = table[table["reward"] == "judged"]
    assert list(marked["sample"]) == list(range(len(SAMPLES))) and judge.count == 6  # "return 1" twice
    assert marked["score"].nunique() == 1 and 0 < marked["score"].iloc[0] <= 1
    assert len(table[table["reward"] == "strict"]) == len(SAMPLES)


def test_without_a_judge_its_rewards_are_left_out_and_an_outage_is_none_of_0(sandbox):
    found = judged(rollouts(), PROBLEMS, sandbox, rendered=rendered)
    assert set(paid(found, BOTH)["reward"]) == {"strict"}
    with pytest.raises(UserError, match="nothing is scored, since an outage is no reward of 0"):
        paid(found, BOTH, Asked(None))
