"""Sampling beside what a user would run instead: `generate` of transformers on the same policy.

`make benchmarks`. 8 prompts × 320 samples, one core, at most 60 new tokens, temperature 0.7, top-p 0.9. Two policies
are trained on the spot, a minute each: one on random traces (a base), and the same again on its own cool samples
until it says little else (what a checkpoint late in reinforcement learning is like). Times are CPU seconds; the ratio
is printed and stored with each benchmark.
"""

import time

import numpy as np
import pytest

from workflow_scripts.policies.decoding import decode
from workflow_scripts.policies.decoding_weights import DecodeWeights
from workflow_scripts.records.seeds import generator, sample_keys
from workflow_scripts.tasks.countdown.text import VOCABULARY, traces

SETTINGS = {"temperature": 0.7, "top_p": 0.9}
LONGEST = 60
PROMPTS, SAMPLES = 8, 320


@pytest.fixture(scope="module")
def policies(tmp_path_factory):
    """Folders of a broad and of a collapsed policy."""
    torch = pytest.importorskip("torch")
    from workflow_scripts.policies.architecture import Architecture
    from workflow_scripts.policies.model import new_policy, save_policy
    from workflow_scripts.policies.pretraining import Schedule, pretrain
    from workflow_scripts.policies.tokenizer import save_tokenizer

    torch.set_num_threads(1)
    folders = {name: tmp_path_factory.mktemp(name) for name in ("base", "late")}
    tokenizer = save_tokenizer(VOCABULARY, folders["base"])
    save_tokenizer(VOCABULARY, folders["late"])

    def encoded(step):
        texts = traces("benchmark", step, count=256)
        return [(tokenizer.encode(prompt), [*tokenizer.encode(said), tokenizer.end_id]) for prompt, said in texts]

    policy = new_policy(Architecture(len(VOCABULARY)), seed=0)
    list(pretrain(policy, encoded, Schedule(steps=400)))
    save_policy(policy, folders["base"])
    asked = [prompt for prompt, _ in encoded("asked") + encoded("more")]
    for turn, temperature in enumerate((0.35, 0.3, 0.25, 0.25)):
        own = own_samples(policy, asked, turn, temperature)
        pick = generator("benchmark", turn)
        rows = [pick.integers(0, len(own), 192) for _ in range(40)]
        list(pretrain(policy, lambda step, rows=rows, own=own: [own[i] for i in rows[step]], Schedule(40, rate=1e-3)))
    save_policy(policy, folders["late"])
    return folders


def own_samples(policy, prompts, turn, temperature):
    keys = np.stack([sample_keys("own", turn, place, samples=range(2)) for place in range(len(prompts))])
    weights = DecodeWeights.from_tensors(policy.tensors(), policy.architecture.config())
    decoded = decode(weights, prompts, keys, temperature=temperature, top_p=0.9, max_new_tokens=LONGEST, eos_id=2)
    return [
        (prompts[place], decoded.tokens[place, sample, : decoded.lengths[place, sample]].tolist())
        for place, sample in zip(*np.nonzero(decoded.stopped))
    ]


def by_transformers(folder, prompts):
    """CPU seconds and tokens of `generate`, the end tokens included, padding not."""
    import torch
    from transformers import AutoModelForCausalLM

    torch.set_num_threads(1)
    model = AutoModelForCausalLM.from_pretrained(folder).eval()
    width = max(map(len, prompts))
    ids = torch.tensor([[0] * (width - len(prompt)) + prompt for prompt in prompts])
    call = {"do_sample": True, "top_k": 0, "num_return_sequences": SAMPLES, "eos_token_id": 2, "pad_token_id": 0}
    model.generate(ids[:1], attention_mask=(ids[:1] > 0).long(), max_new_tokens=2, do_sample=True, pad_token_id=0)
    began = time.process_time()
    said = model.generate(ids, attention_mask=(ids > 0).long(), max_new_tokens=LONGEST, **SETTINGS, **call)[:, width:]
    seconds = time.process_time() - began
    ended = (said == 2).cumsum(1) - (said == 2).long()
    return seconds, int((ended == 0).sum())


@pytest.mark.parametrize(("name", "least", "distinct"), [("base", 5, (0.5, 1)), ("late", 30, (0, 0.2))])
def test_sampling_beside_generate(benchmark, policies, name, least, distinct):
    from workflow_scripts.policies.tokenizer import load_tokenizer

    tokenizer = load_tokenizer(policies[name])
    prompts = [tokenizer.encode(prompt) for prompt, _ in traces("asked", count=PROMPTS)]
    keys = np.stack([sample_keys("benchmark", place, samples=range(SAMPLES)) for place in range(PROMPTS)])
    weights = DecodeWeights.load(policies[name])

    def ours():
        began = time.process_time()
        decoded = decode(weights, prompts, keys, **SETTINGS, max_new_tokens=LONGEST, eos_id=2)
        seconds.append(time.process_time() - began)
        return decoded

    seconds: list[float] = []
    decoded = benchmark.pedantic(ours, rounds=5, warmup_rounds=1)
    rate = decoded.lengths.sum() / np.median(seconds)
    slow_seconds, slow_tokens = by_transformers(policies[name], prompts)
    shares = [len({row.tobytes() for row in said[:128]}) / 128 for said in decoded.tokens]
    benchmark.extra_info |= {
        "tokens per second": round(rate),
        "generate's tokens per second": round(slow_tokens / slow_seconds),
        "ratio": round(rate / (slow_tokens / slow_seconds), 1),
        "distinct completions of 128": round(float(np.mean(shares)), 3),
        "mean length": round(float(decoded.lengths.mean()), 1),
    }
    print(f"\n{name}: {', '.join(f'{what} {value}' for what, value in benchmark.extra_info.items())}")
    assert distinct[0] <= np.mean(shares) <= distinct[1]
    assert abs(decoded.lengths.mean() - slow_tokens / (PROMPTS * SAMPLES)) < 1
    assert rate / (slow_tokens / slow_seconds) >= least
