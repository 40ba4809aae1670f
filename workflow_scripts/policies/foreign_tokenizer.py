"""Tokenizers of policies that were not made here, behind the few calls that sampling and scoring need.

A folder with the small policies' word-level tokenizer is read as before; any other through transformers' fast tokenizer
of the folder, as verl and vLLM read it. No padding is ever sampled or scored, so the padding side plays no part.

What is done about special tokens: those written in a text (chat templates write them) are parsed as such; a beginning
token is put before a prompt where, and only where, the tokenizer itself does so, and not twice; an end token is never
added to a text. The padding, chat template and generation defaults of the folder are not used.
"""

import json
import os
import re
from collections.abc import Iterable
from functools import cached_property, lru_cache
from hashlib import sha256
from pathlib import Path
from typing import Any

from workflow_scripts.policies.foreign_checks import first_line, generation_config, stated
from workflow_scripts.policies.tokenizer import SPECIAL, Tokenizer, load_tokenizer
from workflow_scripts.records.errors import UserError

Ids = tuple[int, ...]

_PROBE = "a = 4 * 7 - 28,\n(5)"
_OLDER = ("vocab.json", "tokenizer.model", "spiece.model")  # files of tokenizers that were saved without a fast form


class WordLevel(Tokenizer):
    """The small policies' tokenizer. Prompt and continuation are joined by one space."""

    @property
    def end_ids(self) -> Ids:
        """The one token that ends a text."""
        return (self.end_id,)

    @property
    def fingerprint(self) -> str:
        """Equal for tokenizers that split every text alike."""
        return sha256(json.dumps(self.words).encode()).hexdigest()

    def begun(self, text: str) -> str:
        """A prompt as it stands: nothing is put before it."""
        return text

    def join(self, prompt: str, continuation: str) -> tuple[Ids, Ids]:
        """Ids of both. Raises UserError for words outside the vocabulary."""
        return tuple(self.encode_known(prompt)), tuple(self.encode_known(continuation))

    def straddling(self, prompt: str, continuation: str) -> str:
        """Never a token: words do not reach over a space."""
        return ""

    def spans(self, prompt: str, continuation: str) -> list[tuple[int, int]]:
        """Characters [start, end) of the continuation that each of its tokens covers."""
        return [word.span() for word in re.finditer(r"\S+", continuation)]


