"""Preference pairs from samples, and a policy trained on them."""

from collections import Counter

import numpy as np
import pytest
import torch

from workflow_scripts.policies import rollouts as answers
from workflow_scripts.policies.model import Architecture, logits, new_policy
from workflow_scripts.policies.preferences import Pair, PreferenceSettings, prefer, preference_pairs
from workflow_scripts.policies.tokenizer import Tokenizer
from workflow_scripts.records import seeds
from workflow_scripts.records.errors import UserError

WORDS = Tokenizer(("<pad>", "<unk>", "<eos>", "?", "a", "b", "c", "d"))
SMALL = Architecture(len(WORDS), hidden=16, layers=1, heads=2, head_dim=8, mlp=24, positions=16)
PROMPTS = [[4, 3], [5, 3], [6, 3], [3, 3]]
SETTINGS = PreferenceSettings(seed=1, steps=40, pairs=8, rate=3e-3, warmup=2, beta=0.5)


def reward(pairs):
    """Right is whatever begins with the letter asked; the last prompt can't be answered."""
    return [{"score": float(text[:1] == WORDS.words[PROMPTS[index][0]] != "?")} for index, text in pairs]


def sampled(policy, samples=12):
    keys = np.array([[seeds.key("t", p, s) for s in range(samples)] for p in range(len(PROMPTS))], dtype=np.uint64)
    return answers.collect(
        policy, PROMPTS, range(len(PROMPTS)), keys, reward, WORDS, temperature=1.0, top_p=1.0, max_new_tokens=5
    )


def policy():
    return new_policy(SMALL, 1)


def test_pairs_set_a_correct_sample_over_a_wrong_one():
    batch = sampled(policy(), 40)
    pairs = preference_pairs(batch, 100, seed=1)
    rewards = {(tuple(p), tuple(c)): r for (p, c), r in zip(batch.texts, batch.rewards.tolist())}
    assert all(rewards[tuple(pair.prompt), tuple(pair.chosen)] == 1 for pair in pairs)
    assert all(rewards[tuple(pair.prompt), tuple(pair.rejected)] == 0 for pair in pairs)
    # as many pairs as the rarer kind of sample allows, none where there is but one kind
    made = Counter(tuple(pair.prompt) for pair in pairs)
    for group, prompt in enumerate(PROMPTS):
        right = int(batch.counts[(batch.groups == group) & (batch.rewards > 0)].sum())
        assert made[tuple(prompt)] == min(right, 40 - right)
    assert made[3, 3] == 0 < made[4, 3]
    # no sample twice
    said = Counter((tuple(pair.prompt), tuple(pair.chosen)) for pair in pairs)
    counts = {(tuple(p), tuple(c)): n for (p, c), n in zip(batch.texts, batch.counts.tolist())}
    assert all(number <= counts[text] for text, number in said.items())


def test_pairs_are_limited_and_repeat_themselves():
    batch = sampled(policy(), 40)
    pairs = preference_pairs(batch, 2, seed=1)
    assert max(Counter(tuple(pair.prompt) for pair in pairs).values()) == 2
    assert pairs == preference_pairs(sampled(policy(), 40), 2, seed=1) != preference_pairs(batch, 2, seed=2)


def test_prefers_what_it_is_told_to_and_repeats_itself():
    pairs = preference_pairs(sampled(policy(), 40), 4, seed=1)

    def run():
        trained = policy()
        return trained, list(prefer(trained, pairs, SETTINGS))

    trained, rows = run()
    assert rows[0]["loss"] == pytest.approx(np.log(2), abs=1e-6)  # the policy is its own reference
    assert rows[0]["margin"] == rows[0]["accuracy"] == 0
    assert rows[-1]["loss"] < 0.5 and rows[-1]["accuracy"] > 0.9 and rows[-1]["chosen"] > rows[-1]["rejected"]
    before, after = (float(sampled(p, 100).rewards @ sampled(p, 100).counts.float()) for p in (policy(), trained))
    assert after > 1.5 * before
    again, others = run()
    assert torch.equal(trained.flat, again.flat)
    assert [row | {"seconds": 0} for row in rows] == [row | {"seconds": 0} for row in others]


def test_first_row_against_the_formula():
    one, other = policy(), new_policy(SMALL, 2)
    pair = Pair([4, 3], [4, 5, 2], [7, 2])
    settings = PreferenceSettings(seed=1, steps=1, pairs=3, beta=0.7)

    def log_prob(model, completion):
        shares = torch.log_softmax(logits(model, torch.tensor([[*pair.prompt, *completion]]))[0], -1)
        places = range(len(pair.prompt) - 1, len(pair.prompt) + len(completion) - 1)
        return sum(shares[place, token].item() for place, token in zip(places, completion))

    chosen, rejected = (log_prob(one, said) - log_prob(other, said) for said in (pair.chosen, pair.rejected))
    frozen = other.flat.clone()
    (row,) = prefer(one, [pair], settings, reference=other)
    assert row["chosen"] == pytest.approx(chosen, abs=1e-5) and row["rejected"] == pytest.approx(rejected, abs=1e-5)
    assert row["margin"] == pytest.approx(0.7 * (chosen - rejected), abs=1e-5)
    assert row["loss"] == pytest.approx(np.log1p(np.exp(-row["margin"])), abs=1e-5)
    assert row["tokens"] == 15
    assert torch.equal(other.flat, frozen)


def test_refusals():
    with pytest.raises(UserError, match="no pairs"):
        next(prefer(policy(), [], SETTINGS))
    with pytest.raises(UserError, match="beta"):
        PreferenceSettings(seed=1, beta=0)
    broken = policy()
    broken.flat[3] = float("nan")
    with pytest.raises(UserError, match="preference step 1: the loss is NaN"):
        next(prefer(broken, [Pair([4, 3], [4, 2], [5, 2])], SETTINGS))
