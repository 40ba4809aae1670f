"""Parts of verl's config that reinforcement learning and supervised training share, and how they are written."""

import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from workflow_scripts.policies.verl_engine.hardware import Hardware

_PLAIN = re.compile(r"[A-Za-z/][\w/.+-]*")
_WORDS = {"null", "true", "false", "nan", "inf"}
_RAY_STORE = 500_000_000
"""Bytes of Ray's object store on CPU, enough for the batches of a small policy."""


def written(values: Mapping[str, Any]) -> list[str]:
    """Keys and values as Hydra reads them, in their order."""
    return [f"{key}={_written(value)}" for key, value in values.items()]


def _written(value: Any) -> str:
    if value is None:
        return "null"
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, list):
        return f"[{','.join(map(_written, value))}]"
    if isinstance(value, int | float):
        return repr(value)
    text = str(value)
    if _PLAIN.fullmatch(text) and text.lower() not in _WORDS:
        return text
    quoted = text.replace("\\", "\\\\").replace("'", "\\'")
    return f"'{quoted}'"


def model(at: str, folder: Path, hardware: Hardware) -> dict[str, Any]:
    return {
        f"{at}.path": folder,
        f"{at}.use_remove_padding": hardware.attention == "flash_attention_2",
        f"+{at}.override_config.attn_implementation": hardware.attention,
        f"{at}.enable_gradient_checkpointing": bool(hardware.gpus),
        f"{at}.trust_remote_code": False,
    }


def workers(at: str, hardware: Hardware) -> dict[str, Any]:
    """FSDP2, since FSDP1 does not work on CPU: fp32 throughout there, bf16 passes over fp32 weights on CUDA."""
    return {
        f"{at}.strategy": "fsdp2",
        f"{at}.model_dtype": "fp32",
        f"+{at}.mixed_precision.param_dtype": "bf16" if hardware.gpus else "fp32",
        f"+{at}.mixed_precision.reduce_dtype": "fp32",
        f"+{at}.mixed_precision.buffer_dtype": "fp32",
        f"{at}.param_offload": hardware.offload,
        f"{at}.optimizer_offload": hardware.offload,
        f"{at}.use_torch_compile": bool(hardware.gpus),
    }


def optimiser(at: str, rate: float, clip: float) -> dict[str, Any]:
    """AdamW at a constant rate without decay, as the built-in trainer's. clip: largest norm of the gradient."""
    return {
        f"{at}.optimizer": "AdamW",
        f"{at}.lr": rate,
        f"{at}.lr_scheduler_type": "constant",
        f"{at}.lr_warmup_steps": 0,
        f"{at}.weight_decay": 0.0,
        f"{at}.betas": [0.9, 0.999],
        f"{at}.clip_grad": clip,
    }


def rollout(settings: Mapping[str, Any], hardware: Hardware, prompt_tokens: int, seed: int) -> dict[str, Any]:
    """Sampling from the whole distribution, by one server a worker."""
    at = "actor_rollout_ref.rollout"
    values = {
        f"{at}.name": hardware.engine,
        f"{at}.mode": "async",
        f"{at}.n": settings["samples"],
        f"{at}.temperature": settings["temperature"],
        f"{at}.top_p": 1.0,
        f"{at}.top_k": -1,
        f"{at}.seed": seed,
        f"{at}.dtype": "bfloat16" if hardware.gpus else "float32",
        f"{at}.tensor_model_parallel_size": 1,
        f"{at}.n_gpus_per_node": hardware.world,
        f"{at}.max_model_len": prompt_tokens + settings["max_new_tokens"],
        f"{at}.log_prob_use_dynamic_bsz": True,
        f"{at}.log_prob_max_token_len_per_gpu": hardware.tokens,
        f"{at}.calculate_log_probs": True,  # the trainer compares them with its own
        f"{at}.agent.num_workers": 1,
    }
    if hardware.engine == "vllm":
        values |= {f"{at}.gpu_memory_utilization": hardware.memory, f"{at}.enforce_eager": not hardware.gpus}
    if not hardware.gpus:
        values |= {f"{at}.free_cache_engine": False, f"+{at}.enable_sleep_mode": False}
    return values


def processes(hardware: Hardware) -> dict[str, Any]:
    """Ray's places. On CPU, workers ask for devices that exist in name only."""
    values: dict[str, Any] = {
        "ray_kwargs.ray_init.num_cpus": hardware.processes,
        "+ray_kwargs.ray_init.include_dashboard": False,
    }
    if not hardware.gpus:
        values |= {
            "+ray_kwargs.ray_init.num_gpus": hardware.world,
            "+ray_kwargs.ray_init.object_store_memory": _RAY_STORE,
        }
    return values
