import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from scipy.stats import chi2

from workflow_scripts.policies.decoding import DecodeWeights, decode
from workflow_scripts.policies.inference import RowCache, step
from workflow_scripts.policies.products import BLOCK, one_thread, product
from workflow_scripts.records.errors import UserError
from workflow_scripts.records.seeds import sample_keys

END = 2


def sizes(model_type: str = "llama", **changes) -> dict:
    return {
        "model_type": model_type,
        "vocab_size": 50,
        "hidden_size": 64,
        "intermediate_size": 96,
        "num_hidden_layers": 2,
        "num_attention_heads": 4,
        "num_key_value_heads": 4,
        "head_dim": 16,
        "max_position_embeddings": 40,
        "rms_norm_eps": 1e-6,
        "tie_word_embeddings": True,
        "rope_parameters": {"rope_type": "default", "rope_theta": 10_000.0},
        **changes,
    }


def tensors(config: dict, seed: int = 0, spread: float = 0.15) -> dict[str, np.ndarray]:
    rng = np.random.default_rng(seed)
    hidden, mlp = config["hidden_size"], config["intermediate_size"]
    inner = config["num_attention_heads"] * config["head_dim"]
    keys = config["num_key_value_heads"] * config["head_dim"]
    shapes = {"model.embed_tokens.weight": (config["vocab_size"], hidden), "model.norm.weight": (hidden,)}
    if not config["tie_word_embeddings"]:
        shapes["lm_head.weight"] = (config["vocab_size"], hidden)
    for layer in range(config["num_hidden_layers"]):
        at = f"model.layers.{layer}."
        shapes |= {at + "input_layernorm.weight": (hidden,), at + "post_attention_layernorm.weight": (hidden,)}
        shapes |= {at + "self_attn.q_proj.weight": (inner, hidden), at + "self_attn.o_proj.weight": (hidden, inner)}
        shapes |= {f"{at}self_attn.{name}_proj.weight": (keys, hidden) for name in "kv"}
        shapes |= {f"{at}mlp.{name}_proj.weight": (mlp, hidden) for name in ("gate", "up")}
        shapes[at + "mlp.down_proj.weight"] = (hidden, mlp)
        if config["model_type"] == "qwen3":
            shapes |= {f"{at}self_attn.{name}_norm.weight": (config["head_dim"],) for name in "qk"}
    values = {
        name: rng.uniform(0.5, 1.5, shape) if len(shape) == 1 else rng.standard_normal(shape) * spread
        for name, shape in shapes.items()
    }
    return {name: value.astype(np.float32) for name, value in values.items()}


def policy(model_type: str = "llama", *, spread: float = 0.15, **changes) -> DecodeWeights:
    config = sizes(model_type, **changes)
    return DecodeWeights.from_tensors(tensors(config, spread=spread), config)


def keys(prompts: int, samples: int, first: int = 0) -> np.ndarray:
    return np.stack([sample_keys("test", prompt, samples=range(first, first + samples)) for prompt in range(prompts)])


RL = {"temperature": 1.0, "top_p": 1.0, "max_new_tokens": 12, "eos_id": END}
STAGE = {"temperature": 0.7, "top_p": 0.9, "max_new_tokens": 12, "eos_id": END}
PROMPTS = [[3, 4, 5], [3, 4, 6, 7, 8], [3, 4, 5], [9], [3, 4], [10, 11, 12, 13, 14, 15]]


