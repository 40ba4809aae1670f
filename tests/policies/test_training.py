import dataclasses
import math
from collections import Counter

import numpy as np
import pytest
import torch

from workflow_scripts.policies import rollouts as answers
from workflow_scripts.policies.model import Architecture, Weights, logits, new_policy
from workflow_scripts.policies.objectives.advantages import group_advantages
from workflow_scripts.policies.rollouts import Rollouts, described
from workflow_scripts.policies.state import load_state, new_state, save_state
from workflow_scripts.policies.tokenizer import Tokenizer
from workflow_scripts.policies.training import LineSettings, prompts_of_step, train_segment
from workflow_scripts.policies.updates import measured
from workflow_scripts.records import seeds
from workflow_scripts.records.errors import UserError

WORDS = Tokenizer(("<pad>", "<unk>", "<eos>", "?", "a", "b", "c", "d"))
SIZES = Architecture(len(WORDS), hidden=16, layers=2, heads=2, head_dim=8, mlp=24, positions=16)
PROMPTS = [[3, 4], [3, 5], [3, 3, 6], [3, 7], [3, 3]]
GRPO = LineSettings(seed=1, line="g", prompts=3, samples=6, max_new_tokens=5, rate=3e-3, measured=2)
PPO = dataclasses.replace(GRPO, line="p", objective="ppo", prompts=4, samples=2, parts=2, kl=0.01, entropy=0.01)


def reward(pairs):
    """One point for naming the prompt's last letter; the opening is the first letter said."""
    return [
        {
            "score": float(WORDS.words[PROMPTS[index][-1]] in text.split()),
            "think_opening": text[:1],
            "answer_opening": text[-1:],
            "formula_form": text[-1:],
            "format_ok": len(text) < 6,
        }
        for index, text in pairs
    ]


def policy(seed=1):
    return new_policy(SIZES, seed, spread=0.32)  # uneven enough for samples to repeat


def trained(settings, last, state=None, start=None, judge=reward):
    start = start or policy()
    state = state or new_state(start, critic=settings.critic)
    return state, list(train_segment(state, start, PROMPTS, judge, WORDS, settings, last))


def timeless(rows):
    return [{name: value for name, value in row.items() if not name.startswith("seconds")} for row in rows]


@pytest.mark.parametrize("settings", [GRPO, PPO, dataclasses.replace(GRPO, parts=3, divide=False, average="constant")])
def test_four_steps_equal_two_and_two(tmp_path, settings):
    whole, rows = trained(settings, 4)
    half, first = trained(settings, 2)
    save_state(half, tmp_path, settings)
    rest, second = trained(settings, 4, load_state(tmp_path, settings))
    assert timeless(rows) == timeless(first + second) and len(rows) == 4
    assert rest.step == whole.step == 4 and rest.actor.steps == whole.actor.steps > 0
    for name in ("actor", "critic") if settings.critic else ("actor",):
        one, other = getattr(whole, name), getattr(rest, name)
        assert torch.equal(one.policy.flat, other.policy.flat)
        assert torch.equal(one.mean, other.mean) and torch.equal(one.square, other.square)
    assert not torch.equal(whole.policy.flat, policy().flat)


@pytest.mark.parametrize("settings", [GRPO, PPO])
def test_reward_rises(settings):
    settings = dataclasses.replace(settings, prompts=5, samples=12, parts=1, critic_rate=3e-3)
    _, rows = trained(settings, 40)
    early, late = (np.mean([row["reward"] for row in part]) for part in (rows[:3], rows[-3:]))
    assert late > early + 0.15
    assert rows[0]["kl"] == pytest.approx(0, abs=1e-6) and rows[-1]["kl"] > 0.01
    assert all(0 <= row["token_entropy"] <= math.log(len(WORDS)) for row in rows)
    if settings.critic:
        assert rows[-1]["value_loss"] < 0.2


MEASURES = [{"entrance_entropy": 0.3}, {"spread_entropy": 0.3}, {"low_access": 2.0}, {"pass_at_k": 3}]


