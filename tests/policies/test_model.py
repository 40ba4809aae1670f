import json

import pytest
import torch

from workflow_scripts.policies.chunks import padded
from workflow_scripts.policies.model import Architecture, Weights, load_policy, logits, new_policy, save_policy
from workflow_scripts.records.errors import UserError

SMALL = {"vocabulary": 23, "hidden": 16, "layers": 2, "heads": 2, "head_dim": 8, "mlp": 24, "positions": 40}
BOTH = pytest.mark.parametrize("model_type", ["llama", "qwen3"])


def random_policy(model_type, seed=3, **sizes):
    policy = new_policy(Architecture(model_type=model_type, **(SMALL | sizes)), seed)
    with torch.no_grad():  # norms away from 1, weights away from 0, so that a slip anywhere shows
        policy.flat.add_(0.2 * torch.randn(policy.flat.shape, generator=torch.Generator().manual_seed(seed)))
    return policy


def transformers_logits(folder, tokens):
    transformers = pytest.importorskip("transformers")
    theirs, report = transformers.AutoModelForCausalLM.from_pretrained(folder, output_loading_info=True)
    assert not report["missing_keys"] and not report["unexpected_keys"]
    with torch.no_grad():
        return theirs(tokens).logits


@BOTH
def test_logits_equal_those_of_transformers(tmp_path, model_type):
    for policy in (random_policy(model_type), new_policy(Architecture(120, model_type=model_type), 1)):
        save_policy(policy, tmp_path)
        tokens = torch.randint(policy.architecture.vocabulary, (5, 31), generator=torch.Generator().manual_seed(0))
        ours, theirs = logits(policy, tokens), transformers_logits(tmp_path, tokens)
        assert torch.allclose(ours, theirs, atol=1e-5, rtol=1e-5)
        assert ours.abs().max() > 0.1


@BOTH
def test_gradients_equal_those_of_transformers(tmp_path, model_type):
    transformers = pytest.importorskip("transformers")
    policy = random_policy(model_type)
    save_policy(policy, tmp_path)
    theirs = transformers.AutoModelForCausalLM.from_pretrained(tmp_path)
    # no token 0: transformers gives the padding token's embedding no gradient
    rows = [torch.randint(1, 23, (n,), generator=torch.Generator().manual_seed(n)) for n in (9, 4, 9, 17, 4)]
    weights = Weights(policy, trained=True)
    ours = 0.0
    for part in ([0, 3], [1, 2, 4]):  # in two chunks: gradients add up
        tokens = padded([rows[place].tolist() for place in part])
        scores = weights.hidden(tokens) @ weights.head.t()
        scores = torch.cat([scores[row, : len(rows[place])] for row, place in enumerate(part)])
        loss = scores.square().sum() + scores.logsumexp(-1).sum()
        loss.backward()
        ours += loss.item()
    weights.backward()
    total = sum(s.square().sum() + s.logsumexp(-1).sum() for s in (theirs(row[None]).logits for row in rows))
    total.backward()
    assert ours == pytest.approx(total.item(), rel=1e-5)
    for name, parameter in theirs.named_parameters():
        expected = parameter.grad
        assert torch.allclose(
            policy.parameters[name].grad, expected, rtol=1e-4, atol=1e-5 * expected.abs().max().item()
        )


@BOTH
def test_saved_policy_loads_bit_for_bit(tmp_path, model_type):
    policy = random_policy(model_type)
    save_policy(policy, tmp_path)
    again = load_policy(tmp_path)
    assert again.architecture == policy.architecture
    assert torch.equal(again.flat, policy.flat)
    save_policy(again, tmp_path / "b")
    assert (tmp_path / "b/model.safetensors").read_bytes() == (tmp_path / "model.safetensors").read_bytes()
    copied = policy.copy()
    copied.flat.zero_()
    assert policy.flat.abs().sum() > 0


def test_transformers_writes_what_is_read_back(tmp_path):
    transformers = pytest.importorskip("transformers")
    policy = random_policy("qwen3")
    save_policy(policy, tmp_path)
    transformers.AutoModelForCausalLM.from_pretrained(tmp_path).save_pretrained(tmp_path / "theirs")
    again = load_policy(tmp_path / "theirs")
    assert again.architecture == policy.architecture and torch.equal(again.flat, policy.flat)


def test_padding_changes_no_sequence():
    policy = random_policy("llama")
    rows = [[1, 2, 3], [4], [5, 6, 7], [8, 9, 10, 11, 12], [13, 14]]
    together = logits(policy, padded(rows))
    for row, sequence in enumerate(rows):
        alone = logits(policy, torch.tensor([sequence]))[0]
        assert torch.allclose(together[row, : len(sequence)], alone, atol=1e-5)


def test_same_seed_same_start():
    a, b, c = (new_policy(Architecture(23), seed) for seed in (1, 1, 2))
    assert torch.equal(a.flat, b.flat) and not torch.equal(a.flat, c.flat)
    assert a.parameters["model.norm.weight"].eq(1).all()


def test_texts_beyond_the_positions_are_refused():
    with pytest.raises(UserError, match="41 tokens"):
        logits(random_policy("llama"), torch.zeros(1, 41, dtype=torch.int64))


@pytest.mark.parametrize(
    ("change", "match"),
    [
        ({"num_key_value_heads": 1}, "num_key_value_heads"),
        ({"tie_word_embeddings": False}, "tie_word_embeddings"),
        ({"model_type": "gpt2"}, "gpt2"),
        ({"attention_bias": True}, "attention_bias"),
        ({"rope_parameters": {"rope_type": "yarn"}}, "rope_type"),
        ({"hidden_size": None}, r"config\.json"),
        ({"intermediate_size": 25}, r"gate_proj|down_proj"),
        ({"num_hidden_layers": 3}, r"layers\.2"),
        ({"vocab_size": ...}, "vocab_size"),
    ],
)
def test_unsupported_or_damaged_configs_are_named(tmp_path, change, match):
    save_policy(random_policy("llama"), tmp_path)
    config = json.loads((tmp_path / "config.json").read_text()) | change
    config = {key: value for key, value in config.items() if value is not ...}
    (tmp_path / "config.json").write_text(json.dumps(config))
    with pytest.raises(UserError, match=match):
        load_policy(tmp_path)


def test_damaged_weights_are_named(tmp_path):
    policy = random_policy("llama")
    policy.flat[7] = float("nan")
    save_policy(policy, tmp_path)
    with pytest.raises(UserError, match=r"embed_tokens.*NaN"):
        load_policy(tmp_path)
    path = tmp_path / "model.safetensors"
    path.write_bytes(path.read_bytes()[:1000])
    with pytest.raises(UserError, match=r"model\.safetensors is damaged"):
        load_policy(tmp_path)
    path.unlink()
    with pytest.raises(UserError, match=r"model\.safetensors is missing"):
        load_policy(tmp_path)
