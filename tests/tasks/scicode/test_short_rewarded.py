"""The reward of the small policy: real programs, the real sandbox, one run for each call."""

import pytest

from workflow_scripts.records.errors import UserError
from workflow_scripts.tasks.scicode.problems import Check, Problem
from workflow_scripts.tasks.scicode.rewards import REWARDS
from workflow_scripts.tasks.scicode.sandbox import Sandbox
from workflow_scripts.tasks.scicode.short_rewarded import rewarded, sampled
from workflow_scripts.tasks.scicode.verl_rows import truth_row

REFERENCE = "def answer():\n    return 3 * 4"
PROBLEMS = [
    Problem("p0", "partition", "x", "3 times 4 ?", "", REFERENCE, (Check("numeric", "12"),)),
    Problem("p1", "partition", "x", "3 plus 4 ?", "", REFERENCE, (Check("numeric", "7"),)),
]
RIGHT = "```python <nl> def answer(): <nl> <in> return 3 * 4 <nl> ```"
SHELL = "```python <nl> def answer(): <nl> <in> return 0 <nl> ```"
BROKEN = "```python <nl> def answer() <nl> <in> return 3 * 4 <nl> ```"
PROSE = "i do not know"


class Counted:
    """The sandbox, with the programs of each run."""

    def __init__(self, sandbox):
        self.sandbox, self.runs = sandbox, []

    def run(self, programs):
        self.runs.append(len(programs))
        return self.sandbox.run(programs)


@pytest.fixture(scope="module")
def sandbox():
    with Sandbox(workers=1) as made:
        yield made


def test_scores_and_layers_of_what_is_written(sandbox):
    asked = rewarded(PROBLEMS, REWARDS["strict"], sandbox)
    assert asked.prompts == ["3 times 4 ?", "3 plus 4 ?"]
    found = asked.reward([(0, RIGHT), (1, RIGHT), (0, SHELL), (0, BROKEN), (0, PROSE)])
    assert [row["score"] for row in found] == [1, 0, 0, 0, 0]
    assert [row["correct"] for row in found] == [True, False, False, False, False]
    assert [row["runs"] for row in found] == [True, True, True, False, False]
    assert [row["extracted"] for row in found] == [True, True, True, True, False]
    assert [row["format_ok"] for row in found] == [True, True, True, False, False]
    assert [row["think_opening"] for row in found] == ["return 3 * 4"] * 2 + ["return 0", "return 3 * 4", None]
    assert found[0]["formula_form"].strip() == REFERENCE and found[1]["formula_form"] is None
    assert found[4]["characters"] == len(PROSE)


def test_what_was_judged_before_is_not_run_again(sandbox):
    counted = Counted(sandbox)
    asked = rewarded(PROBLEMS, REWARDS["execution"], counted)
    first = asked.reward([(0, RIGHT), (0, SHELL), (0, RIGHT)])
    again = asked.reward([(0, SHELL), (0, RIGHT)])
    assert again == [first[1], first[0]] and first[0] == first[2]
    assert sum(counted.runs) == 2


@pytest.mark.parametrize("name", ["execution", "length"])
def test_shaped_rewards_pay_a_shell_that_strict_does_not(name, sandbox):
    right, shell, prose = (row["score"] for row in rewarded(PROBLEMS, REWARDS[name], sandbox).reward(
        [(0, RIGHT), (0, SHELL), (0, PROSE)]
    ))  # fmt: skip
    assert right > shell >= 0.4 > prose


def test_rewards_that_need_a_judge_are_refused(sandbox):
    judged = next(reward for reward in REWARDS.values() if reward.needs_judge)
    with pytest.raises(UserError, match="needs a judge"):
        rewarded(PROBLEMS, judged, sandbox)


def test_a_step_s_row_weighs_completions_by_their_samples(sandbox):
    verdicts = rewarded(PROBLEMS, REWARDS["strict"], sandbox).reward([(0, RIGHT), (0, SHELL), (1, PROSE)])
    samples = sampled(verdicts, [3, 1, 4])
    row = truth_row(7, samples, 4, 1.0)
    assert len(samples) == 8 and row["step"] == 7
    assert row["correct"] == row["reward"] == 3 / 8 and row["runs"] == 4 / 8 and row["extracted"] == 4 / 8
    assert (row["mixed"], row["all_wrong"], row["all_right"]) == (0.5, 0.5, 0.0)
    assert row["zero_variance"] == 0.5