@pytest.mark.parametrize("measures", MEASURES)
def test_a_countermeasure_changes_a_line_which_still_goes_on_bit_for_bit(tmp_path, measures):
    settings = dataclasses.replace(GRPO, countermeasures=measures, parts=2)
    whole, rows = trained(settings, 4)
    half, _ = trained(settings, 2)
    save_state(half, tmp_path, settings)
    rest, _ = trained(settings, 4, load_state(tmp_path, settings))
    assert torch.equal(whole.policy.flat, rest.policy.flat) and all(math.isfinite(row["loss"]) for row in rows)
    plain = dataclasses.replace(settings, countermeasures=None)
    assert not torch.equal(whole.policy.flat, trained(plain, 4)[0].policy.flat)
    with pytest.raises(UserError, match="countermeasures"):
        load_state(tmp_path, plain)


@pytest.mark.parametrize("kl", [0.0, 1e-12])
def test_the_entrance_bonus_is_the_entropy_of_the_entrance_tokens(kl):
    """The gradient of -c Σ w H over entrances: of answers cut where nothing more counts, and whole as the KL needs."""
    settings = dataclasses.replace(
        GRPO, prompts=5, rate=1.0, clip_norm=1e9, kl=kl, countermeasures={"entrance_entropy": 0.7}
    )
    start = policy()
    state = new_state(start, critic=False)

    def judge(pairs):  # no reward, so the bonus is all there is
        return [verdict | {"score": 0.0} for verdict in reward(pairs)]

    (row,) = train_segment(state, start, PROMPTS, judge, WORDS, settings, 1)
    chosen = prompts_of_step(settings, len(PROMPTS), 1)
    keys = [[seeds.key(1, "g", 1, index, sample) for sample in range(6)] for index in chosen]
    batch = answers.collect(
        start, [PROMPTS[i] for i in chosen], chosen, np.array(keys, np.uint64), judge, WORDS,
        temperature=1.0, top_p=1.0, max_new_tokens=5
    )  # fmt: skip
    weights, total, tokens = Weights(start, trained=True), 0.0, int(batch.counts @ batch.lengths)
    for (prompt, said), count, verdict in zip(batch.texts, batch.counts.tolist(), batch.verdicts, strict=True):
        words = [WORDS.words[token] for token in said]
        if verdict["think_opening"] in words:  # else the letter is only part of a word
            at = words.index(verdict["think_opening"])
            state_there = weights.hidden(torch.tensor([[*prompt, *said]]))[0, len(prompt) - 1 + at]
            shares = torch.log_softmax(state_there @ weights.head.t(), -1)
            total = total + 0.7 * count / tokens * (shares.exp() * shares).sum()
    start.grad.zero_()
    total.backward()
    weights.backward()
    assert row["loss"] == pytest.approx(total.item(), rel=1e-4)
    assert torch.allclose(state.policy.grad, start.grad, atol=1e-5 * start.grad.abs().max().item(), rtol=1e-3)


def test_the_entrance_bonus_keeps_entrances_apart():
    settings = dataclasses.replace(GRPO, prompts=5, samples=12)
    ends = {}  # entrance entropy at the end
    for name, measures in {"plain": None, "bonus": {"entrance_entropy": 1.0}}.items():
        _, rows = trained(dataclasses.replace(settings, countermeasures=measures), 20)
        ends[name] = np.mean([row["entrance_entropy"] for row in rows[-5:]])
    assert ends["bonus"] > ends["plain"] + 0.1


def test_kl_is_measured_from_the_policy_that_the_line_starts_from():
    """A line that starts from another policy than the base: what is given as start is the reference."""
    settings = dataclasses.replace(GRPO, kl=0.1, prompts=5)
    warm, other = policy(3), policy(4)
    state, rows = trained(settings, 3, start=warm)
    assert rows[0]["kl"] == pytest.approx(0, abs=1e-6) and rows[-1]["kl"] > 0
    assert torch.equal(warm.flat, policy(3).flat)  # the reference itself is not trained
    away, far = trained(settings, 3, state=new_state(warm, critic=False), start=other)
    assert far[0]["kl"] > 0.01 and not torch.equal(state.policy.flat, away.policy.flat)


