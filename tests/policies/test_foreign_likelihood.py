"""policies/likelihood.py on transformers models: beside a plain forward pass, alone and in batches, and sampled."""

import math

import numpy as np
import pytest
import torch
from foreign_folders import save
from transformers import AutoModelForCausalLM

from workflow_scripts.policies import foreign_likelihood
from workflow_scripts.policies.architecture import Architecture
from workflow_scripts.policies.decoding import decode
from workflow_scripts.policies.foreign_likelihood import predicted
from workflow_scripts.policies.foreign_model import load_foreign
from workflow_scripts.policies.foreign_tokenizer import load_any_tokenizer
from workflow_scripts.policies.likelihood import _chunks, next_pairs, same_tokenizer, token_log_probs
from workflow_scripts.policies.model import load_policy, new_policy, save_policy
from workflow_scripts.policies.readers import reading
from workflow_scripts.policies.tokenizer import SPECIAL, save_tokenizer
from workflow_scripts.records.errors import UserError
from workflow_scripts.records.seeds import sample_keys

KINDS = ("gpt2", "qwen3", "llama")
ASKED = "<|user|>Using the numbers 4, 7 and {}, make 28.<|stop|>\nLet me try:"
TEXTS = [
    (ASKED.format(12), " 4 * 7 = 28, 28 - 12 = 16 </think>"),
    (ASKED.format(12), " 12 + 4"),
    (ASKED.format(9), " ünï 4"),
    (ASKED.format(12), ""),
    ("4", " 4 * 7 = 28" * 8),
    (ASKED.format(12), " 12 + 4"),
]
STUDY = {"temperature": 0.7, "top_p": 0.95}


@pytest.fixture(scope="module")
def folders(tmp_path_factory):
    torch.set_num_threads(1)
    return {kind: save(tmp_path_factory.mktemp("policies") / f"a {kind}", kind, spread=0.15) for kind in KINDS}


def alone(folder, prompt, said):
    """Log-probabilities by one plain forward pass, fp64 sums."""
    tokenizer, model = load_any_tokenizer(folder), AutoModelForCausalLM.from_pretrained(folder)
    given = tokenizer.encode_known(prompt)
    ids = [*tokenizer.encode_known(prompt + said), 0]
    with torch.no_grad():
        scores = model(torch.tensor([ids])).logits[0].double().log_softmax(-1)
    return [scores[at - 1, ids[at]].item() for at in range(len(given), len(ids))]


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("tokens_at_once", [None, 1, 100])
def test_any_batch_gives_what_a_text_gives_by_itself(folders, kind, tokens_at_once):
    found = token_log_probs(folders[kind], TEXTS, tokens_at_once=tokens_at_once)
    for (prompt, said), values in zip(TEXTS, found, strict=True):
        np.testing.assert_allclose(values, alone(folders[kind], prompt, said), atol=1e-5, rtol=0)
        np.testing.assert_allclose(values, token_log_probs(folders[kind], [(prompt, said)])[0], atol=1e-5, rtol=0)
    assert np.array_equal(found[1], found[5]) and len(found[3]) == 1
    assert token_log_probs(folders[kind], []) == []


def test_a_prompt_that_texts_share_is_read_once(folders, monkeypatch):
    passes = []
    real = foreign_likelihood.RowCache.read

    def read(self, ids, keep):
        passes.append(tuple(ids.shape))
        return real(self, ids, keep)

    monkeypatch.setattr(foreign_likelihood.RowCache, "read", read)
    token_log_probs(folders["llama"], TEXTS)
    prompt = len(load_any_tokenizer(folders["llama"]).encode_known(ASKED.format(12)))
    assert passes[0] == (1, prompt) and len(passes) == 2 and passes[1][0] == 3


