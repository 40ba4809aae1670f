"""vLLM beside the built-in engine on the same policies: ids, log-probabilities, frequencies, greedy texts, seeds."""
# ruff: noqa: E402  vLLM is looked for first

from contextlib import contextmanager

import numpy as np
import pytest

pytest.importorskip("vllm")
pytestmark = pytest.mark.engines

import torch
from scipy.stats import chisquare

from workflow_scripts.policies import vllm_likelihood, vllm_sampling
from workflow_scripts.policies.architecture import Architecture
from workflow_scripts.policies.foreign_tokenizer import load_any_tokenizer
from workflow_scripts.policies.likelihood import next_pairs, token_log_probs
from workflow_scripts.policies.model import new_policy, save_policy
from workflow_scripts.policies.sampling import Prompt, sample_policy
from workflow_scripts.policies.tokenizer import SPECIAL, save_tokenizer
from workflow_scripts.policies.vllm_engine import engine
from workflow_scripts.policies.vllm_likelihood import token_log_probs_vllm
from workflow_scripts.policies.vllm_sampling import sample_vllm
from workflow_scripts.records.errors import UserError

WORDS = (*SPECIAL, "try", "1", "2", "3", "4", "+", "-", "*", "=", ",")
PROMPTS = [Prompt("a", "1 2 3"), Prompt("b", "4 3 ="), Prompt("b", "4 3 =", "try 1 +"), Prompt("c", "1 1 = 2 ,")]
CALL = {"policy": "base", "temperature": 0.7, "top_p": 0.9, "max_new_tokens": 20, "study_seed": 7}
TEXTS = [("1 2 3", "try 1 + 2 = 3"), ("4", ""), ("2 2 =", "4 , 4 * 4 - 1 = 3 + 2"), ("1 2 3", "- - - 4 4 4 , , try")]


def small(folder, kind):
    """A random policy that is neither sure of everything nor of nothing."""
    sizes = {"hidden": 64, "layers": 2, "heads": 2, "head_dim": 32, "mlp": 96, "positions": 40}
    policy = new_policy(Architecture(len(WORDS), kind, **sizes), seed=4)
    with torch.no_grad():
        policy.flat.add_(0.1 * torch.randn(policy.flat.shape, generator=torch.Generator().manual_seed(4)))
    save_policy(policy, folder)
    save_tokenizer(WORDS, folder)
    return folder


@pytest.fixture(scope="module")
def folders(tmp_path_factory):
    found = {kind: small(tmp_path_factory.mktemp(kind), kind) for kind in ("llama", "qwen3")}
    found["bytes"] = byte_level(tmp_path_factory.mktemp("bytes"))
    return found


def byte_level(folder):
    """A policy of no kind that the built-in engine reads: untied, grouped keys, a byte-level vocabulary with merges."""
    from tokenizers import Tokenizer, decoders, models, pre_tokenizers, trainers
    from transformers import LlamaConfig, LlamaForCausalLM, PreTrainedTokenizerFast

    inner = Tokenizer(models.BPE())
    inner.pre_tokenizer, inner.decoder = pre_tokenizers.ByteLevel(add_prefix_space=False), decoders.ByteLevel()
    letters = pre_tokenizers.ByteLevel.alphabet()
    trainer = trainers.BpeTrainer(vocab_size=300, special_tokens=["<|end|>", "<|turn|>"], initial_alphabet=letters)
    inner.train_from_iterator(["Let me try: 3 * 7 = 21, 21 + 3 = 24. The answer is 24.\n"] * 9, trainer)
    PreTrainedTokenizerFast(tokenizer_object=inner, eos_token="<|end|>").save_pretrained(folder)
    torch.manual_seed(2)
    sizes = {
        "hidden_size": 64,
        "intermediate_size": 96,
        "num_hidden_layers": 2,
        "num_attention_heads": 2,
        "head_dim": 32,
    }
    ids = {"bos_token_id": None, "eos_token_id": [0, 1], "tie_word_embeddings": False}
    config = LlamaConfig(
        vocab_size=320, num_key_value_heads=1, max_position_embeddings=64, initializer_range=0.2, **sizes, **ids
    )
    model = LlamaForCausalLM(config)
    # what no request may take from the folder
    model.generation_config.update(
        do_sample=True, temperature=0.01, top_k=1, repetition_penalty=9.0, eos_token_id=[0, 1]
    )
    model.save_pretrained(folder)
    return folder


