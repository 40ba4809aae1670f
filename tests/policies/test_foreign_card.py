import json
from hashlib import sha256

import pytest
import torch
from foreign_folders import save, tokenizer

from workflow_scripts.policies.architecture import Architecture
from workflow_scripts.policies.foreign_card import describe, tensors_of
from workflow_scripts.policies.foreign_model import load_foreign
from workflow_scripts.policies.model import new_policy, save_policy
from workflow_scripts.policies.tokenizer import SPECIAL, save_tokenizer
from workflow_scripts.records.errors import UserError

WHOLE = {"a": {"dtype": "F32", "shape": [2], "data_offsets": [0, 8]}}


def header(tensors):
    """A safetensors file of 8 bytes of numbers."""
    text = json.dumps(tensors).encode()
    return len(text).to_bytes(8, "little") + text + bytes(8)


def test_headers_of_weights(tmp_path):
    (tmp_path / "model.safetensors").write_bytes(header(WHOLE | {"__metadata__": {"format": "pt"}}))
    assert tensors_of(tmp_path / "model.safetensors") == WHOLE


@pytest.mark.parametrize(("kind", "tied"), [("gpt2", True), ("qwen3", True), ("llama", False)])
def test_any_folder_is_described_without_reading_weights(tmp_path, kind, tied):
    folder = save(tmp_path / "policy", kind, dtype=torch.bfloat16)
    stated = {"eos_token_id": [0, 2], "temperature": 0.6, "top_k": 20, "do_sample": True, "pad_token_id": 0}
    (folder / "generation_config.json").write_text(json.dumps(stated))
    card = describe(folder)
    words = card["tokenizer_words"]
    assert card == {
        "engine": "transformers",
        "model_type": kind,
        "architecture": {"gpt2": "GPT2LMHeadModel", "qwen3": "Qwen3ForCausalLM", "llama": "LlamaForCausalLM"}[kind],
        "parameters": sum(tensor.numel() for tensor in load_foreign(folder).tensors().values()),
        "dtype": "bfloat16",
        "tied": tied,
        "context": 160,
        "vocabulary": words + 3,
        "tokenizer_class": card["tokenizer_class"],
        "tokenizer_words": words,
        "chat_template": "",
        "bos_token": "",
        "bos_added": False,
        "end_tokens": ["<|end|>", "<|stop|>"],
        "pad_token": "",
        "padding_side": card["padding_side"],
        "generation_defaults_unused": {"do_sample": True, "temperature": 0.6, "top_k": 20},
    }
    assert json.loads(json.dumps(card)) == card


def test_template_and_beginning_token_are_shown(tmp_path):
    folder = save(tmp_path, "llama", words=tokenizer(tmp_path, begin="<|begin|>", chat_template="{{ messages }}"))
    card = describe(folder)
    assert card["bos_token"] == "<|begin|>" and card["bos_added"]
    assert card["chat_template"] == sha256(b"{{ messages }}").hexdigest()[:12]


def test_the_small_policies(tmp_path):
    policy = new_policy(Architecture(5, hidden=8, layers=1, heads=1, head_dim=8, mlp=8), seed=1)
    save_policy(policy, tmp_path)
    save_tokenizer((*SPECIAL, "a", "b"), tmp_path)
    card = describe(tmp_path)
    wanted = {"engine": "built_in", "parameters": len(policy.flat), "dtype": "float32", "end_tokens": ["<eos>"]}
    wanted["chat_template"] = sha256((tmp_path / "chat_template.jinja").read_bytes()).hexdigest()[:12]
    assert {key: card[key] for key in wanted} == wanted


@pytest.mark.parametrize(
    ("file", "content", "match"),
    [
        ("config.json", None, "missing or empty"),
        ("config.json", b"[", "damaged"),
        ("model.safetensors", None, "no .safetensors"),
        ("model.safetensors", b"\xff" * 9, "model.safetensors cannot be read"),
        ("model.safetensors", b"", "model.safetensors cannot be read"),
        ("model.safetensors", header({"a": {"dtype": "F32", "shape": [2]}}), "model.safetensors cannot be read"),
        ("model.safetensors", header(WHOLE)[:-1], "model.safetensors holds .* bytes, its header says"),
    ],
)
def test_damaged_folders_are_named(tmp_path, file, content, match):
    folder = save(tmp_path / "policy", "gpt2")
    (folder / file).unlink()
    if content is not None:
        (folder / file).write_bytes(content)
    with pytest.raises(UserError, match=match):
        describe(folder)
