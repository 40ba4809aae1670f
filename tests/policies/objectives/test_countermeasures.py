"""Countermeasures against numbers worked by hand and against brute force; which of them a line may have."""

import ast
from itertools import combinations
from pathlib import Path

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from workflow_scripts.policies import objectives
from workflow_scripts.policies.objectives import entrance_entropy, low_access, pass_at_k, registry, spread_entropy
from workflow_scripts.policies.rollouts import Rollouts
from workflow_scripts.policies.tokenizer import Tokenizer
from workflow_scripts.records.digest import of_code
from workflow_scripts.records.errors import UserError

WORDS = Tokenizer(("<pad>", "<unk>", "<eos>", "try", "4", "7", "10", "*", "-", "no"))
NAMES = ("entrance_entropy", "spread_entropy", "low_access", "pass_at_k")


def batch(texts, *, openings, counts, groups, rewards, samples):
    tokens = [([3], WORDS.encode(text)) for text in texts]
    verdicts = [{"think_opening": first, "answer_opening": last} for first, last in openings]
    longest = max(len(said) for _, said in tokens)
    return Rollouts(
        texts=tokens,
        groups=torch.tensor(groups),
        counts=torch.tensor(counts),
        rewards=torch.tensor(rewards),
        stopped=torch.ones(len(texts), dtype=torch.bool),
        log_probs=torch.zeros(len(texts), longest),
        verdicts=verdicts,
        shape=(max(groups) + 1, samples),
    )


def example():
    """Two prompts of four samples; rewards 1, 1, 0 (twice) and 1, 0 (thrice)."""
    return batch(
        ["try 4 * 7 <eos>", "try 7 - 4 no try 4 * 7 <eos>", "no", "4 4 10 - 4", "try"],
        openings=[("4*", "4*"), ("7-", "4*"), ("", ""), ("10-", "10-"), (None, "7-")],
        counts=[1, 1, 2, 1, 3],
        groups=[0, 0, 0, 1, 1],
        rewards=[1.0, 1.0, 0.0, 1.0, 0.0],
        samples=4,
    )


MARKED = [  # operand and operator of the first step; the text without one has none
    [0, 1, 1, 0, 0, 0, 0, 0, 0, 0],
    [0, 1, 1, 0, 0, 0, 0, 0, 0, 0],
    [0, 0, 0, 0, 0, 0, 0, 0, 0, 0],
    [0, 0, 1, 1, 0, 0, 0, 0, 0, 0],
    [0, 0, 0, 0, 0, 0, 0, 0, 0, 0],
]


def test_entropy_is_paid_on_the_entrance_alone():
    found = entrance_entropy.entropy_bonus(example(), torch.ones(5), WORDS, 0.5)
    assert found.dtype == torch.float32 and found.tolist() == (torch.tensor(MARKED) * 0.5).tolist()


def test_entropy_spread_evenly_by_hand():
    """Lengths 5, 10, 1, 5, 1 (once each) hold 2 + 2 + 2 entrance tokens: m = 6/22, of all tokens alike."""
    found = spread_entropy.entropy_bonus(example(), torch.ones(5), WORDS, 1.1)
    assert [(row > 0).sum().item() for row in found] == [5, 10, 1, 5, 1]
    assert torch.allclose(found[found > 0], torch.tensor(0.3))


@given(st.lists(st.floats(0, 3, width=32), min_size=5, max_size=5).filter(any), st.floats(0.01, 9))
def test_both_entropy_bonuses_weigh_the_same_in_sum(weights, coefficient):
    weights = torch.tensor(weights)
    lone, spread = (
        (weights[:, None] * module.entropy_bonus(example(), weights, WORDS, coefficient)).sum().item()
        for module in (entrance_entropy, spread_entropy)
    )
    assert spread == pytest.approx(lone, rel=1e-4, abs=1e-6)


def test_rare_families_earn_more_by_hand():
    """Prompt 1: both correct answers open with 4*, half of the group; prompt 2: the correct one is a quarter."""
    b = example()
    openings = [verdict["answer_opening"] for verdict in b.verdicts]
    found = low_access.scarce_rewards(b.rewards, openings, b.groups, b.counts, 2.0)
    assert found.tolist() == [2.0, 2.0, 0.0, 2.5, 0.0]
    gains = low_access.advantages(b, 2.0, divide=False)
    assert gains.tolist() == [[1.0, 1.0, -1.0, -1.0], [1.875, -0.625, -0.625, -0.625]]


def test_all_correct_groups_still_favour_the_rare_family():
    b = batch(
        ["4", "7"], openings=[("4*", "4*"), ("7-", "7-")], counts=[3, 1], groups=[0, 0], rewards=[1.0, 1.0], samples=4
    )
    gains = low_access.advantages(b, 1.0, divide=True)
    assert gains[0, 3] > 0 > gains[0, 0] and gains.sum().item() == pytest.approx(0, abs=1e-5)


