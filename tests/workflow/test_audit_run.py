"""`entrances audit` from folders to files: a line of given checkpoints is planned whole, a foreign base is measured."""

import json
import re

import pyarrow.parquet as pq
import pytest
from workspaces import Workspace

pytestmark = pytest.mark.workflow

FEW = ("--evaluation", "4", "--samples", "4", "--max-new-tokens", "12")


@pytest.fixture(scope="module")
def place(tmp_path_factory, sources):
    return Workspace(tmp_path_factory.mktemp("audit here"), sources=sources)


def gpt2(folder):
    """A tiny untrained GPT-2 with a byte-level tokenizer and no chat template."""
    from tokenizers import Tokenizer, decoders, models, pre_tokenizers
    from transformers import GPT2Config, GPT2LMHeadModel, PreTrainedTokenizerFast

    letters = sorted(pre_tokenizers.ByteLevel.alphabet())
    inner = Tokenizer(models.BPE(vocab={letter: at for at, letter in enumerate(letters)}, merges=[]))
    inner.pre_tokenizer, inner.decoder = pre_tokenizers.ByteLevel(add_prefix_space=False), decoders.ByteLevel()
    sizes = {"n_embd": 8, "n_layer": 2, "n_head": 1, "n_positions": 1024, "vocab_size": 257}
    GPT2LMHeadModel(GPT2Config(**sizes, eos_token_id=256, bos_token_id=None)).save_pretrained(folder)
    PreTrainedTokenizerFast(tokenizer_object=inner, eos_token="<|end|>").save_pretrained(folder)
    return folder


def test_checkpoints_of_a_finished_study_are_planned_as_one_line(tiny, place):
    policies = [tiny.results / "policies" / name for name in ("base", "grpo-s1-step1", "grpo-s1-step2")]
    done = place.entrances("audit", *policies, "--study", "mine", *FEW, "--dry-run", "--json")
    assert done.returncode == 0, done.stderr
    told = json.loads(done.stdout.splitlines()[0])
    assert [row["wording"] for row in told["checkpoints"]] == ["laptop"] * 3
    counts = dict(re.findall(r"^(\w+) +(\d+)$", done.stdout + done.stderr, re.MULTILINE))
    assert counts["given_checkpoint"] == "3" and counts["base_policy"] == "1" and "table3" in counts
    assert counts["report"] == "1" and counts["controlled_experiment"] == "1" and counts["verifier_audit"] == "1"
    assert not {"train_segment", "training_curves", "road_sft"} & set(counts)
    assert [rule for rule in counts if rule.startswith("maths_")] == []


def test_one_foreign_folder_is_measured_as_a_base(place, tmp_path):
    folder = gpt2(tmp_path / "a policy")
    done = place.entrances("audit", folder, "--study", "foreign", *FEW)
    assert done.returncode == 0, done.stdout + done.stderr
    results = place.folder / "results" / "foreign"
    scores = pq.read_table(results / "scores/base.parquet")
    assert scores.num_rows == 4 * 4
    likelihoods = pq.read_table(results / "likelihoods/base.parquet").to_pylist()
    # A byte is a token: the entrance has as many as it has characters, and the end token comes last.
    for row in likelihoods:
        assert row["continuation"][row["entrance"] - 1] == row["opening"][-1]
        assert len(row["log_probs"]) == len(row["continuation"]) + 1
    masses = pq.read_table(results / "masses/evaluation/base.parquet").to_pandas()
    assert masses.groupby("problem_id")["probability"].sum().between(0.999, 1.001).all()
    assert "nothing to be done" in place.entrances("audit", folder, "--study", "foreign", *FEW).stderr.lower()


def test_what_is_wrong_is_told_before_anything_runs(place, tmp_path):
    done = place.entrances("audit", tmp_path / "absent", "--study", "none")
    assert done.returncode == 2 and "absent is no folder" in done.stderr
    assert not (place.folder / "results" / "none").exists()