@pytest.fixture(scope="module")
def lent(folders):
    """Starts vLLM once a policy, without prefix caching, and lends it to every call of the functions under test."""
    started = {}
    with pytest.MonkeyPatch.context() as patch:

        def lend(name):
            folder, asked = folders[name], engine

            @contextmanager
            def running(where, *, longest, dtype, prefix_caching, **settings):
                assert where == folder and dtype in (None, "float32")
                if name not in started:
                    for other in list(started):
                        started.pop(other).__exit__(None, None, None)
                    block = asked(where, longest=64, dtype=dtype, prefix_caching=False, **settings)
                    started[name] = block
                    block.speaker = block.__enter__()
                yield started[name].speaker

            for module in (vllm_sampling, vllm_likelihood):
                patch.setattr(module, "engine", running)
            return folder

        yield lend
        for block in started.values():
            block.__exit__(None, None, None)


def test_ids_are_those_of_transformers(folders):
    from transformers import AutoTokenizer

    for kind in ("llama", "qwen3"):
        ours, theirs = load_any_tokenizer(folders[kind]), AutoTokenizer.from_pretrained(folders[kind])
        for prompt, said in TEXTS:
            assert [*sum(ours.join(prompt, said), ())] == theirs(f"{prompt} {said}")["input_ids"]


def test_greedy_texts_are_equal(lent):
    folder = lent("llama")
    call = CALL | {"temperature": 0, "samples": 2}
    assert sample_vllm(folder, PROMPTS, **call).equals(sample_policy(folder, PROMPTS, **call))


def test_frequencies_are_the_exact_probabilities(lent):
    """Chi-square of the first two tokens of 4,000 samples a prompt against what the decoder draws from."""
    folder, samples = lent("llama"), 4_000
    prompts = [Prompt(name, text) for name, text in (("a", "1 2 3"), ("b", "4 3 ="), ("c", "1 1 = 2 ,"))]
    table = sample_vllm(folder, prompts, **CALL | {"samples": samples, "max_new_tokens": 2}).to_pandas()
    chances = next_pairs(
        folder, [(prompt.text, WORDS, WORDS) for prompt in prompts], lead="", temperature=0.7, top_p=0.9
    )
    for prompt, (_, exact) in zip(prompts, chances, strict=True):
        cells = dict(zip([f"{one} {two}" for one in WORDS for two in WORDS], exact.ravel() * samples, strict=True))
        # a sample that ended with its first token has no second, and special words are not in a completion
        spoken = {cell: share for cell, share in cells.items() if not set(cell.split()) & set(SPECIAL)}
        said = table[table["problem_id"] == prompt.problem_id]["completion"].value_counts()
        said = said[[len(text.split()) == 2 for text in said.index]]
        assert {text for text in said.index if cells[text] == 0} == set()
        often = [cell for cell, share in spoken.items() if share >= 10]
        assert len(often) > 5
        counts = np.array([said.get(cell, 0) for cell in often] + [0])
        wanted = np.array([spoken[cell] for cell in often] + [0])
        counts[-1], wanted[-1] = samples - counts.sum(), samples - wanted.sum()
        assert chisquare(counts, wanted).pvalue > 0.001


