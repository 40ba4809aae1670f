"""What is asked of a Hugging Face folder before it is taken as a policy; each refusal says what to do."""

import inspect
import json
import os
from pathlib import Path
from typing import Any

from workflow_scripts.records.errors import UserError

_ATTENTIONS = {"full_attention", "sliding_attention", "chunked_attention"}
_LEFT_OVER = (".rotary_emb.inv_freq", ".attn.bias", ".attn.masked_bias")  # constants that old files hold as weights


def generation_config(folder: str | os.PathLike) -> dict[str, Any]:
    """What generation_config.json states; {} where there is none. UserError where it is damaged."""
    return stated(Path(folder) / "generation_config.json")


def stated(path: Path) -> dict[str, Any]:
    """The object in a JSON file of a folder; {} where there is no such file. UserError where it is damaged."""
    try:
        found = json.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        return {}
    except (OSError, ValueError) as error:
        raise UserError(f"{path} is damaged ({first_line(error)}); fetch it again") from error
    if not isinstance(found, dict):
        raise UserError(f"{path} is damaged: it holds no object; fetch it again")
    return found


def first_line(error: Exception) -> str:
    """Of an error's text, or its kind where it has none."""
    return (str(error).strip().splitlines() or [type(error).__name__])[0][:300]


def checked_config(folder: Path, files: set[str]) -> dict[str, Any]:
    """config.json of a folder that holds `files`. UserError for what is no policy that can be read safely and whole."""
    if "config.json" not in files:
        what = "an adapter; merge it into its base first" if "adapter_config.json" in files else "no policy folder"
        raise UserError(f"{folder} has no config.json: it is {what}")
    try:
        config = json.loads((folder / "config.json").read_text(encoding="utf-8"))
        kind = config.get("model_type")
    except (OSError, ValueError, AttributeError) as error:
        raise UserError(f"{folder / 'config.json'} is damaged ({error})") from error
    if not any(name.endswith(".safetensors") for name in files):
        pickled = sorted(name for name in files if name.endswith((".bin", ".pt", ".pth")))
        cause = f"only {pickled[0]}, a pickle, which can run code; save it as safetensors" if pickled else "none"
        raise UserError(f"{folder}: weights are read from .safetensors files, and there is {cause}")
    if "adapter_config.json" in files:
        raise UserError(
            f"{folder} holds an adapter beside the weights; merge it or remove it, which is meant is not clear"
        )
    if config.get("auto_map"):
        raise UserError(f"{folder}: config.json asks for code of its own (auto_map), which is never run")
    if config.get("quantization_config"):
        raise UserError(f"{folder}: the weights are quantised; give the policy in 16- or 32-bit floats")
    if config.get("is_encoder_decoder"):
        raise UserError(f"{folder}: {kind} is an encoder-decoder, not a causal language model")
    odd = set(config.get("layer_types") or ()) - _ATTENTIONS
    if odd:
        raise UserError(f"{folder}: {kind} has layers of {sorted(odd)[0]}, whose state cannot branch with the samples")
    return config


def check_report(folder: Path, config: dict[str, Any], report: dict[str, Any]) -> None:
    """UserError for tensors that transformers, which only warns, would make up, leave out or cut.

    report: the loading info of from_pretrained.
    """
    kind = config.get("model_type")
    missing = sorted(report.get("missing_keys") or ())
    if missing:
        raise UserError(f"{folder}: the weights lack the tensor {missing[0]} of a {kind} policy")
    odd = sorted(name for name in report.get("unexpected_keys") or () if not name.endswith(_LEFT_OVER))
    if odd:
        raise UserError(f"{folder}: a {kind} policy has no tensor {odd[0]}; a critic is not a policy")
    shapes = sorted(map(str, report.get("mismatched_keys") or ()))
    if shapes:
        raise UserError(f"{folder}: config.json and weights disagree about the size of {shapes[0]}")


def text_config(model: Any) -> Any:
    """Sizes of a model's language part."""
    return model.config.get_text_config()


def output_head(folder: Path, model: Any) -> Any:
    """The module that predicts. UserError where a model has none, or cannot predict at some positions alone."""
    head = model.get_output_embeddings()
    if head is None or not hasattr(head, "weight"):
        raise UserError(f"{folder}: {model.config.model_type} has no output head over a vocabulary")
    if "logits_to_keep" not in inspect.signature(model.forward).parameters:
        raise UserError(f"{folder}: transformers' {type(model).__name__} cannot predict at chosen positions only")
    return head


def context_of(folder: Path, model: Any) -> int:
    """Most tokens that the model reads. UserError where its config does not say."""
    context = getattr(text_config(model), "max_position_embeddings", None)
    if not isinstance(context, int) or context < 2:
        raise UserError(
            f"{folder}: config.json does not say how many tokens the policy reads (max_position_embeddings)"
        )
    return context


def refuse_a_lost_head(folder: Path, model: Any) -> None:
    """Some writers repeat the tied embedding as an output head; one that differs would be lost unseen."""
    import torch
    from safetensors import safe_open

    if not text_config(model).tie_word_embeddings:
        return
    head, embedding = model.get_output_embeddings(), model.get_input_embeddings().weight
    name = next(name for name, module in model.named_modules() if module is head) + ".weight"
    for file in sorted(folder.glob("*.safetensors")):
        with safe_open(file, "pt") as tensors:
            found = tensors.get_tensor(name) if name in tensors.keys() else None  # noqa: SIM118 (no mapping)
        if found is not None and not torch.equal(found.to(embedding.dtype), embedding.detach().cpu()):
            raise UserError(
                f"{folder}: config.json ties embedding and output head, but {name} is another tensor; which of "
                "the two is meant is not defined"
            )
    if head.weight.data_ptr() != embedding.data_ptr():
        raise UserError(f"{folder}: config.json ties embedding and output head, and transformers does not")
