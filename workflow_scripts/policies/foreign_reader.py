"""A transformers model that reads rows of tokens: the calls that `decode` makes of policies.inference.Reader.

What nobody asked a prediction for is read late, many tokens in one pass: a prompt is one forward pass and not one per
token, and where prompts part, what they share is read before the rows do. So every distinct prefix is computed once,
but for the few tokens just before a parting.
"""

from typing import TYPE_CHECKING, Any

import numpy as np
import torch
from transformers.cache_utils import Cache, DynamicLayer

from workflow_scripts.policies.foreign_checks import text_config

if TYPE_CHECKING:
    from workflow_scripts.policies.foreign_model import ForeignPolicy

_STRIDE = 64  # positions that rows are moved apart by, when they need more
_WORTH_A_PASS = 8  # tokens that rows are to share before they are read ahead of a parting
_TOKENS = {"cpu": 2048, "cuda": 16384}  # of one forward pass


class _Layer(DynamicLayer):
    """Keys and values of one layer's rows, each in a slot of its own that other rows' growth does not move."""

    def __init__(self, rows: "RowCache") -> None:
        super().__init__()
        self.rows = rows
        self.planes: list[torch.Tensor] = []  # keys and values, (slots, heads, room for positions, width)
        self.is_initialized = True

    def update(self, key_states: torch.Tensor, value_states: torch.Tensor, *args: Any, **kwargs: Any) -> Any:
        start, end = self.rows.position, self.rows.position + key_states.shape[-2]
        part = slice(self.rows.first, self.rows.first + len(key_states))
        given = key_states, value_states
        if not self.planes:
            self.planes = [states.new_empty((0, states.shape[1], 0, states.shape[3])) for states in given]
        self.reserve(self.rows.count, end)
        for plane, states in zip(self.planes, given, strict=True):
            plane[part, :, start:end] = states
        return tuple(plane[part, :, :end] for plane in self.planes)

    def reserve(self, rows: int, positions: int) -> None:
        for index, plane in enumerate(self.planes):
            slots, heads, length, width = plane.shape
            if rows <= slots and positions <= length:
                continue
            more = slots if rows <= slots else max(rows, slots * 3 // 2)
            room = length if positions <= length else -(-positions // _STRIDE) * _STRIDE
            # one plane at a time, so that what the last one leaves can be used again
            self.planes[index] = plane.new_empty((more, heads, room, width))
            self.planes[index][:slots, :, : self.rows.position] = plane[:, :, : self.rows.position]

    def get_seq_length(self, *args: Any, **kwargs: Any) -> int:
        return self.rows.position


class RowCache(Cache):
    """Keys and values of rows of one policy, for the positions that have been read.

    position: how many those are; setting it back forgets the last ones.
    """

    def __init__(self, policy: "ForeignPolicy") -> None:
        self.policy, self.named = policy, policy.cache_name()
        self.count = self.first = self.position = 0
        super().__init__(layers=[_Layer(self) for _ in range(text_config(policy.model).num_hidden_layers)])

    def read(self, tokens: torch.Tensor, keep: int) -> torch.Tensor:
        """Reads tokens (rows, length) after those before; logits (rows, keep, vocabulary) at the last `keep`."""
        rows, length = tokens.shape
        self.count = max(self.count, rows)
        together = max(1, _TOKENS[self.policy.device.type] // length)
        parts = []
        for first in range(0, rows, together):
            self.first = first
            given = tokens[first : first + together].to(self.policy.device)
            call = {"input_ids": given, "use_cache": True, "logits_to_keep": keep, self.named: self}
            with torch.no_grad():
                parts.append(self.policy.model(**call).logits)
        self.position += length
        return parts[0] if len(parts) == 1 else torch.cat(parts)

    def copy(self, sources: np.ndarray, targets: np.ndarray) -> None:
        """Rows `targets` become copies of rows `sources`."""
        if not self.position or not len(targets):
            return
        self.count = max(self.count, int(targets.max()) + 1)
        for layer in self.layers:
            layer.reserve(self.count, self.position)
            for plane in layer.planes:
                moved = [torch.from_numpy(rows).to(plane.device) for rows in (sources, targets)]
                plane[moved[1], :, : self.position] = plane[moved[0], :, : self.position]


class ForeignReader:
    """Rows of one policy. The same calls as policies.inference.Reader.

    tokens_read: of all forward passes so far, to see what sharing saves.
    """

    def __init__(self, policy: "ForeignPolicy") -> None:
        self.tokens_read = 0
        self._cache = RowCache(policy)
        self._waiting = np.zeros((0, 0), np.int64)  # (rows, tokens given and not yet read)

    def step(self, tokens: np.ndarray, position: int, *, logits: bool = True) -> np.ndarray | None:
        """Takes tokens (rows,) at `position`; float32 logits (rows, vocabulary) of what follows, None if unwanted."""
        rows = len(tokens)
        before = self._waiting[:rows] if self._waiting.shape[1] else np.zeros((rows, 0), np.int64)
        self._waiting = np.concatenate([before, np.asarray(tokens, np.int64)[:, None]], axis=1)
        return self._read() if logits else None

    def copy(self, sources: np.ndarray, targets: np.ndarray, positions: int) -> None:
        """Rows `targets` become copies of rows `sources`, whose first `positions` tokens have been given."""
        if not len(sources) or not positions:
            return
        if self._waiting.shape[1] >= _WORTH_A_PASS:
            self._read()
        self._cache.copy(np.asarray(sources), np.asarray(targets))
        rows, waiting = self._waiting.shape
        if waiting:
            more = max(0, int(targets.max()) + 1 - rows)
            self._waiting = np.concatenate([self._waiting, np.zeros((more, waiting), np.int64)])
            self._waiting[targets] = self._waiting[sources]

    def _read(self) -> np.ndarray:
        """Reads what waits; logits after the last token of each row."""
        rows, length = self._waiting.shape
        said = self._cache.read(torch.from_numpy(self._waiting), keep=1)[:, -1]
        self.tokens_read += rows * length
        self._waiting = np.zeros((rows, 0), np.int64)
        return said.float().cpu().numpy()
