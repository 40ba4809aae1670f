"""The loss of direct preference optimisation against numbers worked by hand."""

import math

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from workflow_scripts.policies.objectives.dpo import dpo_loss, implied_margin


def margin(chosen, rejected, reference_chosen, reference_rejected, beta):
    return implied_margin(*map(torch.tensor, (chosen, rejected, reference_chosen, reference_rejected)), beta=beta)


@pytest.mark.parametrize(
    ("chosen", "rejected", "reference", "beta", "wanted_margin", "wanted_loss"),
    [
        (-3.0, -4.0, (-3.0, -4.0), 0.5, 0.0, math.log(2)),  # the reference itself
        (-2.0, -5.0, (-3.0, -4.0), 0.5, 1.0, math.log(1 + math.exp(-1))),  # one nat up, one down
        (-4.0, -4.0, (-3.0, -4.0), 2.0, -2.0, math.log(1 + math.exp(2))),  # the chosen became rarer
        (-9.0, -20.0, (-3.0, -4.0), 0.1, 1.0, math.log(1 + math.exp(-1))),  # both rarer, the rejected more so
    ],
)
def test_by_hand(chosen, rejected, reference, beta, wanted_margin, wanted_loss):
    found = margin([chosen], [rejected], [reference[0]], [reference[1]], beta)
    assert found.tolist() == pytest.approx([wanted_margin], abs=1e-5)
    assert dpo_loss(found).tolist() == pytest.approx([wanted_loss], abs=1e-5)


def test_gradient_is_weighted_by_how_wrong_the_implied_reward_is():
    chosen, rejected = torch.tensor([-2.0, -6.0], requires_grad=True), torch.tensor([-5.0, -4.0], requires_grad=True)
    gap = implied_margin(chosen, rejected, torch.tensor([-3.0, -3.0]), torch.tensor([-4.0, -4.0]), beta=0.5)
    dpo_loss(gap).sum().backward()
    # equation 8: beta sigma(-margin), of margins 1 and -1.5
    pull = [0.5 / (1 + math.exp(1)), 0.5 / (1 + math.exp(-1.5))]
    assert (-chosen.grad).tolist() == pytest.approx(pull, abs=1e-5)
    assert rejected.grad.tolist() == pytest.approx(pull, abs=1e-5)


@given(st.lists(st.floats(-80, 0), min_size=4, max_size=4), st.floats(0.01, 5))
def test_swapping_a_pair_flips_its_margin(values, beta):
    one, other, before_one, before_other = ([value] for value in values)
    there = margin(one, other, before_one, before_other, beta)
    back = margin(other, one, before_other, before_one, beta)
    assert torch.allclose(there, -back, atol=1e-3)
    # σ(m) + σ(-m) = 1: the two losses are of complementary probabilities
    assert math.exp(-dpo_loss(there).item()) + math.exp(-dpo_loss(back).item()) == pytest.approx(1, abs=1e-4)
    assert dpo_loss(there).item() >= 0
