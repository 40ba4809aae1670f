"""policies/merging.py on checkpoints that verl's own checkpoint manager wrote, of one rank and of two."""
# ruff: noqa: E402  verl is looked for first

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

pytest.importorskip("verl")
pytestmark = pytest.mark.engines

import torch
from safetensors.torch import load_file
from transformers import AutoModelForCausalLM, AutoTokenizer, LlamaConfig, LlamaForCausalLM

from workflow_scripts.policies import merging
from workflow_scripts.policies.architecture import Architecture
from workflow_scripts.policies.merging import merged
from workflow_scripts.policies.model import new_policy, read_tensors, save_policy
from workflow_scripts.policies.sampling import load_speaker
from workflow_scripts.policies.tokenizer import SPECIAL, save_tokenizer
from workflow_scripts.records.errors import UserError

WORDS = (*SPECIAL, *(str(number) for number in range(29)))
CASES = {  # name: base, ranks, how it was trained
    "one rank": ("llama", 1, "plain"),
    "two ranks": ("qwen3", 2, "plain"),
    "adapters": ("llama", 2, "adapters"),
    "copies of an untied model": ("untied", 2, "replicas"),
}


def names(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir())


def untied(folder: Path) -> None:
    torch.manual_seed(1)
    sizes = {"hidden_size": 32, "intermediate_size": 48, "num_hidden_layers": 2, "num_attention_heads": 4}
    ids = {"bos_token_id": None, "eos_token_id": 2, "pad_token_id": 0, "tie_word_embeddings": False}
    config = LlamaConfig(vocab_size=len(WORDS), num_key_value_heads=2, max_position_embeddings=64, **sizes, **ids)
    LlamaForCausalLM(config).to(torch.bfloat16).save_pretrained(folder)


@pytest.fixture(scope="module")
def bases(tmp_path_factory) -> dict[str, Path]:
    found = {name: tmp_path_factory.mktemp(name) for name in ("llama", "qwen3", "untied")}
    for name in ("llama", "qwen3"):
        sizes = {"hidden": 32, "layers": 2, "heads": 2, "head_dim": 16, "mlp": 50, "positions": 64}
        save_policy(new_policy(Architecture(len(WORDS), name, **sizes), seed=2), found[name])
    untied(found["untied"])
    for folder in found.values():
        save_tokenizer(WORDS, folder)
    return found


@pytest.fixture(scope="module")
def checkpoints(bases, tmp_path_factory) -> dict[str, Path]:
    root = tmp_path_factory.mktemp("states")
    for ranks in (1, 2):
        asked = [
            text
            for name, (base, of, how) in CASES.items()
            for text in (str(bases[base]), str(root / name), how)
            if of == ranks
        ]
        call = [sys.executable, "-m", "torch.distributed.run", "--standalone", "--nproc_per_node", str(ranks)]
        script = Path(__file__).with_name("write_checkpoint.py")
        done = subprocess.run(
            [*call, script, *asked], cwd=root, env=os.environ | {"OMP_NUM_THREADS": "1"}, capture_output=True, text=True
        )
        assert done.returncode == 0, done.stderr
    return {name: root / name for name in CASES}


@pytest.mark.parametrize("name", CASES)
def test_merged_policy_is_the_trained_one(name, bases, checkpoints, tmp_path, caplog):
    base, ranks, _ = CASES[name]
    kind = torch.bfloat16 if base == "untied" else torch.float32
    target = tmp_path / "policies" / "merged"
    merged(checkpoints[name], target, base=bases[base], prompts=["1 2 3", "17 4"])
    assert f"the {ranks} shard(s) of a checkpoint are pickles" in caplog.text
    assert names(target.parent) == ["merged"]  # nothing left beside it
    for file in bases[base].iterdir():
        if file.suffix != ".safetensors":
            assert (target / file.name).read_bytes() == file.read_bytes()
    ours, theirs = read_tensors(target / "model.safetensors"), read_tensors(bases[base] / "model.safetensors")
    assert ours.keys() == theirs.keys()
    assert {tensor.dtype for tensor in ours.values()} == {kind}
    assert any(not torch.equal(ours[word], theirs[word]) for word in ours)
    model = AutoModelForCausalLM.from_pretrained(target, dtype=torch.float32)
    with torch.no_grad():
        said = model(input_ids=torch.arange(3, 15)[None]).logits
    wanted = load_file(checkpoints[name] / "logits.safetensors")["logits"]
    # adapters: peft computes W x + s B (A x), the merged policy (W + s B A) x
    torch.testing.assert_close(said, wanted, rtol=0, atol=0.05 if kind == torch.bfloat16 else 2e-5)
    assert AutoTokenizer.from_pretrained(target)("1 28")["input_ids"] == [WORDS.index("1"), WORDS.index("28")]
    if base != "untied":
        assert load_speaker(target).weights.vocabulary == len(WORDS)


