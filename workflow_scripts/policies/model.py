"""The small language model: a Llama- or Qwen3-architecture decoder under Hugging Face names.

A policy folder is an ordinary Hugging Face directory (`model.safetensors`, `config.json`, `generation_config.json`,
tokenizer), so that transformers, vLLM and verl load what is trained here and the other way round. Only what the small
models need is supported: tied embeddings, as many key/value heads as heads, plain rotary positions, no biases, fp32.
Anything else is refused by name.
"""

import json
import math
import os
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
import torch
from torch import Tensor

from workflow_scripts.policies.blocks import Block, Layout, Normalise
from workflow_scripts.records import seeds
from workflow_scripts.records.errors import UserError
from workflow_scripts.records.files import atomic_file, write_text

_CLASSES = {"llama": "LlamaForCausalLM", "qwen3": "Qwen3ForCausalLM"}
EMBEDDING, FINAL_NORM = "model.embed_tokens.weight", "model.norm.weight"


@dataclass(frozen=True)
class Architecture:
    """Sizes of a model. vocabulary: tokens. positions: longest sequence, tokens. pad_id, end_id: written to the config for other readers."""

    vocabulary: int
    model_type: str = "llama"
    hidden: int = 64
    layers: int = 3
    heads: int = 2
    head_dim: int = 32
    mlp: int = 192
    positions: int = 128
    rope_theta: float = 10_000.0
    eps: float = 1e-6
    pad_id: int = 0
    end_id: int = 2

    def __post_init__(self) -> None:
        if self.model_type not in _CLASSES:
            raise UserError(f"architecture {self.model_type!r} is not built in; choose llama or qwen3")
        sizes = (self.vocabulary, self.hidden, self.layers, self.heads, self.head_dim, self.mlp, self.positions)
        if any(not isinstance(size, int) or size < 1 for size in sizes):
            raise UserError(f"the sizes of a model must be whole numbers above 0, got {self}")
        if self.head_dim % 2:
            raise UserError(f"head_dim {self.head_dim} must be even")

    def shapes(self) -> dict[str, tuple[int, ...]]:
        """Parameter shapes by Hugging Face name, in the order that they are stored and initialised in."""
        inner = self.heads * self.head_dim
        shapes: dict[str, tuple[int, ...]] = {EMBEDDING: (self.vocabulary, self.hidden)}
        for layer in range(self.layers):
            at = f"model.layers.{layer}."
            shapes[at + "input_layernorm.weight"] = (self.hidden,)
            for name in ("q", "k", "v"):
                shapes[f"{at}self_attn.{name}_proj.weight"] = (inner, self.hidden)
            shapes[at + "self_attn.o_proj.weight"] = (self.hidden, inner)
            if self.model_type == "qwen3":
                shapes[at + "self_attn.q_norm.weight"] = (self.head_dim,)
                shapes[at + "self_attn.k_norm.weight"] = (self.head_dim,)
            shapes[at + "post_attention_layernorm.weight"] = (self.hidden,)
            shapes[at + "mlp.gate_proj.weight"] = (self.mlp, self.hidden)
            shapes[at + "mlp.up_proj.weight"] = (self.mlp, self.hidden)
            shapes[at + "mlp.down_proj.weight"] = (self.hidden, self.mlp)
        shapes[FINAL_NORM] = (self.hidden,)
        return shapes

    def config(self) -> dict:
        """The `config.json` of a model of these sizes."""
        return {
            "architectures": [_CLASSES[self.model_type]],
            "model_type": self.model_type,
            "vocab_size": self.vocabulary,
            "hidden_size": self.hidden,
            "intermediate_size": self.mlp,
            "num_hidden_layers": self.layers,
            "num_attention_heads": self.heads,
            "num_key_value_heads": self.heads,
            "head_dim": self.head_dim,
            "max_position_embeddings": self.positions,
            "rms_norm_eps": self.eps,
            "rope_theta": self.rope_theta,
            "rope_parameters": {"rope_type": "default", "rope_theta": self.rope_theta},
            "hidden_act": "silu",
            "tie_word_embeddings": True,
            "attention_bias": False,
            "mlp_bias": False,
            "attention_dropout": 0.0,
            "initializer_range": 0.02,
            "dtype": "float32",
            "torch_dtype": "float32",
            "use_cache": True,
            "bos_token_id": None,
            "eos_token_id": self.end_id,
            "pad_token_id": self.pad_id,
        }


