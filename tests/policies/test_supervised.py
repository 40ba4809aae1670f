"""Fine-tuning on demonstrations: budgets to the token, the order of what is shown, selection, rejection sampling."""

import math
from collections import Counter

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from workflow_scripts.policies.model import Architecture, new_policy
from workflow_scripts.policies.pretraining import mean_loss
from workflow_scripts.policies.rollouts import Rollouts
from workflow_scripts.policies.supervised import (
    SupervisedSettings,
    correct_samples,
    encoded,
    supervise,
    token_batches,
)
from workflow_scripts.policies.tokenizer import Tokenizer
from workflow_scripts.records.errors import UserError

WORDS = Tokenizer(("<pad>", "<unk>", "<eos>", "?", "a", "b", "c", "d"))
SMALL = Architecture(len(WORDS), hidden=16, layers=1, heads=2, head_dim=8, mlp=24, positions=16)
# `x ?` is answered by x twice, or x three times
GROUPS = [[([letter, 3], [letter] * 2 + [2]), ([letter, 3], [letter] * 3 + [2])] for letter in (4, 5, 6, 7)]
SETTINGS = SupervisedSettings(seed=1, steps=60, tokens=24, rate=2e-2, warmup=3, every=20)


def start():
    return new_policy(SMALL, 1)


def run(settings=SETTINGS, groups=GROUPS, held=()):
    policy = start()
    return policy, list(supervise(policy, groups, settings, held=held))


def timeless(rows):
    """As texts, for NaN does not equal itself."""
    return [{key: str(value) for key, value in row.items() if key != "seconds"} for row in rows]


def joined(batches):
    """Whole texts again, as (prompt, completion), the last one perhaps cut."""
    texts = []
    for prompt, completion in (text for batch in batches for text in batch):
        if texts and len(prompt) > 2:
            before, said = texts.pop()
            assert tuple(prompt) == (*before, *said)  # the rest follows what the batch before said
            texts.append((before, (*said, *completion)))
        else:
            texts.append((tuple(prompt), tuple(completion)))
    return texts


def test_encoded_groups_by_problem_and_ends_each_text():
    rows = [("p", "a b"), ("q", "c"), ("p", "d")]
    assert encoded(rows, {"p": "a ?", "q": "b ?"}, WORDS) == [
        [([4, 3], [4, 5, 2]), ([4, 3], [7, 2])],
        [([5, 3], [6, 2])],
    ]
    with pytest.raises(UserError, match="no prompt for the demonstrated problem q"):
        encoded(rows, {"p": "a ?"}, WORDS)
    with pytest.raises(UserError, match="'z'"):
        encoded([("p", "z")], {"p": "a ?"}, WORDS)


@given(tokens=st.integers(1, 40), steps=st.integers(1, 12), seed=st.integers(0, 99))
def test_every_batch_has_its_tokens(tokens, steps, seed):
    batches = token_batches(GROUPS, seed=seed, steps=steps, tokens=tokens)
    assert [sum(len(completion) for _, completion in batch) for batch in batches] == [tokens] * steps
    assert all(completion for batch in batches for _, completion in batch)
    known = {(tuple(prompt), tuple(completion)) for group in GROUPS for prompt, completion in group}
    *whole, last = joined(batches)
    assert set(whole) <= known
    assert any(last == (prompt, text[: len(last[1])]) for prompt, text in known)


def test_arms_see_problems_in_one_order_whatever_is_shown():
    few = [group[:1] for group in GROUPS]

    def order(groups):
        texts = joined(token_batches(groups, seed=3, steps=10, tokens=20))
        return [prompt[0] for prompt, _ in texts][:40]

    assert order(few) == order(GROUPS)
    assert sorted(order(few)[:4]) == [4, 5, 6, 7] and order(few)[:4] != order(few)[4:8]