def spoilt(state: Path, target: Path, change) -> Path:
    """A copy of a one-rank checkpoint with other tensors."""
    import torch.distributed.tensor  # makes its classes known to the unpickler

    shutil.copytree(state, target)
    file = target / "actor/model_world_size_1_rank_0.pt"
    tensors = torch.load(file, weights_only=True)
    change(tensors)
    torch.save(tensors, file)
    return target


def no_verl(*_, **__):
    raise AssertionError("verl was asked although the checkpoint is wrong")


@pytest.mark.parametrize(
    ("change", "match"),
    [
        (
            lambda t: t.update({"lm_head.weight": t["lm_head.weight"].to_local() + 1}),
            "lm_head.weight differs from model.embed_tokens.weight",
        ),
        (lambda t: t.pop("model.norm.weight"), "'model.norm.weight' is missing"),
        (lambda t: t.update({"score.weight": torch.zeros(1, 32)}), "'score.weight' is not in the base"),
        (lambda t: t.update({"model.norm.weight": torch.ones(31)}), r"model.norm.weight is \[31\], of the base \[32\]"),
        (lambda t: t["model.norm.weight"].to_local().fill_(torch.nan), "model.norm.weight holds NaN"),
        (lambda t: t.update({"model.lora_B.default.weight": torch.ones(2, 2)}), "incomplete"),
    ],
)
def test_wrong_checkpoints_are_named_before_verl_reads_them(change, match, bases, checkpoints, tmp_path, monkeypatch):
    monkeypatch.setattr(merging, "_as_verl_merges", no_verl)
    state = spoilt(checkpoints["one rank"], tmp_path / "state", change)
    (tmp_path / "policy").mkdir()
    (tmp_path / "policy/kept").touch()
    with pytest.raises(UserError, match=match):
        merged(state, tmp_path / "policy", base=bases["llama"])
    assert names(tmp_path) == ["policy", "state"]
    assert names(tmp_path / "policy") == ["kept"]


def test_another_base_is_refused(bases, checkpoints, tmp_path, monkeypatch):
    monkeypatch.setattr(merging, "_as_verl_merges", no_verl)
    with pytest.raises(UserError, match="model_type is 'llama', of the base 'qwen3'"):
        merged(checkpoints["one rank"], tmp_path / "policy", base=bases["qwen3"])
    other = shutil.copytree(bases["llama"], tmp_path / "base")
    save_tokenizer((*SPECIAL, *(str(number) for number in range(1, 30))), other)
    with pytest.raises(UserError, match="differ in the token '0'"):
        merged(checkpoints["one rank"], tmp_path / "policy", base=other)


def test_what_verl_makes_must_be_the_shards(checkpoints, tmp_path):
    actor = checkpoints["one rank"] / "actor"
    tensors = merging.read_shards(actor)
    tensors["model.norm.weight"] = tensors["model.norm.weight"] * 1.01
    with pytest.raises(UserError, match=r"give other values for model.norm.weight"):
        merging._as_verl_merges(actor, tensors, tmp_path / "policy")
    assert names(tmp_path) == []


def test_verls_complaint_is_passed_on(bases, checkpoints, tmp_path):
    state = shutil.copytree(checkpoints["one rank"], tmp_path / "state")
    config = state / "actor/huggingface/config.json"
    config.write_text(json.dumps(json.loads(config.read_text()) | {"architectures": ["LlamaModel"]}))
    with pytest.raises(UserError, match=r"verl's merger could not merge .*Unknown architecture"):
        merged(state, tmp_path / "policy", base=bases["llama"])
    assert not (tmp_path / "policy").exists()
