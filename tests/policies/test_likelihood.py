"""policies/likelihood.py: worked by hand on a tiny policy, and beside the decoder and the plain forward pass."""

import math

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from workflow_scripts.policies import likelihood
from workflow_scripts.policies.architecture import EMBEDDING, FINAL_NORM, Architecture
from workflow_scripts.policies.decoding import DecodeWeights, decode
from workflow_scripts.policies.likelihood import next_pairs, same_tokenizer, token_log_probs
from workflow_scripts.policies.model import Policy, load_policy, logits, new_policy, save_policy
from workflow_scripts.policies.tokenizer import SPECIAL, load_tokenizer, save_tokenizer
from workflow_scripts.records.errors import UserError
from workflow_scripts.records.seeds import sample_keys

WORDS = (*SPECIAL, "a", "b")
RANDOM_WORDS = (*SPECIAL, "try", "1", "2", "3", "4", "+", "-", "*", "=", ",")
STUDY = {"temperature": 0.7, "top_p": 0.9}


@pytest.fixture(scope="module")
def by_hand(tmp_path_factory):
    """A policy that looks at the last word only: after `a` it says `a` with 1/2 and each of the four others with 1/8,
    after `b` it says `b` with 3/4 and each of the others with 1/16.

    All blocks add nothing (zero weights), so the last hidden state is the word's embedding over its root mean square:
    (√2, 0) of `a`, (0, √2) of `b`. The final norm's weights make the logits ln 4 of `a`, ln 12 of `b`, 0 of others.
    """
    folder = tmp_path_factory.mktemp("by hand")
    sizes = {"hidden": 2, "layers": 1, "heads": 1, "head_dim": 2, "mlp": 2, "positions": 12}
    policy = Policy(Architecture(len(WORDS), **sizes))
    with torch.no_grad():
        policy.parameters[EMBEDDING][3:] = torch.eye(2)
        policy.parameters[FINAL_NORM][:] = torch.tensor([math.log(4), math.log(12)]) / math.sqrt(2)
    save_policy(policy, folder)
    save_tokenizer(WORDS, folder)
    return folder


@pytest.fixture(scope="module")
def random(tmp_path_factory):
    folder = tmp_path_factory.mktemp("random")
    sizes = {"hidden": 16, "layers": 2, "heads": 2, "head_dim": 8, "mlp": 24, "positions": 40}
    policy = new_policy(Architecture(len(RANDOM_WORDS), **sizes), seed=4)
    with torch.no_grad():
        policy.flat.add_(0.3 * torch.randn(policy.flat.shape, generator=torch.Generator().manual_seed(4)))
    save_policy(policy, folder)
    save_tokenizer(RANDOM_WORDS, folder)
    return folder


@pytest.mark.parametrize(
    ("prompt", "continuation", "chances"),
    [
        ("a", "a b", [1 / 2, 1 / 8, 1 / 16]),
        ("b a", "b b b a", [1 / 8, 3 / 4, 3 / 4, 1 / 16, 1 / 8]),
        ("a b", "", [1 / 16]),
        ("b", "b", [3 / 4, 1 / 16]),
    ],
)
def test_log_probabilities_by_hand(by_hand, prompt, continuation, chances):
    (found,) = token_log_probs(by_hand, [(prompt, continuation)])
    assert found.dtype == np.float32
    np.testing.assert_allclose(found, np.log(chances), atol=2e-6)


@pytest.mark.parametrize(
    ("settings_", "after_a", "after_b"),
    [
        # top-p .6: after `a` three of the four equal words fall away, those that come first; after `b` only `b` is left
        ({"temperature": 1, "top_p": 0.6}, [0.8, 0.2], [0, 1]),
        ({"temperature": 1, "top_p": 1}, [1 / 2, 1 / 8], [1 / 16, 3 / 4]),
        ({"temperature": 0.5, "top_p": 1}, [16 / 20, 1 / 20], [1 / 148, 144 / 148]),
        ({"temperature": 0, "top_p": 1}, [1, 0], [0, 1]),
    ],
)
def test_pairs_by_hand(by_hand, settings_, after_a, after_b):
    plain, decoded = next_pairs(by_hand, [("b a", ["a", "b"], ["b", "a"])], lead="", **settings_)[0]
    np.testing.assert_allclose(plain, [[1 / 16, 1 / 4], [3 / 32, 1 / 128]], atol=1e-6)
    (aa, ab), (ba, bb) = after_a, after_b
    np.testing.assert_allclose(decoded, [[aa * ab, aa * aa], [ab * bb, ab * ba]], atol=1e-6)
    led = next_pairs(by_hand, [("b", ["a"], ["b"])], lead="a a", **settings_)[0]
    np.testing.assert_allclose(led[0], [[1 / 16 * 1 / 2 * 1 / 2 * 1 / 8]], atol=1e-6)
    np.testing.assert_allclose(led[1], [[ba * aa * aa * ab]], atol=1e-6)


words = st.lists(st.sampled_from(RANDOM_WORDS[3:]), min_size=1, max_size=15).map(" ".join)


@given(st.lists(st.tuples(words, words), min_size=1, max_size=12), st.sampled_from([1, 40, 200]))
@settings(max_examples=25)
def test_any_batch_gives_the_same_as_each_text_by_itself(random, texts, tokens_at_once):
    policy, tokenizer = load_policy(random), load_tokenizer(random)
    together = token_log_probs(random, texts, tokens_at_once=tokens_at_once)
    for (prompt, said), found in zip(texts, together, strict=True):
        ids = [*tokenizer.encode(f"{prompt} {said}"), tokenizer.end_id]
        scores = logits(policy, torch.tensor([ids[:-1]]))[0].log_softmax(-1)
        alone = scores[torch.arange(len(ids) - 1), torch.tensor(ids[1:])][len(prompt.split()) - 1 :]
        np.testing.assert_allclose(found, alone.numpy(), atol=1e-5, rtol=0)


