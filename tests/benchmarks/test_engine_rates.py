"""vLLM beside the built-in engine on a small policy: sampling and scoring on one core.

`make benchmarks`, in an environment with vLLM. 16 prompts × 320 samples, at most 60 new tokens, temperature 0.7, top-p
0.9; the texts that are scored are 1,000 of the samples. Times are CPU seconds of a running engine, its start left out;
rates and ratios are printed and stored. At this size vLLM is for what it says, not for speed: the built-in engine reads
each prefix once for all samples that share it.
"""

import time

import numpy as np
import pytest

from workflow_scripts.policies.sampling import Prompt, sample_policy
from workflow_scripts.tasks.countdown.text import VOCABULARY, traces

CALL = {"policy": "base", "temperature": 0.7, "top_p": 0.9, "max_new_tokens": 60, "study_seed": 1}
PROMPTS, SAMPLES, TEXTS = 16, 320, 1_000


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """A policy of the laptop's size, trained on random traces for half a minute."""
    torch = pytest.importorskip("torch")
    pytest.importorskip("vllm")
    from workflow_scripts.policies.architecture import Architecture
    from workflow_scripts.policies.model import new_policy, save_policy
    from workflow_scripts.policies.pretraining import Schedule, pretrain
    from workflow_scripts.policies.tokenizer import save_tokenizer

    torch.set_num_threads(1)
    path = tmp_path_factory.mktemp("base")
    tokenizer = save_tokenizer(VOCABULARY, path)

    def encoded(step):
        texts = traces("benchmark", step, count=256)
        return [(tokenizer.encode(prompt), [*tokenizer.encode(said), tokenizer.end_id]) for prompt, said in texts]

    policy = new_policy(Architecture(len(VOCABULARY)), seed=0)
    list(pretrain(policy, encoded, Schedule(steps=200)))
    save_policy(policy, path)
    return path


@pytest.fixture(scope="module")
def prompts():
    return [Prompt(str(place), text) for place, (text, _) in enumerate(traces("asked", count=PROMPTS))]


@pytest.fixture(scope="module")
def running(folder):
    """vLLM, started once, for both functions."""
    from contextlib import contextmanager

    from workflow_scripts.policies import vllm_likelihood, vllm_sampling
    from workflow_scripts.policies.vllm_engine import engine

    with engine(folder, longest=128, prefix_caching=False) as speaker, pytest.MonkeyPatch.context() as patch:

        @contextmanager
        def lent(*_, **__):
            yield speaker

        for module in (vllm_sampling, vllm_likelihood):
            patch.setattr(module, "engine", lent)
        yield speaker


def timed(call):
    began = time.process_time()
    result = call()
    return time.process_time() - began, result


def told(benchmark, name, ours, theirs):
    benchmark.extra_info |= {
        "built-in, tokens per second": round(ours),
        "vLLM, tokens per second": round(theirs),
        "ratio": round(ours / theirs, 2),
    }
    print(f"\n{name}: {', '.join(f'{what} {value}' for what, value in benchmark.extra_info.items())}")


def test_sampling_beside_vllm(benchmark, folder, prompts, running):
    from workflow_scripts.policies.vllm_sampling import sample_vllm

    sample_vllm(folder, prompts[:2], samples=64, **CALL)  # the first call is slower
    seconds, theirs = timed(lambda: sample_vllm(folder, prompts, samples=SAMPLES, **CALL))
    ours = benchmark.pedantic(lambda: timed(lambda: sample_policy(folder, prompts, samples=SAMPLES, **CALL)), rounds=1)
    tokens = [np.sum(table["tokens"].to_numpy()) for table in (ours[1], theirs)]
    told(benchmark, "sampling", tokens[0] / ours[0], tokens[1] / seconds)
    assert abs(tokens[0] / tokens[1] - 1) < 0.05  # the same distribution
    assert ours[0] < seconds


def test_scoring_beside_vllm(benchmark, folder, prompts, running):
    from workflow_scripts.policies.likelihood import token_log_probs
    from workflow_scripts.policies.vllm_likelihood import token_log_probs_vllm

    said = sample_policy(folder, prompts, samples=100, **CALL)["completion"].to_pylist()
    texts = list(dict.fromkeys((prompts[place // 100].text, text) for place, text in enumerate(said)))[:TEXTS]
    token_log_probs_vllm(folder, texts[:20])
    seconds, theirs = timed(lambda: token_log_probs_vllm(folder, texts))
    ours = benchmark.pedantic(lambda: timed(lambda: token_log_probs(folder, texts)), rounds=1)
    tokens = sum(map(len, ours[1]))
    told(benchmark, f"scoring {len(texts)} texts", tokens / ours[0], tokens / seconds)
    assert max(np.abs(one - other).max() for one, other in zip(ours[1], theirs, strict=True)) < 1e-4
    assert ours[0] < seconds