def test_a_wider_upper_bound_acts_from_the_second_update_on():
    one = dataclasses.replace(GRPO, prompts=5, rate=0.1, clip_low=0.01, clip_high=0.01)
    wide = dataclasses.replace(one, clip_high=10.0)
    assert torch.equal(trained(one, 1)[0].policy.flat, trained(wide, 1)[0].policy.flat)
    narrow, wider = (trained(dataclasses.replace(s, parts=5), 1) for s in (one, wide))
    assert narrow[1][0]["clipped"] > wider[1][0]["clipped"]
    assert not torch.equal(narrow[0].policy.flat, wider[0].policy.flat)


def sampled(seed=1, samples=6):
    problems = [0, 1, 2]
    keys = np.array([[seeds.key(seed, g, s) for s in range(samples)] for g in problems], dtype=np.uint64)
    return policy(), answers.collect(
        policy(), PROMPTS[:3], problems, keys, reward, WORDS, temperature=1.0, top_p=1.0, max_new_tokens=5
    )


@pytest.mark.parametrize("average", ["token", "sequence", "constant"])
def test_the_update_equals_plain_policy_gradient_over_all_samples(average):
    """Repetitions merged and silent groups skipped: the same gradient as one sample at a time without either."""
    settings = dataclasses.replace(GRPO, average=average, prompts=5, max_new_tokens=2, rate=1.0, clip_norm=1e9)
    start = policy()
    state = new_state(start, critic=False)

    def judge(pairs):  # nobody solves the first problem
        return [verdict | {"score": verdict["score"] * (pair[0] > 0)} for pair, verdict in zip(pairs, reward(pairs))]

    (row,) = train_segment(state, start, PROMPTS, judge, WORDS, settings, 1)
    chosen = prompts_of_step(settings, len(PROMPTS), 1)
    keys = [[seeds.key(1, "g", 1, index, sample) for sample in range(6)] for index in chosen]
    batch = answers.collect(
        start, [PROMPTS[i] for i in chosen], chosen, np.array(keys, np.uint64), judge, WORDS,
        temperature=1.0, top_p=1.0, max_new_tokens=2
    )  # fmt: skip
    assert len(batch.texts) < 30 and 0 < row["zero_variance"] < 1  # both shortcuts are taken
    gains = group_advantages(batch.sampled(batch.rewards))
    weights, total, place, tokens = Weights(start, trained=True), 0.0, Counter(), int(batch.counts @ batch.lengths)
    for (prompt, said), group, count in zip(batch.texts, batch.groups.tolist(), batch.counts.tolist(), strict=True):
        for _ in range(count):
            gain = gains[group, place[group]]
            place[group] += 1
            states = weights.hidden(torch.tensor([[*prompt, *said]]))[0, len(prompt) - 1 : -1]
            shares = torch.log_softmax(states @ weights.head.t(), -1)
            each = {"token": 1 / tokens, "sequence": 1 / (30 * len(said)), "constant": 1 / (30 * 2)}[average]
            total = total - gain * each * shares[torch.arange(len(said)), torch.tensor(said)].sum()
    start.grad.zero_()
    total.backward()
    weights.backward()
    assert torch.allclose(state.policy.grad, start.grad, atol=1e-5 * start.grad.abs().max().item(), rtol=1e-4)
    assert row["grad_norm"] == pytest.approx(start.grad.norm().item(), rel=1e-4)


def test_collected_answers_are_whole():
    model, batch = sampled()
    assert batch.counts.sum() == 18 and batch.shape == (3, 6)
    assert len({(g, text[1]) for g, text in zip(batch.groups.tolist(), batch.texts, strict=True)}) == len(batch.texts)
    for place, (prompt, said) in enumerate(batch.texts):
        assert prompt == PROMPTS[int(batch.groups[place])]
        assert batch.stopped[place] == (said[-1] == WORDS.end_id) and len(said) <= 5 and WORDS.end_id not in said[:-1]
        shares = torch.log_softmax(logits(model, torch.tensor([[*prompt, *said]]))[0], -1)
        for step, token in enumerate(said):
            wanted = shares[len(prompt) - 1 + step, token]
            assert batch.log_probs[place, step] == pytest.approx(wanted.item(), abs=1e-4)


