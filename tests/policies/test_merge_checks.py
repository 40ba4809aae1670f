"""policies/shards.py and policies/merge_checks.py, without verl: hand-made shards and folders."""

import json
from pathlib import Path
from types import SimpleNamespace

import pytest
import torch
from safetensors.torch import save_file

from workflow_scripts.policies import merge_checks as checks
from workflow_scripts.policies.merge_checks import Stored
from workflow_scripts.policies.shards import add_adapters, read_shards, shard_files, without_adapters
from workflow_scripts.records.errors import UserError

EMBEDDING, NORM = "model.embed_tokens.weight", "model.norm.weight"
WEIGHTS = {EMBEDDING: torch.arange(6.0).view(3, 2), NORM: torch.ones(2)}


def shards(folder: Path, ranks: list, stated=None) -> Path:
    (folder / "fsdp_config.json").write_text(json.dumps({"FSDP_version": 2, "world_size": stated or len(ranks)}))
    for rank, tensors in enumerate(ranks):
        torch.save(tensors, folder / f"model_world_size_{stated or len(ranks)}_rank_{rank}.pt")
    return folder


@pytest.mark.parametrize("ranks", [1, 2])
def test_plain_tensors_are_copies(tmp_path, ranks):
    found = read_shards(shards(tmp_path, [WEIGHTS] * ranks))
    assert found.keys() == WEIGHTS.keys()
    assert all(torch.equal(found[name], WEIGHTS[name]) for name in found)


class Evil:
    def __reduce__(self):
        return (Path.touch, (Path("touched"),))


@pytest.mark.parametrize(
    ("ranks", "stated", "match"),
    [
        ([WEIGHTS], 2, r"rank_1.pt is missing, of 2 shards \(there: model_world_size_2_rank_0.pt\)"),
        ([WEIGHTS, {**WEIGHTS, NORM: torch.zeros(2)}], None, "norm.weight is a copy .* rank 0 and rank 1 differ"),
        ([WEIGHTS, {EMBEDDING: WEIGHTS[EMBEDDING]}], None, "disagree about the tensor 'model.norm.weight'"),
        ([{NORM: Evil()}], None, r"more than tensors \(getattr\), so it is not unpickled"),
        ([[1, 2]], None, "does not hold tensors by name"),
        ([{}], None, "does not hold tensors by name"),
    ],
)
def test_bad_shards_are_named(tmp_path, monkeypatch, ranks, stated, match):
    monkeypatch.chdir(tmp_path)
    with pytest.raises(UserError, match=match):
        read_shards(shards(tmp_path, ranks, stated))
    assert not Path("touched").exists()


@pytest.mark.parametrize(
    ("text", "match"),
    [
        (None, r"fsdp_config.json is missing.*verl 0.9 writes it"),
        ("{", "fsdp_config.json is damaged"),
        ("[]", "fsdp_config.json is damaged"),
        ('{"world_size": 0}', "world_size, not 0"),
        ("{}", "world_size, not None"),
    ],
)
def test_number_of_ranks_must_be_stated(tmp_path, text, match):
    if text is not None:
        (tmp_path / "fsdp_config.json").write_text(text)
    with pytest.raises(UserError, match=match):
        shard_files(tmp_path)


def test_damaged_shard_is_named(tmp_path):
    shards(tmp_path, [WEIGHTS])
    file = tmp_path / "model_world_size_1_rank_0.pt"
    file.write_bytes(file.read_bytes()[:200])
    with pytest.raises(UserError, match=r"rank_0\.pt (is damaged|holds more)"):
        read_shards(tmp_path)


ADAPTED = {
    "base_model.model.model.layers.0.q_proj.base_layer.weight": torch.tensor([[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]]),
    "base_model.model.model.layers.0.q_proj.lora_A.default.weight": torch.tensor([[1.0, -1.0]]),
    "base_model.model.model.layers.0.q_proj.lora_B.default.weight": torch.tensor([[2.0], [0.0], [1.0]]),
    "base_model.model.model.norm.weight": torch.ones(2),
}
"""One adapter of rank 1; with alpha 3 it adds 3 · B A."""


