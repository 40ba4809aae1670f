"""measures/screening.py: what a scaffold tells of the number that comes next, on made-up policies with known leaks."""

import math

import numpy as np
import pandas as pd
import pytest

from workflow_scripts.measures import scaffold_classifier, screening
from workflow_scripts.measures.scaffold_classifier import FEATURES, OTHER, features
from workflow_scripts.records.errors import UserError
from workflow_scripts.records.schemas import CLAMPS

PROBLEMS = pd.DataFrame({"problem_id": ["4_5_7_9-24"], "numbers": [[9, 4, 7, 5]], "target": [24]})


def clamp(scaffold, prefix, *, family="4*", rung="entrance", scaffold_id=0):
    row = ("4_5_7_9-24", family, scaffold, scaffold_id, rung, prefix, 0.1)
    return pd.DataFrame([row], columns=CLAMPS.names)


def rollout(prefix, *completions, policy="toy"):
    rows = [(policy, "4_5_7_9-24", prefix, completion) for completion in completions]
    return pd.DataFrame(rows, columns=["policy", "problem_id", "prefix", "completion"])


@pytest.mark.parametrize(
    ("prefix", "rung", "completion", "before", "after", "y"),
    [
        ("try 4 *", "entrance", "7 = 28 , 28 - 9 = 19", "", "", 7),
        ("try 4 *", "entrance", "4 = 16", "", "", OTHER),
        ("try 4 *", "entrance", "", "", "", OTHER),
        ("try 4 *", "entrance", "</think>", "", "", OTHER),
        ("try 9 - 5 = 4 no . try 4 *", "entrance", "9 = 36", "try 9 - 5 = 4 no .", "", 9),
        ("try 4 * 5 = 20 no . try 4 *", "entrance", "7 = 28", "try 4 * 5 = 20 no .", "", 7),
        ("try 4 * 7 = 28 ,", "before_last_step", "28 - 9 = 19", "", "7 = 28 ,", 7),
    ],
)
def test_rows(prefix, rung, completion, before, after, y):
    rows = screening.rows_of(clamp("kind", prefix, rung=rung), rollout(prefix, completion), PROBLEMS)
    expected = ("toy", "4_5_7_9-24", "4*", "kind", 0, before, after, y, (5, 7, 9))
    assert rows.to_dict("records") == [dict(zip(screening.ROWS, expected, strict=True))]


def test_rungs_that_give_more_or_less_are_not_screened():
    clamps = pd.concat([clamp("neutral", "try 4 *"), clamp("neutral", "try 4 * 7 = 28", rung="first_calculation")])
    assert len(screening.rows_of(clamps, rollout("try 4 *", "7", "9"), PROBLEMS)) == 2


@pytest.mark.parametrize(
    ("clamps", "given", "message"),
    [
        (clamp("retry", "try 7 *"), "try 7 *", "4_5_7_9-24: the prefix 'try 7 \\*' does not give the family 4\\*"),
        (clamp("retry", "try 4 *"), "try 7 *", "no rollouts of problem 4_5_7_9-24 with prefix 'try 4 \\*'"),
        (clamp("retry", "try 8 *", family="8*"), "try 8 *", "family 8\\* begins with no number"),
        (clamp("retry", "try 4 *").assign(problem_id="else"), "try 4 *", "problem else of the clamps"),
    ],
)
def test_refused(clamps, given, message):
    with pytest.raises(UserError, match=message):
        screening.rows_of(clamps, rollout(given, "7 = 28"), PROBLEMS)


def test_features_by_hand():
    cut = features("4*", (5, 7, 9), "", "7 = 28 , 28 - 9 = 19 ,", 5)
    named = pd.DataFrame(cut, columns=list(FEATURES), index=["other", 5, 7, 9, "spare"])
    assert named.loc[7].to_dict() == {
        "follows": 1, "swapped": 0, "with_a": 1, "operand": 0.5, "first_step": 1, "last_step": 0, "operator": 0.5,
        "result": 0,
    }  # fmt: skip
    assert named.loc[9, ["follows", "operand", "last_step", "operator"]].tolist() == [0, 0.5, 1, 0]
    assert not named.loc[["other", 5, "spare"]].to_numpy().any()
    failed = features("4*", (5, 7), "try 7 * 4 = 28 , 28 - 23 = 5 no .", "", 3)
    named = pd.DataFrame(failed, columns=list(FEATURES), index=["other", 5, 7])
    assert named.loc[7, ["follows", "swapped", "with_a", "operator"]].tolist() == [0, 1, 1, 0.5]
    assert named.loc[5, ["operand", "result"]].tolist() == [0, 1]


