"""Scoring solver-built continuations: beside the bare forward pass on the same batches, and beside transformers.

    .venv/bin/python -m pytest tests/benchmarks/test_scoring.py --benchmark-only -s

One core, fp32, 1,000 continuations of random problems. Rates are continuation tokens a second of CPU time; scoring
includes loading the policy and encoding the texts. The three are timed in turn, so that what else the machine does
falls on all alike; the ratios are printed and stored in `extra_info`.
"""

import time

import numpy as np
import pytest

from workflow_scripts.policies.chunks import TOKENS, split
from workflow_scripts.tasks.countdown.text import VOCABULARY, traces

TEXTS, ROUNDS = 1000, 7


@pytest.fixture
def folder(tmp_path):
    torch = pytest.importorskip("torch")
    from workflow_scripts.policies.architecture import Architecture
    from workflow_scripts.policies.model import new_policy, save_policy
    from workflow_scripts.policies.tokenizer import save_tokenizer

    before = torch.get_num_threads()
    torch.set_num_threads(1)
    save_policy(new_policy(Architecture(len(VOCABULARY)), seed=0), tmp_path)
    save_tokenizer(VOCABULARY, tmp_path)
    yield tmp_path
    torch.set_num_threads(before)


def test_scoring_beside_the_bare_forward_pass(benchmark, folder):
    import torch
    from transformers import AutoModelForCausalLM

    from workflow_scripts.policies.chunks import padded
    from workflow_scripts.policies.likelihood import token_log_probs
    from workflow_scripts.policies.model import Weights, load_policy
    from workflow_scripts.policies.tokenizer import load_tokenizer

    tokenizer, texts = load_tokenizer(folder), traces("scoring", count=TEXTS)
    ids = [[*tokenizer.encode(f"{prompt} {said}"), tokenizer.end_id] for prompt, said in texts]
    batches = [padded([ids[place] for place in part]) for part in split([len(row) for row in ids], TOKENS)]
    weights, theirs = Weights(load_policy(folder)), AutoModelForCausalLM.from_pretrained(folder).eval()

    def bare():
        return [weights.hidden(batch) @ weights.head.t() for batch in batches]

    def by_transformers():
        return [theirs(batch).logits for batch in batches]

    def scored():
        return token_log_probs(folder, texts)

    seconds: dict = {call: [] for call in (bare, by_transformers, scored)}

    def turn():
        for call, spent in seconds.items():
            began = time.process_time()
            call()
            spent.append(time.process_time() - began)

    with torch.no_grad():
        benchmark.pedantic(turn, rounds=ROUNDS, warmup_rounds=1)
    tokens = sum(len(said.split()) + 1 for _, said in texts)
    ours, forward, slow = (tokens / np.median(seconds[call]) for call in (scored, bare, by_transformers))
    benchmark.extra_info |= {
        "tokens per second": round(ours),
        "bare forward's": round(forward),
        "transformers forward's": round(slow),
        "ratio to the bare forward": round(ours / forward, 2),
        "ratio to transformers": round(ours / slow, 2),
    }
    print(f"\n{', '.join(f'{what} {value}' for what, value in benchmark.extra_info.items())}")
    assert ours / forward >= 0.6
