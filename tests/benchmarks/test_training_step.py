"""One pre-training step of 256 texts on one core: ours, the matrix products alone, and transformers with torch's AdamW.

    .venv/bin/python -m pytest tests/benchmarks/test_training_step.py --benchmark-only

Times of the three are taken in turn, so that what else the machine does falls on all alike; `extra_info` holds the
ratios.
"""

import time

import numpy as np
import pytest
import torch

from workflow_scripts.policies.chunks import padded
from workflow_scripts.policies.model import Architecture, new_policy, save_policy
from workflow_scripts.policies.pretraining import Schedule, pretrain

SIZES = Architecture(120)
TEXTS = 256


@pytest.fixture(autouse=True)
def one_thread():
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(before)


def texts():
    """Prompts of 6 or 7 tokens and completions of 15 to 45: the lengths of the laptop text."""
    rng = np.random.default_rng(1)
    return [
        (rng.integers(3, 120, rng.integers(6, 8)).tolist(), rng.integers(3, 120, rng.choice([21, 29, 29, 45])).tolist())
        for _ in range(TEXTS)
    ]


def products(tokens):
    """The matrix products of one forward and backward pass over `tokens` tokens, in chunks of 1,024; nothing else."""
    a = SIZES
    inner = a.heads * a.head_dim
    shapes = [(3 * inner, a.hidden), (a.hidden, inner), (a.mlp, a.hidden), (a.mlp, a.hidden), (a.hidden, a.mlp)]
    shapes = shapes * a.layers + [(a.vocabulary, a.hidden)]
    work = [(torch.randn(1024, i), torch.randn(o, i), torch.randn(1024, o)) for o, i in shapes]

    def run():
        for _ in range(tokens // 1024):
            for inputs, weights, gradient in work:
                _ = inputs @ weights.t()
                _ = gradient @ weights
                _ = gradient.t() @ inputs

    return run


def usual(folder, batch):
    """A step as a user of transformers would write it: padded to the longest, labels, backward, AdamW."""
    transformers = pytest.importorskip("transformers")
    save_policy(new_policy(SIZES, 1), folder)
    model = transformers.AutoModelForCausalLM.from_pretrained(folder)
    optimiser = torch.optim.AdamW(model.parameters(), lr=1e-3)
    sequences = [[*prompt, *completion] for prompt, completion in batch]
    tokens = padded(sequences)
    mask = padded([[1] * len(sequence) for sequence in sequences])

    def run():
        loss = model(input_ids=tokens, attention_mask=mask, labels=tokens.masked_fill(mask == 0, -100)).loss
        optimiser.zero_grad()
        loss.backward()
        optimiser.step()

    return run


def seconds(run, clock=time.process_time):
    began = clock()
    run()
    return clock() - began


def test_training_step(benchmark, tmp_path):
    batch = texts()
    floor, theirs = products(sum(len(p) + len(c) for p, c in batch)), usual(tmp_path, batch)
    steps = pretrain(new_policy(SIZES, 1), lambda step: batch, Schedule(steps=1000))
    for run in (lambda: next(steps), floor, theirs):
        run()
    taken = np.array([[seconds(lambda: next(steps)), seconds(floor), seconds(theirs)] for _ in range(7)])
    ours, products_alone, transformers = np.median(taken, axis=0)
    benchmark.extra_info.update(
        {
            "times_the_products": round(ours / products_alone, 2),
            "times_faster_than_transformers": round(transformers / ours, 2),
        }
    )
    benchmark.pedantic(lambda: next(steps), rounds=5)
    assert ours <= 2.5 * products_alone
    assert transformers > ours
