"""Sizes of a small model, its parameters' names and shapes, and the `config.json` that states them to every reader."""

import json
import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from workflow_scripts.records.errors import UserError

_CLASSES = {"llama": "LlamaForCausalLM", "qwen3": "Qwen3ForCausalLM"}
EMBEDDING, FINAL_NORM, VALUE_HEAD = "model.embed_tokens.weight", "model.norm.weight", "score.weight"


@dataclass(frozen=True)
class Architecture:
    """Sizes of a model.

    vocabulary: tokens. positions: longest sequence, tokens. pad_id, end_id: written to the config for other readers.
    """

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


def architecture_of(sizes: Mapping[str, Any], vocabulary: Sequence[str]) -> Architecture:
    """Sizes of a policy that is trained from scratch. sizes: the config's section, heads of width hidden / heads."""
    return Architecture(
        vocabulary=len(vocabulary),
        model_type=sizes["architecture"],
        hidden=sizes["hidden"],
        layers=sizes["layers"],
        heads=sizes["heads"],
        head_dim=sizes["hidden"] // sizes["heads"],
        mlp=sizes["mlp"],
        positions=sizes["context"],
    )


def read_architecture(folder: str | os.PathLike) -> Architecture:
    """Sizes from `folder/config.json`.

    Raises UserError, naming the file, where it is missing, damaged or holds what is not supported.
    """
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
