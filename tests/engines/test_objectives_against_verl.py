"""Our objectives and verl's on the same random tensors: equal to 1e-6, and where they part, how.

Named differences, each with a test: a group of one sample; whitening, whose small number verl adds to the variance;
verl's third bound for negative advantages (dual clip) and its bounds on k3; returns behind the end of a text; the
denominators of masked means, to which verl adds 1e-8.
"""

import math

import numpy as np
import pytest

pytest.importorskip("verl")

import torch
from verl.trainer.ppo import core_algos
from verl.utils import torch_functional

from workflow_scripts.policies.categorical import relative_rewards
from workflow_scripts.policies.objectives.advantages import group_advantages, token_weights, whiten
from workflow_scripts.policies.objectives.critic import generalised_advantages, value_loss
from workflow_scripts.policies.objectives.divergence import entropy, exact_kl, k3_kl
from workflow_scripts.policies.objectives.dpo import dpo_loss, implied_margin
from workflow_scripts.policies.objectives.sft import negative_log_likelihood
from workflow_scripts.policies.objectives.surrogate import clipped_share, clipped_surrogate

pytestmark = pytest.mark.engines

GROUPS, SAMPLES, LONGEST, VOCABULARY = 5, 4, 7, 11
NO_THIRD_BOUND = 1e9


def near(found, wanted, tolerance=1e-6):
    assert torch.allclose(found, wanted, rtol=tolerance, atol=tolerance), (found - wanted).abs().max()


@pytest.fixture(params=range(3))
def random(request):
    return torch.Generator().manual_seed(request.param)


@pytest.fixture
def texts(random):
    """lengths [texts], mask [texts, longest], and four tensors [texts, longest]: old and new log-probabilities,
    advantages, values."""
    lengths = torch.randint(1, LONGEST + 1, (GROUPS * SAMPLES,), generator=random)
    mask = (torch.arange(LONGEST)[None, :] < lengths[:, None]).float()
    old, gap, advantages, values = torch.randn(4, GROUPS * SAMPLES, LONGEST, generator=random)
    return lengths, mask, -old.abs() - 0.1, -old.abs() - 0.1 + 0.4 * gap, advantages, values


def grouped(rewards, divide, estimator=core_algos.compute_grpo_outcome_advantage):
    """verl's advantages of rewards [groups, samples], given on the last of three tokens."""
    groups, samples = rewards.shape
    on_tokens = torch.zeros(rewards.numel(), 3)
    on_tokens[:, -1] = rewards.flatten()
    index = np.repeat(np.arange(groups), samples)
    found, _ = estimator(on_tokens, torch.ones_like(on_tokens), index, norm_adv_by_std_in_grpo=divide)
    assert torch.equal(found[:, 0], found[:, 2])
    return found[:, 0].reshape(groups, samples)


@pytest.mark.parametrize("divide", [True, False], ids=["grpo", "dr_grpo"])
def test_group_advantages(random, divide):
    rewards = torch.rand(GROUPS, SAMPLES, generator=random)
    rewards[0] = 0.3  # all equal
    rewards[1] = torch.tensor([1.0, 0, 0, 0])
    ours = group_advantages(rewards, divide=divide)
    near(ours, grouped(rewards, divide))
    near(ours, grouped(rewards, divide, core_algos.compute_grpo_vectorized_outcome_advantage))


def test_a_group_of_one_keeps_its_reward_in_verl_and_teaches_nothing_here():
    rewards = torch.tensor([[0.7], [0.2]])
    near(grouped(rewards, True), rewards)
    near(group_advantages(rewards), torch.zeros_like(rewards))


def test_the_controlled_experiment_divides_by_the_populations_deviation(random):
    rewards = torch.rand(GROUPS, SAMPLES, generator=random)
    factor = math.sqrt(SAMPLES / (SAMPLES - 1))
    # the 1e-6 beside deviations that differ by the factor is what is left
    near(relative_rewards(rewards), factor * grouped(rewards, True), 1e-5)
    near(relative_rewards(rewards, divide=False), grouped(rewards, False))


def actor(clip, third):
    """verl's settings of the policy loss. third: its bound on the ratio where the advantage is negative."""
    from verl.workers.config import ActorConfig

    return ActorConfig(
        strategy="fsdp", rollout_n=1, ppo_micro_batch_size_per_gpu=1, clip_ratio_low=clip[0], clip_ratio_high=clip[1],
        clip_ratio_c=third,
    )  # fmt: skip


@pytest.mark.parametrize(
    ("average", "mode"),
    [("token", "token-mean"), ("sequence", "seq-mean-token-mean"), ("constant", "seq-mean-token-sum-norm")],
)
def test_clipped_surrogate_and_its_averages(texts, average, mode):
    lengths, mask, old, new, advantages, _ = texts
    inside, clip = mask.bool(), (0.2, 0.28)
    free = new.clone().requires_grad_()
    theirs, metrics = core_algos.compute_policy_loss_vanilla(
        old, free, advantages, mask, loss_agg_mode=mode, config=actor(clip, NO_THIRD_BOUND)
    )
    theirs.backward()
    ours_free = new.clone().requires_grad_()
    terms = ours_free[inside], old[inside], advantages[inside], clip
    weights = token_weights(lengths, average, LONGEST)[:, None].expand_as(mask)[inside]
    ours = (weights * clipped_surrogate(*terms)).sum()
    ours.backward()
    near(ours, theirs)
    near(ours_free.grad, free.grad)
    cut = clipped_share(*terms).mean()
    assert cut > 0
    near(cut, torch.tensor(metrics["actor/pg_clipfrac"]))


