"""The folder of a small policy: its weights, sizes and tokenizer, read and written together."""

import os

from workflow_scripts.policies.model import Policy, load_policy, save_policy
from workflow_scripts.policies.tokenizer import Tokenizer, load_tokenizer, save_tokenizer
from workflow_scripts.records.files import atomic_folder


def load_small(folder: str | os.PathLike) -> tuple[Policy, Tokenizer]:
    """Policy and tokenizer of a folder; UserError, naming the file, where one is missing or damaged."""
    return load_policy(folder), load_tokenizer(folder)


def save_small(policy: Policy, tokenizer: Tokenizer, folder: str | os.PathLike) -> None:
    """Writes a policy with its tokenizer, whole or not at all."""
    with atomic_folder(folder) as aside:
        save_policy(policy, aside)
        save_tokenizer(tokenizer.words, aside, max_length=policy.architecture.positions)