def made_up(seed, *, problems=15, scaffolds=3, continuations=4, leak=0.0, kind="retry", even=False):
    """Rows of one family a problem. The scaffold ends with a random candidate; a leaky policy then says it, with
    probability `leak`, and else what (problem, family) makes it say."""
    stream, rows = np.random.default_rng(seed), []
    for p in range(problems):
        first, *others = (int(n) for n in stream.choice(np.arange(1, 11), 3, replace=False))
        others = tuple(sorted(others))
        shares = [0.5, 0.5] if even else stream.dirichlet(np.ones(2))
        for s in range(scaffolds):
            told = int(stream.choice(others))
            text = f"try {first} * {s + 20} = 90 , 90 - {told} = 80 no ."
            for _ in range(continuations):
                y = told if stream.random() < leak else int(stream.choice(others, p=shares))
                rows.append(("toy", f"p{p:03}", f"{first}*", kind, s, text, "", y, others))
    return pd.DataFrame(rows, columns=list(screening.ROWS))


def test_scaffolds_that_tell_nothing_pass_at_the_nominal_rate(monkeypatch):
    monkeypatch.setattr(scaffold_classifier, "FOLDS", 2)  # fewer fits
    values = [screening.screen(made_up(s), seed=1, permutations=19, draws=2)["p"][0] for s in range(20)]
    # Each rank among 20 is as likely: p is at most 0.1 in one of ten, and 0.525 on average
    assert sum(p <= 0.1 for p in values) <= 5
    assert 0.35 < np.mean(values) < 0.7


def test_a_leak_fails_and_its_size_is_found():
    rows = made_up(0, problems=60, scaffolds=4, continuations=16, leak=0.5, even=True)
    row = screening.screen(rows, seed=1, permutations=19, draws=500).iloc[0]
    assert row["p"] == 1 / 20
    told = 0.75  # it says what it is told, half the time and by chance
    information = math.log(2) + told * math.log(told) + (1 - told) * math.log(1 - told)
    assert row["low"] < information < row["high"]
    assert abs(row["nats"] - information) < 0.03
    assert (row["scaffolds"], row["continuations"], row["problems"]) == (60 * 4, 60 * 64, 60)


def cuts(*, problems=24, families=1, runs=3):
    """Cuts from successful runs: what comes after the rung stands in the prefix."""
    stream, rows = np.random.default_rng(3), []
    for p in range(problems):
        numbers = [int(n) for n in stream.choice(np.arange(1, 11), 4, replace=False)]
        for first in numbers[:families]:
            others = tuple(sorted(n for n in numbers if n != first))
            for s, y in enumerate(stream.choice(others, runs).tolist()):
                row = ("toy", f"p{p:03}", f"{first}+", "run_cut", s, "", f"{y} = {first + y} ,", y, others)
                rows += [row] * 4
    return pd.DataFrame(rows, columns=list(screening.ROWS))


@pytest.mark.parametrize("made", [{"runs": 3}, {"families": 2, "runs": 1}])
def test_cuts_from_successful_runs_fail(made):
    frame = screening.screen(cuts(**made), seed=1, permutations=24, draws=200)
    assert frame["verdict"].tolist() == ["fail"]
    assert frame["low"][0] > 0.5
    assert screening.failing(frame) == ["run_cut"]
    leak = screening.leak_rows(frame).iloc[0]
    assert leak[["before", "after", "measure"]].tolist() == ["early", "late", "leak_run_cut"]
    assert leak["estimate"] == frame["nats"][0]
    assert math.isnan(leak["start"])


def test_constant_and_too_few():
    neutral = made_up(1, scaffolds=1).assign(scaffold="neutral", before="")
    retry = made_up(1).query("problem_id < 'p005'")
    single = made_up(1, scaffolds=1).assign(scaffold="retry_closed")
    frame = screening.screen(pd.concat([neutral, retry, single]), seed=1, permutations=9, draws=20)
    verdicts = frame.set_index("scaffold")["verdict"].to_dict()
    assert verdicts == {"neutral": "constant", "retry": "too few", "retry_closed": "constant"}
    assert frame.set_index("scaffold").loc["neutral", ["nats", "low", "high", "p"]].tolist() == [0, 0, 0, 1]
    assert frame.set_index("scaffold").loc["retry", ["nats", "p"]].isna().all()
    assert screening.failing(frame) == []


def test_the_order_of_rows_is_no_matter():
    retry = made_up(5, leak=0.2)
    rows = pd.concat([retry, retry[retry["scaffold_id"] == 0].assign(scaffold="neutral", before="")])
    shuffled = rows.sample(frac=1, random_state=1)
    results = [screening.screen(r, seed=1, permutations=9, draws=50) for r in (rows, rows, shuffled)]
    pd.testing.assert_frame_equal(results[0], results[1], check_exact=True)
    pd.testing.assert_frame_equal(results[0], results[2])


def test_two_texts_of_one_scaffold_are_refused():
    rows = made_up(1)
    rows.loc[0, "before"] = "try 1 + 1 = 2 no ."
    with pytest.raises(UserError, match="problem p000: scaffold retry 0 has two texts for family"):
        screening.screen(rows, seed=1, permutations=1)
