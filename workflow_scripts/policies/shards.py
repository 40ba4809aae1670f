"""Weights of a verl (FSDP) checkpoint, put together from the shards that its ranks wrote, and low-rank adapters added.

The shards are pickles. They are read with torch's weights-only unpickler, which builds tensors and refuses whatever
else such a file may ask Python to do.
"""

import json
import os
import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from pickle import UnpicklingError

import torch
from torch import Tensor

from workflow_scripts.records.errors import UserError

SETTINGS, ADAPTER_SETTINGS = "fsdp_config.json", "lora_train_meta.json"
_MESHES = (("fsdp",), ("ddp", "fsdp"))
_TRANSPOSED = ("gpt2", "openai-gpt")  # their linear layers are stored the other way round
_ADAPTER = re.compile(r"(?P<module>.+)\.lora_(?P<side>[AB])(\.default)?\.weight")
_PLACE = re.compile(r"^base_model\.model\.")


def _json(path: Path, missing: str) -> dict:
    try:
        found = json.loads(path.read_text())
    except OSError as error:
        raise UserError(f"{path} is missing or unreadable; {missing}") from error
    except ValueError as error:
        raise UserError(f"{path} is damaged ({error}); train this segment again") from error
    if not isinstance(found, dict):
        raise UserError(f"{path} is damaged (no object); train this segment again")
    return found


def shard_files(folder: str | os.PathLike) -> list[Path]:
    """The weight files of a checkpoint, one a rank, in the order of the ranks.

    folder: a verl checkpoint (an `actor` folder). Raises UserError, naming the file, where one is missing or the number
    of ranks is not stated.
    """
    folder = Path(folder)
    settings = _json(
        folder / SETTINGS,
        "verl 0.9 writes it beside the shards: name the folder of one model (state/actor), or save it again",
    )
    ranks = settings.get("world_size")
    if not isinstance(ranks, int) or ranks < 1:
        raise UserError(f"{folder / SETTINGS} must state how many ranks there were as world_size, not {ranks!r}")
    files = [folder / f"model_world_size_{ranks}_rank_{rank}.pt" for rank in range(ranks)]
    missing = [file for file in files if not file.is_file()]
    if missing:
        there = ", ".join(sorted(file.name for file in folder.glob("model_world_size_*.pt"))) or "none"
        raise UserError(f"{missing[0]} is missing, of {ranks} shards (there: {there}); save the checkpoint again")
    return files


def read_shards(folder: str | os.PathLike) -> dict[str, Tensor]:
    """Whole tensors of a checkpoint by the names that they were trained under, in the type that they were kept in.

    folder: as for `shard_files`. A tensor that is no part of a mesh is a copy on every rank, and one is taken.
    Raises UserError, naming the file and the tensor, where a shard is missing, damaged, holds more than tensors, or
    disagrees with the others.
    """
    files = shard_files(folder)
    ranks = [_read(file) for file in files]
    for file, rank in zip(files, ranks, strict=True):
        if rank.keys() != ranks[0].keys():
            odd = sorted(rank.keys() ^ ranks[0].keys())[0]
            raise UserError(f"{file} and {files[0].name} disagree about the tensor {odd!r}; save the checkpoint again")
    with torch.no_grad():
        return {name: _whole(name, [rank.pop(name) for rank in ranks], files[0]) for name in sorted(ranks[0])}


def _read(file: Path) -> dict[str, Tensor]:
    import torch.distributed.tensor  # makes its classes known to the unpickler

    try:
        found = torch.load(file, map_location="cpu", weights_only=True)
    except UnpicklingError as error:
        what = re.search(
            r"GLOBAL (\S+)", str(error)
        )  # the rest of what torch says is how to read the file all the same
        named = f" ({what[1]})" if what else ""
        raise UserError(f"{file} holds more than tensors{named}, so it is not unpickled; did verl write it?") from error
    except (OSError, RuntimeError, EOFError, ValueError) as error:
        raise UserError(f"{file} is damaged ({error}); train this segment again") from error
    if not isinstance(found, dict) or not found or not all(isinstance(tensor, Tensor) for tensor in found.values()):
        raise UserError(f"{file} does not hold tensors by name; did verl write it?")
    return found