def read_architecture(folder: str | os.PathLike) -> Architecture:
    """Sizes from `folder/config.json`. Raises UserError, naming the file, where it is missing, damaged or holds what is not supported."""
    path = Path(folder) / "config.json"
    try:
        config = json.loads(path.read_text())
        heads, hidden = config["num_attention_heads"], config["hidden_size"]
        rope = config.get("rope_parameters") or config.get("rope_scaling") or {}
        needed = {
            "num_key_value_heads": (config.get("num_key_value_heads", heads), heads),
            "tie_word_embeddings": (config.get("tie_word_embeddings", False), True),
            "attention_bias": (config.get("attention_bias", False), False),
            "mlp_bias": (config.get("mlp_bias", False), False),
            "hidden_act": (config.get("hidden_act", "silu"), "silu"),
            "rope_type": (rope.get("rope_type", "default"), "default"),
            "use_sliding_window": (config.get("use_sliding_window", False), False),
        }
        end = config.get("eos_token_id")
        architecture = Architecture(
            vocabulary=config["vocab_size"],
            model_type=config["model_type"],
            hidden=hidden,
            layers=config["num_hidden_layers"],
            heads=heads,
            head_dim=config.get("head_dim") or hidden // heads,
            mlp=config["intermediate_size"],
            positions=config["max_position_embeddings"],
            rope_theta=float(rope.get("rope_theta") or config.get("rope_theta") or 10_000.0),
            eps=config["rms_norm_eps"],
            pad_id=config.get("pad_token_id") or 0,
            end_id=end[0] if isinstance(end, list) else 2 if end is None else end,
        )
    except OSError as error:
        raise UserError(f"{path} is missing or unreadable; a policy folder needs its config.json") from error
    except KeyError as error:
        raise UserError(f"{path} lacks {error.args[0]!r}") from error
    except UserError as error:
        raise UserError(f"{path}: {error}") from error
    except (ValueError, TypeError, AttributeError, IndexError) as error:
        raise UserError(f"{path} is damaged ({error})") from error
    for name, (found, wanted) in needed.items():
        if found != wanted:
            raise UserError(
                f"{path}: {name} is {found!r}; the built-in engine needs {wanted!r}, use engine: vllm or verl"
            )
    return architecture


class Policy:
    """A model's parameters: one flat fp32 buffer, seen under Hugging Face names.

    parameters: leaf tensors by name, views of `flat`; their gradients are views of `grad`. An optimiser works on the
    two flat buffers.
    """

    def __init__(self, architecture: Architecture) -> None:
        self.architecture = architecture
        shapes = architecture.shapes()
        sizes = [math.prod(shape) for shape in shapes.values()]
        self.flat = torch.zeros(sum(sizes))
        self.grad = torch.zeros_like(self.flat)
        self.parameters: dict[str, Tensor] = {}
        views = zip(shapes.items(), self.flat.split(sizes), self.grad.split(sizes), strict=True)
        for (name, shape), values, gradient in views:
            parameter = values.detach().view(shape).requires_grad_()
            parameter.grad = gradient.view(shape)
            self.parameters[name] = parameter

    def tensors(self) -> dict[str, Tensor]:
        """Parameters by name, without gradients (views, not copies)."""
        return {name: parameter.detach() for name, parameter in self.parameters.items()}

    def copy(self) -> "Policy":
        """A policy of its own with the same values."""
        twin = Policy(self.architecture)
        twin.flat.copy_(self.flat)
        return twin


def new_policy(architecture: Architecture, seed: int) -> Policy:
    """Random start: normal(0, 0.02), norms 1, projections back into the residual stream scaled by 1/sqrt(2 layers) (GPT-2)."""
    policy = Policy(architecture)
    generator = torch.Generator().manual_seed(seeds.key(seed, "initial weights") >> 1)
    with torch.no_grad():
        for name, parameter in policy.parameters.items():
            if parameter.ndim == 1:
                parameter.fill_(1.0)
                continue
            back = name.endswith(("o_proj.weight", "down_proj.weight"))
            parameter.normal_(0.0, 0.02 / math.sqrt(2 * architecture.layers if back else 1), generator=generator)
    return policy


