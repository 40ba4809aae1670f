"""policies/own_samples.py and tasks/countdown/rewarded.py: judged samples that a policy can learn from."""

import pandas as pd
import torch

from workflow_scripts.policies.architecture import Architecture
from workflow_scripts.policies.model import new_policy
from workflow_scripts.policies.own_samples import own_samples
from workflow_scripts.policies.tokenizer import Tokenizer
from workflow_scripts.tasks.countdown.rewarded import rewarded
from workflow_scripts.tasks.countdown.text import VOCABULARY

ROWS = pd.DataFrame(
    {"problem_id": ["2_3-5", "2_4-8"], "numbers": [[2, 3], [4, 2]], "target": [5, 8], "data_source": ["countdown"] * 2}
)


def test_the_verifier_knows_each_problem_by_its_place():
    asked = rewarded(ROWS)
    assert asked.problem_ids == ["2_3-5", "2_4-8"]
    assert asked.prompts == ["2 3 -> 5 <think>", "4 2 -> 8 <think>"]
    said = "try 2 + 3 = 5 </think> <answer> 2 + 3 </answer>"
    assert [verdict["score"] for verdict in asked.reward([(0, said), (1, said)])] == [1.0, 0.0]


def test_samples_are_judged_and_keyed_by_prompt_and_sample():
    torch.set_num_threads(1)
    asked = rewarded(ROWS)
    tokenizer = Tokenizer(tuple(VOCABULARY))
    policy = new_policy(Architecture(vocabulary=len(VOCABULARY), hidden=16, layers=1, heads=2, head_dim=8, mlp=16), 1)

    def drawn(samples, seed=1):
        return own_samples(policy, asked.prompts, asked.reward, tokenizer, seed=seed, samples=samples, max_new_tokens=8)

    def said(batch):
        return {(tuple(prompt), tuple(completion)) for prompt, completion in batch.texts}

    four, two = drawn(4), drawn(2)
    assert four.shape == (2, 4) and int(four.counts.sum()) == 8
    assert said(two) <= said(four)  # the first two samples are those of a run with two
    assert said(drawn(4, seed=2)) != said(four)
    assert set(four.rewards.tolist()) <= {0.0, 1.0}
