"""The lab's reward of one completion: r = correctness · correct + bonus · format_valid − penalty · [nothing extracted].

Source: the maths lab's verifier, with this project's extraction and equivalence: a format is valid in a closed box or
after ``####``, never by the word "answer". Exact comparison only, unless an oracle is given: it is called in the inner
loop of training.
"""

from functools import lru_cache
from typing import NamedTuple

from workflow_scripts.tasks.maths.equivalence import Oracle, undecided
from workflow_scripts.tasks.maths.judging import judge_completion
from workflow_scripts.tasks.maths.verdicts import Verdict


class Reward(NamedTuple):
    """score: the reward.  reason: the verdict's status, '+format' behind it where the format was valid."""

    score: float
    reason: str
    verdict: Verdict


def reward(
    completion: str,
    gold: str,
    *,
    correctness: float = 1.0,
    format_bonus: float = 0.1,
    invalid_penalty: float = 0.1,
    oracle: Oracle = undecided,
) -> Reward:
    """The reward of one completion under the three constants.

    With the default ones: 1.1 correct in a box, 1.0 correct elsewhere, 0.1 wrong in a box, 0 wrong elsewhere, -0.1
    nothing extracted. What cannot be decided earns no correctness.
    """
    verdict = _judged(completion, gold, oracle)
    score = correctness * verdict.accept + format_bonus * verdict.format_ok - invalid_penalty * (not verdict.extracted)
    return Reward(float(score), verdict.status.value + "+format" * verdict.format_ok, verdict)


@lru_cache(maxsize=1 << 14)
def _judged(completion: str, gold: str, oracle: Oracle) -> Verdict:
    return judge_completion(completion, gold, oracle)
