"""From the tensors of a Hugging Face folder to the matrices that decoding multiplies by.

Norm weights are folded into the products that follow them; queries, keys and values are one product, gate and up
another. Numpy only: a sampling job should not pay for importing torch.
"""

import json
import os
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from workflow_scripts.policies.products import whole_blocks
from workflow_scripts.records.errors import UserError

_ELSEWHERE = "use engine: vllm for others"


@dataclass(frozen=True)
class Layer:
    """One block's matrices, (inputs, outputs).

    In each head of queries and keys the two numbers of a rotated pair are neighbours: one complex number. Queries
    hold the attention's factor 1 / sqrt(head_dim), by their weights or by their norm's.
    """

    qkv: np.ndarray  # (hidden, (heads + 2 key heads) * head_dim)
    qk_norm: np.ndarray | None  # qwen3: (heads + key heads, head_dim), weights of the heads' norms
    out: np.ndarray
    gate_up: np.ndarray  # both negated, which leaves their product as it is and spares one pass over the gate
    down: np.ndarray


@dataclass(frozen=True)
class DecodeWeights:
    """A llama or qwen3 policy, laid out for decoding (policies.inference)."""

    embedding: np.ndarray  # (vocabulary, hidden)
    head: np.ndarray  # (hidden, vocabulary in whole blocks)
    layers: tuple[Layer, ...]
    frequencies: np.ndarray  # (head_dim / 2,) radians a position
    heads: int
    key_heads: int
    head_dim: int
    epsilon: float
    vocabulary: int
    context: int  # most tokens of prompt and completion together

    @classmethod
    def from_tensors(cls, tensors: Mapping[str, Any], config: Mapping[str, Any]) -> "DecodeWeights":
        """Weights from tensors by Hugging Face name (numpy arrays or torch tensors) and the dict of a `config.json`.

        Raises UserError for a missing tensor or key, values that are not finite, and architectures beyond llama and
        qwen3 with plain rotary positions and no biases.
        """
        try:
            return _assembled(_Reader(tensors), config)
        except KeyError as error:
            raise UserError(f"config.json lacks {error.args[0]!r}") from error

    @classmethod
    def load(cls, folder: str | os.PathLike) -> "DecodeWeights":
        """Weights of a policy folder (`config.json` and safetensors of 16- or 32-bit floats).

        Raises UserError, naming folder and file, where one is missing or damaged, and as `from_tensors` does.
        """
        folder = Path(folder)
        try:
            config = json.loads((folder / "config.json").read_text())
        except (OSError, ValueError) as error:
            raise UserError(f"{folder / 'config.json'} is missing or damaged; is {folder} a policy folder?") from error
        tensors = _read_files(folder)
        try:
            return cls.from_tensors(tensors, config)
        except UserError as error:
            raise UserError(f"{folder}: {error}") from error


def _read_files(folder: Path) -> dict[str, np.ndarray]:
    from safetensors import SafetensorError
    from safetensors.numpy import load_file

    files = sorted(folder.glob("*.safetensors"))
    if not files:
        raise UserError(f"{folder} holds no .safetensors file; a policy folder needs its weights")
    tensors: dict[str, np.ndarray] = {}
    for file in files:
        try:
            tensors |= load_file(file)
        except (OSError, SafetensorError) as error:
            raise UserError(f"{file} cannot be read ({error}); delete the folder and make it again") from error
        except (KeyError, TypeError) as error:
            raise UserError(f"{file} holds numbers that numpy cannot read ({error}); save it as float32") from error
    return tensors


class _Reader:
    """Tensors by name, as float32 arrays of their own."""

    def __init__(self, tensors: Mapping[str, Any]):
        self.tensors = tensors

    def __call__(self, name: str) -> np.ndarray:
        if name not in self.tensors:
            raise UserError(f"the weights lack the tensor {name}")
        tensor = self.tensors[name]
        if hasattr(tensor, "detach"):  # a torch tensor, told without importing torch
            tensor = tensor.detach().float().cpu().numpy()
        array = np.array(tensor, np.float32)
        if not np.isfinite(array).all():
            raise UserError(f"the tensor {name} holds NaN or infinite values; was its training cut short?")
        return array


