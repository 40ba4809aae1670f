"""What must hold of a policy folder that was merged from a trainer's shards before anything is measured on it."""

import json
import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import torch
from torch import Tensor

from workflow_scripts.records.errors import UserError
from workflow_scripts.records.seeds import generator

HEAD = "lm_head.weight"
_EMBEDDINGS = ("embed_tokens.weight", "wte.weight", "embed_in.weight", "word_embeddings.weight")
_SAME = (
    "model_type", "vocab_size", "hidden_size", "intermediate_size", "num_hidden_layers", "num_attention_heads",
    "num_key_value_heads", "head_dim", "rms_norm_eps", "layer_norm_epsilon", "hidden_act", "activation_function",
    "tie_word_embeddings", "n_embd", "n_layer", "n_head",
)  # fmt: skip
_TYPES = {"F64": torch.float64, "F32": torch.float32, "F16": torch.float16, "BF16": torch.bfloat16}


class Stored(NamedTuple):
    """A tensor in a safetensors file, unread."""

    file: Path
    shape: tuple[int, ...]
    dtype: torch.dtype | None  # None for integers and what is rarer


def read_config(folder: str | os.PathLike) -> dict[str, Any]:
    """`config.json` of a policy folder; UserError where it is missing or damaged."""
    path = Path(folder) / "config.json"
    try:
        config = json.loads(path.read_text())
        config["model_type"]
    except OSError as error:
        raise UserError(f"{path} is missing or unreadable; a policy folder needs its config.json") from error
    except (ValueError, KeyError, TypeError) as error:
        raise UserError(f"{path} is damaged or names no model_type") from error
    return config


def stored_tensors(folder: str | os.PathLike) -> dict[str, Stored]:
    """Names, shapes and types in the safetensors files of a policy folder, from their headers.

    Raises UserError, naming the file, where there are none or one is damaged.
    """
    from safetensors import SafetensorError, safe_open

    folder = Path(folder)
    index = folder / "model.safetensors.index.json"
    try:
        names = sorted(set(json.loads(index.read_text())["weight_map"].values())) if index.exists() else []
    except (OSError, ValueError, KeyError, TypeError, AttributeError) as error:
        raise UserError(f"{index} is damaged; fetch or merge the policy again") from error
    found: dict[str, Stored] = {}
    for file in [folder / name for name in names or ["model.safetensors"]]:
        try:
            with safe_open(file, framework="pt") as handle:
                for name in handle.keys():  # noqa: SIM118  it is no dictionary
                    part = handle.get_slice(name)
                    found[name] = Stored(file, tuple(part.get_shape()), _TYPES.get(part.get_dtype()))
        except OSError as error:
            raise UserError(f"{file} is missing or unreadable; policies are read from safetensors alone") from error
        except SafetensorError as error:
            raise UserError(f"{file} is damaged ({error}); fetch or merge the policy again") from error
    return found


def weight_type(config: Mapping[str, Any], stored: Mapping[str, Stored]) -> torch.dtype:
    """The floating type that a policy's config names, else that of most of its tensors."""
    named = config.get("dtype") or config.get("torch_dtype")
    if named in (None, "auto"):
        kinds = [tensor.dtype for tensor in stored.values() if tensor.dtype]
        return max(sorted(set(kinds), key=str), key=kinds.count)
    kind = getattr(torch, str(named).removeprefix("torch."), None)
    if not isinstance(kind, torch.dtype) or not kind.is_floating_point:
        raise UserError(f"config.json names the type {named!r}; policies have floating-point weights")
    return kind


def same_sizes(config: Mapping[str, Any], base: Mapping[str, Any], where: str | os.PathLike) -> None:
    """Raises UserError, naming the setting, where the config of a trained model has other sizes than the base's."""
    for name in _SAME:
        if name in config and name in base and config[name] != base[name]:
            raise UserError(f"{where}: {name} is {config[name]!r}, of the base {base[name]!r}; was it trained from it?")


