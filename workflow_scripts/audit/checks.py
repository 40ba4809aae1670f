"""Are these folders policies, can they be compared, and do their prompts fit?"""

import re
from collections.abc import Sequence
from hashlib import sha256
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from workflow_scripts.policies.foreign_card import tensors_of
from workflow_scripts.policies.foreign_checks import checked_config
from workflow_scripts.policies.foreign_tokenizer import AnyTokenizer, load_any_tokenizer, word_level
from workflow_scripts.policies.rendering import prompter, rendering
from workflow_scripts.records.downloads import fetch
from workflow_scripts.records.errors import UserError
from workflow_scripts.tasks.countdown.text import NUMBERS, TARGETS, VOCABULARY
from workflow_scripts.tasks.countdown.wording import Wording

if TYPE_CHECKING:
    import pandas as pd

_HUB = re.compile(r"(?P<id>[\w.-]+/[\w.-]+)@(?P<commit>[0-9a-f]{40})(?:/(?P<folder>[\w./-]+))?")
_TAGS = ("<think>", "</think>", "<answer>", "</answer>", "<feasible>", "</feasible>")


class Checkpoint(NamedTuple):
    """A policy folder that was looked at. context: tokens, of prompt and completion. asked: how prompts are made."""

    folder: Path
    model_type: str
    layers: int
    context: int
    tokenizer: AnyTokenizer
    asked: str


def placed(source: str, study: str, *, may_fetch: bool) -> Path:
    """The folder of a source: itself, or a hub id `owner/name@commit[/folder]` fetched into the study's folder,
    under a name of its own for each id, commit and folder.

    Raises UserError for neither, and where something would have to be fetched and may not be.
    """
    if Path(source).is_dir():
        return Path(source).resolve()
    found = _HUB.fullmatch(source)
    if not found:
        raise UserError(
            f"{source} is no folder; give one with config.json, safetensors and tokenizer, or a hub id pinned to its "
            "commit: owner/name@<40 hex digits>[/folder]"
        )
    name, digest = found["id"].replace("/", "--"), sha256(source.rstrip("/").encode()).hexdigest()[:12]
    target = Path("results") / study / "fetched" / f"{name}-{digest}"
    if not target.is_dir() and not may_fetch:
        raise UserError(f"{source} is not fetched yet, and a dry run fetches nothing; run without --dry-run")
    if not target.is_dir():
        fetch(found["id"], revision=found["commit"], subfolder=found["folder"], target=target)
    return target.resolve()


def require_policy(folder: Path) -> None:
    """Raises UserError, naming folder or file, for what is no whole policy, before its tokenizer is looked for.

    That is an empty folder, what foreign_checks.checked_config refuses (an adapter, pickled weights, …), and a
    safetensors file that is cut short.
    """
    files = {path.name for path in folder.iterdir()}
    if not files:
        raise UserError(f"{folder} is empty; a policy folder holds config.json, safetensors and tokenizer")
    checked_config(folder, files)
    for name in sorted(name for name in files if name.endswith(".safetensors")):
        tensors_of(folder / name)


def chosen_wording(folders: Sequence[Path], name: str | None) -> str:
    """The name asked for; else `laptop` where every folder is a small word-level policy of it, `native` where not."""
    return name or ("laptop" if all(map(_speaks_laptop, folders)) else "native")


def _speaks_laptop(folder: Path) -> bool:
    return word_level(folder) and set(VOCABULARY) <= set(getattr(load_any_tokenizer(folder), "words", ()))


def looked_at(folder: Path, words: Wording) -> Checkpoint:
    """What the study needs to know of a folder that `require_policy` let pass.

    Raises UserError, naming it, for a config without sizes, a tokenizer that drops the tags of the answer, and as
    policies.rendering does.
    """
    config = checked_config(folder, {path.name for path in folder.iterdir()})
    config = config | (config.get("text_config") or {})
    layers, context = (
        next((config[key] for key in given if isinstance(config.get(key), int)), 0)
        for given in (("num_hidden_layers", "n_layer"), ("max_position_embeddings", "n_positions", "n_ctx"))
    )
    if not layers or not context or not config.get("model_type"):
        raise UserError(f"{folder / 'config.json'} states no model_type, number of layers or longest sequence")
    tokenizer = load_any_tokenizer(folder)
    _refuse_lost_tags(folder, tokenizer)
    shown = rendering(folder, words)
    return Checkpoint(
        folder, str(config["model_type"]), layers, context, tokenizer, f"{shown.by} {shown.template}".strip()
    )


def _refuse_lost_tags(folder: Path, tokenizer: AnyTokenizer) -> None:
    inner = getattr(tokenizer, "inner", None)
    special = {token.content for token in inner.added_tokens_decoder.values() if token.special} if inner else set()
    lost = [tag for tag in _TAGS if tag in special]
    if lost:
        raise UserError(
            f"{folder}: the tokenizer has {lost[0]} as a special token, which is left out of completions, so that no "
            "answer could be read; set its `special` to false in tokenizer.json"
        )


def refuse_unlike(checkpoints: Sequence[Checkpoint]) -> None:
    """Raises UserError, naming two folders, where they are read by different tokenizers or asked in different ways."""
    first = checkpoints[0]
    for other in checkpoints[1:]:
        if other.tokenizer.fingerprint != first.tokenizer.fingerprint:
            raise UserError(f"{first.folder} and {other.folder} have different vocabularies; they cannot be one line")
        if other.asked != first.asked:
            raise UserError(
                f"{first.folder} is asked by {first.asked}, {other.folder} by {other.asked}; give both the same chat "
                "template, or a template file with chat: plain"
            )


def refuse_long_prompts(
    checkpoint: Checkpoint, words: Wording, problems: "pd.DataFrame | None", new_tokens: int
) -> int:
    """Tokens of the longest prompt. problems: PROBLEMS, or None for generated ones.

    Raises UserError where a prompt and a whole completion do not fit in the policy's context.
    """
    ask = prompter(checkpoint.folder, words)
    asked = [([NUMBERS[1]] * 4, TARGETS[1])] if problems is None else zip(problems["numbers"], problems["target"])
    longest = max(len(checkpoint.tokenizer.encode_known(ask(numbers, target))) for numbers, target in asked)
    if longest + new_tokens > checkpoint.context:
        raise UserError(
            f"{checkpoint.folder}: a prompt of {longest} tokens and {new_tokens} new ones exceed its context of "
            f"{checkpoint.context}; give a smaller --max-new-tokens"
        )
    return longest