def _refuse_other_architectures(config: Mapping[str, Any]) -> None:
    kind = config.get("model_type")
    if kind not in ("llama", "qwen3"):
        raise UserError(f"the built-in engine decodes llama and qwen3 policies, not {kind!r}; {_ELSEWHERE}")
    for feature in ("attention_bias", "mlp_bias", "use_sliding_window"):
        if config.get(feature):
            raise UserError(f"the built-in engine does not decode policies with {feature}; {_ELSEWHERE}")
    rope = (config.get("rope_parameters") or config.get("rope_scaling") or {}).get("rope_type", "default")
    if rope != "default" or config.get("hidden_act", "silu") != "silu":
        raise UserError(f"the built-in engine decodes plain rotary positions and silu only; {_ELSEWHERE}")


def _assembled(read: _Reader, config: Mapping[str, Any]) -> DecodeWeights:
    _refuse_other_architectures(config)
    heads = config["num_attention_heads"]
    key_heads = config.get("num_key_value_heads") or heads
    head_dim = config.get("head_dim") or config["hidden_size"] // heads
    normed = config["model_type"] == "qwen3"
    embedding = read("model.embed_tokens.weight")
    tied = config.get("tie_word_embeddings", False) or "lm_head.weight" not in read.tensors
    head = (embedding if tied else read("lm_head.weight")) * read("model.norm.weight")
    theta = (config.get("rope_parameters") or {}).get("rope_theta") or config.get("rope_theta") or 10_000.0
    return DecodeWeights(
        embedding=embedding,
        head=_transposed(np.pad(head, ((0, whole_blocks(len(head)) - len(head)), (0, 0)))),
        layers=tuple(
            _layer(read, f"model.layers.{index}.", heads, key_heads, head_dim, normed)
            for index in range(config["num_hidden_layers"])
        ),
        frequencies=1.0 / theta ** (np.arange(0, head_dim, 2) / head_dim),
        heads=heads,
        key_heads=key_heads,
        head_dim=head_dim,
        epsilon=config["rms_norm_eps"],
        vocabulary=len(embedding),
        context=config["max_position_embeddings"],
    )


def _layer(read: _Reader, at: str, heads: int, key_heads: int, head_dim: int, normed: bool) -> Layer:
    entry, middle = read(at + "input_layernorm.weight"), read(at + "post_attention_layernorm.weight")
    query, key, value = (read(f"{at}self_attn.{which}_proj.weight") * entry for which in "qkv")
    query, key = _paired(query, head_dim), _paired(key, head_dim)
    factor, norms = np.float32(head_dim**-0.5), None
    if normed:
        query_norm, key_norm = (_paired(read(f"{at}self_attn.{which}_norm.weight"), head_dim) for which in "qk")
        norms = np.stack([query_norm * factor] * heads + [key_norm] * key_heads)
    else:
        query = query * factor
    gate, up = (read(f"{at}mlp.{which}_proj.weight") * middle for which in ("gate", "up"))
    return Layer(
        qkv=_transposed(np.concatenate([query, key, value])),
        qk_norm=norms,
        out=_transposed(read(at + "self_attn.o_proj.weight")),
        gate_up=_transposed(-np.concatenate([gate, up])),
        down=_transposed(read(at + "mlp.down_proj.weight")),
    )


def _transposed(weight: np.ndarray) -> np.ndarray:
    return np.ascontiguousarray(weight.T)


def _paired(outputs: np.ndarray, head_dim: int) -> np.ndarray:
    """Reorders each head's outputs so that numbers i and i + head_dim / 2, which rotate together, are neighbours."""
    pairs = outputs.reshape(-1, 2, head_dim // 2, *outputs.shape[1:])
    return pairs.swapaxes(1, 2).reshape(outputs.shape)
