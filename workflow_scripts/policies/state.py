"""All that a training line needs to go on: saved after a segment, read by the next, bit for bit.

A state folder holds `state.safetensors` (weights, both running averages of AdamW, the critic's likewise) and
`state.json` (step, updates made, architecture, settings). Random streams and the order of the prompts need no state:
they are functions of the seed and the step.
"""

import dataclasses
import json
import os
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch
from torch import Tensor

from workflow_scripts.policies.architecture import Architecture
from workflow_scripts.policies.model import Policy, read_tensors
from workflow_scripts.policies.optimiser import AdamW
from workflow_scripts.records.errors import UserError
from workflow_scripts.records.files import atomic_file, write_text


@dataclass
class TrainingState:
    """Where a line stands. step: training steps done. critic: None where the objective has none."""

    step: int
    actor: AdamW
    critic: AdamW | None = None

    @property
    def policy(self) -> Policy:
        return self.actor.policy


def new_state(base: Policy, *, critic: bool) -> TrainingState:
    """A line's start: a copy of the base policy; its critic is another one, with a value head of zeros."""
    return TrainingState(0, AdamW(base.copy()), AdamW(base.copy(value_head=True)) if critic else None)


def save_state(state: TrainingState, folder: str | os.PathLike, settings: Any) -> None:
    """Writes the whole state into `folder` (made if absent). settings: the dataclass that the line is trained with."""
    from safetensors.torch import save_file

    folder = Path(folder)
    tensors = {name: tensor.clone() for name, tensor in _tensors(state).items()}
    about = {
        "step": state.step,
        "updates": {name: optimiser.steps for name, optimiser in _optimisers(state).items()},
        "architecture": dataclasses.asdict(state.policy.architecture),
        "settings": _plain(settings),
    }
    with atomic_file(folder / "state.safetensors") as aside:
        save_file(tensors, aside)
    write_text(folder / "state.json", json.dumps(about, indent=1, sort_keys=True) + "\n")


def load_state(folder: str | os.PathLike, settings: Any) -> TrainingState:
    """Reads a state saved with the same settings.

    Raises UserError, naming the file, where it is missing, damaged or not finite, and naming the key where the settings
    differ from those that the state was trained with.
    """
    path = Path(folder) / "state.json"
    try:
        about = json.loads(path.read_text())
        step, updates, kept = about["step"], about["updates"], about["settings"]
        architecture = Architecture(**about["architecture"])
    except OSError as error:
        raise UserError(f"{path} is missing or unreadable; run snakemake to make it") from error
    except (ValueError, KeyError, TypeError) as error:
        raise UserError(f"{path} is damaged; delete the folder and run snakemake again") from error
    now = _plain(settings)
    for key in sorted(kept.keys() | now.keys()):
        if kept.get(key) != now.get(key):
            raise UserError(
                f"{path}: the line was trained with {key} = {kept.get(key)!r}, now it is {now.get(key)!r}; "
                "delete its states to train it anew"
            )
    state = TrainingState(step, AdamW(Policy(architecture)))
    if "critic" in updates:
        state.critic = AdamW(Policy(architecture, value_head=True))
    _fill(_tensors(state), Path(folder) / "state.safetensors")
    for name, optimiser in _optimisers(state).items():
        optimiser.steps = updates[name]
    return state


def _fill(wanted: dict[str, Tensor], path: Path) -> None:
    found = read_tensors(path)
    for name, tensor in wanted.items():
        if name not in found or found[name].shape != tensor.shape:
            raise UserError(f"{path} does not hold {name} of {len(tensor)} values; delete the folder and train again")
        if not torch.isfinite(found[name]).all():
            raise UserError(f"{path}: {name} holds NaN or infinite values; delete the folder and train again")
        tensor.copy_(found[name])


def _optimisers(state: TrainingState) -> dict[str, AdamW]:
    return {"actor": state.actor} | ({"critic": state.critic} if state.critic else {})


def _tensors(state: TrainingState) -> dict[str, Tensor]:
    return {
        f"{name}.{part}": tensor
        for name, optimiser in _optimisers(state).items()
        for part, tensor in (
            ("weights", optimiser.policy.flat),
            ("mean", optimiser.mean),
            ("square", optimiser.square),
        )
    }


def _plain(settings: Any) -> dict[str, Any]:
    return json.loads(json.dumps(dataclasses.asdict(settings)))
