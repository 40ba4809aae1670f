"""Every objective against numbers worked by hand, and against the textbook formula in plain Python."""

import math

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from workflow_scripts.policies.objectives.advantages import group_advantages, token_weights, whiten
from workflow_scripts.policies.objectives.critic import generalised_advantages, value_loss
from workflow_scripts.policies.objectives.divergence import entropy, exact_kl, k3_kl
from workflow_scripts.policies.objectives.sft import negative_log_likelihood
from workflow_scripts.policies.objectives.surrogate import clipped_share, clipped_surrogate


def near(found, wanted, tolerance=1e-5):
    assert torch.allclose(torch.as_tensor(found), torch.as_tensor(wanted, dtype=torch.float32), atol=tolerance)


@pytest.mark.parametrize(
    ("rewards", "divide", "wanted"),
    [
        ([1, 0, 0, 0], False, [0.75, -0.25, -0.25, -0.25]),
        ([1, 0, 0, 0], True, [1.5, -0.5, -0.5, -0.5]),  # deviation .5
        ([1, 1, 0, 0], True, [0.866025, 0.866025, -0.866025, -0.866025]),  # deviation sqrt(1/3)
        ([1, 1, 1, 1], True, [0, 0, 0, 0]),
        ([0, 0, 0, 0], False, [0, 0, 0, 0]),
    ],
)
def test_group_advantages(rewards, divide, wanted):
    near(group_advantages(torch.tensor([rewards, rewards[::-1]]).float(), divide=divide), [wanted, wanted[::-1]], 1e-4)


def test_token_weights():
    lengths = torch.tensor([1, 3])
    near(token_weights(lengths, "token", 10), [0.25, 0.25])
    near(token_weights(lengths, "sequence", 10), [0.5, 1 / 6])
    near(token_weights(lengths, "constant", 10), [0.05, 0.05])
    with pytest.raises(ValueError, match="mean"):
        token_weights(lengths, "mean", 10)


@given(st.lists(st.tuples(st.floats(-5, 5), st.integers(1, 4)), min_size=2, max_size=9))
def test_whitening_counts_repetitions(pairs):
    values, counts = (torch.tensor(column) for column in zip(*pairs, strict=True))
    repeated = values.repeat_interleave(counts).double()
    if repeated.std() > 1e-2:
        near(whiten(values, counts), ((values - repeated.mean()) / repeated.std()).float(), 1e-3)


@pytest.mark.parametrize(
    ("ratio", "advantage", "loss", "slope", "cut"),
    [
        (1.0, 2.0, -2.0, -2.0, 0),  # on policy: the plain policy gradient
        (1.1, 2.0, -2.2, -2.2, 0),
        (1.5, 2.0, -2.4, 0.0, 1),  # clipped above
        (0.5, 2.0, -1.0, -1.0, 0),  # pessimistic: a good token made rare is still pushed up
        (0.5, -2.0, 1.6, 0.0, 1),  # clipped below
        (1.5, -2.0, 3.0, 3.0, 0),
        (1.25, 2.0, -2.5, -2.5, 0),  # the upper bound is .3
    ],
)
def test_clipped_surrogate(ratio, advantage, loss, slope, cut):
    old = torch.tensor([-1.0])
    now = (old + math.log(ratio)).requires_grad_()
    gain, clip = torch.tensor([advantage]), (0.2, 0.2 if ratio != 1.25 else 0.3)
    found = clipped_surrogate(now, old, gain, clip)
    found.sum().backward()
    near(found.detach(), [loss])
    near(now.grad, [slope])
    near(clipped_share(now.detach(), old, gain, clip), [cut])


def test_divergences():
    logits, reference = torch.tensor([[0.0, 0.0], [1.0, -1.0]]), torch.tensor([[math.log(3), 0.0], [1.0, -1.0]])
    near(entropy(logits), [math.log(2), 0.365335])
    # KL((½, ½) || (¾, ¼)) = ½ ln(⅔) + ½ ln 2
    near(exact_kl(logits, reference), [0.5 * math.log(2 / 3) + 0.5 * math.log(2), 0.0])
    near(k3_kl(torch.tensor([-1.0, -2.0]), torch.tensor([-1.0, -1.0])), [0.0, math.e - 2])


def test_k3_is_unbiased():
    logits, reference = torch.tensor([[0.3, -1.0, 0.5]]), torch.tensor([[0.0, 0.4, -0.2]])
    now, start = torch.log_softmax(logits, -1)[0], torch.log_softmax(reference, -1)[0]
    near((now.exp() * k3_kl(now, start)).sum(), exact_kl(logits, reference)[0])


def test_negative_log_likelihood():
    logits = torch.tensor([[math.log(3), 0.0], [0.0, 0.0]])
    near(negative_log_likelihood(logits, torch.tensor([0, 1])), [-math.log(0.75), math.log(2)])


def test_advantages_by_hand():
    # two texts of 3 and 2 tokens; rewards 1 and 0 at their ends
    rewards = torch.tensor([[0.0, 0, 1], [0, 0, 9]])
    values = torch.tensor([[0.5, 0.4, 0.8], [0.2, 0.1, 7.0]])
    lengths = torch.tensor([3, 2])
    gains, returns = generalised_advantages(rewards, values, lengths)
    near(gains, [[0.5, 0.6, 0.2], [-0.2, -0.1, 0]])  # gamma = lambda = 1: the reward minus the value
    near(returns, [[1, 1, 1], [0, 0, 0]])
    gains, returns = generalised_advantages(rewards, values, lengths, gamma=0.5, lam=0.0)
    near(gains, [[-0.3, 0.0, 0.2], [-0.15, -0.1, 0]])  # one-step surprises
    near(returns, [[0.2, 0.4, 1], [0.05, 0, 0]])


@given(st.integers(1, 6), st.floats(0, 1), st.floats(0, 1), st.integers(0, 10_000))
def test_advantages_equal_the_sum_of_the_paper(length, gamma, lam, seed):
    draw = torch.Generator().manual_seed(seed)
    rewards, values = torch.randn(1, 6, generator=draw), torch.randn(1, 6, generator=draw)
    gains, _ = generalised_advantages(rewards, values, torch.tensor([length]), gamma=gamma, lam=lam)
    r, v = rewards[0].tolist(), [*values[0, :length].tolist(), 0.0]
    surprises = [r[t] + gamma * v[t + 1] - v[t] for t in range(length)]
    for t in range(6):
        wanted = sum((gamma * lam) ** (k - t) * surprises[k] for k in range(t, length))
        assert gains[0, t].item() == pytest.approx(wanted, abs=1e-4)


def test_value_loss():
    near(value_loss(torch.tensor([0.5, 1.0]), torch.tensor([1.0, 1.0])), [0.125, 0.0])