def test_a_problem_shows_all_before_it_repeats_one():
    texts = joined(token_batches(GROUPS, seed=5, steps=8, tokens=28))[:-1]
    for letter in (4, 5, 6, 7):
        lengths = [len(completion) for prompt, completion in texts if prompt[0] == letter]
        assert len(lengths) > 12
        assert all({*lengths[at : at + 2]} == {3, 4} for at in range(0, len(lengths) - 1, 2))


@pytest.mark.parametrize("groups", [[], [[]], [[([3], [])]], [GROUPS[0], []]])
def test_nothing_to_train_on(groups):
    with pytest.raises(UserError, match="nothing to train on"):
        token_batches(groups, seed=1, steps=1, tokens=1)


def test_learns_and_repeats_itself():
    policy, rows = run(held=GROUPS[0])
    assert [row["step"] for row in rows] == list(range(1, 61))
    assert rows[-1]["tokens"] == SETTINGS.budget == 1440
    assert rows[0]["loss"] == pytest.approx(math.log(8), abs=0.5) and rows[-1]["loss"] < 0.4
    measured = [row["step"] for row in rows if not math.isnan(row["held_loss"])]
    assert measured == [20, 40, 60]
    assert rows[-1]["held_loss"] == pytest.approx(mean_loss(policy, GROUPS[0]))
    again, others = run(held=GROUPS[0])
    assert torch.equal(policy.flat, again.flat) and timeless(rows) == timeless(others)
    # what is looked at on the side changes nothing
    assert torch.equal(policy.flat, run()[0].flat)


def test_the_lowest_held_loss_is_kept():
    # held back are answers that training makes ever less likely after the first updates
    held = [([4, 3], [5, 6, 7, 2])]
    rule = SupervisedSettings(seed=1, steps=30, tokens=24, rate=2e-2, warmup=0, every=10, selection="lowest_held_loss")
    policy, rows = run(rule, held=held)
    losses = {row["step"]: row["held_loss"] for row in rows if not math.isnan(row["held_loss"])}
    best = min(losses, key=losses.get)
    assert best == 10 < 30
    assert mean_loss(policy, held) == losses[best] < losses[30]
    with pytest.raises(UserError, match="held back"):
        next(supervise(start(), GROUPS, rule))


@pytest.mark.parametrize(
    ("key", "value", "message"), [("selection", "best", "'best'"), ("steps", 0, "at least 1"), ("tokens", 0, "1")]
)
def test_refused_settings(key, value, message):
    with pytest.raises(UserError, match=message):
        SupervisedSettings(seed=1, **{key: value})


def judged(rows, samples, stopped=True):
    """Rollouts of (group, text, count, reward) rows."""
    return Rollouts(
        texts=[([group], [text, 2]) for group, text, _, _ in rows],
        groups=torch.tensor([row[0] for row in rows]),
        counts=torch.tensor([row[2] for row in rows]),
        rewards=torch.tensor([float(row[3]) for row in rows]),
        stopped=torch.full((len(rows),), stopped),
        log_probs=torch.zeros(len(rows), 2),
        verdicts=[{"score": row[3]} for row in rows],
        shape=(len({row[0] for row in rows}), samples),
    )


def test_correct_samples():
    batch = judged([(0, 4, 5, 1), (0, 5, 1, 0), (0, 6, 2, 1), (1, 4, 8, 0), (2, 7, 1, 1), (2, 4, 7, 0)], 8)
    assert [sorted(places) for places in correct_samples(batch, 4, seed=1)] == [[0, 2], [], [4]]
    for seed in range(20):
        both = correct_samples(batch, 2, seed=seed)
        assert correct_samples(batch, 1, seed=seed) == [places[:1] for places in both]
    firsts = Counter(correct_samples(batch, 1, seed=seed)[0][0] for seed in range(400))
    assert firsts[0] / 400 == pytest.approx(5 / 7, abs=0.07)  # drawn as often as they were said
    assert correct_samples(judged([(0, 4, 8, 1)], 8, stopped=False), 4, seed=1) == [[]]
