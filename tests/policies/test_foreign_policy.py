"""policies/foreign_model.py, foreign_reader.py: decoding with transformers models, beside the built-in engine."""

import json
import shutil

import numpy as np
import pytest
import torch
from foreign_folders import save
from safetensors.torch import load_file, save_file
from transformers import AutoModelForCausalLM

from workflow_scripts.policies.architecture import Architecture
from workflow_scripts.policies.decoding import decode
from workflow_scripts.policies.decoding_weights import DecodeWeights
from workflow_scripts.policies.foreign_model import built_in, load_foreign
from workflow_scripts.policies.foreign_reader import ForeignReader
from workflow_scripts.policies.foreign_tokenizer import load_any_tokenizer
from workflow_scripts.policies.model import new_policy, save_policy
from workflow_scripts.policies.readers import reading
from workflow_scripts.policies.sampling import Prompt, load_speaker, sample_policy
from workflow_scripts.policies.tokenizer import SPECIAL, save_tokenizer
from workflow_scripts.records.errors import UserError
from workflow_scripts.records.schemas import ROLLOUTS
from workflow_scripts.records.seeds import sample_keys

KINDS = ("gpt2", "qwen3", "llama")
QUESTION = "<|user|>Using the numbers 4, 7 and {}, make 28. Show your work.<|stop|>\nLet me try:"
PROMPTS = [Prompt("a", QUESTION.format(12)), Prompt("b", QUESTION.format(9)), Prompt("a", QUESTION.format(12), " 4 *")]
SETTINGS = {"policy": "own", "temperature": 0.8, "top_p": 0.9, "max_new_tokens": 12, "study_seed": 3}
WORDS = (*SPECIAL, *"abcdefghijklmnopqrs")


@pytest.fixture(scope="module")
def folders(tmp_path_factory):
    torch.set_num_threads(1)
    return {kind: save(tmp_path_factory.mktemp("policies") / f"a {kind}", kind) for kind in KINDS}


@pytest.fixture(scope="module", params=["llama", "qwen3"])
def small(request, tmp_path_factory):
    folder = tmp_path_factory.mktemp("small")
    sizes = {"hidden": 32, "layers": 2, "heads": 2, "head_dim": 16, "mlp": 48, "positions": 40}
    save_policy(new_policy(Architecture(len(WORDS), request.param, **sizes), seed=4, spread=0.15), folder)
    save_tokenizer(WORDS, folder)
    return folder


def test_the_small_policies_sound_the_same_through_transformers(small):
    prompts = [[3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 3, 4], [3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 5], [9], [3, 4, 5]]
    keys = np.stack([sample_keys("parity", place, samples=range(60)) for place in range(len(prompts))])
    call = {"temperature": 0.9, "top_p": 0.95, "max_new_tokens": 20, "eos_id": 2, "log_probs": True}
    own = decode(DecodeWeights.load(small), prompts, keys, **call)
    foreign = decode(load_foreign(small), prompts, keys, **call, reader=reading)
    assert np.array_equal(own.tokens, foreign.tokens) and np.array_equal(own.stopped, foreign.stopped)
    np.testing.assert_allclose(own.log_probs, foreign.log_probs, atol=1e-5, rtol=0)
    assert len(np.unique(own.tokens[0], axis=0)) > 30


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("rows_at_once", [1, 64])
def test_log_probs_are_those_of_a_plain_forward_pass(folders, kind, rows_at_once):
    policy, tokenizer = load_foreign(folders[kind]), load_any_tokenizer(folders[kind])
    prompts = [[*a, *b] for a, b in (tokenizer.join(prompt.text, prompt.prefix) for prompt in PROMPTS)]
    keys = np.stack([sample_keys(kind, place, samples=range(6)) for place in range(3)])
    call = {"temperature": 1, "top_p": 1, "max_new_tokens": 10, "eos_id": 0, "rows_at_once": rows_at_once}
    decoded = decode(policy, prompts, keys, **call, log_probs=True, reader=reading)
    model = AutoModelForCausalLM.from_pretrained(folders[kind])
    for prompt, tokens, lengths, found in zip(prompts, decoded.tokens, decoded.lengths, decoded.log_probs, strict=True):
        for said, length, values in zip(tokens.tolist(), lengths, found, strict=True):
            ids = [*prompt, *said[:length]]
            with torch.no_grad():
                scores = model(torch.tensor([ids])).logits[0, len(prompt) - 1 : -1].log_softmax(-1)
            wanted = scores[torch.arange(length), torch.tensor(said[:length])]
            np.testing.assert_allclose(values[:length], wanted.numpy(), atol=2e-5, rtol=0)


