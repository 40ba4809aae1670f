"""Failed attempts and run cuts, from made-up samples."""

import pandas as pd
import pytest

from workflow_scripts.records.errors import UserError
from workflow_scripts.records.schemas import CLAMPS, OPENINGS
from workflow_scripts.tasks.countdown import scaffolds
from workflow_scripts.tasks.countdown.chance import chance
from workflow_scripts.tasks.countdown.clamps import ladder_clamps
from workflow_scripts.tasks.countdown.judging import judge_completion
from workflow_scripts.tasks.countdown.problems import table
from workflow_scripts.tasks.countdown.solver import solve

NUMBERS, TARGET, NAME = [4, 5, 7, 9], 24, "4_5_7_9-24"

ADDED = "try 5 + 9 = 14 , 14 + 7 = 21 , 21 + 4 = 25"
TAKEN = "try 9 - 5 = 4 , 4 + 7 = 11"
WRONG = " </think> <answer> 5 + 9 + 7 + 4 </answer>"
RIGHT = "try 4 * 7 = 28 , 28 + 5 = 33 , 33 - 9 = 24 </think> <answer> 4 * 7 + 5 - 9 </answer>"
OTHER = "try 7 * 4 = 28 , 28 - 9 = 19 , 19 + 5 = 24 </think> <answer> 7 * 4 - 9 + 5 </answer>"


@pytest.fixture(scope="module")
def known():
    openings = pd.DataFrame([(NAME, *entry) for entry in solve(NUMBERS, TARGET).openings], columns=OPENINGS.names)
    return table([(NUMBERS, TARGET)], "held_out"), openings


def samples(completions, policy="late"):
    """ROLLOUTS and SCORES columns that are read, from completion to how often it was said."""
    said = [text for text, times in completions.items() for _ in range(times)]
    verdicts = [judge_completion(text, NUMBERS, TARGET, contract="strict") for text in said]
    frame = pd.DataFrame({"completion": said}).assign(
        policy=policy,
        problem_id=NAME,
        prefix="",
        sample=range(len(said)),
        correct=[verdict.accept for verdict in verdicts],
        answer_opening=[verdict.answer_opening for verdict in verdicts],
    )
    return frame.drop(columns=["correct", "answer_opening"]), frame.drop(columns="completion")


@pytest.mark.parametrize(
    ("completion", "expected"),
    [
        (ADDED + WRONG, ("retry_closed", f"{ADDED} no .")),
        (f"{ADDED} no . {RIGHT}", ("retry", f"{ADDED} no .")),
        (f"{TAKEN} no .", ("retry", f"{TAKEN} no .")),
        (RIGHT, None),  # it meets the target
        (f"try 4 * 7 = 28 , 28 - 4 = 24 , 24 + 9 = 33{WRONG}", None),  # it passes the target on its way
        (f"try 5 + 9 = 15{WRONG}", None),  # the arithmetic is wrong
        (f"try 5 / 9 = 0{WRONG}", None),
        (f"try 5 / 0 = 1{WRONG}", None),
        (f"try 5 + 9{WRONG}", None),
        (f"5 + 9 = 14{WRONG}", None),
        (ADDED, None),  # it was cut off
        ("", None),
    ],
)
def test_failed_attempt(completion, expected):
    assert scaffolds.failed_attempt(completion, TARGET) == expected


def test_most_frequent_first_and_never_the_designated_opening(known):
    cut = "try 9 * 4 = 36 , 36 + 5 = 41"
    rollouts, scores = samples({ADDED + WRONG: 2, TAKEN + WRONG: 3, cut + WRONG: 1, f"{cut} no . {RIGHT}": 1, RIGHT: 9})
    found = scaffolds.retry_scaffolds(rollouts, scores, *known)
    assert list(found.columns) == ["problem_id", "family", "scaffold", "scaffold_id", "text"]
    columns = ["scaffold", "scaffold_id", "text"]
    # Said once in either way: both samples count, and the policy's own word decides the kind.
    mine = ["retry", 0, f"{cut} no ."]
    assert found[found["family"] == "4*"][columns].to_numpy().tolist() == [mine, ["retry_closed", 0, f"{TAKEN} no ."]]
    assert found[found["family"] == "9-"][columns].to_numpy().tolist() == [mine, ["retry_closed", 1, f"{ADDED} no ."]]
    assert "5-" not in set(found["family"])  # the text cannot say its solution
    for row in found.itertuples():
        assert f" {row.family[:-1]} {row.family[-1]} " not in row.text
    # A number stands for one text of its kind, in the order of preference.
    numbered = found[["scaffold", "scaffold_id", "text"]].drop_duplicates()
    assert not numbered.duplicated(["scaffold", "scaffold_id"]).any()
    assert not found.duplicated(["family", "text"]).any()


