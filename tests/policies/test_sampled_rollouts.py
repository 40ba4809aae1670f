import json

import numpy as np
import pytest
from safetensors.numpy import save_file

from workflow_scripts.policies.architecture import Architecture
from workflow_scripts.policies.decoding import decode
from workflow_scripts.policies.decoding_weights import DecodeWeights
from workflow_scripts.policies.sampling import Prompt, sample_policy
from workflow_scripts.policies.tokenizer import save_tokenizer
from workflow_scripts.records.errors import UserError
from workflow_scripts.records.schemas import ROLLOUTS
from workflow_scripts.records.seeds import key

WORDS = ["<pad>", "<unk>", "<eos>", "<think>", "->", "try", "+", "*", *map(str, range(12))]
PROMPTS = [
    Prompt("1_2_3-6", "1 2 3 -> 6 <think>"),
    Prompt("1_2_3_4-10", "1 2 3 4 -> 10 <think>"),
    Prompt("1_2_3_4-10", "1 2 3 4 -> 10 <think>", "try 1 *"),
    Prompt("1_2_3_4-10", "1 2 3 4 -> 10 <think>", "try 1 +"),
]
SETTINGS = {"policy": "base", "temperature": 0.7, "top_p": 0.9, "max_new_tokens": 15, "study_seed": 7}


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    path = tmp_path_factory.mktemp("a policy")
    save_tokenizer(WORDS, path)
    architecture = Architecture(len(WORDS), "qwen3", hidden=32, layers=2, heads=2, head_dim=16, mlp=48, positions=32)
    rng = np.random.default_rng(5)
    weights = {
        name: (rng.uniform(0.5, 1.5, shape) if len(shape) == 1 else rng.standard_normal(shape) * 0.2).astype(np.float32)
        for name, shape in architecture.shapes().items()
    }
    save_file(weights, path / "model.safetensors")
    (path / "config.json").write_text(json.dumps(architecture.config()))
    return path


def rows(table) -> list[dict]:
    return sorted(table.to_pylist(), key=lambda row: (row["problem_id"], row["prefix"], row["sample"]))


