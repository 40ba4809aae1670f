"""Scientific coding in verl's form: rows, the reward function and its batches, and a step's row about truth."""

import asyncio
import json
import threading
from typing import NamedTuple

import pytest

from workflow_scripts.records.errors import UserError
from workflow_scripts.records.scicode_schemas import SCICODE_TRAINING
from workflow_scripts.tasks.scicode import verl_reward
from workflow_scripts.tasks.scicode.problems import Check, Problem
from workflow_scripts.tasks.scicode.rewards import REWARDS
from workflow_scripts.tasks.scicode.rewards.asking import ASKED_AGAIN
from workflow_scripts.tasks.scicode.verl_reward import (
    Batches,
    Rewarding,
    Sample,
    batches_of,
    compute_score,
)
from workflow_scripts.tasks.scicode.verl_rows import problem_of, problem_text, truth_row, verl_rows, write_verl_rows

LIMITS = {"seconds": 2.0, "memory_mb": 512, "isolation": "auto"}
MARKS = {
    "algorithmic_equivalence": 10,
    "scientific_correctness": 10,
    "exactness": 10,
    "output_contract": 10,
    "anti_guess": 10,
    "fatal_error": False,
    "tags": [],
}


def problem(name="sum", expected="4", **given):
    usual = {
        "problem_id": name,
        "family": "sums",
        "topic": "counting",
        "prompt": "What is 2 + 2?",
        "template": "def answer():\n    ...\n",
        "reference": "def answer():\n    return 4\n",
        "checks": (Check("numeric", expected),),
        "parameters": {"a": 2, "names": ["x", "y"]},
        "core": "2 + 2",
    }
    return Problem(**(usual | given))


def block(program):
    return f"```python\n{program}\n```"


RIGHT, WRONG = block("def answer():\n    return 4"), block("def answer():\n    return 5")


def test_a_row_holds_the_problem_and_its_judge_can_read_it():
    asked = [problem(), problem("set", checks=(Check("set", '{"$set":[1,2]}', "[3]", 1e-3), Check("exact", "true")))]
    rows = verl_rows(asked, split="training")
    assert [set(row) for row in rows] == [{"data_source", "prompt", "ability", "reward_model", "extra_info"}] * 2
    assert rows[0]["prompt"] == [{"role": "user", "content": "What is 2 + 2?"}]
    assert rows[1]["reward_model"] == {"style": "rule", "ground_truth": asked[1].reference}
    assert [problem_of(row["extra_info"]["problem"]) for row in rows] == asked
    assert [row["extra_info"]["index"] for row in rows] == [0, 1]


def test_rows_survive_a_parquet_file(tmp_path):
    import pyarrow.parquet as pq

    asked = [problem(), problem("other", "5")]
    write_verl_rows(asked, tmp_path / "rows.parquet")
    assert pq.read_table(tmp_path / "rows.parquet").to_pylist() == verl_rows(asked)


def test_a_problem_without_checks_is_no_row():
    with pytest.raises(UserError, match="problem sum has no checks"):
        verl_rows([problem(checks=())])


@pytest.mark.parametrize("text", ["", "3", "[]", "{}", '{"checks": [{"kind": "odd"}]}', '{"checks": 3}'])
def test_other_texts_are_no_problem(text):
    with pytest.raises(UserError, match=r"no problem|kind"):
        problem_of(text)


def sample(score, correct, *, runs=True, characters=10):
    layers = dict.fromkeys(("extracted", "parses", "defines"), True) | {"runs": runs, "typed": runs}
    return layers | {"score": score, "correct": correct, "format_ok": runs, "characters": characters}


def test_a_step_s_truth_by_hand():
    """Two prompts of four samples: one mixed, one all wrong and all paid alike."""
    mixed = [sample(1.0, True), sample(0.6, False), sample(0.4, False, characters=50), sample(0.0, False, runs=False)]
    paid = [sample(0.5, False)] * 4
    row = truth_row(7, mixed + paid, 4, largest=1.0)
    assert list(row) == SCICODE_TRAINING.names
    wanted = {
        "step": 7, "reward": 0.5, "extracted": 1, "parses": 1, "defines": 1, "runs": 7 / 8, "typed": 7 / 8,
        "correct": 1 / 8, "format_ok": 7 / 8, "all_right": 0, "all_wrong": 0.5, "mixed": 0.5, "zero_variance": 0.5,
        "hacking": 5 / 8, "characters": 15,
    }  # fmt: skip
    assert row == pytest.approx(wanted)
    right = truth_row(1, [sample(2.0, True)] * 4, 4, largest=2.0)
    assert (right["all_right"], right["all_wrong"], right["hacking"], right["zero_variance"]) == (1, 0, 0, 1)
    # Half of the largest reward counts, whatever the largest is.
    assert truth_row(1, [sample(0.9, False), sample(1.0, False)], 2, largest=2.0)["hacking"] == 0.5


@pytest.mark.parametrize("count", [0, 3, 5])
def test_a_step_of_broken_groups_is_refused(count):
    with pytest.raises(UserError, match=f"step 2 has {count} samples"):
        truth_row(2, [sample(1.0, True)] * count, 4, largest=1.0)


def test_samples_of_another_reward_are_refused():
    with pytest.raises(UserError, match="lack extracted"):
        truth_row(2, [{"score": 1.0}], 1, largest=1.0)