@pytest.mark.parametrize(
    ("rewards", "k", "divide", "wanted"),
    [
        # one of four correct, k = 2: R = 1/2; with a given wrong one 1/3 of the pairs pass
        ([1, 0, 0, 0], 2, False, [1 / 2, -1 / 6, -1 / 6, -1 / 6]),
        ([1, 0, 0, 0], 2, True, [1, -1 / 3, -1 / 3, -1 / 3]),
        # two of four: R = 5/6, 2/3 with a given wrong one
        ([1, 0, 1, 0], 2, False, [1 / 6, -1 / 6, 1 / 6, -1 / 6]),
        ([1, 1, 1, 0], 2, True, [0, 0, 0, 0]),  # any pair passes
        ([0, 0, 0, 0], 2, True, [0, 0, 0, 0]),
        ([1, 1, 1, 1], 3, True, [0, 0, 0, 0]),
        ([1, 0, 0, 0], 1, False, [3 / 4, -1 / 4, -1 / 4, -1 / 4]),  # the centred rewards
    ],
)
def test_pass_at_k_advantages_by_hand(rewards, k, divide, wanted):
    found = pass_at_k.subset_advantages(torch.tensor([rewards, rewards[::-1]]).float(), k, divide=divide)
    assert torch.allclose(found, torch.tensor([wanted, wanted[::-1]]).float(), atol=1e-6)


@given(st.lists(st.sampled_from([0.0, 1.0]), min_size=2, max_size=8), st.data())
def test_pass_at_k_advantages_equal_those_over_all_subsets(rewards, data):
    n = len(rewards)
    k = data.draw(st.integers(1, n - 1))
    passes = {subset: max(rewards[i] for i in subset) for subset in combinations(range(n), k)}
    mean = sum(passes.values()) / len(passes)
    found = pass_at_k.subset_advantages(torch.tensor([rewards]), k, divide=False)[0]
    for i in range(n):
        inside = [value for subset, value in passes.items() if i in subset]
        outside = [value for subset, value in passes.items() if i not in subset]
        assert found[i].item() == pytest.approx(sum(inside) / len(inside) - mean, abs=1e-6)
        left_out = sum(inside) / len(inside) - sum(outside) / len(outside)
        assert found[i].item() * n / (n - k) == pytest.approx(left_out, abs=1e-5)
    assert found.sum().item() == pytest.approx(0, abs=1e-5)


@pytest.mark.parametrize(
    ("coefficient", "reward", "match"), [(4, 1.0, "1 to 3"), (1.5, 1.0, "whole number"), (2, 0.5, "0 and 1")]
)
def test_pass_at_k_refuses(coefficient, reward, match):
    b = example()
    b.rewards[0] = reward
    with pytest.raises(UserError, match=match):
        pass_at_k.advantages(b, coefficient, divide=True)


@pytest.mark.parametrize(("name", "key"), [("low_access", "answer_opening"), ("entrance_entropy", "think_opening")])
def test_verdicts_without_the_opening_are_refused(name, key):
    b = example()
    del b.verdicts[2][key]
    with pytest.raises(UserError, match=key):
        registry.sample_advantages({name: 1.0}, b, divide=True)
        registry.entropy_coefficients({name: 1.0}, b, torch.ones(5), WORDS)


@pytest.mark.parametrize("name", NAMES)
def test_the_registry_finds_each_by_name(name):
    assert registry.find(name).__name__.endswith(f".{name}")


@pytest.mark.parametrize("name", ["nothing", "critic", "registry", "os.path", "../sft", "", "__init__"])
def test_what_is_no_countermeasure_is_refused(name):
    with pytest.raises(UserError, match="no countermeasure"):
        registry.find(name)


@pytest.mark.parametrize(
    ("named", "match"),
    [
        ({"low_access": 1.0, "pass_at_k": 2}, "low_access and pass_at_k"),
        ({"entrance_entropy": 0.0}, "above 0"),
        ({"entrance_entropy": float("nan")}, "above 0"),
        ({"entrance": 0.1}, "no countermeasure 'entrance'"),
    ],
)
def test_impossible_combinations_are_refused(named, match):
    with pytest.raises(UserError, match=match):
        registry.check(named)


def test_bonuses_add_up_and_advantages_keep_grpo_without_one():
    b, weights = example(), torch.ones(5)
    both = registry.entropy_coefficients({"entrance_entropy": 0.5, "spread_entropy": 1.1}, b, weights, WORDS)
    parts = entrance_entropy.entropy_bonus(b, weights, WORDS, 0.5), spread_entropy.entropy_bonus(b, weights, WORDS, 1.1)
    assert torch.equal(both, parts[0] + parts[1])
    assert registry.entropy_coefficients({"low_access": 1.0}, b, weights, WORDS) is None
    plain = registry.sample_advantages(None, b, divide=True)
    assert torch.equal(plain, registry.sample_advantages({"entrance_entropy": 0.5}, b, divide=True))
    assert not torch.equal(plain, registry.sample_advantages({"low_access": 1.0}, b, divide=True))


def test_a_line_depends_on_the_countermeasures_that_it_names_alone():
    """None is imported by the trainer, so that the digest of its code is theirs only where they are asked for."""
    trainer = Path(objectives.__file__).parents[1]
    for path in [*trainer.glob("*.py"), Path(registry.__file__), trainer.parent / "stages/train_segment.py"]:
        for node in ast.walk(ast.parse(path.read_text())):
            named = [alias.name for alias in node.names] if isinstance(node, ast.Import | ast.ImportFrom) else []
            named = [*named, (getattr(node, "module", "") or "").split(".")[-1]]
            assert not set(named) & set(NAMES), f"{path.name} imports {named}"
    plain = of_code("stages/train_segment.py")
    wider = {of_code("stages/train_segment.py", f"policies/objectives/{name}.py") for name in NAMES}
    assert len(wider | {plain}) == 5