@pytest.mark.parametrize(
    ("model_type", "changes"),
    [
        ("llama", {}),
        ("llama", {"num_key_value_heads": 2, "tie_word_embeddings": False}),
        ("qwen3", {"num_key_value_heads": 1}),
        ("qwen3", {"head_dim": 32, "num_attention_heads": 2, "num_key_value_heads": 2}),
    ],
)
def test_log_probs_are_those_of_transformers(model_type, changes):
    torch = pytest.importorskip("torch")
    from transformers import AutoConfig, AutoModelForCausalLM

    config = sizes(model_type, **changes)
    given = tensors(config)
    model = AutoModelForCausalLM.from_config(AutoConfig.for_model(**config)).eval()
    missing, unexpected = model.load_state_dict({k: torch.from_numpy(v) for k, v in given.items()}, strict=False)
    assert set(missing) <= {"lm_head.weight"} and not unexpected
    model.tie_weights()
    decoded = decode(DecodeWeights.from_tensors(model.state_dict(), config), PROMPTS, keys(6, 9), **RL, log_probs=True)
    for prompt, tokens, lengths, found in zip(PROMPTS, decoded.tokens, decoded.lengths, decoded.log_probs):
        for row, length, values in zip(tokens, lengths, found):
            ids = torch.tensor([[*prompt, *row[:length].tolist()]])
            with torch.no_grad():
                wanted = model(ids).logits[0].log_softmax(-1)[len(prompt) - 1 : -1]
            wanted = wanted.gather(1, ids[0, len(prompt) :, None])[:, 0].numpy()
            assert np.abs(wanted - values[:length]).max() < 1e-4
            assert not values[length:].any()


def brute_force(weights: DecodeWeights, prompt: list[int], steps: int) -> dict[tuple[int, ...], float]:
    """Probability of every completion of at most `steps` tokens, by walking the whole tree one prefix at a time."""

    def following(ids: list[int]) -> np.ndarray:
        cache = RowCache(weights)
        for position, token in enumerate(ids):
            logits = step(weights, np.array([token]), cache, position)
        shares = np.exp(logits[0].astype(np.float64))
        return shares / shares.sum()

    done, open_ = {}, {(): 1.0}
    for _ in range(steps):
        longer = {}
        for said, share in open_.items():
            for token, probability in enumerate(following([*prompt, *said])):
                (done if token == END else longer)[*said, token] = share * probability
        open_ = longer
    return done | open_


def test_sampled_frequencies_are_the_exact_probabilities():
    weights = policy(vocab_size=4, spread=0.08)
    exact = brute_force(weights, [1, 3], 3)
    assert sum(exact.values()) == pytest.approx(1)
    draws = 40_000
    decoded = decode(weights, [[1, 3]], keys(1, draws), **{**RL, "max_new_tokens": 3})
    counts = dict.fromkeys(exact, 0)
    for row, length in zip(decoded.tokens[0].tolist(), decoded.lengths[0]):
        counts[tuple(row[:length])] += 1
    expected = np.array(list(exact.values())) * draws
    statistic = ((np.array(list(counts.values())) - expected) ** 2 / expected).sum()
    assert expected.min() > 1
    assert chi2.sf(statistic, len(exact) - 1) > 0.01


def test_samples_are_independent_of_each_other():
    weights = policy(vocab_size=4, spread=0.08)
    decoded = decode(weights, [[1]], keys(1, 8000), **{**RL, "max_new_tokens": 1})
    first, second = decoded.tokens[0, ::2, 0], decoded.tokens[0, 1::2, 0]
    table = np.zeros((4, 4))
    np.add.at(table, (first, second), 1)
    expected = np.outer(table.sum(1), table.sum(0)) / table.sum()
    assert ((table - expected) ** 2 / expected).sum() < 27.9  # 99.9 % of 9 degrees of freedom


@pytest.mark.parametrize("settings", [RL, STAGE], ids=["rl", "stage"])
@pytest.mark.parametrize("spread", [0.15, 0.4], ids=["flat", "sharp"])
def test_order_chunks_and_number_of_samples_change_no_bit(settings, spread):
    weights = policy("qwen3", spread=spread)
    whole = decode(weights, PROMPTS, keys(6, 33), **settings, log_probs=True)
    order = [5, 2, 0, 4, 1, 3]
    for rows_at_once in (1, 20, 10_000):  # one prompt at a time, some that have to wait, all at once
        given = [PROMPTS[place] for place in order]
        part = decode(weights, given, keys(6, 33)[order], **settings, log_probs=True, rows_at_once=rows_at_once)
        for name in ("tokens", "lengths", "stopped", "log_probs"):
            assert np.array_equal(getattr(part, name), getattr(whole, name)[order]), name
    for prompt in range(6):
        few = decode(weights, PROMPTS[prompt : prompt + 1], keys(6, 5)[prompt : prompt + 1], **settings, log_probs=True)
        longest = few.tokens.shape[2]
        assert np.array_equal(few.tokens[0], whole.tokens[prompt, :5, :longest])
        assert np.array_equal(few.log_probs[0], whole.log_probs[prompt, :5, :longest])
    later = decode(weights, PROMPTS, keys(6, 3, first=30), **settings)
    assert np.array_equal(later.tokens, whole.tokens[:, 30:])


