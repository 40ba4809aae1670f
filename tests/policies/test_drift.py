"""KL from a reference and token entropy over a policy's own samples, against a direct computation with logits."""

import pandas as pd
import pytest
import torch

from workflow_scripts.policies.architecture import Architecture
from workflow_scripts.policies.drift import drift
from workflow_scripts.policies.model import load_policy, logits, new_policy, save_policy
from workflow_scripts.policies.tokenizer import save_tokenizer
from workflow_scripts.records.errors import UserError

WORDS = ["<pad>", "<unk>", "<eos>", "<think>", "</think>", "1", "2", "3", "+", "="]


@pytest.fixture(scope="module")
def folders(tmp_path_factory):
    torch.set_num_threads(1)
    made = []
    for seed in (1, 2):
        folder = tmp_path_factory.mktemp(f"policy{seed}")
        sizes = Architecture(vocabulary=len(WORDS), hidden=16, layers=1, heads=2, head_dim=8, mlp=32, positions=32)
        save_policy(new_policy(sizes, seed, spread=0.5), folder)
        save_tokenizer(WORDS, folder)
        made.append(folder)
    return made


def rollouts(*rows):
    frame = pd.DataFrame(rows, columns=["problem_id", "sample", "completion", "finish_reason"])
    return frame.assign(policy="p", prefix="")


ROWS = rollouts(
    ("a", 0, "1 + 2 = 3 </think>", "stop"),
    ("a", 1, "1 + 2 = 3 </think>", "stop"),
    ("a", 2, "2 + 2", "length"),
    ("b", 0, "3", "stop"),
    ("b", 1, "", "stop"),
    ("b", 2, "1 1", "stop"),
)
PROMPTS = {"a": "1 2 <think>", "b": "3 <think>"}


def expected(folder, reference, problem):
    ids = {word: place for place, word in enumerate(WORDS)}
    policies = [load_policy(folder), load_policy(reference)]
    kl = entropy = count = 0.0
    for row in ROWS[ROWS["problem_id"] == problem].itertuples():
        prompt = [ids[word] for word in PROMPTS[problem].split()]
        said = [ids[word] for word in row.completion.split()] + [2] * (row.finish_reason == "stop")
        tokens = torch.tensor([[*prompt, *said]])
        p, q = (logits(policy, tokens)[0].double().log_softmax(-1) for policy in policies)
        for place in range(len(prompt) - 1, len(prompt) + len(said) - 1):
            kl += float((p[place].exp() * (p[place] - q[place])).sum())
            entropy += float(-(p[place].exp() * p[place]).sum())
            count += 1
    return kl / count, entropy / count


def test_numbers_agree_with_a_direct_sum(folders):
    found = drift(folders[0], folders[1], PROMPTS, ROWS, samples=3).set_index("problem_id")
    for problem in PROMPTS:
        kl, entropy = expected(*folders, problem)
        assert found.loc[problem, "kl"] == pytest.approx(kl, abs=1e-5) and kl > 0.01
        assert found.loc[problem, "token_entropy"] == pytest.approx(entropy, abs=1e-5)
    assert list(found["samples"]) == [3, 3]


def test_a_policy_has_not_moved_from_itself(folders):
    assert drift(folders[0], folders[0], PROMPTS, ROWS, samples=3)["kl"].abs().max() < 1e-6


def test_only_the_first_samples_are_read(folders):
    first = drift(folders[0], folders[1], PROMPTS, ROWS[ROWS["sample"] < 2], samples=2)
    pd.testing.assert_frame_equal(first, drift(folders[0], folders[1], PROMPTS, ROWS, samples=2))


def test_refusals(folders, tmp_path):
    with pytest.raises(UserError, match="problem a has 3 of the first 4"):
        drift(*folders, PROMPTS, ROWS, samples=4)
    with pytest.raises(UserError, match="no prompt for problem b"):
        drift(*folders, {"a": PROMPTS["a"]}, ROWS, samples=3)
    save_policy(load_policy(folders[0]), tmp_path)
    save_tokenizer([*WORDS[:-1], "-"], tmp_path)
    with pytest.raises(UserError, match="different tokenizers"):
        drift(folders[0], tmp_path, PROMPTS, ROWS, samples=3)
