"""verl's supervised trainer on CPU, for real."""

import math

import pytest

pytest.importorskip("verl")

from verl_ground import tiny_policy

from workflow_scripts.policies.verl_engine.hardware import Hardware
from workflow_scripts.policies.verl_engine.sft import SftSettings, train_sft, write_messages
from workflow_scripts.records.errors import UserError
from workflow_scripts.tasks.countdown.text import solution_completion

pytestmark = pytest.mark.engines

CPU = Hardware(tokens=2048)
SHOWN = [(f"{a} {b} 2 -> {a * b - 2}", solution_completion(f"{a}*{b}-2")) for a in range(2, 6) for b in range(2, 6)]
"""A question and an answer each."""


def test_two_steps_start_from_the_policy_and_train_completions_alone(tmp_path):
    import torch
    import torch.distributed.tensor  # the shards' class
    from safetensors.torch import load_file

    from workflow_scripts.policies.model import load_policy
    from workflow_scripts.policies.pretraining import mean_loss
    from workflow_scripts.policies.tokenizer import load_tokenizer
    from workflow_scripts.tasks.countdown.text import think_prompt

    base = tiny_policy(tmp_path / "base")
    write_messages(SHOWN, tmp_path / "shown.parquet", seed=1)
    state = tmp_path / "state"
    rows = train_sft(
        base, tmp_path / "shown.parquet", state, SftSettings(steps=2, texts=16, rate=1e-3, longest=64), CPU
    )
    assert [row["step"] for row in rows] == [1, 2]
    assert all(math.isfinite(row["loss"]) and row["grad_norm"] > 0 for row in rows)

    tokenizer = load_tokenizer(base)
    texts = [
        (tokenizer.encode_known(f"{asked} <think>"), [*tokenizer.encode_known(answer), tokenizer.end_id])
        for asked, answer in SHOWN
    ]
    assert think_prompt([2, 2, 2], 2) == f"{SHOWN[0][0]} <think>"
    # All texts are in the first step: its loss is the base's own, over completions and end tokens.
    assert rows[0]["loss"] == pytest.approx(mean_loss(load_policy(base), texts), rel=1e-4)

    kept = torch.load(state / "actor" / "model_world_size_1_rank_0.pt", weights_only=False)  # made by this test
    before = load_file(base / "model.safetensors")
    assert set(before) <= set(kept)
    moved = [name for name, tensor in before.items() if not torch.equal(tensor, kept[name].to_local().cpu())]
    assert moved
    assert "verl.trainer.sft_trainer" in (state / "command.txt").read_text()


def test_fewer_texts_than_a_step_takes_are_refused(tmp_path):
    write_messages(SHOWN, tmp_path / "shown.parquet", seed=1)
    with pytest.raises(UserError, match="16 texts, a step takes 17"):
        train_sft(tmp_path / "base", tmp_path / "shown.parquet", tmp_path / "s", SftSettings(2, 17, 1e-3, 64), CPU)
