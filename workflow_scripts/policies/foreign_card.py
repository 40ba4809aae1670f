"""What a reader of a report should know about a policy: sizes, tokenizer, and what of its folder is not used.

Nothing is loaded: weights are counted by the headers of their files.
"""

import json
import os
from hashlib import sha256
from math import prod
from pathlib import Path
from typing import Any

from workflow_scripts.policies.foreign_checks import generation_config, stated
from workflow_scripts.policies.foreign_model import built_in
from workflow_scripts.policies.foreign_tokenizer import ForeignTokenizer, WordLevel, load_any_tokenizer
from workflow_scripts.records.errors import UserError

_NO_SETTINGS = {
    "eos_token_id", "bos_token_id", "pad_token_id", "transformers_version", "_from_model_config", "use_cache",
    "output_attentions", "output_hidden_states",
}  # fmt: skip
_TYPES = {"F64": "float64", "F32": "float32", "F16": "float16", "BF16": "bfloat16"}


def describe(folder: str | os.PathLike) -> dict[str, Any]:
    """Plain values about a policy folder, for the header of a report or one row of a table.

    engine: `built_in` or `transformers`, which of the two reads the policy. parameters: numbers in the weights' files,
    a tied output head that is stored twice counted once. dtype: of most of them, as stored. context: tokens.
    vocabulary: rows of the output head; tokenizer_words: tokens that have a spelling. chat_template: first 12
    characters of its SHA-256, "" where there is none; it counts only where a prompt was made with it.
    bos_added: whether prompts begin with a token that no text holds. end_tokens: what ends a sample. padding_side: of
    the tokenizer, not used, since nothing is padded on the left. generation_defaults_unused: settings of
    generation_config.json; every setting of a sample is the study's.
    Raises UserError, naming file and cause, for a folder that is damaged or no policy.
    """
    folder = Path(folder)
    config = stated(folder / "config.json")
    if not config:
        raise UserError(f"{folder / 'config.json'} is missing or empty; is {folder} a policy folder?")
    tokenizer = load_any_tokenizer(folder)
    tied = bool(config.get("tie_word_embeddings", config.get("model_type") == "gpt2"))
    count, kind = _counted(folder, tied)
    sizes = config.get("text_config") or config
    return {
        "engine": "built_in" if built_in(folder) else "transformers",
        "model_type": str(config.get("model_type")),
        "architecture": ", ".join(config.get("architectures") or []),
        "parameters": count,
        "dtype": kind,
        "tied": tied,
        "context": sizes.get("max_position_embeddings") or sizes.get("n_positions"),
        "vocabulary": sizes.get("vocab_size"),
        **_of_tokenizer(tokenizer, folder),
        "generation_defaults_unused": {
            key: value for key, value in sorted(generation_config(folder).items()) if key not in _NO_SETTINGS
        },
    }


def _of_tokenizer(tokenizer: WordLevel | ForeignTokenizer, folder: Path) -> dict[str, Any]:
    if isinstance(tokenizer, WordLevel):
        kept = folder / "chat_template.jinja"
        inner = {
            "template": _digest(kept.read_text(encoding="utf-8") if kept.is_file() else ""),
            "bos": "",
            "pad": tokenizer.words[tokenizer.pad_id],
            "side": "left",
        }
    else:
        given = tokenizer.inner
        template = given.chat_template or ""
        template = template if isinstance(template, str) else json.dumps(template, sort_keys=True)
        inner = {
            "template": _digest(template),
            "bos": given.bos_token or "",
            "pad": given.pad_token or "",
            "side": given.padding_side,
        }
    return {
        "tokenizer_class": type(getattr(tokenizer, "inner", tokenizer)).__name__,
        "tokenizer_words": len(tokenizer),
        "chat_template": inner["template"],
        "bos_token": inner["bos"],
        "bos_added": bool(getattr(tokenizer, "start_ids", ())),
        "end_tokens": [tokenizer.words[token] if token < len(tokenizer) else str(token) for token in tokenizer.end_ids],
        "pad_token": inner["pad"],
        "padding_side": inner["side"],
    }


def _digest(template: str) -> str:
    return sha256(template.encode()).hexdigest()[:12] if template else ""


def tensors_of(file: Path) -> dict[str, dict[str, Any]]:
    """Header of a safetensors file: tensor to its dtype, shape and place.

    Raises UserError, naming the file, where the header cannot be read or the file is not as long as it says.
    """
    try:
        size = file.stat().st_size
        with file.open("rb") as stream:
            length = int.from_bytes(stream.read(8), "little")
            header = json.loads(stream.read(min(length, size)))
        tensors = {name: header[name] for name in header if name != "__metadata__"}
        stated = 8 + length + max((given["data_offsets"][1] for given in tensors.values()), default=0)
    except (OSError, ValueError, KeyError, TypeError, IndexError, RecursionError) as error:
        raise UserError(f"{file} cannot be read ({error}); fetch or make it again") from error
    if size != stated:
        raise UserError(f"{file} holds {size} bytes, its header says {stated}; fetch or make it again")
    return tensors


def _counted(folder: Path, tied: bool) -> tuple[int, str]:
    """Numbers in the safetensors files, and the type of most of them."""
    found: dict[str, tuple[int, str]] = {}
    files = sorted(folder.glob("*.safetensors"))
    if not files:
        raise UserError(f"{folder} holds no .safetensors file; a policy folder needs its weights")
    for file in files:
        try:
            found |= {name: (prod(given["shape"]), given["dtype"]) for name, given in tensors_of(file).items()}
        except (KeyError, TypeError) as error:
            raise UserError(f"{file} cannot be read ({error}); fetch or make it again") from error
    if tied:
        found.pop("lm_head.weight", None)
    kinds: dict[str, int] = {}
    for count, kind in found.values():
        kinds[kind] = kinds.get(kind, 0) + count
    most = max(kinds, key=lambda kind: (kinds[kind], kind))
    return sum(kinds.values()), _TYPES.get(most, most.lower())
