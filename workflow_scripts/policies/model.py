"""The small language model: a Llama- or Qwen3-architecture decoder under Hugging Face names.

A policy folder is an ordinary Hugging Face directory (`model.safetensors`, `config.json`, `generation_config.json`,
tokenizer), so that transformers, vLLM and verl load what is trained here and the other way round. Only what the small
models need is supported: tied embeddings, as many key/value heads as heads, plain rotary positions, no biases, fp32.
Anything else is refused by name.
"""

import json
import math
import os
from functools import cache
from pathlib import Path

import torch
from torch import Tensor

from workflow_scripts.policies.architecture import EMBEDDING, FINAL_NORM, VALUE_HEAD, Architecture, read_architecture
from workflow_scripts.policies.blocks import Block, Layout, Normalise
from workflow_scripts.policies.chunks import Chunk
from workflow_scripts.records import seeds
from workflow_scripts.records.errors import UserError
from workflow_scripts.records.files import atomic_file, write_text


class Policy:
    """A model's parameters: one flat fp32 buffer, seen under Hugging Face names.

    parameters: leaf tensors by name, views of `flat`; their gradients are views of `grad`. An optimiser works on the
    two flat buffers. With `value_head` (zeros at first) it is a critic: `score.weight` gives one number a token.
    """

    def __init__(self, architecture: Architecture, value_head: bool = False) -> None:
        self.architecture = architecture
        shapes = architecture.shapes() | ({VALUE_HEAD: (1, architecture.hidden)} if value_head else {})
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

    def copy(self, value_head: bool = False) -> "Policy":
        """A policy of its own with the same values, or a critic made from it."""
        twin = Policy(self.architecture, value_head)
        twin.flat[: len(self.flat)] = self.flat
        return twin


def new_policy(architecture: Architecture, seed: int, spread: float = 0.08) -> Policy:
    """Random start: normal(0, spread), norms 1; products into the residual stream divided by sqrt(2 layers) (GPT-2).

    At hidden size 64 a spread of 0.08 reaches in 300 steps what the usual 0.02 reaches in 400.
    """
    policy = Policy(architecture)
    generator = torch.Generator().manual_seed(seeds.key(seed, "initial weights") >> 1)
    with torch.no_grad():
        for name, parameter in policy.parameters.items():
            if parameter.ndim == 1:
                parameter.fill_(1.0)
                continue
            back = name.endswith(("o_proj.weight", "down_proj.weight"))
            share = 1 / math.sqrt(2 * architecture.layers) if back else 1.0
            parameter.normal_(0.0, spread * share, generator=generator)
    return policy


def save_policy(policy: Policy, folder: str | os.PathLike) -> None:
    """Writes weights and configs into `folder` (made if absent), without the tokenizer (`save_tokenizer`)."""
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
    """Reads a policy folder.

    Raises UserError, naming the file and the tensor, where one is missing, of another shape, or not finite.
    """
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
        *self._blocks, (self.embedding, self.head, self.value_head) = self._leaves

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

    def hidden(self, tokens: Tensor) -> Tensor:
        """Last hidden states, normalised, fp32 [B, L, hidden], of int64 [B, L]; `hidden @ head.T` are the logits.

        Raises UserError where L exceeds the policy's positions.
        """
        layout = _layout(self.architecture, tokens.shape[1])
        x = torch.nn.functional.embedding(tokens.flatten(), self.embedding)
        for block in self._blocks:
            x = Block.apply(x, *block, layout)
        return Normalise.apply(x, self.architecture.eps).view(*tokens.shape, -1)

    def predictions(self, chunk: Chunk) -> Tensor:
        """Logits, fp32 [N, vocabulary], at the positions of `chunk` whose next token is predicted."""
        return self.hidden(chunk.tokens).flatten(0, 1)[chunk.rows] @ self.head.t()

    def values(self, chunk: Chunk) -> Tensor:
        """A critic's estimates, fp32 [N], at the positions of `chunk`: of what is still to come before each token."""
        return (self.hidden(chunk.tokens).flatten(0, 1)[chunk.rows] @ self.value_head.t()).squeeze(1)


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
        norm_in, norm_mid = named[at + "input_layernorm.weight"], named[at + "post_attention_layernorm.weight"]
        groups.append([
            torch.cat([query, key, value]) * norm_in,
            named[at + "self_attn.o_proj.weight"] * 1,
            named[at + "mlp.gate_proj.weight"] * norm_mid,
            named[at + "mlp.up_proj.weight"] * norm_mid,
            named[at + "mlp.down_proj.weight"] * 1,
            head_norm,
        ])  # fmt: skip
    embedding, norm, value_head = named[EMBEDDING], named[FINAL_NORM], named.get(VALUE_HEAD)
    return [*groups, [embedding * 1, embedding * norm, None if value_head is None else value_head * norm]]


@cache
def _layout(a: Architecture, length: int) -> Layout:
    """Rotations and causal mask of sequences of `length` tokens."""
    if length > a.positions:
        raise UserError(f"a text of {length} tokens is longer than the policy's {a.positions} positions")
    speeds = 1.0 / (a.rope_theta ** (torch.arange(0, a.head_dim, 2, dtype=torch.float32) / a.head_dim))
    angles = torch.outer(torch.arange(length, dtype=torch.float32), speeds)
    turns = torch.polar(torch.ones_like(angles), angles).unsqueeze(1).repeat(1, 2 * a.heads, 1)
    turns_back = turns.conj().resolve_conj()
    return Layout(a.heads, a.eps, turns, turns_back, torch.full((length, length), -math.inf).triu_(1))


def logits(policy: Policy, tokens: Tensor) -> Tensor:
    """Next-token logits, fp32 [B, L, vocabulary], of token ids [B, L]. No gradient."""
    weights = Weights(policy)
    with torch.no_grad():
        return weights.hidden(tokens) @ weights.head.t()