def test_a_given_beginning_is_as_if_it_had_been_sampled():
    weights = policy(spread=0.4)
    free = decode(weights, [[3, 4]], keys(1, 40), **RL, log_probs=True)
    row = int(np.flatnonzero(free.lengths[0] > 6)[0])
    said = free.tokens[0, row].tolist()
    clamped = decode(weights, [[3, 4, *said[:3]]], keys(1, 40), **RL, log_probs=True)
    assert clamped.lengths.min() >= 1
    same = clamped.tokens[0, :, 0] == said[3]
    assert same.any()
    assert set(clamped.log_probs[0, same, 0].tolist()) == {float(free.log_probs[0, row, 3])}


def test_lengths_ends_and_padding():
    decoded = decode(policy(), PROMPTS, keys(6, 50), **RL)
    assert decoded.tokens.shape == (6, 50, 12) and decoded.log_probs is None
    places = np.arange(12)
    inside = places < decoded.lengths[:, :, None]
    assert (decoded.tokens[~inside] == -1).all() and (decoded.tokens[inside] >= 0).all()
    last = np.take_along_axis(decoded.tokens, decoded.lengths[:, :, None].astype(int) - 1, 2)[:, :, 0]
    assert np.array_equal(last == END, decoded.stopped)
    assert (decoded.lengths[~decoded.stopped] == 12).all()
    assert decoded.stopped.any() and not decoded.stopped.all()
    assert ((decoded.tokens == END).sum(axis=2) == decoded.stopped).all()


def certain(token: int) -> DecodeWeights:
    """A policy that always says `token`."""
    config = sizes(vocab_size=8)
    given = {name: np.zeros_like(value) for name, value in tensors(config).items()}
    given["model.embed_tokens.weight"][:, 0] = 1
    given["model.embed_tokens.weight"][token, 0] = 20
    given["model.norm.weight"][:] = 1
    return DecodeWeights.from_tensors(given, config)


def test_an_empty_completion_is_one_end_token():
    decoded = decode(certain(END), [[1, 4]], keys(1, 3), **RL, log_probs=True)
    assert decoded.lengths.tolist() == [[1, 1, 1]] and decoded.stopped.all()
    assert decoded.tokens[0, :, 0].tolist() == [END] * 3 and decoded.log_probs[0, 0, 0] == 0


def test_several_end_tokens():
    decoded = decode(certain(5), [[1]], keys(1, 2), **{**RL, "eos_id": [END, 5]})
    assert decoded.stopped.all() and (decoded.lengths == 1).all()


def test_completions_end_where_the_context_does():
    decoded = decode(certain(3), [[1] * 37, [1] * 39, [1]], keys(3, 2), **RL)
    assert decoded.lengths.tolist() == [[3, 3], [1, 1], [12, 12]]
    assert not decoded.stopped.any()


@pytest.mark.parametrize("samples", [1, 2, 17])
def test_any_number_of_samples(samples):
    decoded = decode(policy(), PROMPTS, keys(6, samples), **STAGE)
    assert np.array_equal(decoded.tokens, decode(policy(), PROMPTS, keys(6, 40), **STAGE).tokens[:, :samples])


def test_no_prompts_give_nothing():
    assert decode(policy(), [], np.zeros((0, 4), np.uint64), **RL).lengths.shape == (0, 4)


def test_progress_counts_every_sample():
    seen = []
    decode(policy(), PROMPTS, keys(6, 4), **RL, rows_at_once=1, on_progress=seen.append)
    assert sum(seen) == 24 and len(seen) > 1


