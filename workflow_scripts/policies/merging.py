"""From a verl checkpoint to a policy folder: its shards merged, and the result compared with what was trained.

verl's own merger does the work in a process of its own. It rounds every tensor to bf16, whatever the model's type, and
has no option for another. So the tensors are put together here a second time in the type that they were kept in
(policies.shards); verl's must be these, rounded to bf16, bit for bit; and these, cast once to the type that the base's
config names, are written. For a base in bf16 the file thus holds verl's own numbers, for a small policy the fp32 ones.
"""

import logging
import os
import shutil
import subprocess
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from tempfile import TemporaryDirectory

import torch
from torch import Tensor

from workflow_scripts.policies import merge_checks as checks
from workflow_scripts.policies.shards import add_adapters, read_shards, shard_files, without_adapters
from workflow_scripts.records.errors import UserError
from workflow_scripts.records.files import atomic_folder

GREEDY_TOKENS = 20
_FROM_BASE = (
    "config.json", "generation_config.json", "tokenizer.json", "tokenizer_config.json", "special_tokens_map.json",
    "added_tokens.json", "vocab.json", "merges.txt", "vocab.txt", "tokenizer.model", "chat_template.jinja",
    "chat_template.json",
)  # fmt: skip
_log = logging.getLogger(__name__)


def merged(
    state: str | os.PathLike,
    target: str | os.PathLike,
    *,
    base: str | os.PathLike,
    prompts: Sequence[str] = (),
) -> None:
    """Writes the policy of a verl checkpoint as a Hugging Face folder at `target`, whole or not at all.

    state: a checkpoint with the folder `actor`, or that folder itself (as verl's SFT trainer writes it). base: the
    policy folder that was trained from; its config, tokenizer and generation config are copied byte for byte, and its
    config names the type of the weights. prompts: texts whose greedy continuations are compared between the merged
    policy and the checkpoint's own weights (20 tokens each), besides four of random tokens. LoRA adapters are added to
    their weights; the manifest is the caller's.
    Raises UserError, naming file or tensor, unless: every shard is there and holds tensors alone; names, count and
    shapes are those of the base; tied embeddings are equal; the vocabulary and the tokenizers' ids are the same; all is
    finite; verl's merger agrees; the type is right; the greedy continuations are equal.
    """
    state, target, base = Path(state).resolve(), Path(target).absolute(), Path(base).resolve()
    actor = state / "actor" if (state / "actor").is_dir() else state
    files = shard_files(actor)
    _log.warning(
        "%s: the %d shard(s) of a checkpoint are pickles. They are read as tensors only, then verl's merger unpickles "
        "them in full: merge only checkpoints that you made or trust.", actor, len(files),
    )  # fmt: skip
    config, stored = checks.read_config(base), checks.stored_tensors(base)
    checks.same_sizes(checks.read_config(actor / "huggingface"), config, actor / "huggingface/config.json")
    ids = _same_ids(base, actor / "huggingface", prompts) + checks.probes(config["vocab_size"])
    own, adapters = without_adapters(read_shards(actor))
    trained = add_adapters(own, adapters, actor, model_type=config["model_type"])
    shown = {"tied": bool(config.get("tie_word_embeddings", config["model_type"] == "gpt2")), "where": actor}
    plain, whole = (checks.without_tied(tensors, stored, **shown) for tensors in (own, trained))
    checks.same_tensors(whole, stored, vocabulary=config["vocab_size"], where=actor)
    checks.finite(whole, actor)
    _as_verl_merges(actor, plain, target)
    kind = checks.weight_type(config, stored)
    with atomic_folder(target) as aside:
        _write(whole, kind, aside, base)
        written = checks.stored_tensors(aside)
        checks.same_tensors(written, stored, vocabulary=config["vocab_size"], where=target)
        checks.same_type(written, kind, target)
        wanted = checks.greedy(_trained_model(actor, trained, kind), ids, GREEDY_TOKENS)
        checks.same_continuations(checks.greedy(_merged_model(aside, kind), ids, GREEDY_TOKENS), wanted, target)


def _write(tensors: Mapping[str, Tensor], kind: torch.dtype, folder: Path, base: Path) -> None:
    from safetensors.torch import save_file

    cast = {
        name: tensor.to(kind if tensor.is_floating_point() else tensor.dtype).contiguous().clone()
        for name, tensor in tensors.items()
    }
    save_file(cast, folder / "model.safetensors", {"format": "pt"})
    for name in _FROM_BASE:
        if (base / name).is_file():
            shutil.copyfile(base / name, folder / name)


