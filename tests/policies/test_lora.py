"""Low-rank adapters: what they change, what they leave alone, repeatability, selection, refusals."""

import json
import math
from functools import partial

import pytest
import torch

from workflow_scripts.policies import lora
from workflow_scripts.policies.chunks import teacher_forced
from workflow_scripts.policies.lora import PROJECTIONS, adapted, merged, supervise_lora
from workflow_scripts.policies.model import Architecture, load_policy, logits, new_policy, read_tensors, save_policy
from workflow_scripts.policies.pretraining import mean_loss
from workflow_scripts.policies.supervised import SupervisedSettings, supervise
from workflow_scripts.records.errors import UserError

SIZES = {"vocabulary": 8, "hidden": 16, "layers": 1, "heads": 2, "head_dim": 8, "mlp": 24, "positions": 16}
# `x ?` is answered by x twice, or x three times
GROUPS = [[([letter, 3], [letter] * 2 + [2]), ([letter, 3], [letter] * 3 + [2])] for letter in (4, 5, 6, 7)]
TEXTS = [text for group in GROUPS for text in group]
SETTINGS = SupervisedSettings(seed=1, steps=30, tokens=24, rate=3e-2, warmup=3, every=20)
BOTH = pytest.mark.parametrize("model_type", ["llama", "qwen3"])


def written(folder, model_type="llama"):
    save_policy(new_policy(Architecture(model_type=model_type, **SIZES), 1), folder)
    return folder


@pytest.fixture(scope="module")
def base(tmp_path_factory):
    return written(tmp_path_factory.mktemp("base"))


def run(folder, settings=SETTINGS, *, rank=4, alpha=8, groups=GROUPS, held=()):
    return supervise_lora(folder, groups, settings, rank=rank, alpha=alpha, held=held)


def timeless(rows):
    """As texts, for NaN does not equal itself."""
    return [{key: str(value) for key, value in row.items() if key != "seconds"} for row in rows]


def changed(policy, folder):
    """Tensors that differ from those in `folder`."""
    before = load_policy(folder).tensors()
    return {name for name, tensor in policy.tensors().items() if not torch.equal(tensor, before[name])}


@BOTH
def test_merged_policy_computes_what_the_adapters_did(tmp_path, model_type):
    model = adapted(written(tmp_path, model_type), rank=2, alpha=3, seed=5)
    stream = torch.Generator().manual_seed(0)
    with torch.no_grad():
        for name, parameter in model.named_parameters():
            if "lora_B" in name:  # zero at first, which would hide the adapters
                parameter.normal_(0, 0.3, generator=stream)
        tokens = torch.randint(8, (5, 13), generator=stream)
        wrapped = model(input_ids=tokens).logits
    policy = merged(model, tmp_path)
    assert torch.allclose(logits(policy, tokens), wrapped, atol=1e-5)
    assert (logits(load_policy(tmp_path), tokens) - wrapped).abs().max() > 0.1
    assert changed(policy, tmp_path) == {name for name in policy.tensors() if name.split(".")[-2] in PROJECTIONS}


def test_an_adapter_adds_alpha_over_rank_times_its_product(base):
    model = adapted(base, rank=2, alpha=3, seed=5)
    pair = {
        name.split(".")[-3]: value for name, value in model.named_parameters() if "layers.0.mlp.up_proj.lora" in name
    }
    with torch.no_grad():
        pair["lora_B"].copy_(torch.arange(48.0).view(24, 2))
    expected = 1.5 * pair["lora_B"].detach() @ pair["lora_A"].detach()
    name = "model.layers.0.mlp.up_proj.weight"
    added = merged(model, base).tensors()[name] - load_policy(base).tensors()[name]
    assert expected.shape == (24, 16) and torch.allclose(added, expected, atol=1e-5)


def test_only_adapters_are_trained_and_both_at_every_projection(base):
    names = [
        name for name, parameter in adapted(base, rank=2, alpha=2, seed=1).named_parameters() if parameter.requires_grad
    ]
    assert sorted((name.split(".")[-4], name.split(".")[-3]) for name in names) == sorted(
        (projection, side) for projection in PROJECTIONS for side in ("lora_A", "lora_B")
    )


def test_a_rate_of_zero_gives_the_base_back_bit_for_bit(base):
    policy, _ = run(base, SupervisedSettings(seed=1, steps=2, tokens=24, rate=0.0))
    assert not changed(policy, base)


def test_loss_falls_and_only_projections_move(base):
    before = mean_loss(load_policy(base), TEXTS)
    policy, rows = run(base)
    assert rows[0]["loss"] == pytest.approx(before, rel=0.1)
    assert mean_loss(policy, TEXTS) < 0.7 * before
    assert all(name.split(".")[-2] in PROJECTIONS for name in changed(policy, base))


def test_losses_and_rows_are_those_of_full_fine_tuning(base):
    """Both begin at the same policy, so that the first loss, the rates and the budget are the same."""
    _, rows = run(base, held=TEXTS[:3])
    full = list(supervise(load_policy(base), GROUPS, SETTINGS, held=TEXTS[:3]))
    assert [list(row) for row in rows] == [list(row) for row in full]
    assert rows[0]["loss"] == pytest.approx(full[0]["loss"], rel=1e-5)
    assert [(row["step"], row["rate"], row["tokens"]) for row in rows] == [
        (row["step"], row["rate"], row["tokens"]) for row in full
    ]
    assert [row["step"] for row in rows if not math.isnan(row["held_loss"])] == [20, 30]