class ForeignTokenizer:
    """A transformers fast tokenizer. Prompt and continuation are joined by nothing: texts bring their own spaces.

    start_ids: what the tokenizer itself puts before a prompt, () for most. end_ids: every id that ends a sample: its
    end token, then those of generation_config.json; the first is the one that is scored after a continuation.
    """

    def __init__(self, tokenizer: Any, ends: Ids, where: str | os.PathLike) -> None:
        self.where, self.inner, self.end_ids = Path(where), tokenizer, ends
        self._ids = lru_cache(maxsize=4096)(self._encoded)  # prompts come back with every continuation
        self.piece = lru_cache(maxsize=65536)(self._piece)
        self._anchor = next((ids for ids in map(self._spelled, "a4") if ids), ())
        whole = tuple(tokenizer(self._text(self._anchor)).input_ids)
        found = (at for at in range(len(whole)) if whole[at : at + len(self._anchor)] == self._anchor)
        self.start_ids: Ids = whole[: next(found, 0)]
        self._before = self._text(self._anchor)
        self._refuse_losses()

    @property
    def end_id(self) -> int:
        return self.end_ids[0]

    def __len__(self) -> int:
        return len(self.inner)

    @cached_property
    def words(self) -> tuple[str, ...]:
        """Tokens by id, as the vocabulary spells them."""
        return tuple(str(word) for word in self.inner.convert_ids_to_tokens(range(len(self))))

    @cached_property
    def fingerprint(self) -> str:
        """Equal for tokenizers that split every text alike: merges, normaliser, split and added tokens."""
        written = json.loads(self.inner.backend_tokenizer.to_str())
        parts = [written.get(name) for name in ("model", "normalizer", "pre_tokenizer", "added_tokens")]
        return sha256(json.dumps([parts, self.start_ids], sort_keys=True).encode()).hexdigest()

    def encode_known(self, text: str) -> list[int]:
        """Ids of a text that begins a sequence. Raises UserError where the vocabulary cannot spell it."""
        return list(self._ids(text))

    def begun(self, text: str) -> str:
        """A prompt with what the tokenizer itself puts before it written out, for readers that add nothing."""
        start = "".join(map(self.piece, self.start_ids))
        return text if text.startswith(start) else start + text

    def decode(self, ids: Iterable[int]) -> str:
        """Text of a completion: special tokens and end tokens left out, spaces as they are, the first one too."""
        kept = [*self._anchor, *(token for token in ids if token not in self.end_ids)]
        return self._text(kept)[len(self._before) :]

    def join(self, prompt: str, continuation: str) -> tuple[Ids, Ids]:
        """Ids of both, which together are those of the whole text.

        Raises UserError, naming the token, where one reaches over the boundary: the policy, given the prompt, would
        never say the continuation so.
        """
        given, whole = self._ids(prompt), self._ids(prompt + continuation)
        if whole[: len(given)] != given:
            raise UserError(
                f"{self.where}: the tokens of {prompt[-40:]!r} and {continuation[:40]!r} are not those of the two "
                f"joined ({self.straddling(prompt, continuation)!r} is one token); part the text where the tokenizer "
                "always parts it, before a space or a line's first letter"
            )
        return given, whole[len(given) :]

    def straddling(self, prompt: str, continuation: str) -> str:
        """Text of the token that keeps the two from being joined, "" where they can be."""
        given, whole = self._ids(prompt), self._ids(prompt + continuation)
        if whole[: len(given)] == given:
            return ""
        at = next(at for at, token in enumerate(given) if at >= len(whole) or whole[at] != token)
        spans = self._offsets(prompt + continuation)
        over = [span for span in spans if span[0] < len(prompt) < span[1]] or spans[at - len(self.start_ids) :]
        return (prompt + continuation)[slice(*over[0])] if over else ""

    def spans(self, prompt: str, continuation: str) -> list[tuple[int, int]]:
        """Characters [start, end) of the continuation that each of its tokens covers.

        Tokens that share a character (bytes of one letter) both cover it. Some tokenizers leave out a leading space.
        Raises UserError as `join` does.
        """
        _, said = self.join(prompt, continuation)
        spans = self._offsets(prompt + continuation)
        cut = len(prompt)
        return [(max(start - cut, 0), end - cut) for start, end in spans[len(spans) - len(said) :]]

    def _plain(self, text: str) -> Ids:
        unspelled = UserError(f"{self.where}: the vocabulary cannot spell all of {text[:80]!r}")
        try:
            ids = tuple(self.inner(text, add_special_tokens=False).input_ids)
        except Exception as error:  # the tokenizers library raises no kind of its own
            raise unspelled from error
        unknown = self.inner.unk_token_id
        if unknown is not None and unknown in ids and self.inner.unk_token not in text:
            raise unspelled
        return ids

    def _spelled(self, text: str) -> Ids:
        """As `_plain`, but () where the vocabulary cannot spell the text."""
        try:
            return self._plain(text)
        except UserError:
            return ()

    def _encoded(self, text: str) -> Ids:
        ids = self._plain(text)
        return ids if ids[: len(self.start_ids)] == self.start_ids else self.start_ids + ids

    def _offsets(self, text: str) -> list[tuple[int, int]]:
        return self.inner(text, add_special_tokens=False, return_offsets_mapping=True)["offset_mapping"]

    def _text(self, ids: Iterable[int]) -> str:
        return self.inner.decode(list(ids), skip_special_tokens=True, clean_up_tokenization_spaces=False)

    def _piece(self, token: int) -> str:
        """Text of one token, special or not."""
        return self.inner.decode([token], skip_special_tokens=False, clean_up_tokenization_spaces=False)

    def _refuse_losses(self) -> None:
        """Some classes rebuild a tokenizer's split and drop spaces or line ends without a word."""
        ids = self._spelled(_PROBE)
        back = self._text(ids)
        if ids and back.lstrip() != _PROBE:
            raise UserError(
                f"{self.where}: {type(self.inner).__name__} reads {_PROBE!r} back as {back!r}; the policy would be "
                "given other texts than meant. Does config.json name the model_type that the tokenizer was made for?"
            )


AnyTokenizer = WordLevel | ForeignTokenizer


def word_level(folder: str | os.PathLike) -> bool:
    """Whether the folder's tokenizer is that of the small policies; also where it has none at all."""
    folder = Path(folder)
    try:
        model = json.loads((folder / "tokenizer.json").read_text(encoding="utf-8"))["model"]
        return model["type"] == "WordLevel" and set(SPECIAL) <= set(model["vocab"])
    except (ValueError, KeyError, TypeError):
        return not (folder / "tokenizer.json").is_file()
    except OSError:
        return not any((folder / name).exists() for name in _OLDER)


def load_any_tokenizer(folder: str | os.PathLike) -> AnyTokenizer:
    """The tokenizer of a policy folder.

    Raises UserError, naming the folder, where it is missing or damaged, has no fast form (a `tokenizer.json`), no end
    token, or loses parts of plain text.
    """
    if word_level(folder):
        return WordLevel(load_tokenizer(folder).words)
    from transformers import AutoTokenizer

    folder = Path(folder)
    try:
        inner = AutoTokenizer.from_pretrained(folder, local_files_only=True, trust_remote_code=False)
    except Exception as error:  # what transformers raises here depends on the file that it trips over
        raise UserError(f"{folder}: transformers cannot read the tokenizer ({first_line(error)})") from error
    if not inner.is_fast:
        raise UserError(f"{folder}: the tokenizer has no fast form; save it with a tokenizer.json, see save_pretrained")
    return ForeignTokenizer(inner, _ends(folder, inner), folder)


def _ends(folder: Path, inner: Any) -> Ids:
    listed = generation_config(folder).get("eos_token_id")
    found = [inner.eos_token_id, *(listed if isinstance(listed, list) else [listed])]
    if all(token is None for token in found):
        config = stated(folder / "config.json").get("eos_token_id")
        found = config if isinstance(config, list) else [config]
    ends = tuple(dict.fromkeys(token for token in found if token is not None))
    if not ends:
        raise UserError(f"{folder}: neither tokenizer nor generation_config.json names an end token (eos_token)")
    odd = [token for token in ends if not isinstance(token, int) or token < 0]
    if odd:
        raise UserError(f"{folder}: {odd[0]!r} is no id of an end token")
    return ends