def test_chunks_say_what_they_predict(folders):
    """The same targets, texts and steps as the built-in chunks, in whatever order."""
    policy = load_foreign(folders["gpt2"])
    texts = [((5, 6, 7), (8, 9)), ((5, 6), (8, 9, 3)), ((5, 6, 7), (4,)), ((5, 6, 7), (8, 9, 3, 1))]
    found = {}
    for chunk, logits in predicted(policy, texts, 8):
        assert logits.shape == (len(chunk.rows), policy.vocabulary) and logits.dtype == torch.float32
        for text, step, target, row in zip(chunk.texts, chunk.steps, chunk.targets, logits, strict=True):
            found[int(text), int(step)] = int(target), row
    assert {key: target for key, (target, _) in found.items()} == {
        (text, step): token for text, (_, said) in enumerate(texts) for step, token in enumerate(said)
    }
    with torch.no_grad():
        wanted = policy.model(torch.tensor([[5, 6, 7, 8, 9, 3, 1]], device=policy.device)).logits[0, 2:-1]
    for step in range(4):
        torch.testing.assert_close(found[3, step][1].cpu(), wanted[step].cpu(), atol=1e-5, rtol=0)


def test_spans_say_where_a_text_can_be_cut(folders):
    ((values, spans),) = token_log_probs(folders["gpt2"], TEXTS[:1], spans=True)
    said = TEXTS[0][1]
    assert spans.dtype == np.int32 and len(spans) == len(values)
    assert "".join(said[start:end] for start, end in spans.tolist()) == said
    assert spans[-1].tolist() == [len(said), len(said)]
    operator = said.index("*") + 1
    before = int((spans[:-1, 0] < operator).sum())
    assert said[: spans[before - 1, 1]] == " 4 *"  # up to and with the operator


def test_bytes_of_one_letter_share_its_span(folders):
    ((values, spans),) = token_log_probs(folders["gpt2"], [("4", " ΩΩ")], spans=True)
    assert len(values) == 6 and spans.tolist() == [[0, 1], [1, 2], [1, 2], [2, 3], [2, 3], [3, 3]]


def test_word_level_spans(tmp_path):
    save_policy(new_policy(Architecture(6, hidden=8, layers=1, heads=1, head_dim=8, mlp=8), seed=1), tmp_path)
    save_tokenizer((*SPECIAL, "try", "4", "*"), tmp_path)
    ((values, spans),) = token_log_probs(tmp_path, [("4", "try 4 *")], spans=True)
    assert len(values) == 4 and spans.tolist() == [[0, 3], [4, 5], [6, 7], [7, 7]]
    assert np.array_equal(values, token_log_probs(tmp_path, [("4", "try 4 *")])[0])


def test_the_small_policies_are_scored_the_same_by_both_engines(tmp_path):
    save_policy(new_policy(Architecture(30, "qwen3", positions=40), seed=2, spread=0.15), tmp_path)
    save_tokenizer((*SPECIAL, *"abcdefghijklmnopqrstuvwxyz."), tmp_path)
    texts = [((3, 4, 5), (6, 7, 8, 2)), ((3, 4, 5), (9, 2)), ((20,), (9, 10, 11, 12, 2))]
    rows = {}
    for engine, policy in (("own", load_policy(tmp_path)), ("foreign", load_foreign(tmp_path))):
        for chunk, logits in _chunks(policy, texts, None):
            for text, step, row in zip(chunk.texts.tolist(), chunk.steps.tolist(), logits.log_softmax(-1), strict=True):
                rows[engine, text, step] = row.cpu()
    assert len(rows) == 2 * 11
    for text, (_, said) in enumerate(texts):
        for step in range(len(said)):
            torch.testing.assert_close(rows["own", text, step], rows["foreign", text, step], atol=1e-5, rtol=0)


