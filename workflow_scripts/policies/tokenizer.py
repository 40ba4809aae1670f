"""Word-level tokenizer of the small policies: one token per word, words separated by white space.

Saved as the files that transformers, vLLM and verl read (`tokenizer.json`, `tokenizer_config.json`,
`chat_template.jinja`); read here through `json` alone, since a policy job should not pay for importing transformers.
"""

import json
import os
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from workflow_scripts.records.errors import UserError
from workflow_scripts.records.files import write_text

PAD, UNKNOWN, END = "<pad>", "<unk>", "<eos>"
SPECIAL = (PAD, UNKNOWN, END)

CHAT_TEMPLATE = (
    "{% for message in messages %}"
    "{% if message['role'] == 'assistant' %} <think> {{ message['content'] }} <eos>"
    "{% else %}{{ message['content'] }}{% endif %}"
    "{% endfor %}"
    "{% if add_generation_prompt %} <think>{% endif %}"
)
"""A question, then the opened think part that the policy continues."""


@dataclass(frozen=True)
class Tokenizer:
    """Words by id. `encode` and `decode` agree with what transformers makes of the same files."""

    words: tuple[str, ...]

    @cached_property
    def _ids(self) -> dict[str, int]:
        return {word: index for index, word in enumerate(self.words)}

    @property
    def pad_id(self) -> int:
        return self._ids[PAD]

    @property
    def unknown_id(self) -> int:
        return self._ids[UNKNOWN]

    @property
    def end_id(self) -> int:
        return self._ids[END]

    def __len__(self) -> int:
        return len(self.words)

    def encode(self, text: str) -> list[int]:
        """Ids of the words of `text`; a word outside the vocabulary becomes `<unk>`."""
        ids, unknown = self._ids, self.unknown_id
        return [ids.get(word, unknown) for word in text.split()]

    def encode_known(self, text: str) -> list[int]:
        """As `encode`, but a word outside the vocabulary is a UserError that names it."""
        ids = self._ids
        try:
            return [ids[word] for word in text.split()]
        except KeyError as error:
            raise UserError(
                f"the word {error.args[0]!r} of the text {text[:80]!r} is not in this policy's vocabulary"
            ) from None

    def decode(self, ids: Iterable[int]) -> str:
        """Words joined by one space, without the special ones (transformers' `skip_special_tokens=True`)."""
        words = self.words
        return " ".join(word for word in (words[index] for index in ids) if word not in SPECIAL)


def _tokenizer_json(words: Sequence[str]) -> dict:
    flags = {"single_word": False, "lstrip": False, "rstrip": False, "normalized": False, "special": True}
    ids = {word: index for index, word in enumerate(words)}
    return {
        "version": "1.0",
        "truncation": None,
        "padding": None,
        "added_tokens": [{"id": ids[word], "content": word, **flags} for word in sorted(SPECIAL, key=ids.get)],
        "normalizer": None,
        "pre_tokenizer": {"type": "WhitespaceSplit"},
        "post_processor": None,
        "decoder": None,
        "model": {"type": "WordLevel", "vocab": ids, "unk_token": UNKNOWN},
    }


def _tokenizer_config() -> dict:
    return {
        "tokenizer_class": "PreTrainedTokenizerFast",
        "pad_token": PAD,
        "unk_token": UNKNOWN,
        "eos_token": END,
        "bos_token": None,
        "add_bos_token": False,
        "add_eos_token": False,
        "model_max_length": 128,
        "padding_side": "left",
        "model_input_names": ["input_ids", "attention_mask"],
        # transformers would otherwise glue "no ." into "no." when it decodes
        "clean_up_tokenization_spaces": False,
    }


def save_tokenizer(
    words: Sequence[str], folder: str | os.PathLike, chat_template: str = CHAT_TEMPLATE, max_length: int = 128
) -> Tokenizer:
    """Writes the tokenizer's files into `folder` (made if absent); the id of a word is its place in `words`.

    words: distinct, without white space, `<pad>`, `<unk>` and `<eos>` among them; else UserError. max_length: tokens,
    stated to other readers.
    """
    if len(set(words)) != len(words) or any(word.split() != [word] for word in words):
        raise UserError("the vocabulary must be distinct words without white space")
    missing = [word for word in SPECIAL if word not in words]
    if missing:
        raise UserError(f"the vocabulary lacks {', '.join(missing)}")
    folder = Path(folder)
    write_text(folder / "tokenizer.json", json.dumps(_tokenizer_json(words), indent=1) + "\n")
    config = _tokenizer_config() | {"model_max_length": max_length}
    write_text(folder / "tokenizer_config.json", json.dumps(config, indent=1) + "\n")
    write_text(folder / "chat_template.jinja", chat_template)
    return Tokenizer(tuple(words))


def load_tokenizer(folder: str | os.PathLike) -> Tokenizer:
    """Reads a tokenizer saved by `save_tokenizer` (or by transformers from such a one).

    Raises UserError, naming the file, where it is missing or damaged, or where it isn't a plain word-level vocabulary.
    """
    path = Path(folder) / "tokenizer.json"
    try:
        model = json.loads(path.read_text())["model"]
        kind, vocabulary = model.get("type"), model["vocab"]
    except OSError as error:
        raise UserError(f"{path} is missing or unreadable; a policy folder needs its tokenizer") from error
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        raise UserError(f"{path} is damaged; delete the policy folder and run snakemake again") from error
    if kind != "WordLevel":
        raise UserError(
            f"{path} holds a {kind} tokenizer; the built-in engine reads word-level ones, use engine: vllm for others"
        )
    words = sorted(vocabulary, key=vocabulary.get)
    if [vocabulary[word] for word in words] != list(range(len(words))) or not set(SPECIAL) <= set(words):
        raise UserError(f"{path} must number its words 0, 1, 2, … and hold {', '.join(SPECIAL)}")
    return Tokenizer(tuple(words))