def test_what_waits_is_worked_on_together_in_one_thread():
    batches, threads, go_on = [], set(), threading.Event()

    def work(items):
        threads.add(threading.current_thread())
        if not batches:
            go_on.wait(5)
        batches.append(items)
        return [item * 2 for item in items]

    async def ask():
        made = Batches(work)
        first = asyncio.create_task(made.of(1))
        await asyncio.sleep(0.01)
        others = [asyncio.create_task(made.of(item)) for item in (2, 3, 4)]
        await asyncio.sleep(0.01)
        go_on.set()
        return await asyncio.gather(first, *others)

    assert asyncio.run(ask()) == [2, 4, 6, 8]
    assert batches == [[1], [2, 3, 4]] and len(threads) == 1


def test_a_failure_is_told_to_all_who_wait_and_the_next_batch_goes_on():
    def work(items):
        if "bad" in items:
            raise UserError("the judge is out")
        return items

    async def ask():
        made = Batches(work)
        failed = await asyncio.gather(*(made.of(item) for item in ("bad", "good")), return_exceptions=True)
        return failed, await made.of("later")

    failed, later = asyncio.run(ask())
    assert [str(error) for error in failed] == ["the judge is out"] * 2 and later == "later"


@pytest.fixture
def paid(tmp_path, monkeypatch):
    ends = []  # what a reward's process leaves to its end, this one's tests to theirs
    monkeypatch.setattr(verl_reward.atexit, "register", ends.append)

    def write(reward, **more):
        path = tmp_path / f"{len(list(tmp_path.iterdir()))}.json"
        path.write_text(json.dumps({"reward": reward, "limits": LIMITS, "workers": 1} | more))
        return str(path)

    yield write
    for end in ends:
        end()
    batches_of.cache_clear()


def scored(path, completions, asked):
    async def ask():
        given = {"problem": problem_text(asked)}
        wanted = [
            compute_score(
                data_source="scicode", solution_str=text, ground_truth="", extra_info=given, paid=path, more=1
            )
            for text in completions
        ]
        return await asyncio.gather(*wanted)

    return asyncio.run(ask())


def test_the_score_is_the_composition_s_and_truth_stands_beside_it(paid):
    completions = [RIGHT, WRONG, "no program", block("def answer(:"), block("def answer():\n    return '4'")]
    named, spelled, strict = (
        scored(paid(reward), completions, problem())
        for reward in ("execution", {"terms": {"executes": 0.5, "correct": 0.25}}, "strict")
    )
    assert [found["status"] for found in named] == ["OK", "WRONG_VALUE", "NO_CODE", "SYNTAX", "WRONG_TYPE"]
    assert [found["correct"] for found in named] == [True, False, False, False, False]
    assert [found["runs"] for found in named] == [True, True, False, False, True]
    assert named[0]["score"] == 1 and named[0]["score"] > named[1]["score"] > named[2]["score"]
    assert [found["score"] for found in spelled] == [0.75, 0.5, 0, 0, 0.5]
    assert [found["score"] for found in strict] == [1, 0, 0, 0, 0]
    # The same keys and types for each sample, since verl makes columns of them.
    kinds = [{key: type(value) for key, value in found.items()} for found in named]
    assert all(kind == kinds[0] for kind in kinds) and set(kinds[0].values()) <= {bool, int, float, str}


def test_rows_and_files_that_say_nothing_are_refused(paid, tmp_path):
    with pytest.raises(UserError, match="extra_info lacks the problem"):
        asyncio.run(compute_score("scicode", RIGHT, "", {"index": 1}, paid=paid("strict")))
    with pytest.raises(UserError, match=r"gone.json does not say what is rewarded"):
        Rewarding.read(tmp_path / "gone.json")
    with pytest.raises(UserError, match=r"needs a judge: set scicode\.judge"):
        Rewarding.read(paid("final_answer_judge_strict"))


class Replied(NamedTuple):
    value: object


class Judge:
    """Answers as it is told to: one list of values for each repeat."""

    def __init__(self, *repeats):
        self.repeats, self.asked = repeats, []

    def __call__(self, requests, repeat):
        self.asked.append((len(requests), repeat))
        return [Replied(value) for value in self.repeats[repeat]]


def judged(judge, completions):
    with Rewarding(REWARDS["final_answer_judge_strict"], limits=LIMITS, workers=1, ask=judge) as rewarding:
        return rewarding.scored([Sample(text, problem()) for text in completions])


def test_a_judge_is_not_asked_about_what_the_reward_rejects():
    judge = Judge([MARKS, MARKS | {"fatal_error": True}])
    found = judged(judge, [RIGHT, "no program at all, but long enough", WRONG])
    assert judge.asked == [(2, 0)]
    assert [one["score"] for one in found] == [1.0, 0.04, 0.02]
    assert [bool(one["judgement"]) for one in found] == [True, False, True]
    assert json.loads(found[2]["judgement"])["fatal"] is True
    # The judge was taken in by neither: truth is the sandbox's.
    assert [one["correct"] for one in found] == [True, False, False]


def test_what_cannot_be_used_is_asked_again_for_itself_alone():
    judge = Judge([None, MARKS], [MARKS | {"fatal_error": "false"}], [MARKS])
    assert [one["score"] for one in judged(judge, [RIGHT, WRONG])] == [1.0, 1.0]
    assert judge.asked == [(2, 0), (1, 1), (1, 2)]


def test_an_outage_stops_and_is_no_reward_of_zero():
    judge = Judge(*[[None]] * (1 + ASKED_AGAIN))
    with pytest.raises(UserError, match=r"no answer that can be used to 1 sample\(s\) in 3 attempts.*problem sum"):
        judged(judge, [RIGHT])
