"""Training, with the batch of every step beside its row: what was sampled, how often, and what was said of it.

`train_segment` gives its reward each distinct completion of a prompt once and does not tell how many samples said it.
Since a step's samples are a function of the policy before it, the seed and the step, they are drawn once more here; the
reward must say the same of the same completion, so that remembering what it said makes the second time free.
"""

import time
from collections.abc import Iterator, Sequence

import numpy as np

from workflow_scripts.policies import rollouts as answers
from workflow_scripts.policies.model import Policy
from workflow_scripts.policies.rollouts import Reward, Rollouts
from workflow_scripts.policies.state import TrainingState
from workflow_scripts.policies.tokenizer import Tokenizer
from workflow_scripts.policies.training import LineSettings, prompts_of_step, train_segment
from workflow_scripts.records import seeds


def observed_segment(
    state: TrainingState,
    start: Policy,
    prompts: Sequence[Sequence[int]],
    reward: Reward,
    tokenizer: Tokenizer,
    settings: LineSettings,
    last_step: int,
) -> Iterator[tuple[dict, Rollouts]]:
    """As `train_segment`, bit for bit but for the clock; yields each step's row of metrics and the batch behind it.

    The batch's `groups` are places among the step's prompts. The row's seconds count both times.
    """
    while state.step < last_step:
        step, began, judged_in = state.step + 1, time.perf_counter(), 0.0

        def judged(pairs: list[tuple[int, str]]) -> list[dict]:
            nonlocal judged_in
            at = time.perf_counter()
            verdicts = reward(pairs)
            judged_in += time.perf_counter() - at
            return verdicts

        batch = step_batch(state.policy, prompts, judged, tokenizer, settings, step)
        observed_in = time.perf_counter() - began
        (row,) = train_segment(state, start, prompts, reward, tokenizer, settings, step)
        row["seconds_sampling"] += observed_in - judged_in
        row["seconds_judging"] += judged_in
        row["seconds"] += observed_in
        yield row, batch


def step_batch(
    policy: Policy,
    prompts: Sequence[Sequence[int]],
    reward: Reward,
    tokenizer: Tokenizer,
    settings: LineSettings,
    step: int,
) -> Rollouts:
    """What `policy` says in this step of training, judged. prompts: token ids of all training problems."""
    chosen = prompts_of_step(settings, len(prompts), step)
    keys = [[seeds.key(settings.seed, settings.line, step, index, sample) for sample in range(settings.samples)]
            for index in chosen]  # fmt: skip
    return answers.collect(
        policy,
        [prompts[index] for index in chosen],
        chosen,
        np.array(keys, dtype=np.uint64),
        reward,
        tokenizer,
        temperature=settings.temperature,
        top_p=settings.top_p,
        max_new_tokens=settings.max_new_tokens,
    )