def test_chunks_change_nothing_but_rounding(base, monkeypatch):
    one, _ = run(base)
    monkeypatch.setattr(lora, "teacher_forced", partial(teacher_forced, limit=12))
    several, _ = run(base)
    assert torch.allclose(one.flat, several.flat, atol=1e-3)


def test_same_seed_same_bytes_whatever_was_drawn_before(base, tmp_path):
    kept = (base / "model.safetensors").read_bytes()
    made = []
    for place in range(2):
        torch.manual_seed(place)
        state = torch.get_rng_state()
        policy, rows = run(base)
        assert torch.equal(torch.get_rng_state(), state)
        save_policy(policy, tmp_path / str(place))
        made.append(((tmp_path / str(place) / "model.safetensors").read_bytes(), timeless(rows)))
    assert made[0] == made[1]
    assert not torch.equal(run(base, SupervisedSettings(seed=2, steps=30, tokens=24, rate=3e-2))[0].flat, policy.flat)
    assert (base / "model.safetensors").read_bytes() == kept
    again = load_policy(tmp_path / "0")
    assert torch.equal(again.flat, policy.flat)
    assert "lm_head.weight" not in read_tensors(tmp_path / "0/model.safetensors")
    assert json.loads((tmp_path / "0/config.json").read_text()) == json.loads((base / "config.json").read_text())


def test_lowest_held_loss_is_kept(base):
    """Held-back texts contradict what is trained on, so that the first look is the best."""
    held = [([letter, 3], [(letter - 3) % 4 + 4] * 2 + [2]) for letter in (4, 5, 6, 7)]
    rule = {"seed": 1, "tokens": 24, "rate": 3e-2, "warmup": 3, "every": 10, "selection": "lowest_held_loss"}
    policy, rows = run(base, SupervisedSettings(steps=60, **rule), held=held)
    looks = {row["step"]: row["held_loss"] for row in rows if not math.isnan(row["held_loss"])}
    assert list(looks) == [10, 20, 30, 40, 50, 60] and min(looks.values()) < looks[60]
    assert mean_loss(policy, held) == pytest.approx(min(looks.values()), rel=1e-4)
    with pytest.raises(UserError, match="lowest_held_loss needs demonstrations that are held back"):
        run(base, SupervisedSettings(steps=60, **rule))


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        ({"rank": 0}, "rank of the adapters is 0; it must be at least 1"),
        ({"alpha": 0}, "alpha of the adapters is 0"),
        ({"alpha": math.nan}, "alpha of the adapters is nan"),
        ({"groups": []}, "nothing to train on"),
        ({"groups": [[([4, 3], [4] * 15)]]}, "a text of 17 tokens is longer than the policy's 16 positions"),
        ({"held": [([4, 3], [4] * 15)]}, "a text of 17 tokens is longer than the policy's 16 positions"),
        (
            {"settings": SupervisedSettings(seed=1, steps=9, tokens=24, rate=math.inf)},
            "fine-tuning step 2: the loss is NaN",
        ),
    ],
)
def test_wrong_settings_are_refused(base, wrong, message):
    with pytest.raises(UserError, match=message):
        run(base, **wrong)


def without(tensors):
    del tensors["model.layers.0.mlp.up_proj.weight"]


def with_more(tensors):
    tensors["model.layers.1.mlp.up_proj.weight"] = torch.zeros(24, 16)


def narrower(tensors):
    tensors["model.norm.weight"] = torch.ones(15)


def broken(tensors):
    tensors["model.norm.weight"][3] = math.nan


@pytest.mark.parametrize(
    ("damage", "message"),
    [
        (without, "disagree about the tensor 'model.layers.0.mlp.up_proj.weight'"),
        (with_more, "disagree about the tensor 'model.layers.1.mlp.up_proj.weight'"),
        (narrower, "transformers cannot read the policy folder"),
        (broken, "model.norm.weight holds NaN"),
    ],
)
def test_damaged_weights_are_refused_by_name(tmp_path, damage, message):
    from safetensors.torch import save_file

    tensors = read_tensors(written(tmp_path) / "model.safetensors")
    damage(tensors)
    save_file(tensors, tmp_path / "model.safetensors", {"format": "pt"})
    with pytest.raises(UserError, match=message) as refusal:
        run(tmp_path)
    assert str(tmp_path) in str(refusal.value)


@pytest.mark.parametrize("content", [None, b"", b"no weights"])
def test_unreadable_folders_are_refused_by_name(tmp_path, content):
    written(tmp_path)
    (tmp_path / "model.safetensors").unlink()
    if content is not None:
        (tmp_path / "model.safetensors").write_bytes(content)
    with pytest.raises(UserError, match="transformers cannot read the policy folder") as refusal:
        run(tmp_path)
    assert str(tmp_path) in str(refusal.value)
    with pytest.raises(UserError, match=r"config\.json is missing"):
        run(tmp_path / "nowhere")


def test_pickled_weights_are_not_opened(tmp_path):
    """A pickle may run code when it is read."""
    tensors = read_tensors(written(tmp_path) / "model.safetensors")
    (tmp_path / "model.safetensors").unlink()
    torch.save(tensors, tmp_path / "pytorch_model.bin")
    with pytest.raises(UserError, match="transformers cannot read the policy folder"):
        run(tmp_path)
