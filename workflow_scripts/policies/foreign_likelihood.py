"""Predictions of a transformers model along given texts: prompts that several texts share are read once.

No padding is looked at: texts are padded on the right, positions count from 0, and attention is causal.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

import numpy as np
import torch

from workflow_scripts.policies.chunks import Chunk, padded, split, teacher_forced
from workflow_scripts.policies.foreign_model import ForeignPolicy
from workflow_scripts.policies.foreign_reader import RowCache

Ids = tuple[int, ...]


def predicted(
    policy: ForeignPolicy, texts: Sequence[tuple[Ids, Ids]], limit: int
) -> Iterator[tuple[Chunk, torch.Tensor]]:
    """Chunks of (prompt, continuation) pairs with the logits of every continuation token, fp32 [N, vocabulary].

    The logits are on the policy's device. limit: padded tokens of a forward pass; a longer text is a pass of its own.
    See policies.chunks.Chunk; its `tokens` and `rows` are those of the pass. A text's tokens are in one chunk.
    """
    sharing: dict[Ids, list[int]] = {}
    for place, (prompt, _) in enumerate(texts):
        sharing.setdefault(prompt, []).append(place)
    alone = np.array([places[0] for places in sharing.values() if len(places) == 1], np.int64)
    for chunk in teacher_forced([texts[place] for place in alone], limit=limit):
        yield replace(chunk, texts=torch.from_numpy(alone)[chunk.texts]), _whole(policy, chunk)
    for prompt, places in sharing.items():
        if len(places) > 1:
            yield from _after(policy, prompt, {place: texts[place][1] for place in places}, limit)


def _whole(policy: ForeignPolicy, chunk: Chunk) -> torch.Tensor:
    """Logits at the rows of a chunk of whole texts."""
    length = chunk.tokens.shape[1]
    within = chunk.rows % length
    first = int(within.min())
    with torch.no_grad():  # predictions over a large vocabulary are what takes the memory: of no position too many
        said = policy.model(
            input_ids=chunk.tokens.to(policy.device), use_cache=False, logits_to_keep=length - first
        ).logits
    picked = chunk.rows // length * (length - first) + within - first
    return said.flatten(0, 1)[picked.to(policy.device)].float()


def _after(
    policy: ForeignPolicy, prompt: Ids, said: Mapping[int, Ids], limit: int
) -> Iterator[tuple[Chunk, torch.Tensor]]:
    """Chunks of the continuations of one prompt, by place, read over the prompt's keys and values."""
    cache = RowCache(policy)
    opening = cache.read(torch.tensor([prompt]), keep=1)[0]  # (1, vocabulary): predicts every first token
    places = np.array(list(said), np.int64)
    for part in split([len(said[place]) for place in places], limit):
        chosen = places[part]
        counts = np.array([len(said[place]) for place in chosen])
        tokens = padded([said[place] for place in chosen])
        read = tokens[:, :-1]  # the last one is predicted and not read
        rows, length = read.shape
        steps = np.arange(counts.sum()) - np.repeat(np.cumsum(counts) - counts, counts)
        row = np.repeat(np.arange(rows), counts)
        logits = opening
        if length:
            cache.position = len(prompt)
            cache.copy(np.zeros(rows - 1, np.int64), np.arange(1, rows))
            logits = torch.cat([opening, cache.read(read, keep=length).flatten(0, 1)])
        where = torch.from_numpy(np.where(steps == 0, 0, row * length + steps))
        targets = tokens[torch.from_numpy(row), torch.from_numpy(steps)]
        chunk = Chunk(read, where, targets, torch.from_numpy(np.repeat(chosen, counts)), torch.from_numpy(steps))
        yield chunk, logits[where.to(policy.device)].float()
