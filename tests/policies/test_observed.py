"""Training that is observed: the same training, and batches that its rows were made from."""

import numpy as np
import pytest
import torch

from workflow_scripts.policies.architecture import architecture_of
from workflow_scripts.policies.model import new_policy
from workflow_scripts.policies.state import new_state
from workflow_scripts.policies.tokenizer import Tokenizer
from workflow_scripts.policies.training import LineSettings, observed_segment, train_segment

WORDS = ("<pad>", "<unk>", "<eos>", "a", "b", "c", "d")
TOKENIZER = Tokenizer(WORDS)
SIZES = {"hidden": 16, "layers": 1, "heads": 2, "mlp": 16, "context": 32, "architecture": "llama"}
SETTINGS = LineSettings(seed=3, line="t", prompts=4, samples=4, rate=1e-2, max_new_tokens=6)
PROMPTS = [[3, 4], [4, 5], [5, 6], [6, 3], [3, 3]]
CLOCK = {"seconds", "seconds_sampling", "seconds_judging"}


def reward(pairs):
    return [{"score": text.split().count("a") / 6, "format_ok": bool(text)} for _, text in pairs]


@pytest.fixture(scope="module")
def base():
    torch.set_num_threads(1)
    return new_policy(architecture_of(SIZES, WORDS), 1)


@pytest.fixture(scope="module")
def trained(base):
    plain, watched = new_state(base, critic=False), new_state(base, critic=False)
    rows = list(train_segment(plain, base, PROMPTS, reward, TOKENIZER, SETTINGS, 4))
    seen = list(observed_segment(watched, base, PROMPTS, reward, TOKENIZER, SETTINGS, 4))
    return plain, watched, rows, seen


def test_observing_changes_no_bit_of_the_training(trained):
    plain, watched, rows, seen = trained
    assert torch.equal(plain.policy.flat, watched.policy.flat) and plain.step == watched.step == 4
    told = [{name: value for name, value in row.items() if name not in CLOCK} for row, _ in seen]
    assert told == [{name: value for name, value in row.items() if name not in CLOCK} for row in rows]


def test_the_batch_is_the_one_that_the_row_describes(trained):
    *_, seen = trained
    for row, batch in seen:
        shares = batch.counts / batch.counts.sum()
        assert batch.shape == (4, 4) and int(batch.counts.sum()) == 16
        assert float(shares @ batch.rewards) == pytest.approx(row["reward"])
        assert float(shares @ batch.lengths.float()) == pytest.approx(row["length"])
        assert len(batch.texts) / 16 == row["distinct"]
    assert len({tuple(np.round(batch.rewards.tolist(), 6)) for _, batch in seen}) > 1


def test_each_step_is_judged_once(base):
    asked = []

    def counted(pairs):
        asked.append(len(pairs))
        return reward(pairs)

    rows = list(observed_segment(new_state(base, critic=False), base, PROMPTS, counted, TOKENIZER, SETTINGS, 2))
    assert asked == [len(batch.texts) for _, batch in rows] and len(asked) == 2
    assert all(row["seconds"] >= row["seconds_sampling"] + row["seconds_judging"] for row, _ in rows)