class _Counted(ForeignReader):
    """Keeps the readers that were made."""

    made: list["_Counted"]

    def __init__(self, policy):
        super().__init__(policy)
        self.made.append(self)


def test_every_prefix_is_read_once(folders):
    policy, tokenizer = load_foreign(folders["llama"]), load_any_tokenizer(folders["llama"])
    prompts = [tokenizer.encode_known(QUESTION.format(number)) for number in (12, 9, 12, 17)]
    keys = np.stack([sample_keys("read", place, samples=range(5)) for place in range(4)])
    _Counted.made = []
    decoded = decode(
        policy, prompts, keys, temperature=0, top_p=1, max_new_tokens=8, eos_id=0, reader=_Counted, rows_at_once=64
    )
    said = {
        (*prompt, *row[: length - 1])
        for prompt, tokens, lengths in zip(prompts, decoded.tokens.tolist(), decoded.lengths)
        for row, length in zip(tokens, lengths)
    }
    prefixes = {text[:end] for text in said for end in range(1, len(text) + 1)}
    (reader,) = _Counted.made
    assert len(prefixes) <= reader.tokens_read <= len(prefixes) + 2 * 8  # three ways part, each within 8 tokens
    assert len({len(prompt) for prompt in prompts}) > 1


@pytest.mark.parametrize("kind", KINDS)
def test_rollouts_of_any_folder(folders, kind):
    table = sample_policy(folders[kind], PROMPTS, samples=10, **SETTINGS)
    rows = table.to_pylist()
    assert table.schema == ROLLOUTS and len(rows) == 30
    assert {row["finish_reason"] for row in rows} <= {"stop", "length"}
    assert all("<|end|>" not in row["completion"] for row in rows)
    few = sample_policy(folders[kind], PROMPTS, samples=range(4, 7), **SETTINGS).to_pylist()
    alone = sample_policy(folders[kind], PROMPTS, samples=10, shard=(1, 3), **SETTINGS).to_pylist()
    # what is drawn is the sample's own; only rounding could tell companies apart, and these are far from ties
    assert few == [row for row in rows if 4 <= row["sample"] < 7]
    assert alone == rows[10:20]


def test_samples_that_do_not_fit_are_drawn_in_turn(folders, monkeypatch):
    whole = sample_policy(folders["qwen3"], PROMPTS, samples=10, **SETTINGS)
    monkeypatch.setattr("workflow_scripts.policies.foreign_model._CACHE_BYTES", 4 * 2**14)
    assert load_foreign(folders["qwen3"]).rows_at_once(100) < 10
    assert sample_policy(folders["qwen3"], PROMPTS, samples=10, **SETTINGS).equals(whole)


def test_any_end_token_stops_a_sample(folders, tmp_path):
    shutil.copytree(folders["gpt2"], tmp_path / "two ends")
    free = sample_policy(folders["gpt2"], PROMPTS[:1], samples=40, **(SETTINGS | {"temperature": 1.0, "top_p": 1.0}))
    said = [row["tokens"] for row in free.to_pylist()]
    many = {"eos_token_id": list(range(120)), "temperature": 0.01}  # the temperature plays no part
    (tmp_path / "two ends/generation_config.json").write_text(json.dumps(many))
    table = sample_policy(
        tmp_path / "two ends", PROMPTS[:1], samples=40, **(SETTINGS | {"temperature": 1.0, "top_p": 1})
    )
    stopped = [row for row in table.to_pylist() if row["finish_reason"] == "stop"]
    assert len(stopped) > 30 and np.mean([row["tokens"] for row in table.to_pylist()]) < np.mean(said) / 2


