"""The policy over given candidates: its steps by hand, the published experiment's numbers, and sampling."""

import math
from itertools import product

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from workflow_scripts.policies import categorical
from workflow_scripts.records.errors import UserError

REWARDS = torch.tensor([1.1, 0.1, 1.0, -0.1], dtype=torch.float64)
PROMPTS = 12
PRINTED = 5.5e-4
"""The published probabilities were rounded to four digits, then to three."""


def rows(*values):
    return torch.tensor(values, dtype=torch.float64).repeat(PROMPTS, 1)


@pytest.fixture(scope="module")
def base():
    return rows(0.0, 1.0, 0.2, -0.2)


@pytest.fixture(scope="module")
def sft(base):
    return categorical.train_sft(base, 2, updates=60, rate=0.35)


def shares(path):
    found = path.logits[-1].softmax(-1)
    assert torch.equal(found, found[:1].expand_as(found))  # all prompts alike
    return found[0].tolist()


def test_published_sft(base, sft):
    assert base[0].softmax(-1).tolist() == pytest.approx([0.174, 0.472, 0.212, 0.142], abs=PRINTED)
    assert shares(sft) == pytest.approx([0.118, 0.230, 0.551, 0.101], abs=PRINTED)
    assert sft.losses[-1].item() == pytest.approx(0.6052, abs=5e-5)


def test_published_dpo(sft):
    dpo = categorical.train_dpo(sft.logits[-1], 0, 2, updates=200, rate=0.5, beta=1.0)
    assert shares(dpo) == pytest.approx([0.492, 0.247, 0.152, 0.109], abs=PRINTED)
    assert dpo.losses[0].item() == pytest.approx(math.log(2))
    assert dpo.losses[-1].item() == pytest.approx(0.0647, abs=5e-5)


def test_published_grpo(sft):
    rewards = REWARDS.expand(PROMPTS, 4)
    grpo = categorical.train_grpo(sft.logits[-1], rewards, updates=500, rate=1.0)
    assert shares(grpo) == pytest.approx([0.605, 0.000, 0.396, 0.000], abs=PRINTED)
    assert grpo.losses.abs().max().item() < 1e-6
    gains = grpo.logits.diff(dim=0)
    # advantages sum to 0, so that every update gives the logits the same: A / (candidates x prompts)
    wanted = categorical.relative_rewards(REWARDS) / 4 / PROMPTS
    assert torch.allclose(gains, wanted.expand_as(gains), atol=1e-12)
    ahead = grpo.logits[:, 0, 0] > grpo.logits[:, 0, 2]
    assert (int(ahead.int().argmax()), bool(ahead[391]), bool(ahead[200])) == (392, False, False)


@pytest.mark.parametrize(
    ("rewards", "divide", "wanted"),
    [
        ([1, 0, 0, 0], True, [3**0.5, -(3**-0.5), -(3**-0.5), -(3**-0.5)]),  # mean 1/4, deviation sqrt(3)/4
        ([1, 1, 0, 0], True, [1, 1, -1, -1]),
        ([1, 0, 0, 0], False, [0.75, -0.25, -0.25, -0.25]),
        ([0.1, 0.1, 0.1, 0.1], True, [0, 0, 0, 0]),
        ([0.1, 0.1, 0.1, 0.1], False, [0, 0, 0, 0]),
    ],
)
def test_relative_rewards(rewards, divide, wanted):
    found = categorical.relative_rewards(torch.tensor(rewards, dtype=torch.float64), divide=divide)
    assert found.tolist() == pytest.approx(wanted, abs=1e-5)


def test_conditions_are_trained_as_if_alone(sft):
    several = torch.stack([REWARDS, REWARDS.flip(0)])[:, None, :].expand(2, PROMPTS, 4)
    together = categorical.train_grpo(sft.logits[-1], several, updates=3, rate=1.0)
    for place in range(2):
        alone = categorical.train_grpo(sft.logits[-1], several[place], updates=3, rate=1.0)
        assert torch.allclose(together.logits[:, place], alone.logits)
        assert torch.allclose(together.losses[:, place], alone.losses)


def sampled(start, **changed):
    wanted = {"seeds": [1, 2], "samples": 8, "batches": 6, "updates": 1, "rate": 1.0} | changed
    return categorical.train_grpo_sampled(start, REWARDS.expand(PROMPTS, 4), **wanted)


def test_clipping_acts_only_behind_the_first_update_of_a_batch(sft):
    single, several = sampled(sft.logits[-1], updates=1), sampled(sft.logits[-1], updates=30)
    assert single.path.logits.shape == (7, 2, PROMPTS, 4)
    assert several.path.logits.shape == (181, 2, PROMPTS, 4)
    assert several.clipped.shape == (180, 2)
    assert single.clipped.max() == 0
    first = torch.arange(180) % 30 == 0
    assert several.clipped[first].max() == 0
    assert several.clipped[~first].max() > 0.2
    # a wider bound cuts off less
    assert sampled(sft.logits[-1], updates=30, clip=5.0).clipped.mean() < several.clipped.mean()


def test_seeds_decide_alone_and_order_does_not_matter(sft):
    both, other = sampled(sft.logits[-1]), sampled(sft.logits[-1], seeds=[2, 1])
    assert torch.equal(both.path.logits, other.path.logits.flip(1))
    assert not torch.equal(both.path.logits[-1, 0], both.path.logits[-1, 1])


def test_a_policy_that_is_sure_learns_nothing():
    found = sampled(rows(100.0, 0.0, 0.0, 0.0))
    assert (found.zero_variance == 1).all()
    assert torch.equal(found.path.logits[0], found.path.logits[-1])


def test_a_group_of_one_is_refused(sft):
    with pytest.raises(UserError, match="samples is 1"):
        sampled(sft.logits[-1], samples=1)


@settings(max_examples=25)
@given(
    st.lists(st.floats(-3, 3), min_size=3, max_size=3),
    st.lists(st.floats(-1, 2), min_size=3, max_size=3),
    st.booleans(),
)
def test_expected_gradient_is_the_mean_over_all_groups(logits, rewards, divide):
    logits, rewards = (torch.tensor(values, dtype=torch.float64) for values in (logits, rewards))
    wanted = torch.zeros(3, dtype=torch.float64)
    chances = logits.softmax(-1)
    for group in product(range(3), repeat=3):  # in order, each with its own probability
        place = torch.tensor(group)
        free = logits.clone().requires_grad_()
        advantages = categorical.relative_rewards(rewards[place], divide=divide)
        (free.log_softmax(-1)[place] * advantages).mean().backward()
        wanted += chances[place].prod() * free.grad
    lessons = categorical.group_lessons(rewards, 3, divide=divide)
    assert torch.allclose(categorical.expected_gradient(logits, lessons, 3), wanted, atol=1e-6)


def test_sampled_runs_scatter_around_the_expected_one(sft):
    wanted = categorical.train_grpo_expected(sft.logits[-1], REWARDS.expand(PROMPTS, 4), samples=8, updates=200,
                                             rate=1 / PROMPTS)  # fmt: skip
    found = sampled(sft.logits[-1], seeds=range(8), batches=200).path.logits[-1].softmax(-1).mean((0, 1))
    assert torch.allclose(found, wanted[-1, 0].softmax(-1), atol=0.03)
    assert wanted.shape == (201, PROMPTS, 4)