def save_policy(policy: Policy, folder: str | os.PathLike) -> None:
    """Writes weights and configs into `folder` (made if absent); the tokenizer is saved by `tokenizer.save_tokenizer`."""
    from safetensors.torch import save_file

    folder = Path(folder)
    config = policy.architecture.config()
    with atomic_file(folder / "model.safetensors") as aside:
        save_file({name: tensor.clone() for name, tensor in policy.tensors().items()}, aside, {"format": "pt"})
    write_text(folder / "config.json", json.dumps(config, indent=1) + "\n")
    generation = {"eos_token_id": config["eos_token_id"], "pad_token_id": config["pad_token_id"], "do_sample": True}
    write_text(folder / "generation_config.json", json.dumps(generation, indent=1) + "\n")


def read_tensors(path: str | os.PathLike) -> dict[str, Tensor]:
    """Tensors of one safetensors file; UserError naming it where it is missing or damaged."""
    from safetensors import SafetensorError
    from safetensors.torch import load_file

    try:
        return load_file(path)
    except OSError as error:
        raise UserError(f"{path} is missing or unreadable; run snakemake to make it") from error
    except (SafetensorError, ValueError) as error:
        raise UserError(f"{path} is damaged ({error}); delete it and run snakemake again") from error


def load_policy(folder: str | os.PathLike) -> Policy:
    """Reads a policy folder. Raises UserError, naming the file and the tensor, where one is missing, of another shape, or not finite."""
    folder = Path(folder)
    policy = Policy(read_architecture(folder))
    path = folder / "model.safetensors"
    found = read_tensors(path)
    found.pop("lm_head.weight", None)  # some writers repeat the tied embedding
    wanted = policy.tensors()
    if found.keys() != wanted.keys():
        odd = sorted(found.keys() ^ wanted.keys())[0]
        raise UserError(f"{path} and config.json disagree about the tensor {odd!r}")
    for name, tensor in found.items():
        if tensor.shape != wanted[name].shape:
            raise UserError(f"{path}: {name} is {list(tensor.shape)}, config.json says {list(wanted[name].shape)}")
        if not torch.isfinite(tensor).all():
            raise UserError(f"{path}: {name} holds NaN or infinite values; delete the folder and train it again")
        wanted[name].copy_(tensor)
    return policy


@dataclass(frozen=True)
class Packed:
    """Sequences laid end to end. tokens: int64 [T]. layout: where each lies. order: places of the sequences in what was given."""

    tokens: Tensor
    layout: Layout
    order: tuple[int, ...]


def chunks(lengths: Sequence[int], limit: int = 1024) -> list[list[int]]:
    """Splits sequences, shortest first, into chunks of about `limit` tokens (what stays in a core's cache). Returns their places."""
    parts: list[list[int]] = []
    filled = limit
    for place in sorted(range(len(lengths)), key=lengths.__getitem__):
        if filled + lengths[place] > limit:
            parts.append([])
            filled = 0
        parts[-1].append(place)
        filled += lengths[place]
    return parts


class Weights:
    """A policy's parameters in the form that `Block` works on, and the way back for their gradients.

    Made anew after every change of the parameters. With `trained`, `hidden` builds a graph; after one or several
    backward passes `backward` adds the gradients gathered so far to the parameters' own.
    """

    def __init__(self, policy: Policy, trained: bool = False) -> None:
        self.architecture = policy.architecture
        with torch.set_grad_enabled(trained):
            self._made = _fuse(policy)
        self._leaves = [[None if w is None else w.detach() for w in group] for group in self._made]
        for weight in self._flat(self._leaves):
            weight.requires_grad_(trained)
        *self._blocks, (self.embedding, self.head) = self._leaves

    @staticmethod
    def _flat(groups: list[list[Tensor | None]]) -> list[Tensor]:
        return [weight for group in groups for weight in group if weight is not None]

    def backward(self) -> None:
        """Adds the gradients of this form to `policy.grad`, and forgets them."""
        pairs = zip(self._flat(self._made), self._flat(self._leaves), strict=True)
        made, gradients = zip(*[(weight, leaf.grad) for weight, leaf in pairs if leaf.grad is not None], strict=True)
        torch.autograd.backward(made, gradients, retain_graph=True)
        for leaf in self._flat(self._leaves):
            leaf.grad = None

    def hidden(self, packed: Packed) -> Tensor:
        """Last hidden states, normalised, fp32 [T, hidden]; `hidden @ head.T` are the logits."""
        a = self.architecture
        x = torch.nn.functional.embedding(packed.tokens, self.embedding)
        for qkv, out, gate_up, down, head_norm in self._blocks:
            x = Block.apply(x, qkv, out, gate_up, down, head_norm, a.heads, a.eps, packed.layout)
        return Normalise.apply(x, a.eps)


