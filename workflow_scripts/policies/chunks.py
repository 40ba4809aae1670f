"""Sequences cut into rectangular chunks for teacher forcing: sorted by length, so that little is padded."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor

TOKENS = 1024
"""Tokens of a chunk: about what stays in one core's cache through a block."""


@dataclass(frozen=True)
class Chunk:
    """Some of the texts, side by side, and the positions at which their next token is predicted.

    tokens: int64 [B, L], padded on the right, which causal attention never looks at. rows: int64 [N], those positions
    in the flattened [B L]. targets: int64 [N], the tokens that follow them. texts: int64 [N], which text each is of
    (its place in what was given). steps: int64 [N], 0, 1, … within each text's predicted tokens, which are neighbours
    and in order.
    """

    tokens: Tensor
    rows: Tensor
    targets: Tensor
    texts: Tensor
    steps: Tensor


def split(lengths: Sequence[int], limit: int = TOKENS) -> list[list[int]]:
    """Places of the sequences of each chunk, shortest first, at most `limit` tokens when padded to the longest.

    A sequence longer than `limit` is a chunk of its own.
    """
    parts: list[list[int]] = []
    for place in sorted(range(len(lengths)), key=lengths.__getitem__):
        if not parts or (len(parts[-1]) + 1) * lengths[place] > limit:
            parts.append([])
        parts[-1].append(place)
    return parts


def padded(sequences: Sequence[Sequence[int]], pad_id: int = 0) -> Tensor:
    """Token ids, int64 [B, L], filled up with `pad_id` on the right."""
    longest = max(map(len, sequences))
    return torch.tensor([[*sequence, *[pad_id] * (longest - len(sequence))] for sequence in sequences])


def teacher_forced(
    texts: Sequence[tuple[Sequence[int], Sequence[int]]], *, whole: bool = False, limit: int = TOKENS, pad_id: int = 0
) -> Iterator[Chunk]:
    """Chunks of (prompt, completion) pairs of token ids; the completion's tokens are predicted, or all with `whole`.

    Prompts must hold at least one token; a pair without completion predicts nothing.
    """
    lengths = [len(prompt) + len(completion) for prompt, completion in texts]
    for part in split(lengths, limit):
        tokens = padded([[*texts[place][0], *texts[place][1]] for place in part], pad_id)
        first = np.array([0 if whole else len(texts[place][0]) - 1 for place in part])
        counts = np.array([lengths[place] for place in part]) - 1 - first
        row = np.repeat(np.arange(len(part)) * tokens.shape[1] + first, counts)
        within = np.arange(counts.sum()) - np.repeat(np.cumsum(counts) - counts, counts)
        rows = torch.from_numpy(row + within)
        steps = torch.from_numpy(within)
        yield Chunk(tokens, rows, tokens.flatten()[rows + 1], torch.from_numpy(np.repeat(part, counts)), steps)