@pytest.mark.parametrize("kind", KINDS)
def test_pairs_are_products_over_the_tokens_of_their_words(folders, kind):
    prompt, firsts, seconds = ASKED.format(12), ["4", "12", "128"], ["*", "+"]
    tokenizer = load_any_tokenizer(folders[kind])
    said = {(a, b): f" {a} {b}" for a in firsts for b in seconds}
    assert len({len(tokenizer.join(prompt, text)[1]) for text in said.values()}) > 1  # words of several tokens
    ((plain, decoded),) = next_pairs(folders[kind], [(prompt, firsts, seconds)], lead=" ", temperature=1, top_p=1)
    scored = token_log_probs(folders[kind], [(prompt, text) for text in said.values()])
    wanted = np.reshape([math.exp(values[:-1].sum()) for values in scored], plain.shape)
    np.testing.assert_allclose(plain, wanted, rtol=1e-4)
    np.testing.assert_allclose(decoded, plain, rtol=1e-5)


def test_pairs_under_truncation_are_what_is_sampled(folders):
    """30,000 samples: every frequency within 4.5 standard errors; what the nucleus leaves out is never said."""
    folder, samples = folders["gpt2"], 30_000
    policy, tokenizer = load_foreign(folder), load_any_tokenizer(folder)
    prompt = ASKED.format(9)
    keys = sample_keys("pairs", samples=range(samples))[None]
    call = {"max_new_tokens": 2, "eos_id": 0, "reader": reading, "rows_at_once": 4096}
    decoded = decode(policy, [tokenizer.encode_known(prompt)], keys, temperature=0.5, top_p=0.6, **call)
    pairs, counts = np.unique(decoded.tokens[0], axis=0, return_counts=True)
    # the pairs said most whose tokens are words and whose spelling is the tokenizer's own
    spelled = {}
    for (one, other), count in zip(pairs.tolist(), counts.tolist()):
        first, second = tokenizer.piece(one), tokenizer.piece(other)
        text = first + second
        whole = other >= 0 and second.startswith(" ") and " " not in second[1:]
        if whole and tokenizer.straddling(prompt, text) == "" and tokenizer.join(prompt, text)[1] == (one, other):
            spelled[first, second[1:]] = count
    best = sorted(spelled, key=spelled.get)[-4:]
    assert sum(spelled[pair] for pair in best) > 100
    for first, second in best:
        ((_, share),) = next_pairs(folder, [(prompt, [first], [second])], lead="", temperature=0.5, top_p=0.6)
        exact = share[0, 0]
        assert abs(spelled[first, second] / samples - exact) <= 4.5 * math.sqrt(exact * (1 - exact) / samples)
    missing = next_pairs(folder, [(prompt, ["Q", "Ω"], ["Z"])], lead="", temperature=0.5, top_p=0.1)[0]
    assert (missing[0] > 0).all() and (missing[1] == 0).all()


@pytest.mark.parametrize(
    ("text", "match"),
    [
        (("Let me tr", "y: 4"), "' try' is one token"),
        (("", " 4"), "no prompt"),
        (("4" * 100, " 7" * 100), r"longer than the policy's 160 positions"),
    ],
)
def test_bad_texts_are_named(folders, text, match):
    with pytest.raises(UserError, match=match) as caught:
        token_log_probs(folders["gpt2"], [("4", " 4"), text])
    assert str(folders["gpt2"]) in str(caught.value)


def test_bad_pairs_are_named(folders):
    with pytest.raises(UserError, match="hold one twice"):
        next_pairs(folders["gpt2"], [("4", ["4", "4"], ["*"])], lead=" ", **STUDY)
    with pytest.raises(UserError, match="is one token"):
        next_pairs(folders["gpt2"], [("Let me tr", ["y"], ["*"])], lead="", **STUDY)


def test_tokenizers_are_told_apart(folders, tmp_path):
    same_tokenizer(list(folders.values()))
    save_tokenizer((*SPECIAL, "a"), tmp_path)
    with pytest.raises(UserError, match="different tokenizers"):
        same_tokenizer([folders["gpt2"], tmp_path])