def test_a_seed_gives_its_sample_again(lent):
    folder = lent("llama")
    whole = sample_vllm(folder, PROMPTS, samples=30, **CALL)
    assert sample_vllm(folder, PROMPTS, samples=30, **CALL).equals(whole)
    key = ["problem_id", "prefix", "sample"]
    frame = whole.to_pandas().set_index(key).sort_index()
    shards = [sample_vllm(folder, PROMPTS, samples=30, shard=(index, 2), **CALL).to_pandas() for index in range(2)]
    assert frame.equals(shards[0]._append(shards[1]).set_index(key).sort_index())
    later = sample_vllm(folder, PROMPTS, samples=range(20, 30), **CALL).to_pandas().set_index(key)
    assert frame.loc[later.index].equals(later)
    assert len(frame["completion"].unique()) > 60
    assert set(frame["finish_reason"]) == {"stop", "length"}
    ended = frame[frame["finish_reason"] == "stop"]
    assert (ended["completion"].str.split().str.len() < ended["tokens"]).all()
    assert (frame[frame["finish_reason"] == "length"]["tokens"] == 20).all()
    other = sample_vllm(folder, PROMPTS, samples=30, **CALL | {"study_seed": 8}).to_pandas()
    assert (frame.reset_index()["completion"] != other["completion"]).mean() > 0.5


def test_a_completion_ends_where_the_context_is_full(lent):
    folder = lent("llama")
    long = [Prompt("long", "1 2 " * 17)]
    call = CALL | {"samples": 40}
    ours, theirs = (
        table["tokens"].to_pylist()
        for table in (sample_vllm(folder, long, **call), sample_policy(folder, long, **call))
    )
    assert max(ours) == max(theirs) == 6


def test_more_prompt_tokens_than_vllm_reads_in_one_step(lent):
    """Read in parts, a prompt would have its sample's random stream wound back, which fails on CPUs."""
    folder, words = lent("llama"), ["1", "2", "3", "4", "+", "-", "*", "=", ","]
    prompts = [Prompt(f"p{place}", " ".join([words[place % 9], *["1"] * 30])) for place in range(9)]
    table = sample_vllm(folder, prompts, **CALL | {"max_new_tokens": 2}, samples=60)
    assert table.num_rows == 540  # of 31 tokens each: twice what one step reads


@pytest.mark.parametrize("kind", ["llama", "qwen3"])
def test_log_probabilities_are_equal(lent, kind):
    folder = lent(kind)
    full = [*TEXTS, ("1 2 3", "try " * 36), TEXTS[0]]  # one that fills the context with its end token
    for one, other in zip(token_log_probs_vllm(folder, full), token_log_probs(folder, full), strict=True):
        assert one.dtype == other.dtype
        np.testing.assert_allclose(one, other, rtol=0, atol=1e-5)


def test_a_foreign_policy_is_sampled_and_scored(lent):
    folder = lent("bytes")
    prompts = [Prompt("a", "3 * 7 ="), Prompt("b", "The answer", " is")]
    table = sample_vllm(folder, prompts, samples=40, **CALL | {"temperature": 1, "top_p": 1.0, "max_new_tokens": 50})
    rows = table.to_pylist()
    assert len({row["completion"] for row in rows}) > 70  # not the greedy text that the folder asks for
    assert {row["finish_reason"] for row in rows} == {"stop", "length"}
    assert not any("<|" in row["completion"] for row in rows)
    texts = [("3 * 7 =", " 21, 21 + 3 = 24."), ("The answer is", " 24.\n"), ("é", "")]
    found = zip(
        token_log_probs_vllm(folder, texts, spans=True), token_log_probs(folder, texts, spans=True), strict=True
    )
    for (ours, our_spans), (theirs, their_spans) in found:
        np.testing.assert_allclose(ours, theirs, rtol=0, atol=1e-5)
        assert our_spans.tolist() == their_spans.tolist()


def test_a_folder_that_vllm_cannot_load_is_named(folders, tmp_path):
    (tmp_path / "config.json").write_text((folders["llama"] / "config.json").read_text())
    with (
        pytest.raises(UserError, match=r"vLLM cannot load|model\.safetensors is missing"),
        engine(tmp_path, longest=20, prefix_caching=True),
    ):
        raise AssertionError("vLLM started without weights")