def _whole(name: str, parts: Sequence[Tensor], where: Path) -> Tensor:
    from torch.distributed.tensor import DTensor

    first = parts[0]
    if not isinstance(first, DTensor):
        odd = [rank for rank, part in enumerate(parts) if part.shape != first.shape or not torch.equal(part, first)]
        if odd:
            raise UserError(f"{where}: {name} is a copy on every rank, but those of rank 0 and rank {odd[0]} differ")
        return first
    mesh, names = first.device_mesh, first.device_mesh.mesh_dim_names
    if names not in _MESHES:
        raise UserError(f"{where}: {name} is spread over {names}; only plain FSDP is merged, with or without copies")
    placement = first.placements[-1]
    local = [part.to_local() for part in parts[: mesh.shape[-1]]]  # further ranks hold copies of these
    if placement.is_replicate():
        return local[0]
    if not placement.is_shard():
        raise UserError(f"{where}: {name} is kept as {placement}; only shards and copies are merged")
    whole = torch.cat(local, placement.dim)
    if whole.shape != first.shape:
        raise UserError(f"{where}: the shards of {name} make {list(whole.shape)}, it should be {list(first.shape)}")
    return whole


def without_adapters(tensors: Mapping[str, Tensor]) -> tuple[dict[str, Tensor], dict[str, tuple[Tensor, Tensor]]]:
    """Parts a checkpoint into the model's own tensors, under its own names, and low-rank adapters by those names.

    An adapter is (A, B), of shapes (rank, in) and (out, rank). Raises UserError, naming the tensor, for adapters of
    another kind, incomplete ones, and a checkpoint that holds nothing but adapters.
    """
    own: dict[str, Tensor] = {}
    sides: dict[str, dict[str, Tensor]] = {}
    for name, tensor in tensors.items():
        plain = _PLACE.sub("", name)
        match = _ADAPTER.fullmatch(plain)
        if match:
            sides.setdefault(f"{match['module']}.weight", {})[match["side"]] = tensor
        elif "lora_" in plain or "modules_to_save" in plain or ".adapter_" in plain:
            raise UserError(f"the adapter tensor {name!r} is not plain LoRA of a linear layer, so it cannot be merged")
        else:
            own[re.sub(r"\.base_layer\.(weight|bias)$", r".\1", plain)] = tensor
    if sides and not own:
        raise UserError("the checkpoint holds adapters alone; save the whole model (checkpoint contents: model)")
    for name, pair in sides.items():
        if pair.keys() != {"A", "B"} or name not in own:
            raise UserError(
                f"the adapter of {name!r} is incomplete: A, B and the weight that it is added to are needed"
            )
    return own, {name: (pair["A"], pair["B"]) for name, pair in sides.items()}


def add_adapters(
    own: Mapping[str, Tensor],
    adapters: Mapping[str, tuple[Tensor, Tensor]],
    folder: str | os.PathLike,
    *,
    model_type: str,
) -> dict[str, Tensor]:
    """Weights with adapters added, W + alpha / rank * B A, summed in fp32 and kept in the type of W.

    own, adapters: of `without_adapters`. folder: the checkpoint, whose `lora_train_meta.json` states rank and alpha.
    Raises UserError, naming file or tensor, where they are not stated or do not fit.
    """
    if not adapters:
        return dict(own)
    if model_type in _TRANSPOSED:
        raise UserError(f"{folder}: adapters of {model_type} models are not merged; train all weights")
    path = Path(folder) / ADAPTER_SETTINGS
    settings = _json(path, "it states rank and alpha of the adapters; merge them with peft")
    rank, alpha = settings.get("r"), settings.get("lora_alpha")
    if not isinstance(rank, int) or not isinstance(alpha, int | float) or rank < 1 or alpha <= 0:
        raise UserError(f"{path} must state r and lora_alpha above 0, not {rank!r} and {alpha!r}")
    whole = dict(own)
    for name, (down, up) in adapters.items():
        weight = own[name]
        if down.shape != (rank, weight.shape[1]) or up.shape != (weight.shape[0], rank):
            raise UserError(
                f"{path}: r is {rank}, but the adapter of {name!r} has the shapes {list(down.shape)} and "
                f"{list(up.shape)} on {list(weight.shape)}"
            )
        whole[name] = (weight.float() + alpha / rank * (up.float() @ down.float())).to(weight.dtype)
    return whole
