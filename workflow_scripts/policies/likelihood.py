"""What a policy makes of given texts, without sampling: log-probabilities of tokens, and exact chances of a next step.

Prompt and continuation are joined as token ids, as the decoder joins a prompt and its prefix; a continuation that
shares a token with its prompt is refused, since it would be scored as the policy never says it. The small policies join
texts by a space, any other policy by nothing. Log-probabilities in fp32. Numbers agree within 1e-5 nats whatever texts
are scored together, for policies in fp32.
"""

import os
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np
import torch

from workflow_scripts.policies.chunks import TOKENS, Chunk, teacher_forced
from workflow_scripts.policies.foreign_model import ForeignPolicy, built_in, load_foreign
from workflow_scripts.policies.foreign_tokenizer import AnyTokenizer, WordLevel, load_any_tokenizer
from workflow_scripts.policies.model import Policy, Weights, load_policy
from workflow_scripts.policies.nucleus import nucleus, probabilities
from workflow_scripts.records.errors import UserError

Ids = tuple[int, ...]


class Context(NamedTuple):
    """Where a next step is asked for: `text` ends before it; its words are one of `first`, then one of `second`."""

    text: str
    first: Sequence[str]
    second: Sequence[str]


def token_log_probs(
    folder: str | os.PathLike,
    texts: Sequence[tuple[str, str]],
    *,
    tokens_at_once: int | None = None,
    spans: bool = False,
) -> list[np.ndarray] | list[tuple[np.ndarray, np.ndarray]]:
    """Log-probability of every token of each continuation after its prompt, at temperature 1 (paper, Table 2).

    folder: a policy. texts: (prompt, continuation) as the policy reads them, without the end token, which is added.
    tokens_at_once: padded tokens of a forward pass, by default what suits the policy. Returns float32 (continuation's
    tokens + 1,) each, nats, the end token last; equal texts are scored once.
    spans: return (log-probabilities, int32 (tokens + 1, 2)): which characters [start, end) of the continuation each
    token covers; the end token covers none, after the last. Of a cut at character c, the tokens before it are those
    that start before c, and the last of them straddles it where it ends after c.
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
        picked = logits.gather(1, chunk.targets.to(logits.device)[:, None]).squeeze(1) - logits.logsumexp(1)
        found[starts[chunk.texts.numpy()] + chunk.steps.numpy()] = picked.cpu().numpy()
    scored = dict(zip(distinct, np.split(found, starts[1:-1])))
    if not spans:
        return [scored[text] for text in asked]
    covered = [[*tokenizer.spans(*text), (len(text[1]), len(text[1]))] for text in texts]
    return [(scored[text], np.array(span, np.int32)) for text, span in zip(asked, covered, strict=True)]


def next_pairs(
    folder: str | os.PathLike,
    contexts: Sequence[Context | tuple[str, Sequence[str], Sequence[str]]],
    *,
    lead: str = "try",
    temperature: float,
    top_p: float,
    tokens_at_once: int | None = None,
) -> list[tuple[np.ndarray, np.ndarray]]:
    """Exact probability that a policy goes on with `lead`, then a first word, then a second: an opening `4 *`.

    contexts: see Context; a prompt, or a prompt with steps that end in `,` and then an empty lead. temperature, top_p:
    of the decoder (policies.nucleus.draw), whose truncation is applied to every token, those of the lead among them.
    Words are parted by spaces. After a policy that is not word-level, what is asked for is `lead + first + " " +
    second`, right after the text: the lead brings the separators before the first word (`" "` for a later step).
    Returns for each context two float64 (first words, second words): at temperature 1 untruncated, and as decoded.
    Where words are several tokens, a pair's chance is the product over the tokens of the way in which the tokenizer
    itself spells text, lead and pair together. Not counted: the same characters in other tokens, among them those
    whose last token holds more than the second word (` **`, or an operator and the next number in one).
    Raises UserError as token_log_probs does, for words that are given twice, and for words of a small policy that are
    no single token.
    """
    if not (temperature >= 0 and np.isfinite(temperature)) or not 0 < top_p <= 1:
        raise UserError(f"no decoder has temperature {temperature} and top_p {top_p}: at least 0, and in (0, 1]")
    policy, tokenizer = _loaded(folder)
    ways: dict[tuple[Ids, Ids], list[tuple[int, int, int, int]]] = {}  # all but the last token: who ends it, and how
    results: list[tuple[np.ndarray, np.ndarray]] = []
    for place, context in enumerate(contexts):
        for row, column, prompt, said in _pairs(tokenizer, Context(*context), lead, folder):
            ways.setdefault((prompt, said[:-1]), []).append((place, row, column, said[-1]))
        shape = len(context[1]), len(context[2])
        results.append((np.zeros(shape), np.zeros(shape)))
    # What is said last is not looked at: the prediction before it is.
    texts, ended = [(prompt, (*said, tokenizer.end_id)) for prompt, said in ways], list(ways.values())
    for chunk, logits in _predicted(policy, texts, tokens_at_once, folder):
        of, targets, scores = chunk.texts.numpy(), chunk.targets.numpy(), logits.cpu().numpy()
        shares = probabilities(scores, 1.0).astype(np.float64), _decoded(scores, temperature, top_p)
        starts = np.flatnonzero(np.diff(of, prepend=-1))
        for start, end in zip(starts, [*starts[1:], len(of)]):
            befores = [share[np.arange(start, end - 1), targets[start : end - 1]].prod() for share in shares]
            for place, row, column, last in ended[of[start]]:
                for result, share, before in zip(results[place], shares, befores, strict=True):
                    result[row, column] = before * share[end - 1, last]
    return results


def same_tokenizer(folders: Sequence[str | os.PathLike]) -> None:
    """Raises UserError, naming two of the policies, where their tokenizers differ: their log-probabilities are then of
    different events."""
    tokenizers = [load_any_tokenizer(folder) for folder in folders]
    for folder, other in zip(folders, tokenizers):
        if other.fingerprint != tokenizers[0].fingerprint:
            ours, theirs = tokenizers[0].words, other.words
            odd = sorted(set(ours) ^ set(theirs))
            how = "they number the same words differently" if ours != theirs else "they split texts differently"
            how = f"{odd[0]!r} is in one only" if odd else how
            raise UserError(f"{folders[0]} and {folder} have different tokenizers ({how}); they cannot be compared")


def _loaded(folder: str | os.PathLike) -> tuple[Policy | ForeignPolicy, AnyTokenizer]:
    policy = load_policy(folder) if built_in(folder, scoring=True) else load_foreign(folder)
    tokenizer = load_any_tokenizer(folder)
    words = policy.architecture.vocabulary if isinstance(policy, Policy) else policy.vocabulary
    if len(tokenizer) > words:
        raise UserError(f"{folder}: the tokenizer has {len(tokenizer)} words, the policy only {words}")
    return policy, tokenizer


def _joined(tokenizer: AnyTokenizer, prompt: str, continuation: str, where: str | os.PathLike) -> tuple[Ids, Ids]:
    """Token ids of both; UserError where they are others than those of the whole text."""
    try:
        given, said = tokenizer.join(prompt, continuation)
    except UserError as error:
        raise UserError(f"{Path(where)}: {error}; was the text made for another policy?") from None
    if not given:
        raise UserError(f"{where}: the continuation {continuation[:80]!r} has no prompt to follow")
    return given, said


def _pairs(
    tokenizer: AnyTokenizer, context: Context, lead: str, where: str | os.PathLike
) -> Iterator[tuple[int, int, Ids, Ids]]:
    """Places of a first and a second word, ids of the text, and ids of lead and pair after it."""
    text, first, second = context
    for words in (first, second):
        if len(set(words)) < len(words):
            raise UserError(f"{where}: the words {list(words)} asked for after {text[:80]!r} hold one twice")
        for word in words if isinstance(tokenizer, WordLevel) else ():
            if len(_joined(tokenizer, text, word, where)[1]) != 1:
                raise UserError(f"{where}: {word!r}, asked for after {text[:80]!r}, is not one token")
    before = f"{lead} " if isinstance(tokenizer, WordLevel) else lead
    for row, one in enumerate(first):
        for column, other in enumerate(second):
            yield row, column, *_joined(tokenizer, text, f"{before}{one} {other}", where)


def _predicted(
    policy: Policy | ForeignPolicy, texts: Sequence[tuple[Ids, Ids]], limit: int | None, where: str | os.PathLike
) -> Iterator[tuple[Chunk, torch.Tensor]]:
    """Chunks of the texts with the logits at their predicted positions, fp32 [N, vocabulary]."""
    room = policy.architecture.positions if isinstance(policy, Policy) else policy.context
    for prompt, said in texts:
        if len(prompt) + len(said) > room:
            raise UserError(
                f"{where}: a text of {len(prompt)} + {len(said)} tokens is longer than the policy's {room} positions"
            )
    for chunk, logits in _chunks(policy, texts, limit):
        if not torch.isfinite(logits).all():
            raise UserError(f"{where}: the policy's predictions are NaN or infinite; its weights have grown too large")
        yield chunk, logits


def _chunks(
    policy: Policy | ForeignPolicy, texts: Sequence[tuple[Ids, Ids]], limit: int | None
) -> Iterator[tuple[Chunk, torch.Tensor]]:
    if isinstance(policy, Policy):
        weights = Weights(policy)
        for chunk in teacher_forced(texts, limit=limit or TOKENS):
            with torch.no_grad():  # not inference mode, whose tensors would stay behind in the model's cached layouts
                logits = weights.predictions(chunk)
            yield chunk, logits
        return
    from workflow_scripts.policies.foreign_likelihood import predicted  # imports transformers

    yield from predicted(policy, texts, limit or policy.tokens_at_once)


def _decoded(logits: np.ndarray, temperature: float, top_p: float) -> np.ndarray:
    """What policies.nucleus.draw draws from, float64 (rows, vocabulary)."""
    if temperature == 0:
        return np.eye(logits.shape[1])[logits.argmax(axis=-1)]
    kept = nucleus(probabilities(logits, temperature), top_p).astype(np.float64)
    return kept / kept.sum(axis=-1, keepdims=True)