def test_adapters_by_hand(tmp_path):
    own, adapters = without_adapters(ADAPTED)
    assert own.keys() == {"model.layers.0.q_proj.weight", NORM}
    assert adapters.keys() == {"model.layers.0.q_proj.weight"}
    (tmp_path / "lora_train_meta.json").write_text('{"r": 1, "lora_alpha": 3, "task_type": "CAUSAL_LM"}')
    whole = add_adapters(own, adapters, tmp_path, model_type="llama")
    assert whole["model.layers.0.q_proj.weight"].tolist() == [[7, -4], [3, 4], [8, 3]]
    assert torch.equal(whole[NORM], own[NORM])
    assert add_adapters(own, {}, tmp_path / "none", model_type="gpt2").keys() == own.keys()


@pytest.mark.parametrize(
    ("name", "match"),
    [
        ("base_model.model.x.lora_magnitude_vector.default.weight", "not plain LoRA"),
        ("base_model.model.x.lora_embedding_A.default", "not plain LoRA"),
        ("base_model.model.score.modules_to_save.default.weight", "not plain LoRA"),
        ("base_model.model.x.lora_A.default.weight", "adapter of 'x.weight' is incomplete"),
    ],
)
def test_other_adapters_are_refused(name, match):
    with pytest.raises(UserError, match=match):
        without_adapters({**ADAPTED, name: torch.ones(1, 2)})
    with pytest.raises(UserError, match="adapters alone"):
        without_adapters({name: tensor for name, tensor in ADAPTED.items() if "lora_" in name})


@pytest.mark.parametrize(
    ("settings", "kind", "match"),
    [
        (None, "llama", "lora_train_meta.json is missing.*merge them with peft"),
        ({"r": 1}, "llama", "must state r and lora_alpha"),
        ({"r": 1, "lora_alpha": 0}, "llama", "above 0, not 1 and 0"),
        ({"r": 2, "lora_alpha": 4}, "llama", r"r is 2, but the adapter of .* \[1, 2\] and \[3, 1\] on \[3, 2\]"),
        ({"r": 1, "lora_alpha": 3}, "gpt2", "gpt2 models are not merged"),
    ],
)
def test_adapters_without_their_settings_are_refused(tmp_path, settings, kind, match):
    if settings is not None:
        (tmp_path / "lora_train_meta.json").write_text(json.dumps(settings))
    with pytest.raises(UserError, match=match):
        add_adapters(*without_adapters(ADAPTED), tmp_path, model_type=kind)


def stored(**shapes) -> dict[str, Stored]:
    return {name.replace("__", "."): Stored(Path("f"), shape, torch.float32) for name, shape in shapes.items()}


BASE = stored(model__embed_tokens__weight=(3, 2), model__norm__weight=(2,))


def test_a_tied_head_is_left_out_and_an_own_one_stays():
    head = {**WEIGHTS, checks.HEAD: WEIGHTS[EMBEDDING].clone()}
    assert checks.without_tied(head, BASE, tied=True, where="s").keys() == WEIGHTS.keys()
    assert checks.without_tied(head, {**BASE, checks.HEAD: BASE[EMBEDDING]}, tied=True, where="s").keys() == head.keys()
    assert checks.without_tied(head, BASE, tied=False, where="s").keys() == head.keys()
    head[checks.HEAD][1, 1] += 1e-6
    with pytest.raises(UserError, match=r"lm_head.weight differs from model.embed_tokens.weight"):
        checks.without_tied(head, BASE, tied=True, where="s")


@pytest.mark.parametrize(
    ("change", "vocabulary", "match"),
    [
        ({NORM: None}, 3, "1 tensors, the base has 2; 'model.norm.weight' is missing"),
        ({"x": torch.ones(1)}, 3, "3 tensors, the base has 2; 'x' is not in the base"),
        ({NORM: torch.ones(4)}, 3, r"norm.weight is \[4\], of the base \[2\]"),
        ({}, 4, r"embed_tokens.weight has 3 rows, config.json says vocab_size 4"),
    ],
)
def test_other_tensors_are_named(change, vocabulary, match):
    checks.same_tensors(WEIGHTS, BASE, vocabulary=3, where="s")
    found = {name: tensor for name, tensor in {**WEIGHTS, **change}.items() if tensor is not None}
    with pytest.raises(UserError, match=match):
        checks.same_tensors(found, BASE, vocabulary=vocabulary, where="s")


