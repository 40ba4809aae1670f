"""What a policy makes of given texts, without sampling: log-probabilities of tokens, and exact chances of a next step.

Prompt and continuation are encoded apart and joined as token ids, as the decoder joins a prompt and its prefix; a
continuation whose ids would differ when encoded in one piece is refused, since it would be scored as the policy never
says it. All in fp32. Numbers agree within 1e-5 nats whatever texts are scored together.
"""

import os
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np
import torch

from workflow_scripts.policies.chunks import TOKENS, Chunk, teacher_forced
from workflow_scripts.policies.model import Policy, Weights, load_policy
from workflow_scripts.policies.nucleus import nucleus, probabilities
from workflow_scripts.policies.tokenizer import Tokenizer, load_tokenizer
from workflow_scripts.records.errors import UserError

Ids = tuple[int, ...]


class Context(NamedTuple):
    """Where a next step is asked for: `text` ends before it; its words are one of `first`, then one of `second`."""

    text: str
    first: Sequence[str]
    second: Sequence[str]


def token_log_probs(
    folder: str | os.PathLike, texts: Sequence[tuple[str, str]], *, tokens_at_once: int = TOKENS
) -> list[np.ndarray]:
    """Log-probability of every token of each continuation after its prompt, at temperature 1 (paper, Table 2).

    folder: a policy. texts: (prompt, continuation) as the policy reads them, without the end token, which is added.
    tokens_at_once: padded tokens of a forward pass. Returns float32 (continuation's tokens + 1,) each, nats, the end
    token last; equal texts are scored once.
    Raises UserError, naming policy and text, for words outside the vocabulary, an empty prompt, a text longer than the
    policy's positions, and one whose tokens depend on where prompt and continuation are parted.
    """
    policy, tokenizer = _loaded(folder)
    asked = [
        (prompt, (*said, tokenizer.end_id))
        for prompt, said in (_joined(tokenizer, *text, where=folder) for text in texts)
    ]
    distinct = list(dict.fromkeys(asked))
    starts = np.cumsum([0, *(len(said) for _, said in distinct)])
    found = np.zeros(starts[-1], np.float32)
    for chunk, logits in _predicted(policy, distinct, tokens_at_once, folder):
        picked = logits.gather(1, chunk.targets[:, None]).squeeze(1) - logits.logsumexp(1)
        found[starts[chunk.texts.numpy()] + chunk.steps.numpy()] = picked.numpy()
    scored = dict(zip(distinct, np.split(found, starts[1:-1])))
    return [scored[text] for text in asked]


def next_pairs(
    folder: str | os.PathLike,
    contexts: Sequence[Context | tuple[str, Sequence[str], Sequence[str]]],
    *,
    lead: str = "try",
    temperature: float,
    top_p: float,
    tokens_at_once: int = TOKENS,
) -> list[tuple[np.ndarray, np.ndarray]]:
    """Exact probability that a policy goes on with `lead`, then a first word, then a second: an opening `4 *`.

    contexts: see Context; a prompt, or a prompt with steps that end in `,` and then an empty lead. temperature, top_p:
    of the decoder (policies.nucleus.draw), whose truncation is applied to every word, those of the lead among them.
    Returns for each context two float64 (first words, second words): at temperature 1 untruncated, and as decoded.
    Raises UserError as token_log_probs does, and for words that are given twice or are no single token.
    """
    if not (temperature >= 0 and np.isfinite(temperature)) or not 0 < top_p <= 1:
        raise UserError(f"no decoder has temperature {temperature} and top_p {top_p}: at least 0, and in (0, 1]")
    policy, tokenizer = _loaded(folder)
    texts: list[tuple[Ids, Ids]] = []
    places: list[tuple[int, int]] = []  # context and first word of each text
    seconds: list[list[int]] = []
    results: list[tuple[np.ndarray, np.ndarray]] = []
    for place, (text, first, second) in enumerate(contexts):
        prompt, said = _joined(tokenizer, text, lead, where=folder)
        firsts = _words(tokenizer, first, text, folder)
        seconds.append(_words(tokenizer, second, text, folder))
        # What is said last is not looked at: the prediction before it is.
        texts += [(prompt, (*said, word, tokenizer.end_id)) for word in firsts]
        places += [(place, row) for row in range(len(firsts))]
        results.append((np.zeros((len(firsts), len(second))), np.zeros((len(firsts), len(second)))))
    for chunk, logits in _predicted(policy, texts, tokens_at_once, folder):
        of, targets, scores = chunk.texts.numpy(), chunk.targets.numpy(), logits.numpy()
        shares = probabilities(scores, 1.0).astype(np.float64), _decoded(scores, temperature, top_p)
        starts = np.flatnonzero(np.diff(of, prepend=-1))
        for start, end in zip(starts, [*starts[1:], len(of)]):
            place, row = places[of[start]]
            for result, share in zip(results[place], shares):
                before = share[np.arange(start, end - 1), targets[start : end - 1]].prod()
                result[row] = before * share[end - 1, seconds[place]]
    return results


