"""One forward step of a small decoder in plain numpy: many rows, one token each, against cached keys and values.

A row's result depends neither on the rows computed with it (policies.products) nor on its slot in the cache: attention
is one product a row and head, of sizes that the position alone decides.
"""

import numpy as np

from workflow_scripts.policies.decoding_weights import DecodeWeights
from workflow_scripts.policies.products import product, whole_blocks

_STRIDE = 8  # positions that rows are moved apart by, when they need more


class RowCache:
    """Keys and values of rows, one slot a row, for the positions that have been fed.

    Attention reads all of it at every step, which is what a step waits for. So rows lie side by side with little room
    between them, and are moved apart every few positions.
    """

    def __init__(self, weights: DecodeWeights):
        angles = np.outer(np.arange(weights.context), weights.frequencies)
        self.turns = np.exp(1j * angles).astype(np.complex64)  # (positions, head_dim / 2), the rotation of a pair
        self._planes = [np.empty((0, weights.key_heads, 0, weights.head_dim), np.float32)] * (2 * len(weights.layers))
        self._rows = 0

    def feed(self, rows: int, position: int) -> None:
        """Makes room for `position` in the first `rows` slots, which hold the positions before."""
        self._reserve(rows, position + 1, position)
        self._rows = rows

    def layer(self, index: int) -> list[np.ndarray]:
        """Keys and values of one layer: two views (rows, key heads, room for positions, head_dim)."""
        return [plane[: self._rows] for plane in self._planes[2 * index : 2 * index + 2]]

    def copy(self, sources: np.ndarray, targets: np.ndarray, positions: int) -> None:
        """Copies the first `positions` of slots `sources` to slots `targets`, which are others and may be new."""
        if not len(sources) or not positions:
            return
        rows = max(self._rows, int(targets.max()) + 1)
        self._reserve(rows, positions, positions)
        self._rows = rows
        for plane in self._planes:
            plane[targets, :, :positions] = plane[sources, :, :positions]

    def _reserve(self, rows: int, positions: int, used: int) -> None:
        slots, heads, length, head_dim = self._planes[0].shape
        if rows <= slots and positions <= length:
            return
        shape = slots if rows <= slots else 2 * rows, heads, -(-positions // _STRIDE) * _STRIDE, head_dim
        for index, plane in enumerate(self._planes):
            # one plane at a time: what the last one leaves is used again, and fresh memory is slow to get
            self._planes[index] = np.empty(shape, np.float32)
            self._planes[index][: self._rows, :, :used] = plane[: self._rows, :, :used]


class Reader:
    """A policy that reads rows of tokens; `decode` asks it what comes next.

    Another reader (policies.mixing) may consult more than one policy, with the same three calls.
    """

    def __init__(self, weights: DecodeWeights):
        self.weights, self.cache = weights, RowCache(weights)

    def step(self, tokens: np.ndarray, position: int, *, logits: bool = True) -> np.ndarray | None:
        """Feeds tokens (rows,) at `position`; float32 logits (rows, vocabulary) of what follows, None if unwanted."""
        return step(self.weights, tokens, self.cache, position, logits=logits)

    def copy(self, sources: np.ndarray, targets: np.ndarray, positions: int) -> None:
        """Rows `targets` become copies of rows `sources`, whose first `positions` tokens have been read."""
        self.cache.copy(sources, targets, positions)


def step(
    weights: DecodeWeights, tokens: np.ndarray, cache: RowCache, position: int, *, logits: bool = True
) -> np.ndarray | None:
    """Feeds one token to each row and returns what the policy says comes next.

    tokens: (rows,) ids at `position`, the same position for all rows. Row r continues slot r of `cache`, which holds
    the positions before and receives this one. Returns float32 logits (rows, vocabulary), or None where not wanted.
    """
    cache.feed(len(tokens), position)
    rows, heads, key_heads, head_dim = len(tokens), weights.heads, weights.key_heads, weights.head_dim
    state = np.zeros((whole_blocks(rows), weights.embedding.shape[1]), np.float32)
    state[:rows] = weights.embedding[tokens]
    attended = np.zeros((len(state), heads * head_dim), np.float32)
    for index, layer in enumerate(weights.layers):
        mixed = product(_normed(state, weights.epsilon), layer.qkv)[:rows].reshape(rows, -1, head_dim)
        qk = mixed[:, : heads + key_heads]
        if layer.qk_norm is not None:
            scale = _inverse_rms(qk, weights.epsilon)
            qk *= layer.qk_norm
            qk *= scale
        qk.view(np.complex64)[...] *= cache.turns[position]
        keys, values = cache.layer(index)
        keys[:, :, position] = qk[:, heads:]
        values[:, :, position] = mixed[:, heads + key_heads :]
        queries = qk[:, :heads].reshape(rows, key_heads, heads // key_heads, head_dim)
        shares = np.matmul(queries, keys[:, :, : position + 1].swapaxes(-1, -2))
        shares -= np.maximum.reduce(shares, axis=-1, keepdims=True)
        np.exp(shares, out=shares)
        said = np.matmul(shares, values[:, :, : position + 1])
        said /= np.add.reduce(shares, axis=-1, keepdims=True)
        attended[:rows] = said.reshape(rows, -1)
        state += product(attended, layer.out)
        state += product(_gated(product(_normed(state, weights.epsilon), layer.gate_up)), layer.down)
    if not logits:
        return None
    return product(_normed(state, weights.epsilon), weights.head)[:rows, : weights.vocabulary]


def _inverse_rms(x: np.ndarray, epsilon: float) -> np.ndarray:
    """1 / sqrt(mean(x²) + epsilon) over the last axis, which is kept with size 1."""
    mean = np.einsum("...i,...i->...", x, x)[..., None]
    mean *= np.float32(1 / x.shape[-1])
    mean += np.float32(epsilon)
    np.sqrt(mean, out=mean)
    return np.reciprocal(mean, out=mean)


def _normed(state: np.ndarray, epsilon: float) -> np.ndarray:
    return state * _inverse_rms(state, epsilon)


def _gated(gate_up: np.ndarray) -> np.ndarray:
    """silu(gate) * up, from both negated."""
    width = gate_up.shape[1] // 2
    gate, up = gate_up[:, :width], gate_up[:, width:]
    divisor = np.exp(gate)
    divisor += 1
    up *= gate
    return np.divide(up, divisor, out=divisor)