def test_table_has_one_row_a_sample(folder):
    table = sample_policy(folder, PROMPTS, samples=20, **SETTINGS)
    assert table.schema == ROLLOUTS and table.num_rows == 80
    for number, row in enumerate(table.to_pylist()):
        prompt = PROMPTS[number // 20]
        assert (row["problem_id"], row["prefix"], row["sample"]) == (prompt.problem_id, prompt.prefix, number % 20)
        assert row["policy"] == "base"
        assert row["seed"] == key(7, "base", prompt.problem_id, prompt.prefix, number % 20)
        words = row["completion"].split()
        assert set(words) <= set(WORDS[3:])
        assert len(words) <= row["tokens"] - (row["finish_reason"] == "stop") <= 15
        assert row["finish_reason"] == "stop" or row["tokens"] == 15
    assert {row["finish_reason"] for row in table.to_pylist()} == {"stop", "length"}


def test_shards_order_and_number_of_samples_do_not_change_a_sample(folder):
    whole = rows(sample_policy(folder, PROMPTS, samples=20, **SETTINGS))
    parts = [sample_policy(folder, PROMPTS, samples=20, shard=(index, 3), **SETTINGS) for index in range(3)]
    assert rows_of(parts) == whole
    assert rows(sample_policy(folder, PROMPTS[::-1], samples=20, **SETTINGS)) == whole
    assert rows(sample_policy(folder, PROMPTS, samples=8, **SETTINGS)) == [row for row in whole if row["sample"] < 8]
    later = sample_policy(folder, PROMPTS, samples=range(12, 20), **SETTINGS)
    assert rows(later) == [row for row in whole if row["sample"] >= 12]


def rows_of(tables) -> list[dict]:
    return sorted(
        (row for table in tables for row in table.to_pylist()),
        key=lambda row: (row["problem_id"], row["prefix"], row["sample"]),
    )


@pytest.mark.parametrize("change", [{"study_seed": 8}, {"policy": "late"}])
def test_seed_and_policy_give_other_samples(folder, change):
    one = sample_policy(folder, PROMPTS[:1], samples=20, **SETTINGS)
    other = sample_policy(folder, PROMPTS[:1], samples=20, **{**SETTINGS, **change})
    assert one["completion"] != other["completion"]
    assert not set(one["seed"].to_pylist()) & set(other["seed"].to_pylist())


def test_an_empty_shard_is_an_empty_table(folder):
    assert sample_policy(folder, PROMPTS, samples=3, shard=(5, 6), **SETTINGS).num_rows == 0


@pytest.mark.parametrize(
    ("prompts", "changes", "words"),
    [
        ([Prompt("p", "1 -> 99 <think>")], {}, "'99'"),
        ([Prompt("p", "1 <think>", "so 1")], {}, "'so'"),
        ([Prompt("p", "1 " * 30, "2 2")], {}, "problem p: prompt and prefix have 32 tokens; .* holds 32"),
        ([Prompt("p", "")], {}, "problem p: prompt and prefix have 0 tokens"),
        ([PROMPTS[0], PROMPTS[0]], {}, "1_2_3-6 is given twice"),
        (PROMPTS, {"shard": (3, 3)}, "no shard 3 of 3"),
        (PROMPTS, {"temperature": -0.1}, "temperature -0.1"),
    ],
)
def test_impossible_requests_are_named(folder, prompts, changes, words):
    with pytest.raises(UserError, match=words):
        sample_policy(folder, prompts, samples=2, **{**SETTINGS, **changes})


@pytest.mark.parametrize(
    ("file", "content", "words"),
    [
        ("config.json", None, "config.json is missing"),
        ("config.json", b"{", "config.json is missing or damaged"),
        ("config.json", b'{"model_type": "llama"}', "config.json lacks 'num_attention_heads'"),
        ("model.safetensors", None, "holds no .safetensors"),
        ("model.safetensors", b"\x08\0\0\0", "model.safetensors cannot be read"),
        ("tokenizer.json", None, "tokenizer.json"),
    ],
)
def test_damaged_folders_are_named(folder, tmp_path, file, content, words):
    for part in folder.iterdir():
        (tmp_path / part.name).write_bytes(part.read_bytes())
    (tmp_path / file).unlink()
    if content is not None:
        (tmp_path / file).write_bytes(content)
    with pytest.raises(UserError, match=words):
        sample_policy(tmp_path, PROMPTS, samples=1, **SETTINGS)


def test_samples_are_likely_under_the_policy_that_was_saved(tmp_path):
    torch = pytest.importorskip("torch")
    from workflow_scripts.policies.model import logits, new_policy, save_policy

    save_tokenizer(WORDS, tmp_path)
    policy = new_policy(Architecture(len(WORDS), hidden=32, layers=2, heads=2, head_dim=16, mlp=48), seed=3)
    save_policy(policy, tmp_path)
    prompts = [[4, 8, 9], [10, 4, 8, 9]]
    keys = np.arange(12, dtype=np.uint64).reshape(2, 6)
    decoded = decode(
        DecodeWeights.load(tmp_path), prompts, keys, temperature=1, top_p=1, max_new_tokens=9, eos_id=2, log_probs=True
    )
    for prompt, said, lengths, found in zip(prompts, decoded.tokens, decoded.lengths, decoded.log_probs):
        for row, length, values in zip(said, lengths, found):
            text = torch.tensor([[*prompt, *row[:length].tolist()]])
            wanted = logits(policy, text)[0].log_softmax(-1)[len(prompt) - 1 : -1]
            wanted = wanted.gather(1, text[0, len(prompt) :, None])[:, 0].numpy()
            assert np.abs(wanted - values[:length]).max() < 1e-5