def same_tokenizer(folders: Sequence[str | os.PathLike]) -> None:
    """Raises UserError, naming two of the policies, where their tokenizers differ: their log-probabilities are then of
    different events."""
    words = [load_tokenizer(folder).words for folder in folders]
    for folder, other in zip(folders, words):
        if other != words[0]:
            ours, theirs = set(words[0]), set(other)
            odd = sorted(ours ^ theirs)
            how = f"{odd[0]!r} is in one only" if odd else "they number the same words differently"
            raise UserError(f"{folders[0]} and {folder} have different tokenizers ({how}); they cannot be compared")


def _loaded(folder: str | os.PathLike) -> tuple[Policy, Tokenizer]:
    policy, tokenizer = load_policy(folder), load_tokenizer(folder)
    if len(tokenizer) > policy.architecture.vocabulary:
        raise UserError(
            f"{folder}: the tokenizer has {len(tokenizer)} words, the policy only {policy.architecture.vocabulary}"
        )
    return policy, tokenizer


def _known(tokenizer: Tokenizer, text: str, where: str | os.PathLike) -> Ids:
    try:
        return tuple(tokenizer.encode_known(text))
    except UserError as error:
        raise UserError(f"{Path(where)}: {error}; was the text made for another policy?") from None


def _joined(tokenizer: Tokenizer, prompt: str, continuation: str, where: str | os.PathLike) -> tuple[Ids, Ids]:
    """Token ids of both; UserError where they are others than those of the whole text."""
    given, said = (_known(tokenizer, text, where) for text in (prompt, continuation))
    if not given:
        raise UserError(f"{where}: the continuation {continuation[:80]!r} has no prompt to follow")
    if (*given, *said) != _known(tokenizer, f"{prompt} {continuation}".strip(), where):
        raise UserError(
            f"{where}: the tokens of {prompt[-40:]!r} and {continuation[:40]!r} are not those of the two joined; part "
            "the text where the tokenizer always parts it"
        )
    return given, said


def _words(tokenizer: Tokenizer, words: Sequence[str], text: str, where: str | os.PathLike) -> list[int]:
    ids = [_known(tokenizer, word, where) for word in words]
    odd = [word for word, tokens in zip(words, ids) if len(tokens) != 1]
    if odd:
        raise UserError(f"{where}: {odd[0]!r}, asked for after {text[:80]!r}, is not one token")
    if len(set(ids)) < len(ids):
        raise UserError(f"{where}: the words {list(words)} asked for after {text[:80]!r} hold one twice")
    return [tokens[0] for tokens in ids]


def _predicted(
    policy: Policy, texts: Sequence[tuple[Ids, Ids]], limit: int, where: str | os.PathLike
) -> Iterator[tuple[Chunk, torch.Tensor]]:
    """Chunks of the texts with the logits at their predicted positions, fp32 [N, vocabulary]."""
    room = policy.architecture.positions
    for prompt, said in texts:
        if len(prompt) + len(said) > room:
            raise UserError(
                f"{where}: a text of {len(prompt)} + {len(said)} tokens is longer than the policy's {room} positions"
            )
    weights = Weights(policy)
    for chunk in teacher_forced(texts, limit=limit):
        with torch.no_grad():  # not inference mode, whose tensors would stay behind in the model's cached layouts
            logits = weights.predictions(chunk)
        if not torch.isfinite(logits).all():
            raise UserError(f"{where}: the policy's predictions are NaN or infinite; its weights have grown too large")
        yield chunk, logits


def _decoded(logits: np.ndarray, temperature: float, top_p: float) -> np.ndarray:
    """What policies.nucleus.draw draws from, float64 (rows, vocabulary)."""
    if temperature == 0:
        return np.eye(logits.shape[1])[logits.argmax(axis=-1)]
    kept = nucleus(probabilities(logits, temperature), top_p).astype(np.float64)
    return kept / kept.sum(axis=-1, keepdims=True)