def _neighbours(rows: Tensor, heads: int) -> Tensor:
    """Reorders each head's rows [heads d, …] so that the two of a rotated pair (i, i + d/2) lie side by side."""
    return rows.view(heads, 2, -1, *rows.shape[1:]).transpose(1, 2).reshape(rows.shape)


def _fuse(policy: Policy) -> list[list[Tensor | None]]:
    a, named = policy.architecture, policy.parameters
    groups: list[list[Tensor | None]] = []
    for layer in range(a.layers):
        at = f"model.layers.{layer}."
        query, key, value = (named[f"{at}self_attn.{name}_proj.weight"] for name in ("q", "k", "v"))
        query, key, scale, head_norm = _neighbours(query, a.heads), _neighbours(key, a.heads), a.head_dim**-0.5, None
        if a.model_type == "qwen3":
            norms = [_neighbours(named[f"{at}self_attn.{name}_norm.weight"], 1) for name in ("q", "k")]
            head_norm = torch.cat([(norms[0] * scale).expand(a.heads, -1), norms[1].expand(a.heads, -1)])
        else:
            query = query * scale
        gate_up = torch.cat([named[at + "mlp.gate_proj.weight"], named[at + "mlp.up_proj.weight"]])
        groups.append([
            torch.cat([query, key, value]) * named[at + "input_layernorm.weight"],
            named[at + "self_attn.o_proj.weight"] * 1,
            gate_up * named[at + "post_attention_layernorm.weight"],
            named[at + "mlp.down_proj.weight"] * 1,
            head_norm,
        ])  # fmt: skip
    embedding = named[EMBEDDING]
    return [*groups, [embedding * 1, embedding * named[FINAL_NORM]]]


def pack(sequences: Sequence[Sequence[int]], architecture: Architecture) -> Packed:
    """Lays sequences of token ids end to end, shortest first.

    Raises UserError for an empty sequence or one longer than the model's positions.
    """
    lengths = [len(sequence) for sequence in sequences]
    if not lengths or min(lengths) < 1 or max(lengths) > architecture.positions:
        raise UserError(f"sequences must have 1 to {architecture.positions} tokens (the policy's positions)")
    order = sorted(range(len(lengths)), key=lengths.__getitem__)
    runs, positions, first = [], [], 0
    for length, count in zip(*np.unique(lengths, return_counts=True), strict=True):
        runs.append((first, int(count), int(length)))
        positions.append(np.tile(np.arange(length), count))
        first += int(count * length)
    tokens = torch.from_numpy(np.concatenate([np.asarray(sequences[place], dtype=np.int64) for place in order]))
    turns, mask = _rotation(architecture)
    layout = Layout(tuple(runs), turns[torch.from_numpy(np.concatenate(positions))], mask)
    return Packed(tokens, layout, tuple(order))


def _rotation(a: Architecture) -> tuple[Tensor, Tensor]:
    """Rotations [positions, 1, head_dim / 2] and the causal mask [positions, positions]; made once per architecture."""
    known = _ROTATIONS.get(a)
    if known is None:
        speeds = 1.0 / (a.rope_theta ** (torch.arange(0, a.head_dim, 2, dtype=torch.float32) / a.head_dim))
        angles = torch.outer(torch.arange(a.positions, dtype=torch.float32), speeds)
        mask = torch.full((a.positions, a.positions), -math.inf).triu_(1)
        known = _ROTATIONS[a] = (torch.polar(torch.ones_like(angles), angles).unsqueeze(1), mask)
    return known


_ROTATIONS: dict[Architecture, tuple[Tensor, Tensor]] = {}


def logits(policy: Policy, tokens: Tensor) -> Tensor:
    """Next-token logits, fp32 [rows, L, vocabulary], of equally long rows of token ids [rows, L]; no gradient, nothing optimised."""
    packed = pack(tokens.tolist(), policy.architecture)
    weights = Weights(policy)
    with torch.no_grad():
        return (weights.hidden(packed) @ weights.head.t()).view(*tokens.shape, -1)


def resized(architecture: Architecture, **changes: int | float | str) -> Architecture:
    """An architecture with some sizes changed."""
    return replace(architecture, **changes)