def _same_ids(base: Path, trained: Path, prompts: Sequence[str]) -> list[list[int]]:
    """Ids of the prompts; UserError where base and trained model have different tokenizers."""
    from transformers import AutoTokenizer

    try:
        ours, theirs = (AutoTokenizer.from_pretrained(folder, local_files_only=True) for folder in (base, trained))
    except (OSError, ValueError, KeyError, ImportError) as error:
        raise UserError(f"the tokenizers of {base} and {trained} must both be readable: {error}") from error
    known, other = ours.get_vocab(), theirs.get_vocab()
    if known != other:
        odd = sorted(set(known.items()) ^ set(other.items()))[0]
        raise UserError(f"{trained}: its tokenizer and that of {base} differ in the token {odd[0]!r}")
    ids = [ours(text, add_special_tokens=False)["input_ids"] for text in prompts]
    for text, given in zip(prompts, ids, strict=True):
        if theirs(text, add_special_tokens=False)["input_ids"] != given:
            raise UserError(f"{trained}: its tokenizer and that of {base} give other ids for {text[:80]!r}")
    return [given for given in ids if given]


def _as_verl_merges(actor: Path, tensors: Mapping[str, Tensor], target: Path) -> None:
    """Runs verl's merger and raises UserError unless it makes of the checkpoint `tensors`, rounded to bf16."""
    from safetensors import safe_open

    target.parent.mkdir(parents=True, exist_ok=True)
    # Beside the target, where there is room for it, and named so that what a killed job leaves is removed by the next.
    aside = f".{target.name}.writing-{os.getpid()}.verl-"
    with TemporaryDirectory(prefix=aside, dir=target.parent) as scratch:
        made = Path(scratch) / "merged"
        # An absolute folder: one that verl does not find it takes for the name of a model on the hub. The job's own
        # folder is not the working one, since a folder there may have the name of a package.
        call = [sys.executable, "-m", "verl.model_merger", "merge", "--backend", "fsdp"]
        call += ["--local_dir", str(actor), "--target_dir", str(made)]
        environment = os.environ | {"HF_HUB_OFFLINE": "1", "TRANSFORMERS_OFFLINE": "1"}
        done = subprocess.run(call, cwd=scratch, env=environment, capture_output=True, text=True, check=False)
        said = (done.stdout + done.stderr).strip()
        _log.info("verl.model_merger: %s", said)
        if done.returncode:
            last = said.splitlines()[-1] if said else f"exit code {done.returncode}"
            way = "; use the environment of the engines (make env-engines)" if "No module named" in last else ""
            raise UserError(f"verl's merger could not merge {actor}: {last}{way}")
        found = checks.stored_tensors(made)
        if found.keys() - {checks.HEAD} != tensors.keys() - {checks.HEAD}:
            odd = sorted((found.keys() ^ tensors.keys()) - {checks.HEAD})[0]
            raise UserError(f"{actor}: verl's merger and the shards disagree about the tensor {odd!r}")
        for name in found.keys() & tensors.keys():
            with safe_open(found[name].file, framework="pt") as handle:
                if not torch.equal(handle.get_tensor(name), tensors[name].bfloat16()):
                    raise UserError(f"{actor}: verl's merger and the shards give other values for {name}")


def _trained_model(actor: Path, tensors: Mapping[str, Tensor], kind: torch.dtype) -> torch.nn.Module:
    """The checkpoint's own model in the type `kind`: its config, and every tensor of its shards."""
    from transformers import AutoConfig, AutoModelForCausalLM

    config = AutoConfig.from_pretrained(actor / "huggingface", local_files_only=True)
    model = AutoModelForCausalLM.from_config(config, dtype=kind, attn_implementation="eager").train(False)
    lacking = model.load_state_dict({name: tensor.to(kind) for name, tensor in tensors.items()}, strict=False)
    if lacking.unexpected_keys or set(lacking.missing_keys) - {checks.HEAD}:
        odd = (lacking.unexpected_keys + lacking.missing_keys)[0]
        raise UserError(f"{actor}: the shards and the model of its config.json disagree about the tensor {odd!r}")
    return model


def _merged_model(folder: Path, kind: torch.dtype) -> torch.nn.Module:
    from transformers import AutoModelForCausalLM

    return AutoModelForCausalLM.from_pretrained(
        folder, dtype=kind, attn_implementation="eager", local_files_only=True, use_safetensors=True
    )
