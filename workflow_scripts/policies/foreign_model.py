"""Policies that were not made here: any Hugging Face folder of a causal language model, read by transformers.

On a GPU where one is visible (CUDA_VISIBLE_DEVICES), else on the CPU. Numbers: the folder's own on a GPU (bf16 for
most), fp32 on a CPU; log-probabilities are always taken in fp32. Attention is transformers' own choice for the model.
Not promised, other than for the small policies: that a row's result is the same in any company. Products of other
sizes round differently, so a sample that stands on a near tie can differ between batch sizes, machines and threads.
"""

import inspect
import json
import os
from copy import deepcopy
from dataclasses import dataclass
from functools import cached_property, lru_cache
from pathlib import Path
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

from workflow_scripts.policies.foreign_checks import (
    check_report,
    checked_config,
    context_of,
    first_line,
    output_head,
    refuse_a_lost_head,
    text_config,
)
from workflow_scripts.policies.foreign_tokenizer import word_level
from workflow_scripts.records.errors import UserError

if TYPE_CHECKING:
    import torch

    from workflow_scripts.policies.foreign_reader import ForeignReader

_CACHE_BYTES = 2**30  # keys and values of the rows that are meant to be decoded together, on a CPU
_CACHE_SHARE = 8  # on a GPU: one part in so many of its memory
_LOGITS = {"cpu": 2**24, "cuda": 2**26}  # numbers of a step's predictions, which are drawn from on the CPU
_SCORED = {"cpu": 2**26, "cuda": 2**30}  # numbers of a chunk's predictions, when texts are scored
_MOST_ROWS = 512
_NOT_SIZES = {
    "_name_or_path", "architectures", "dtype", "torch_dtype", "transformers_version", "use_cache", "bos_token_id",
    "eos_token_id", "pad_token_id", "attn_implementation", "_attn_implementation", "initializer_range",
}  # fmt: skip


def built_in(folder: str | os.PathLike, *, scoring: bool = False) -> bool:
    """Whether the built-in engine reads the folder: a small llama or qwen3 with a word-level tokenizer.

    scoring: asked for likelihoods and interpolation, which want tied embeddings and as many key heads as heads too.
    A folder that has no readable config.json is left to the built-in engine, whose errors name what is missing.
    """
    if not word_level(folder):
        return False
    try:
        config = json.loads((Path(folder) / "config.json").read_text(encoding="utf-8"))
        rope = (config.get("rope_parameters") or config.get("rope_scaling") or {}).get("rope_type", "default")
    except (OSError, ValueError, AttributeError):
        return True
    plain = config.get("model_type") in ("llama", "qwen3") and config.get("hidden_act", "silu") == "silu"
    plain = plain and rope == "default"
    plain = plain and not any(config.get(name) for name in ("attention_bias", "mlp_bias", "use_sliding_window"))
    if plain and scoring:
        heads = config.get("num_attention_heads")
        return bool(config.get("tie_word_embeddings")) and config.get("num_key_value_heads", heads) == heads
    return plain