def test_verl_bounds_the_loss_of_negative_advantages_a_third_time():
    old, new, advantages = torch.zeros(1, 2), torch.tensor([[2.0, 2.0]]), torch.tensor([[-1.0, 1.0]])
    theirs, _ = core_algos.compute_policy_loss_vanilla(
        old, new, advantages, torch.ones(1, 2), config=actor((0.2, 0.2), 3.0)
    )
    ours = clipped_surrogate(new[0], old[0], advantages[0], (0.2, 0.2))
    near(ours, torch.tensor([math.exp(2), -1.2]))
    near(theirs, (ours[0].clamp(max=3) + ours[1]) / 2)


@pytest.mark.parametrize(("gamma", "lam"), [(1.0, 1.0), (0.9, 0.8), (1.0, 0.0)])
def test_generalised_advantages(texts, gamma, lam):
    lengths, mask, _, rewards, _, values = texts
    inside = mask.bool()
    ours, returns = generalised_advantages(rewards, values, lengths, gamma=gamma, lam=lam)
    theirs, their_returns = core_algos.compute_gae_advantage_return(rewards * mask, values, mask, gamma, lam)
    near(returns[inside], their_returns[inside], 1e-5 if gamma == lam == 1 else 1e-6)
    # Behind the end, verl's returns are whatever the critic said there; ours are 0
    near(their_returns[~inside], values[~inside])
    assert (returns[~inside] == 0).all()
    # verl whitens inside, over sqrt(variance + 1e-8); here it is a step of its own, over deviation + 1e-8
    near(whiten(ours[inside], torch.ones(int(mask.sum()))), theirs[inside], 1e-5)


def test_whitening_parts_only_where_the_deviation_is_tiny(random):
    values = torch.randn(1, 40, generator=random)
    mask, counts = torch.ones(1, 40), torch.ones(40)
    near(whiten(values[0], counts), torch_functional.masked_whiten(values, mask)[0], 1e-5)
    tiny = 1e-4 * values  # variance 1e-8, as much as verl adds to it
    assert whiten(tiny[0], counts).std() > 1.3 * torch_functional.masked_whiten(tiny, mask).std()


def test_value_loss(texts):
    _, mask, _, returns, _, values = texts
    theirs, clipped = core_algos.compute_value_loss(values, returns, values, mask, cliprange_value=NO_THIRD_BOUND)
    near(value_loss(values, returns)[mask.bool()].mean(), theirs)
    assert clipped == 0  # values are not held near the old ones here: such a bound is verl's alone


def test_k3(texts):
    _, _, old, new, *_ = texts
    near(k3_kl(new, old), core_algos.kl_penalty(new, old, "low_var_kl"))
    far = torch.tensor([-9.0]), torch.tensor([-1.0])
    near(k3_kl(*far), torch.tensor([math.exp(8) - 9]))
    assert core_algos.kl_penalty(*far, "k3").item() == 10  # verl's bound


def test_exact_kl_is_what_verls_estimators_mean(random):
    logits, reference = 0.5 * torch.randn(
        2, 9, VOCABULARY, generator=random
    )  # near enough to stay below the bound on k3
    found, known = logits.log_softmax(-1), reference.log_softmax(-1)
    for kind in ("k1", "k3"):
        near(exact_kl(logits, reference), (found.exp() * core_algos.kl_penalty(found, known, kind)).sum(-1))


def test_entropy(random):
    logits = torch.randn(3, LONGEST, VOCABULARY, generator=random)
    mask = torch.ones(3, LONGEST)
    near(entropy(logits.flatten(0, 1)).mean(), core_algos.compute_entropy_loss(logits, mask))


def test_supervised_loss(random):
    from tensordict import TensorDict
    from verl.utils import tensordict_utils
    from verl.utils.dataset.dataset_utils import DatasetPadMode
    from verl.workers.utils.losses import sft_loss

    logits = torch.randn(6, LONGEST, VOCABULARY, generator=random)
    targets = torch.randint(VOCABULARY, (6, LONGEST), generator=random)
    mask = torch.rand(6, LONGEST, generator=random) > 0.3
    log_probs = torch_functional.logprobs_from_logits_naive(logits, targets)
    data = TensorDict({"response_mask": mask}, batch_size=[6])
    tensordict_utils.assign_non_tensor(
        data, pad_mode=DatasetPadMode.LEFT_RIGHT, dp_size=1, batch_num_tokens=int(mask.sum())
    )
    theirs, _ = sft_loss(None, {"log_probs": log_probs}, data)
    near(negative_log_likelihood(logits[mask], targets[mask]).mean(), theirs)


@pytest.mark.parametrize("beta", [0.1, 1.0])
def test_dpo_against_the_formula(random, beta):
    """verl has no DPO; the formula in plain Python and double precision instead."""
    ends = -10 * torch.rand(4, 8, generator=random)
    wanted = [
        math.log1p(math.exp(-beta * ((chosen - rejected) - (reference_chosen - reference_rejected))))
        for chosen, rejected, reference_chosen, reference_rejected in ends.double().T.tolist()
    ]
    near(dpo_loss(implied_margin(*ends, beta=beta)), torch.tensor(wanted))
