"""Questions as the text that a policy reads: one user message under its chat template, and nothing begun for it.

Templates that can leave out the thinking (Qwen3's `enable_thinking`) are told to. A tokenizer without a template reads
the bare question.
"""

import os
from collections.abc import Sequence
from typing import Any

from workflow_scripts.policies.foreign_tokenizer import load_any_tokenizer
from workflow_scripts.records.errors import UserError


def asked(folder: str | os.PathLike, questions: Sequence[str], *, thinking: bool = False) -> list[str]:
    """The prompt of each question for the policy of `folder`, in order, with what the tokenizer puts before it.

    thinking: whether a template that gives the choice opens a think part.
    Raises UserError, naming the folder, for a tokenizer that cannot be read, a template that cannot render a message,
    and a question that holds marks of the template already: it would be wrapped twice.
    """
    from transformers import AutoTokenizer

    try:
        tokenizer = AutoTokenizer.from_pretrained(folder, trust_remote_code=False, local_files_only=True)
    except Exception as error:  # tokenizers raises plain Exceptions
        raise UserError(f"{folder}: its tokenizer cannot be read ({error})") from error
    marks = _marks(tokenizer)
    for question in questions:
        found = next((mark for mark in marks if mark in question), None)
        if found:
            raise UserError(f"{folder}: the question {question[:80]!r} holds {found!r}, a mark of the chat template")
    start = load_any_tokenizer(folder).begun
    if not tokenizer.chat_template:
        return [start(question) for question in questions]
    try:
        return [start(_rendered(tokenizer, question, thinking)) for question in questions]
    except Exception as error:  # jinja2's own kinds, and what a template raises
        raise UserError(f"{folder}: its chat template cannot render a question ({error})") from error


def _rendered(tokenizer: Any, question: str, thinking: bool) -> str:
    messages = [{"role": "user", "content": question}]
    return tokenizer.apply_chat_template(messages, tokenize=False, add_generation_prompt=True, enable_thinking=thinking)


def _marks(tokenizer: Any) -> list[str]:
    special = {token.content for token in tokenizer.added_tokens_decoder.values() if token.special}
    return sorted(mark for mark in {*tokenizer.all_special_tokens, *special} if mark)