@dataclass(frozen=True)
class ForeignPolicy:
    """A causal language model that transformers has read. What is loaded is shared: change copies only.

    vocabulary: numbers of a prediction. context: most tokens of prompt and completion together.
    """

    folder: Path
    model: Any
    vocabulary: int
    context: int

    @property
    def device(self) -> "torch.device":
        return self.model.device

    @property
    def parameters(self) -> dict[str, "torch.Tensor"]:
        """Weights by Hugging Face name, tied ones once."""
        return dict(self.model.named_parameters())

    def tensors(self) -> dict[str, "torch.Tensor"]:
        """Weights by name, without gradients (views, not copies)."""
        return {name: parameter.detach() for name, parameter in self.parameters.items()}

    def copy(self) -> "ForeignPolicy":
        """A policy of its own with the same weights."""
        return ForeignPolicy(self.folder, deepcopy(self.model), self.vocabulary, self.context)

    @cached_property
    def architecture(self) -> SimpleNamespace:
        """What config.json says about sizes: policies with equal ones have the same weights by name and shape."""
        stated = {key: value for key, value in self.model.config.to_dict().items() if key not in _NOT_SIZES}
        return SimpleNamespace(**stated, parameters={name: list(w.shape) for name, w in self.parameters.items()})

    @cached_property
    def blocks(self) -> tuple[str, int]:
        """Name of the list of blocks (`model.layers`, `transformer.h`) and how many there are.

        Raises UserError where the model has no such list.
        """
        from torch.nn import ModuleList

        layers = text_config(self.model).num_hidden_layers
        for name, module in self.model.named_modules():
            if isinstance(module, ModuleList) and len(module) == layers:
                return name, layers
        raise UserError(f"{self.folder}: the {self.model.config.model_type} model has no one list of its blocks")

    def reader(self) -> "ForeignReader":
        """What `decode` asks: rows of tokens read with cached keys and values."""
        from workflow_scripts.policies.foreign_reader import ForeignReader

        return ForeignReader(self)

    def rows_at_once(self, positions: int) -> int:
        """Rows of so many tokens to decode together: by their keys and values, and by the size of their predictions."""
        import torch

        config, device = text_config(self.model), self.device.type
        heads = getattr(config, "num_key_value_heads", None) or config.num_attention_heads
        width = getattr(config, "head_dim", None) or config.hidden_size // config.num_attention_heads
        row = 2 * config.num_hidden_layers * heads * width * self.model.dtype.itemsize * max(positions, 1)
        room = _CACHE_BYTES
        if device == "cuda":
            room = torch.cuda.get_device_properties(self.device).total_memory // _CACHE_SHARE
        return max(1, min(_MOST_ROWS, room // row, _LOGITS[device] // self.vocabulary))

    @property
    def tokens_at_once(self) -> int:
        """Padded tokens of a forward pass when texts are scored: a vocabulary of predictions each is held at once."""
        return max(64, min(8192, _SCORED[self.device.type] // self.vocabulary))

    def cache_name(self) -> str:
        """The name under which the model takes its cache, which differs between versions of transformers."""
        taken = inspect.signature(self.model.forward).parameters
        return "cache" if "cache" in taken else "past_key_values"


def load_foreign(folder: str | os.PathLike) -> ForeignPolicy:
    """The policy of a folder. The last two that were read are kept, and shared.

    Raises UserError, naming folder and cause, for what is no causal language model of transformers, pickled weights,
    adapters, quantised weights, code of its own, tensors that are missing, left over or not finite, and an output head
    that a tied embedding would silently replace.
    """
    folder = Path(folder).resolve()
    try:
        files = sorted(file for file in folder.iterdir() if file.is_file())
    except OSError as error:
        raise UserError(f"{folder} cannot be read; a policy is a folder of config.json, weights, tokenizer") from error
    return _loaded(folder, tuple((file.name, file.stat().st_mtime_ns, file.stat().st_size) for file in files))


@lru_cache(maxsize=2)
def _loaded(folder: Path, stamp: tuple) -> ForeignPolicy:
    import torch
    from transformers import AutoModelForCausalLM

    config = checked_config(folder, {name for name, *_ in stamp})
    cuda = torch.cuda.is_available()
    try:
        model, report = AutoModelForCausalLM.from_pretrained(
            folder,
            dtype=_dtype(config) if cuda else torch.float32,
            local_files_only=True,
            trust_remote_code=False,
            use_safetensors=True,
            output_loading_info=True,
        )
    except Exception as error:  # what transformers raises here depends on what it trips over
        what = f"this {config.get('model_type')} policy ({first_line(error)})"
        raise UserError(f"{folder}: transformers cannot read {what}") from error
    check_report(folder, config, report)
    model = model.eval().to("cuda" if cuda else "cpu")
    policy = ForeignPolicy(folder, model, len(output_head(folder, model).weight), context_of(folder, model))
    for name, tensor in policy.tensors().items():
        if not torch.isfinite(tensor).all():
            raise UserError(f"{folder}: {name} holds NaN or infinite values; was its training cut short?")
    refuse_a_lost_head(folder, model)
    return policy


def _dtype(config: dict[str, Any]) -> "torch.dtype":
    import torch

    stated = str(config.get("dtype") or config.get("torch_dtype") or "float32").removeprefix("torch.")
    return {"bfloat16": torch.bfloat16, "float16": torch.float16}.get(stated, torch.float32)
