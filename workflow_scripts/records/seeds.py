"""Random streams keyed by identity, so that order, shards and batch sizes change nothing.

Every stream starts from a 64-bit BLAKE2b hash of what it belongs to (study seed, policy, problem, prefix, sample).
Sampling then runs SplitMix64 on that key: draw t of a stream is a pure function of (key, t).
"""

from hashlib import blake2b

import numpy as np

_GAMMA = np.uint64(0x9E3779B97F4A7C15)
_MIX_1 = np.uint64(0xBF58476D1CE4E5B9)
_MIX_2 = np.uint64(0x94D049BB133111EB)


def key(*parts: int | str) -> int:
    """64-bit key of an identity; ("a", "bc") and ("ab", "c") differ."""
    text = "\x1f".join(f"{type(part).__name__}:{part}" for part in parts)
    return int.from_bytes(blake2b(text.encode(), digest_size=8).digest(), "little")


def generator(*parts: int | str) -> np.random.Generator:
    """A numpy generator for one identity."""
    return np.random.Generator(np.random.PCG64(key(*parts)))


def sample_keys(*parts: int | str, samples: range) -> np.ndarray:
    """uint64 array, one key per sample index of `samples`, for the stream owner named by `parts`."""
    return np.array([key(*parts, index) for index in samples], dtype=np.uint64)


def uniforms(keys: np.ndarray, draw: int | np.ndarray) -> np.ndarray:
    """Draw number `draw` (0, 1, …) of each stream: float64 array in [0, 1), same shape as `keys` (SplitMix64).

    draw: one number for all streams, or an integer array with one for each.
    """
    with np.errstate(over="ignore"):
        z = keys + (np.asarray(draw) + 1).astype(np.uint64) * _GAMMA
        z = (z ^ (z >> np.uint64(30))) * _MIX_1
        z = (z ^ (z >> np.uint64(27))) * _MIX_2
        z ^= z >> np.uint64(31)
    return (z >> np.uint64(11)).astype(np.float64) * 2.0**-53