def test_a_batch_described_by_hand():
    def verdict(score, opening, formula, ok=True):
        return {"score": score, "think_opening": opening, "formula_form": formula, "format_ok": ok}

    batch = Rollouts(
        texts=[([3], [4, 2]), ([3], [5, 5, 2]), ([3], [4, 5, 5, 5]), ([6], [4, 2])],
        groups=torch.tensor([0, 0, 0, 1]),
        counts=torch.tensor([2, 1, 1, 4]),
        rewards=torch.tensor([1.0, 1.0, 0.0, 0.0]),
        stopped=torch.tensor([True, True, False, True]),
        log_probs=torch.zeros(4, 4),
        verdicts=[verdict(1, "4*", "f"), verdict(1, "5+", "g"), verdict(0, "", "h", False), verdict(0, "4*", "k")],
        shape=(2, 4),
    )
    found = described(batch)
    assert found.pop("entrance_entropy") == pytest.approx((math.log(3) - 2 / 3 * math.log(2)) / 2)
    assert found == pytest.approx({
        "reward": 3 / 8, "format_ok": 7 / 8, "truncated": 1 / 8, "length": (4 + 3 + 4 + 8) / 8, "distinct": 0.5,
        "zero_variance": 0.5, "distinct_formulas": 1.0,
    })  # fmt: skip


def test_entropy_and_kl_over_the_sampled_tokens():
    model, batch = sampled()
    start = policy(2)
    entropies, gaps, count = 0.0, 0.0, 0
    for place, (prompt, said) in enumerate(batch.texts):
        tokens = torch.tensor([[*prompt, *said]])
        now, before = (torch.log_softmax(logits(m, tokens)[0, len(prompt) - 1 : -1], -1) for m in (model, start))
        entropies -= (now.exp() * now).sum().item() * int(batch.counts[place])
        gaps += (now.exp() * (now - before)).sum().item() * int(batch.counts[place])
        count += len(said) * int(batch.counts[place])
    found = measured(Weights(model), Weights(start), batch, range(len(batch.texts)))
    assert found == pytest.approx({"token_entropy": entropies / count, "kl": gaps / count}, rel=1e-4)


def test_each_prompt_once_an_epoch_in_a_new_order():
    settings = dataclasses.replace(GRPO, prompts=4)
    stream = [index for step in range(1, 6) for index in prompts_of_step(settings, 10, step)]
    assert sorted(stream[:10]) == sorted(stream[10:]) == list(range(10)) and stream[:10] != stream[10:]
    assert stream[:4] == prompts_of_step(settings, 10, 1)
    small = prompts_of_step(dataclasses.replace(GRPO, prompts=7), 3, 1)  # more than an epoch in one step
    assert Counter(small[:6]) == {0: 2, 1: 2, 2: 2}


def test_all_groups_alike_leave_the_policy_alone():
    state, rows = trained(GRPO, 1, judge=lambda pairs: [{"score": 1.0} for _ in pairs])
    assert torch.equal(state.policy.flat, policy().flat) and state.actor.steps == 0
    assert rows[0]["zero_variance"] == rows[0]["reward"] == 1 and rows[0]["grad_norm"] == 0
    assert rows[0]["token_entropy"] > 0


@pytest.mark.parametrize(
    ("change", "match"),
    [
        ({"objective": "dpo"}, "dpo"),
        ({"average": "mean"}, "mean"),
        ({"samples": 1}, "at least 2"),
        ({"parts": 9}, "parts"),
        ({"prompts": 0}, "prompts"),
        ({"countermeasures": {"low_acces": 1.0}}, "low_acces"),
        ({"countermeasures": {"low_access": 1.0}, "objective": "ppo"}, "grpo"),
    ],
)
def test_impossible_settings_are_refused(change, match):
    with pytest.raises(UserError, match=match):
        dataclasses.replace(GRPO, **change)


@pytest.mark.parametrize("score", [float("nan"), float("inf")])
def test_scores_must_be_finite(score):
    with pytest.raises(UserError, match="finite score"):
        trained(GRPO, 1, judge=lambda pairs: [{"score": score} for _ in pairs])


def test_a_line_that_breaks_names_step_and_line():
    with pytest.raises(UserError, match="step 1 of line g"):
        trained(dataclasses.replace(GRPO, rate=float("inf")), 2)