def test_an_opening_is_avoided_anywhere_in_the_attempt(known):
    later = "try 5 + 7 = 12 , 9 - 4 = 5 , 12 + 5 = 17"
    found = scaffolds.retry_scaffolds(*samples({later + WRONG: 1}), *known)
    assert set(found["family"]) == {"4*", "7*", "7-", "9*"}


def test_shorter_then_alphabetical_among_equally_frequent(known):
    texts = ["try 9 + 7 = 16", "try 5 + 7 = 12", ADDED]
    found = scaffolds.retry_scaffolds(*samples({t + WRONG: 1 for t in texts}), *known, per_family=3)
    assert found[found["family"] == "4*"]["text"].tolist() == [f"{t} no ." for t in sorted(texts[:2])] + [
        f"{ADDED} no ."
    ]


def test_what_does_not_fit_is_left_out(known):
    # Prompt 7 words, scaffold 20, longest rung 6.
    assert len(scaffolds.retry_scaffolds(*samples({ADDED + WRONG: 1}), *known, room=33)) == 5
    assert scaffolds.retry_scaffolds(*samples({ADDED + WRONG: 1}), *known, room=32).empty


def test_ladder_takes_them_as_they_are(known):
    found = scaffolds.retry_scaffolds(*samples({ADDED + WRONG: 2, TAKEN + WRONG: 1}), *known)
    ladder = ladder_clamps(*known, found)
    behind = ladder[ladder["scaffold"] == "retry_closed"]
    assert behind.groupby(["family", "rung"]).size().eq(2).all()
    assert f"{TAKEN} no . try 7 *" in set(behind["prefix"])


def test_several_policies_count_together_and_clamped_samples_do_not(known):
    one, two = samples({ADDED + WRONG: 1, TAKEN + WRONG: 2}, "s1"), samples({ADDED + WRONG: 2}, "s2")
    clamped = tuple(frame.assign(prefix="try 9") for frame in samples({TAKEN + WRONG: 5}, "s1"))
    rollouts, scores = (pd.concat(parts) for parts in zip(one, two, clamped))
    found = scaffolds.retry_scaffolds(rollouts, scores, *known, per_family=1)
    assert set(found["text"]) == {f"{ADDED} no ."}


def test_run_cuts(known):
    rollouts, scores = samples(
        {
            RIGHT: 1,
            OTHER: 2,
            f"{ADDED} no . {RIGHT}": 1,
            ADDED + WRONG: 5,
            f"{ADDED} </think> <answer> 4 * 7 + 5 - 9 </answer>": 9,
        }
    )
    found = scaffolds.run_cuts(rollouts, scores, *known)
    assert list(found.columns) == CLAMPS.names
    assert set(found["scaffold"]) == {"run_cut"}
    cuts = {(row.scaffold_id, row.rung): (row.family, row.prefix) for row in found.itertuples()}
    whole = "try 4 * 7 = 28 , 28 + 5 = 33"
    assert cuts == {
        (0, "before_last_step"): ("7*", "try 7 * 4 = 28 , 28 - 9 = 19"),
        (0, "before_answer"): ("7*", "try 7 * 4 = 28 , 28 - 9 = 19 , 19 + 5 = 24 </think>"),
        (1, "before_last_step"): ("4*", whole),
        (1, "before_answer"): ("4*", f"{whole} , 33 - 9 = 24 </think>"),
        (2, "before_last_step"): ("4*", f"{ADDED} no . {whole}"),
        (2, "before_answer"): ("4*", f"{ADDED} no . {whole} , 33 - 9 = 24 </think>"),
    }
    assert found["chance"].tolist() == [chance(NUMBERS, TARGET, family) for family in found["family"]]
    assert len(scaffolds.run_cuts(rollouts, scores, *known, per_problem=1)) == 2
    assert scaffolds.run_cuts(rollouts, scores, *known, room=20).empty


def test_refusals(known):
    problems, openings = known
    rollouts, scores = samples({ADDED + WRONG: 2})
    with pytest.raises(UserError, match="2 free samples have 1 scores"):
        scaffolds.retry_scaffolds(rollouts, scores[:1], *known)
    with pytest.raises(UserError, match="1_2-3"):
        scaffolds.retry_scaffolds(
            rollouts.assign(problem_id="1_2-3"), scores.assign(problem_id="1_2-3"), problems, openings
        )


def test_without_failed_attempts_the_ladder_is_the_neutral_one(known):
    none = scaffolds.retry_scaffolds(*samples({RIGHT: 3}), *known)
    assert none.empty
    assert set(ladder_clamps(*known, none)["scaffold"]) == {"neutral"}
