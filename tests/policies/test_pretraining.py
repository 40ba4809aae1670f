import math

import numpy as np
import pytest
import torch

from workflow_scripts.policies.model import Architecture, logits, new_policy
from workflow_scripts.policies.pretraining import Schedule, mean_loss, pretrain
from workflow_scripts.records.errors import UserError

SMALL = Architecture(12, hidden=16, layers=1, heads=2, head_dim=8, mlp=24, positions=16)


def copying(step, size=32):
    """Texts `a b -> a b end`: the completion follows from the prompt, the prompt from nothing."""
    rng = np.random.default_rng(step)
    return [([a, b, 10], [a, b, 11][: 2 + (a > 4)]) for a, b in rng.integers(0, 10, (size, 2)).tolist()]


def test_learns_what_can_be_learnt_and_repeats_itself():
    def run():
        policy = new_policy(SMALL, 1)
        return policy, list(pretrain(policy, copying, Schedule(steps=120, rate=2e-2, warmup=5, whole=False)))

    policy, rows = run()
    assert [row["step"] for row in rows] == list(range(1, 121))
    assert rows[0]["loss"] == pytest.approx(math.log(12), abs=0.5)
    assert mean_loss(policy, copying(999)) < 0.05 < 0.5 < mean_loss(policy, copying(999), whole=True)
    assert rows[-1]["rate"] < 1e-3 < rows[4]["rate"] == 2e-2
    again, others = run()
    assert torch.equal(policy.flat, again.flat)
    assert [row["loss"] for row in rows] == [row["loss"] for row in others]


@pytest.mark.parametrize("whole", [False, True])
def test_the_loss_is_the_mean_over_predicted_tokens(whole):
    policy, texts = new_policy(SMALL, 2), copying(1, 50)
    total, count = 0.0, 0
    for prompt, completion in texts:
        tokens = [*prompt, *completion]
        shares = torch.log_softmax(logits(policy, torch.tensor([tokens]))[0], -1)
        for place in range(1 if whole else len(prompt), len(tokens)):
            total -= shares[place - 1, tokens[place]].item()
            count += 1
    assert mean_loss(policy, texts, whole=whole) == pytest.approx(total / count, rel=1e-5)
    (row,) = pretrain(policy, lambda step: texts, Schedule(steps=1, whole=whole))
    assert row["loss"] == pytest.approx(total / count, rel=1e-5)


def test_a_run_that_breaks_names_the_step():
    policy = new_policy(SMALL, 1)
    rows = pretrain(policy, copying, Schedule(steps=5, warmup=0))
    next(rows)
    policy.flat[3] = float("nan")
    with pytest.raises(UserError, match="pre-training step 2: the loss is NaN"):
        next(rows)


def test_threads_are_left_alone():
    before = torch.get_num_threads()
    list(pretrain(new_policy(SMALL, 1), copying, Schedule(steps=1)))
    assert torch.get_num_threads() == before


def test_workers_share_a_batch_and_change_only_rounding():
    texts = [([5, 6, 7], [8, 9, 2]), ([5, 6], [7, 2]), ([9, 8, 7, 6, 5], [4, 3, 2]), ([4], [5, 6, 7, 8, 2])]

    def trained(workers):
        policy = new_policy(SMALL, 3)
        rows = list(pretrain(policy, lambda step: texts, Schedule(steps=3, workers=workers)))
        return policy.flat.clone(), [row["loss"] for row in rows]

    one, two, again = trained(1), trained(2), trained(2)
    assert torch.equal(two[0], again[0]) and two[1] == again[1]
    torch.testing.assert_close(one[0], two[0], rtol=1e-4, atol=1e-5)
    assert one[1] == pytest.approx(two[1], rel=1e-5)
