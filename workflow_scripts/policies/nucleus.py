"""Drawing tokens: temperature, top-p and min-p as transformers applies them, one uniform number a sample."""

import numpy as np

# Cumulative probabilities are whole numbers of 2^-40: added to a row's number they stay exact, so that a draw does not
# depend on which row of the batch it is made in.
_TICKS = 40
_ROUNDING = 1e-6


def probabilities(logits: np.ndarray, temperature: float) -> np.ndarray:
    """softmax(logits / temperature) along the last axis, in the type of `logits`."""
    scaled = logits if temperature == 1 else logits / np.asarray(temperature, logits.dtype)
    shares = scaled - np.maximum.reduce(scaled, axis=-1, keepdims=True)
    np.exp(shares, out=shares)
    shares /= np.add.reduce(shares, axis=-1, keepdims=True)
    return shares


def nucleus(shares: np.ndarray, top_p: float) -> np.ndarray:
    """`shares` (rows, vocabulary) with every token outside the nucleus set to zero, not renormalised.

    As transformers' TopPLogitsWarper: tokens are dropped from the least likely on while what is dropped sums to at most
    1 - top_p; the likeliest always stays. Of equally likely ones at the edge the earlier in the vocabulary drop first.
    """
    if top_p >= 1:
        return shares
    ascending = np.sort(shares, axis=-1)
    dropped = (np.cumsum(ascending, axis=-1)[:, :-1] <= np.float32(1 - top_p)).sum(axis=-1)
    edge = np.take_along_axis(ascending, dropped[:, None], axis=-1)
    kept = shares >= edge
    for row in np.flatnonzero(kept.sum(axis=-1) != shares.shape[1] - dropped):  # equal shares on both sides of the edge
        kept[row, np.argsort(shares[row], kind="stable")[: dropped[row]]] = False
    return shares * kept


def likely(shares: np.ndarray, min_p: float) -> np.ndarray:
    """`shares` (rows, vocabulary) with every token below min_p times the row's largest set to zero, not renormalised.

    As transformers' MinPLogitsWarper, which comes after top-p. Nguyen et al. 2024, "Turning up the heat: min-p".
    """
    if min_p <= 0:
        return shares
    floor = np.maximum.reduce(shares, axis=-1, keepdims=True) * np.asarray(min_p, shares.dtype)
    return shares * (shares >= floor)


def draw(
    logits: np.ndarray,
    rows: np.ndarray,
    uniforms: np.ndarray,
    *,
    temperature: float,
    top_p: float,
    min_p: float = 0.0,
) -> np.ndarray:
    """One token for each sample: int64 (samples,) ids.

    logits: float32 (rows, vocabulary). rows: (samples,) the row that each sample stands on. uniforms: (samples,) in
    [0, 1). temperature: 0 takes the likeliest token. min_p: 0 drops none. A sample's token depends on its own row and
    number alone.
    """
    best = logits.argmax(axis=-1)
    tokens = best[rows]
    if temperature == 0:
        return tokens
    shares = probabilities(logits, temperature)
    # where the likeliest token fills the nucleus there is nothing to draw: most rows of a collapsed policy
    open_ = np.maximum.reduce(shares, axis=-1) < (top_p + _ROUNDING if top_p < 1 else 1)
    pending = np.flatnonzero(open_)
    if not len(pending):
        return tokens
    cumulative = np.cumsum(likely(nucleus(shares[pending], top_p), min_p), axis=-1, dtype=np.float64)
    cumulative /= cumulative[:, -1:].copy()  # exactly 1 from the last token of the nucleus on
    cumulative *= 2.0**_TICKS
    edges = cumulative.astype(np.int64)
    edges += np.arange(len(pending))[:, None] << _TICKS
    drawn = np.flatnonzero(open_[rows])
    place = (np.cumsum(open_) - 1)[rows[drawn]]
    goal = (uniforms[drawn] * 2.0**_TICKS).astype(np.int64) + (place << _TICKS)
    tokens[drawn] = np.searchsorted(edges.ravel(), goal, "right") - place * logits.shape[1]
    return tokens
