"""Messages as the text that a policy reads: its tokenizer's chat template applied once, the answer begun for it.

The template is rendered to text (nothing is tokenised here), with the mark that an answer comes next; the prefill is
put behind it. That equals transformers' `continue_final_message` for templates that write an answer as it is, and is
right for those that rewrite it (Qwen3's adds an empty think part before the last answer).
"""

import hashlib
import json
import os
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple, Protocol

from workflow_scripts.records.errors import UserError


class Asking(Protocol):
    """What is needed of a wording (tasks.countdown.wording.Wording)."""

    chat: str

    def conversation(self, numbers: Sequence[int], target: int) -> tuple[str, str, str]: ...

    def plain(self, asked: Any) -> str: ...


class Rendering(NamedTuple):
    """How prompts are made. by: `chat template` or `plain text`. template: first 12 digits of the template's SHA-256,
    empty for none. think: who opens the think part, `prefill` or `template`."""

    by: str
    template: str = ""
    think: str = "prefill"


def prompter(folder: str | os.PathLike, wording: Asking) -> Callable[[Sequence[int], int], str]:
    """From (numbers, target) to the prompt that the policy of `folder` reads.

    chat `plain`, or a tokenizer without a chat template: the bare messages. Raises UserError, naming the folder, for a
    tokenizer that cannot be read, a template that cannot render the messages, and messages that hold marks of the
    template already: they would be wrapped twice.
    """
    template = _template(folder) if wording.chat != "plain" else None
    if template is None:
        return lambda numbers, target: wording.plain(wording.conversation(numbers, target))
    return lambda numbers, target: template(wording.conversation(numbers, target))[0]


def rendering(folder: str | os.PathLike, wording: Asking) -> Rendering:
    """How the prompts of a policy are made; errors as in `prompter`."""
    template = _template(folder) if wording.chat != "plain" else None
    if template is None:
        return Rendering("plain text")
    _, opened = template(wording.conversation([4, 5, 7, 9], 24))
    source = template.args[0].chat_template
    digest = hashlib.sha256(json.dumps(source).encode()).hexdigest()[:12]
    return Rendering("chat template", digest, "template" if opened else "prefill")


def _template(folder: str | os.PathLike) -> partial | None:
    """`_rendered` with the folder's tokenizer, None where that has no chat template."""
    from transformers import AutoTokenizer

    try:
        tokenizer = AutoTokenizer.from_pretrained(folder, trust_remote_code=False, local_files_only=True)
    except Exception as error:  # tokenizers raises plain Exceptions
        raise UserError(f"{folder}: its tokenizer cannot be read ({error})") from error
    return partial(_rendered, tokenizer, Path(folder)) if tokenizer.chat_template else None


def _rendered(tokenizer: Any, folder: Path, asked: tuple[str, str, str]) -> tuple[str, bool]:
    """(Prompt, whether the template opens the think part by itself)."""
    system, user, prefill = asked
    _refuse_marks(tokenizer, folder, asked)
    messages = [{"role": "system", "content": system}] if system else []
    messages.append({"role": "user", "content": user})
    try:
        text = tokenizer.apply_chat_template(messages, tokenize=False, add_generation_prompt=True)
    except Exception as error:  # jinja2's own kinds, and what a template raises
        raise UserError(
            f"{folder}: its chat template cannot render the prompt ({error}); use a template file without a system "
            "message, or with chat: plain"
        ) from error
    # Templates of models that always reason open the think part themselves: opened twice, it would never be closed.
    opened = text.rstrip().endswith("<think>")
    return (text if opened else text + prefill), opened


def _refuse_marks(tokenizer: Any, folder: Path, asked: tuple[str, str, str]) -> None:
    marks = {*tokenizer.all_special_tokens, *(t.content for t in tokenizer.added_tokens_decoder.values() if t.special)}
    for part in asked:
        found = sorted(mark for mark in marks if mark and mark in part)
        if found:
            raise UserError(
                f"{folder}: the prompt already holds {found[0]!r}, a mark of the chat template, and would be wrapped "
                "twice; take it out, or set chat: plain in the template file where the text is whole as it is"
            )