def test_which_engine_reads_a_folder(folders, small, tmp_path):
    assert built_in(small) and built_in(small, scoring=True) and built_in(tmp_path)
    assert not any(built_in(folder) for folder in folders.values())
    shutil.copytree(small, tmp_path / "untied")
    config = json.loads((small / "config.json").read_text()) | {"tie_word_embeddings": False}
    (tmp_path / "untied/config.json").write_text(json.dumps(config))
    assert built_in(tmp_path / "untied") and not built_in(tmp_path / "untied", scoring=True)


def changed(folder, to, **changes):
    shutil.copytree(folder, to)
    config = json.loads((to / "config.json").read_text()) | changes
    (to / "config.json").write_text(json.dumps(config))
    return to


@pytest.mark.parametrize(
    ("kind", "changes", "match"),
    [
        ("llama", {"auto_map": {"AutoModelForCausalLM": "x.Y"}}, "code of its own"),
        ("llama", {"quantization_config": {"bits": 4}}, "quantised"),
        ("llama", {"is_encoder_decoder": True}, "encoder-decoder"),
        ("llama", {"model_type": "no such"}, "cannot read this no such policy"),
        ("llama", {"num_hidden_layers": 3}, r"lack the tensor model\.layers\.2"),
        ("llama", {"num_hidden_layers": 1}, r"no tensor model\.layers\.1"),
        ("llama", {"intermediate_size": 20}, "llama policy|size of"),
        ("llama", {"tie_word_embeddings": True}, r"lm_head\.weight is another tensor"),
        ("qwen3", {"tie_word_embeddings": False}, r"lack the tensor lm_head\.weight"),
        ("qwen3", {"layer_types": ["linear_attention", "full_attention"]}, "layers of linear_attention"),
    ],
)
def test_folders_that_would_be_misread_are_refused(folders, tmp_path, kind, changes, match):
    folder = changed(folders[kind], tmp_path / "policy", **changes)
    with pytest.raises(UserError, match=match) as caught:
        load_foreign(folder)
    assert str(folder) in str(caught.value)


def test_weights_that_cannot_be_used_are_refused(folders, tmp_path):
    folder = changed(folders["gpt2"], tmp_path / "policy")
    weights = load_file(folder / "model.safetensors")
    name = next(iter(weights))
    save_file(
        weights | {name: torch.full_like(weights[name], torch.nan)}, folder / "model.safetensors", {"format": "pt"}
    )
    with pytest.raises(UserError, match="NaN"):
        load_foreign(folder)
    (folder / "adapter_config.json").write_text("{}")
    with pytest.raises(UserError, match="adapter beside"):
        load_foreign(folder)
    (folder / "adapter_config.json").unlink()
    (folder / "model.safetensors").rename(folder / "pytorch_model.bin")
    with pytest.raises(UserError, match=r"only pytorch_model\.bin, a pickle"):
        load_foreign(folder)
    (folder / "config.json").rename(folder / "adapter_config.json")
    with pytest.raises(UserError, match="an adapter; merge it"):
        load_foreign(folder)
    with pytest.raises(UserError, match="cannot be read"):
        load_foreign(tmp_path / "nowhere")


def test_a_tokenizer_larger_than_the_policy_is_refused(folders, tmp_path):
    folder = save(tmp_path / "policy", "gpt2")
    weights = load_file(folder / "model.safetensors")
    weights = {name: tensor[:40] if "wte" in name else tensor for name, tensor in weights.items()}
    save_file(weights, folder / "model.safetensors", {"format": "pt"})
    config = json.loads((folder / "config.json").read_text()) | {"vocab_size": 40}
    (folder / "config.json").write_text(json.dumps(config))
    with pytest.raises(UserError, match="the policy only 40"):
        load_speaker(folder)


def test_sixteen_bits_are_read_as_what_they_are(folders, tmp_path):
    folder = save(tmp_path / "half", "llama", dtype=torch.bfloat16)
    policy = load_foreign(folder)
    wanted = torch.float32 if policy.device.type == "cpu" else torch.bfloat16
    assert {tensor.dtype for tensor in policy.tensors().values()} == {wanted}
    stored = load_file(folder / "model.safetensors")
    assert all(torch.equal(tensor.cpu(), stored[name].to(wanted)) for name, tensor in policy.tensors().items())