def test_equal_texts_are_scored_once_and_parting_elsewhere_changes_nothing(random, monkeypatch):
    scored = []
    real = likelihood.teacher_forced
    monkeypatch.setattr(likelihood, "teacher_forced", lambda texts, **k: scored.append(len(texts)) or real(texts, **k))
    texts = [("1 2", "try 1 + 2"), ("3 4", "= 1"), ("1 2", "try 1 + 2"), ("1 2 try", "1 + 2")]
    found = token_log_probs(random, texts)
    assert scored == [3]
    assert np.array_equal(found[0], found[2])
    np.testing.assert_allclose(found[0][1:], found[3], atol=1e-5)
    assert token_log_probs(random, []) == []


@pytest.mark.parametrize("lead", ["", "try", "try 1"])
def test_pairs_sum_to_the_chance_of_the_lead(random, lead):
    every = list(RANDOM_WORDS)
    plain, decoded = next_pairs(random, [("1 2 3", every, every)], lead=lead, **STUDY, tokens_at_once=64)[0]
    said = token_log_probs(random, [("1 2 3", lead)])[0][:-1].sum()
    assert plain.sum() == pytest.approx(math.exp(said), rel=1e-5)
    assert plain.shape == decoded.shape == (len(every), len(every))
    assert (plain > 0).all()
    if lead:  # the nucleus does not hold it
        assert (decoded == 0).all()
    else:
        assert decoded.sum() == pytest.approx(1)
        assert 0.02 < (decoded > 0).mean() < 0.9


def test_pairs_are_the_chances_that_the_decoder_has(random):
    """20,000 samples: every frequency within 4.5 standard errors, and nothing sampled that has no probability."""
    tokenizer, samples = load_tokenizer(random), 20_000
    prompts = ["1 2 3", "4 3", "1 1 = 2 , 2"]
    found = next_pairs(random, [(prompt, RANDOM_WORDS, RANDOM_WORDS) for prompt in prompts], lead="", **STUDY)
    keys = np.stack([sample_keys("pairs", prompt, samples=range(samples)) for prompt in prompts])
    ids = [tokenizer.encode(prompt) for prompt in prompts]
    decoded = decode(DecodeWeights.load(random), ids, keys, **STUDY, max_new_tokens=2, eos_id=0)
    for (_, exact), tokens in zip(found, decoded.tokens):
        counts = np.zeros_like(exact)
        kept = tokens[tokens[:, 1] >= 0]
        np.add.at(counts, (kept[:, 0], kept[:, 1]), 1)
        exact[0] = counts[0]  # id 0 was the end: what comes after it is not sampled
        exact[0] /= samples
        assert (counts[exact == 0] == 0).all()
        assert (np.abs(counts / samples - exact) <= 4.5 * np.sqrt(exact * (1 - exact) / samples) + 1e-9).all()


@pytest.mark.parametrize(
    ("text", "match"),
    [
        (("1 2", "try 77"), "'77'.*vocabulary"),
        (("1 x", "try 1"), "'x'.*vocabulary"),
        (("", "try 1"), "no prompt"),
        (("1 2 " * 10, "try 1 " * 11), "20 \\+ 23 tokens is longer than the policy's 40 positions"),
    ],
)
def test_bad_texts_are_named(random, text, match):
    with pytest.raises(UserError, match=match) as caught:
        token_log_probs(random, [("1 2", "try 1"), text])
    assert str(random) in str(caught.value)


@pytest.mark.parametrize(
    ("context", "change", "match"),
    [
        (("1 2", ["1", "1"], ["+"]), {}, "one twice"),
        (("1 2", ["1"], ["+ 2"]), {}, "'\\+ 2'.*not one token"),
        (("1 2", ["1"], ["%"]), {}, "'%'.*vocabulary"),
        (("1 2", ["1"], ["+"]), {"lead": "let me try"}, "'let'.*vocabulary"),
        (("1 2", ["1"], ["+"]), {"top_p": 0}, "top_p 0"),
        (("1 2", ["1"], ["+"]), {"temperature": -1}, "temperature -1"),
    ],
)
def test_bad_pairs_are_named(random, context, change, match):
    with pytest.raises(UserError, match=match):
        next_pairs(random, [context], **(STUDY | change))


def test_other_tokenizers_are_named(random, by_hand, tmp_path):
    same_tokenizer([random, random])
    same_tokenizer([])
    with pytest.raises(UserError, match=r"(?s)by hand.*random.*different tokenizers.*in one only"):
        same_tokenizer([by_hand, by_hand, random])
    save_tokenizer((*SPECIAL, "b", "a"), tmp_path)
    with pytest.raises(UserError, match="differently"):
        same_tokenizer([by_hand, tmp_path])


def test_damaged_policies_are_named(by_hand, tmp_path):
    save_policy(load_policy(by_hand), tmp_path)
    save_tokenizer((*WORDS, "c"), tmp_path)
    with pytest.raises(UserError, match="6 words, the policy only 5"):
        token_log_probs(tmp_path, [("a", "b")])
    policy = load_policy(by_hand)
    with torch.no_grad():
        policy.parameters[FINAL_NORM].fill_(3e38)
        policy.parameters[EMBEDDING].mul_(3)
    save_policy(policy, tmp_path)
    save_tokenizer(WORDS, tmp_path)
    with pytest.raises(UserError, match="NaN or infinite"):
        token_log_probs(tmp_path, [("a", "b")])