def without_tied(tensors: Mapping[str, Tensor], base: Mapping[str, Stored], *, tied: bool, where: object) -> dict:
    """`tensors` without an output head that only repeats the embedding and that the base does not store.

    tied: whether the config says that they are one. Raises UserError where they are and yet differ: then the merged
    policy would say something else than the trained one.
    """
    found = dict(tensors)
    if tied and HEAD in found:
        embedding = next((name for name in found if name.endswith(_EMBEDDINGS)), None)
        if embedding is None or not torch.equal(found[HEAD], found[embedding]):
            raise UserError(
                f"{where}: tie_word_embeddings is true, but {HEAD} differs from {embedding or 'every embedding'}; the "
                "trainer must keep them one"
            )
        if HEAD not in base:
            del found[HEAD]
    return found


def same_tensors(
    found: Mapping[str, Tensor | Stored], base: Mapping[str, Stored], *, vocabulary: int | None, where: object
) -> None:
    """Raises UserError, naming the tensor, unless names, count and shapes are those of the base, and the embedding has
    one row a word of the vocabulary."""
    missing, extra = sorted(base.keys() - found.keys()), sorted(found.keys() - base.keys())
    if missing or extra:
        odd = f"{missing[0]!r} is missing" if missing else f"{extra[0]!r} is not in the base"
        raise UserError(f"{where}: {len(found)} tensors, the base has {len(base)}; {odd}")
    for name in base:
        shape = tuple(found[name].shape)
        if shape != base[name].shape:
            raise UserError(f"{where}: {name} is {list(shape)}, of the base {list(base[name].shape)}")
        if vocabulary and name.endswith(_EMBEDDINGS) and "position" not in name and shape[0] != vocabulary:
            raise UserError(f"{where}: {name} has {shape[0]} rows, config.json says vocab_size {vocabulary}")


def same_type(found: Mapping[str, Stored], kind: torch.dtype, where: object) -> None:
    """Raises UserError, naming the tensor, unless every floating-point tensor is of the type `kind`."""
    for name, tensor in found.items():
        if tensor.dtype not in (None, kind):
            raise UserError(f"{where}: {name} is {tensor.dtype}, it should be {kind}")


def finite(tensors: Mapping[str, Tensor], where: object) -> None:
    """Raises UserError, naming the tensor, where one holds NaN or infinite values."""
    for name, tensor in tensors.items():
        if not torch.isfinite(tensor).all():
            raise UserError(f"{where}: {name} holds NaN or infinite values; the training has come apart")


def probes(vocabulary: int, count: int = 4, length: int = 12) -> list[list[int]]:
    """Token prompts for `greedy` where no texts are at hand: ids drawn from the whole vocabulary, always the same."""
    return generator("merge probes").integers(0, vocabulary, (count, length)).tolist()


def greedy(model: Any, prompts: Sequence[Sequence[int]], tokens: int) -> list[list[int]]:
    """The likeliest continuation of each prompt, `tokens` long, end tokens passed over. model: of transformers."""
    said = []
    with torch.no_grad():
        for prompt in prompts:
            given, past, ids = torch.tensor([list(prompt)]), None, []
            for _ in range(tokens):
                output = model(input_ids=given, past_key_values=past, use_cache=True)
                given, past = output.logits[:, -1:].argmax(-1), output.past_key_values
                ids.append(int(given))
            said.append(ids)
    return said


def same_continuations(found: Sequence[list[int]], wanted: Sequence[list[int]], where: object) -> None:
    """Raises UserError, naming prompt and token, where two models' greedy continuations differ."""
    for prompt, (ours, theirs) in enumerate(zip(found, wanted, strict=True)):
        if ours != theirs:
            at = next(place for place, (one, other) in enumerate(zip(ours, theirs)) if one != other)
            raise UserError(
                f"{where}: after prompt {prompt} the merged policy says token {ours[at]} in place {at} where the "
                f"trained one says {theirs[at]}; the merge is wrong"
            )