@pytest.mark.parametrize(
    ("prompts", "changes", "words"),
    [
        ([[1] * 40], {}, "prompt 0 has 40 tokens and the policy's context holds 40"),
        ([[]], {}, "prompt 0 is empty"),
        ([[50]], {}, "outside the policy's vocabulary of 50"),
        ([[-1]], {}, "outside the policy's vocabulary of 50"),
        ([[1], [2]], {}, "2 prompts need keys"),
        ([[1]], {"temperature": -1}, "temperature -1"),
        ([[1]], {"temperature": float("nan")}, "temperature nan"),
        ([[1]], {"top_p": 0}, "top_p 0"),
        ([[1]], {"top_p": 1.1}, "top_p 1.1"),
        ([[1]], {"max_new_tokens": 0}, "max_new_tokens 0"),
        ([[1]], {"min_p": -0.1}, "min_p -0.1"),
        ([[1]], {"min_p": 1.1}, "min_p 1.1"),
        ([[1]], {"eos_id": [2, 50]}, "end token .* outside"),
    ],
)
def test_impossible_requests_are_named(prompts, changes, words):
    with pytest.raises(UserError, match=words):
        decode(policy(), prompts, keys(1, 2), **{**RL, **changes})


@pytest.mark.parametrize(
    ("config", "spoil", "words"),
    [
        ({"model_type": "qwen2"}, None, "not 'qwen2'"),
        ({"attention_bias": True}, None, "attention_bias"),
        ({"rope_parameters": {"rope_type": "yarn"}}, None, "plain rotary positions"),
        ({"hidden_act": "gelu"}, None, "silu only"),
        ({}, lambda t: t.pop("model.norm.weight"), "lack the tensor model.norm.weight"),
        ({}, lambda t: t["model.norm.weight"].fill(np.nan), "model.norm.weight holds NaN"),
    ],
)
def test_other_weights_are_refused(config, spoil, words):
    given = tensors(sizes())
    if spoil:
        spoil(given)
    with pytest.raises(UserError, match=words):
        DecodeWeights.from_tensors(given, sizes() | config)


def test_predictions_that_overflow_are_an_error():
    given = tensors(sizes())
    given["model.layers.1.mlp.up_proj.weight"][:] = 1e37
    with pytest.raises(UserError, match="predictions are NaN"):
        decode(DecodeWeights.from_tensors(given, sizes()), PROMPTS, keys(6, 2), **STAGE)


@pytest.mark.parametrize(("inner", "outer"), [(64, 320), (64, 384), (192, 64), (64, 128), (17, 60), (100, 1000)])
def test_a_products_row_is_the_same_in_any_company(inner, outer):
    rng = np.random.default_rng(inner)
    matrix = rng.standard_normal((inner, outer)).astype(np.float32)
    row = rng.standard_normal(inner).astype(np.float32)
    results = set()
    with one_thread():
        for blocks in (1, 2, 5, 40):
            for place in (0, 1, 5, BLOCK - 1):
                crowd = rng.standard_normal((blocks * BLOCK, inner)).astype(np.float32)
                crowd[-place - 1] = row
                results.add(product(crowd, matrix)[-place - 1].tobytes())
    assert len(results) == 1


_DIGEST = """
import hashlib, sys
sys.path[:0] = sys.argv[1:]
from test_decoding import PROMPTS, RL, decode, keys, policy
decoded = decode(policy(), PROMPTS, keys(6, 60), **RL, log_probs=True)
print(hashlib.sha256(decoded.tokens.tobytes() + decoded.log_probs.tobytes()).hexdigest(), "torch" in sys.modules)
"""


def test_results_do_not_depend_on_the_threads_allowed_and_need_no_torch():
    here = Path(__file__).parent
    outputs = set()
    for threads in ("1", "2"):
        settings = os.environ | {"OPENBLAS_NUM_THREADS": threads, "OMP_NUM_THREADS": threads}
        call = [sys.executable, "-c", _DIGEST, str(here), str(here.parents[1])]
        outputs.add(subprocess.run(call, env=settings, check=True, capture_output=True, text=True).stdout.strip())
    assert len(outputs) == 1 and outputs.pop().endswith("False")
