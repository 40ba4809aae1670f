"""One forward step of a small decoder in plain numpy: many rows, one token each, against cached keys and values.

A row's result depends neither on the rows computed with it (policies.products) nor on its slot in the cache: attention
is one product a row and head, of sizes that the position alone decides.
"""

import numpy as np

from workflow_scripts.policies.decoding_weights import DecodeWeights
from workflow_scripts.policies.products import product, whole_blocks


class RowCache:
    """Keys and values of rows, one slot a row; slots are added when rows branch, and copied only then."""

    def __init__(self, weights: DecodeWeights, length: int, slots: int):
        """length: most positions that a row can hold. slots: to begin with; what is not written to takes no memory."""
        self._entries = self._allocated(slots, len(weights.layers), weights.key_heads, length, weights.head_dim)
        angles = np.outer(np.arange(length), weights.frequencies)
        self.turns = np.exp(1j * angles).astype(np.complex64)  # (positions, head_dim / 2), the rotation of a pair

    @staticmethod
    def _allocated(slots: int, layers: int, heads: int, length: int, head_dim: int) -> np.ndarray:
        return np.empty((slots, layers, 2, heads, length, head_dim), np.float32)

    def keys(self, layer: int) -> np.ndarray:
        """View (slots, key heads, positions, head_dim)."""
        return self._entries[:, layer, 0]

    def values(self, layer: int) -> np.ndarray:
        """View (slots, key heads, positions, head_dim)."""
        return self._entries[:, layer, 1]

    def copy(self, sources: np.ndarray, targets: np.ndarray, positions: int) -> None:
        """Copies the first `positions` of slots `sources` to slots `targets` (disjoint), growing where needed."""
        if not len(sources):
            return
        slots, layers, _, heads, length, head_dim = self._entries.shape
        if targets.max() >= slots:
            larger = self._allocated(max(2 * slots, int(targets.max()) + 1), layers, heads, length, head_dim)
            larger[:slots, ..., :positions, :] = self._entries[..., :positions, :]
            self._entries = larger
        self._entries[targets, ..., :positions, :] = self._entries[sources, ..., :positions, :]


def step(
    weights: DecodeWeights, tokens: np.ndarray, cache: RowCache, position: int, *, logits: bool = True
) -> np.ndarray | None:
    """Feeds one token to each row and returns what the policy says comes next.

    tokens: (rows,) ids at `position`, the same position for all rows. Row r continues slot r of `cache`, which holds
    the positions before and receives this one. Returns float32 logits (rows, vocabulary), or None where not wanted.
    """
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
        keys, values = cache.keys(index)[:rows], cache.values(index)[:rows]
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
    up /= divisor
    return np.ascontiguousarray(up)