@pytest.mark.parametrize(
    ("config", "kinds", "wanted"),
    [
        ({"dtype": "bfloat16"}, ["float32"], torch.bfloat16),
        ({"torch_dtype": "torch.float32"}, ["bfloat16"], torch.float32),
        ({"dtype": "auto"}, ["bfloat16", "float32", "bfloat16"], torch.bfloat16),
        ({}, ["float32"], torch.float32),
    ],
)
def test_type_is_that_of_the_base(config, kinds, wanted):
    tensors = {str(place): Stored(Path("f"), (1,), getattr(torch, kind)) for place, kind in enumerate(kinds)}
    assert checks.weight_type(config, tensors) == wanted


def test_other_types_are_refused():
    with pytest.raises(UserError, match="'int8'"):
        checks.weight_type({"dtype": "int8"}, BASE)
    checks.same_type({**BASE, "mask": Stored(Path("f"), (1,), None)}, torch.float32, "p")
    with pytest.raises(UserError, match=r"model.embed_tokens.weight is torch.float32, it should be torch.bfloat16"):
        checks.same_type(BASE, torch.bfloat16, "p")


def test_sizes_of_another_base_are_named():
    config = {"model_type": "llama", "hidden_size": 64, "use_cache": True}
    checks.same_sizes(config, config | {"use_cache": False, "n_embd": 3}, "s")
    with pytest.raises(UserError, match="hidden_size is 64, of the base 32"):
        checks.same_sizes(config, config | {"hidden_size": 32}, "s")


def test_infinite_weights_are_named():
    checks.finite(WEIGHTS, "s")
    with pytest.raises(UserError, match=r"s: model.norm.weight holds NaN"):
        checks.finite({**WEIGHTS, NORM: torch.tensor([1.0, torch.inf])}, "s")


def test_files_are_described_by_their_headers(tmp_path):
    save_file(WEIGHTS, tmp_path / "model.safetensors")
    found = checks.stored_tensors(tmp_path)
    assert found[EMBEDDING] == (tmp_path / "model.safetensors", (3, 2), torch.float32)
    for place, name in enumerate(WEIGHTS):
        save_file({name: WEIGHTS[name].bfloat16()}, tmp_path / f"part{place}.safetensors")
    index = {"weight_map": {name: f"part{place}.safetensors" for place, name in enumerate(WEIGHTS)}}
    (tmp_path / "model.safetensors.index.json").write_text(json.dumps(index))
    found = checks.stored_tensors(tmp_path)
    assert found[NORM] == (tmp_path / "part1.safetensors", (2,), torch.bfloat16)
    (tmp_path / "part1.safetensors").write_bytes(b"x" * 20)
    with pytest.raises(UserError, match=r"part1\.safetensors is damaged"):
        checks.stored_tensors(tmp_path)
    (tmp_path / "model.safetensors.index.json").write_text("[]")
    with pytest.raises(UserError, match=r"index\.json is damaged"):
        checks.stored_tensors(tmp_path)


@pytest.mark.parametrize(("text", "match"), [(None, "missing"), ("{}", "no model_type"), ("[", "damaged")])
def test_damaged_folders_are_named(tmp_path, text, match):
    if text is not None:
        (tmp_path / "config.json").write_text(text)
    with pytest.raises(UserError, match=match):
        checks.read_config(tmp_path)
    with pytest.raises(UserError, match=r"model.safetensors is missing"):
        checks.stored_tensors(tmp_path)


class Counting:
    """Says the sum of the tokens that it has read, modulo 7, whatever way they were fed."""

    def __call__(self, *, input_ids, past_key_values, use_cache):
        total = int(input_ids.sum()) + (past_key_values or 0)
        logits = torch.zeros(1, input_ids.shape[1], 7)
        logits[0, -1, total % 7] = 1
        return SimpleNamespace(logits=logits, past_key_values=total)


def test_greedy_by_hand():
    assert checks.greedy(Counting(), [[1, 2], [5]], 4) == [[3, 6, 5, 3], [5, 3, 6, 5]]
    assert checks.probes(50) == checks.probes(50)
    assert {len(prompt) for prompt in checks.probes(50)} == {12} and max(map(max, checks.probes(3))) < 3


def test_first_different_token_is_named():
    checks.same_continuations([[1, 2]], [[1, 2]], "p")
    with pytest.raises(UserError, match=r"after prompt 1 the merged policy says token 3 in place 1 where .* says 4"):
        checks.same_continuations([[1, 2], [1, 3]], [[1, 2], [1, 4]], "p")
