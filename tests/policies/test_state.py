import json

import pytest
import torch

from workflow_scripts.policies.model import Architecture, new_policy
from workflow_scripts.policies.state import load_state, new_state, save_state
from workflow_scripts.policies.training import LineSettings
from workflow_scripts.records.errors import UserError

SMALL = Architecture(11, hidden=8, layers=1, heads=1, head_dim=8, mlp=8, positions=16)
SETTINGS = LineSettings(seed=1, line="a")


def some_state(critic):
    state = new_state(new_policy(SMALL, 1), critic=critic)
    state.step = 25
    for optimiser in filter(None, (state.actor, state.critic)):
        optimiser.policy.grad.normal_(generator=torch.Generator().manual_seed(2))
        for _ in range(3):
            optimiser.step(1e-3)
    return state


@pytest.mark.parametrize("critic", [False, True])
def test_everything_comes_back_bit_for_bit(tmp_path, critic):
    state = some_state(critic)
    save_state(state, tmp_path / "s", SETTINGS)
    again = load_state(tmp_path / "s", SETTINGS)
    assert again.step == 25 and again.policy.architecture == SMALL and (again.critic is not None) == critic
    pairs = [(state.actor, again.actor)] + ([(state.critic, again.critic)] if critic else [])
    for one, other in pairs:
        assert one.steps == other.steps == 3
        for name in ("mean", "square"):
            assert torch.equal(getattr(one, name), getattr(other, name)) and getattr(one, name).any()
        assert torch.equal(one.policy.flat, other.policy.flat)
    save_state(again, tmp_path / "t", SETTINGS)
    for name in ("state.safetensors", "state.json"):
        assert (tmp_path / "s" / name).read_bytes() == (tmp_path / "t" / name).read_bytes()


def test_a_critic_starts_as_the_base_with_a_silent_head():
    base = new_policy(SMALL, 1)
    state = new_state(base, critic=True)
    assert torch.equal(state.critic.policy.flat[: len(base.flat)], base.flat)
    assert state.critic.policy.parameters["score.weight"].eq(0).all()
    state.policy.flat.zero_()
    assert base.flat.any()


def test_other_settings_are_refused_by_name(tmp_path):
    save_state(some_state(False), tmp_path, SETTINGS)
    with pytest.raises(UserError, match=r"rate = 0\.0001, now it is 0\.0005"):
        load_state(tmp_path, LineSettings(seed=1, line="a", rate=5e-4))


def _cut(path):
    path.write_bytes(path.read_bytes()[:-10])


def _without_mean(path):
    from safetensors.torch import load_file, save_file

    tensors = load_file(path)
    save_file({name: tensor for name, tensor in tensors.items() if name != "actor.mean"}, path)


def _not_finite(path):
    from safetensors.torch import load_file, save_file

    tensors = load_file(path)
    tensors["actor.square"][3] = float("inf")
    save_file(tensors, path)


@pytest.mark.parametrize(
    ("name", "harm", "match"),
    [
        ("state.json", lambda path: path.unlink(), r"state\.json is missing"),
        ("state.json", lambda path: path.write_text("{"), r"state\.json is damaged"),
        ("state.json", lambda path: path.write_text(json.dumps({"step": 1})), r"state\.json is damaged"),
        ("state.safetensors", lambda path: path.unlink(), r"state\.safetensors is missing"),
        ("state.safetensors", _cut, r"state\.safetensors is damaged"),
        ("state.safetensors", _without_mean, r"state\.safetensors does not hold actor\.mean"),
        ("state.safetensors", _not_finite, r"actor\.square holds NaN"),
    ],
)
def test_damage_is_named(tmp_path, name, harm, match):
    save_state(some_state(False), tmp_path, SETTINGS)
    harm(tmp_path / name)
    with pytest.raises(UserError, match=match):
        load_state(tmp_path, SETTINGS)
