"""Decoding many samples of many prompts, each prefix once.

Samples share a row of the batch until their tokens differ, so that what is computed grows with the number of distinct
prefixes and not with the number of samples. Every sample still draws from its own random stream: sampling is exactly
independent and identically distributed. Prompts are prefixes like any other: equal prompts, and the common beginning of
different ones, are computed once too.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from workflow_scripts.policies.decoding_weights import DecodeWeights
from workflow_scripts.policies.inference import Reader
from workflow_scripts.policies.nucleus import draw
from workflow_scripts.policies.products import one_thread
from workflow_scripts.records.errors import UserError
from workflow_scripts.records.seeds import uniforms

__all__ = ["DecodeWeights", "Decoded", "decode"]

_ROWS_AT_ONCE = 512  # rows whose keys and values (some 50 kB each) are kept: they should fit a last-level cache


@dataclass(frozen=True)
class Decoded:
    """What the samples of each prompt said, in the order of the prompts and keys that were given.

    tokens: int32 (prompts, samples, longest), generated ids, the end token included, -1 after the end.
    lengths: int32 (prompts, samples), generated tokens, the end token included.
    stopped: bool (prompts, samples), ended by an end token and not by a limit.
    log_probs: float32, shape of tokens, log-probability of each at temperature 1, untruncated; 0 after the end.
    """

    tokens: np.ndarray
    lengths: np.ndarray
    stopped: np.ndarray
    log_probs: np.ndarray | None


def decode(
    weights: DecodeWeights,
    prompts: Sequence[Sequence[int]] | np.ndarray,
    keys: np.ndarray,
    *,
    temperature: float,
    top_p: float,
    max_new_tokens: int,
    eos_id: int | Sequence[int],
    min_p: float = 0.0,
    log_probs: bool = False,
    reader: Callable[[DecodeWeights], Reader] = Reader,
    rows_at_once: int = _ROWS_AT_ONCE,
    on_progress: Callable[[int], object] | None = None,
) -> Decoded:
    """Samples completions of token prompts.

    prompts: ids, of any lengths above 0.
    keys: uint64 (prompts, samples), the key of each sample's random stream; draw t of it (records.seeds.uniforms)
    decides generated token t.
    temperature: 0 takes the likeliest token. top_p: share of probability that is kept, 1 for all of it.
    min_p: tokens below this share of the likeliest one's probability are dropped, 0 for none.
    A sample ends with an end token (`eos_id`: one or several), after max_new_tokens, or where the context is full.
    log_probs: whether to return them.
    reader: makes what reads the rows and predicts, from `weights`; a mixture of policies is one (policies.mixing).
    rows_at_once: how many rows to aim for; like order, shards and other samples, it changes no bit of the result.
    on_progress: called now and then with the number of samples finished since the last call.
    Raises UserError for settings out of range and for prompts that are empty, too long or outside the vocabulary.
    """
    keys = np.asarray(keys, np.uint64)
    _check_settings(temperature, top_p, min_p, max_new_tokens)
    _check_prompts(weights, prompts, keys, np.atleast_1d(eos_id))
    lengths = np.array([len(prompt) for prompt in prompts], np.int64)
    limits = np.minimum(max_new_tokens, weights.context - lengths)
    shape = (*keys.shape, int(limits.max(initial=0)))
    result = Decoded(
        tokens=np.full(shape, -1, np.int32),
        lengths=np.zeros(keys.shape, np.int32),
        stopped=np.zeros(keys.shape, bool),
        log_probs=np.zeros(shape, np.float32) if log_probs else None,
    )
    ends = np.zeros(weights.vocabulary, bool)
    ends[np.atleast_1d(eos_id)] = True
    order = sorted(range(len(prompts)), key=lambda index: tuple(prompts[index]))  # neighbours share their beginning
    start, together = 0, max(1, 8 * rows_at_once // keys.shape[1])  # not known yet how many samples will share a row
    with one_thread(), np.errstate(over="ignore", under="ignore", invalid="ignore"):
        while start < len(order):
            chunk = order[start : start + together]
            padded = np.full((len(chunk), lengths[chunk].max()), -1, np.int64)
            for row, index in enumerate(chunk):
                padded[row, : lengths[index]] = prompts[index]
            run = _Run(reader(weights), padded, np.array(chunk), keys, limits, ends, result)
            most, done = 0, len(chunk)
            for rows in run.rows({"temperature": temperature, "top_p": top_p, "min_p": min_p}):
                most = max(most, rows)
                if rows > 2 * rows_at_once and done > 1:  # they share less than was thought: half of the prompts wait
                    most, done = 0, -(-done // 2)
                    run.leave(done)
            # as many prompts at once as would have filled the rows, by what these needed
            together = int(np.clip(round(rows_at_once * done / max(most, 1)), 1, 4 * together))
            start += done
            if on_progress:
                on_progress(done * keys.shape[1])
    return result


def _check_settings(temperature: float, top_p: float, min_p: float, max_new_tokens: int) -> None:
    if not 0 <= min_p <= 1:
        raise UserError(f"cannot sample with min_p {min_p}: it must be in [0, 1]")
    if not (temperature >= 0 and np.isfinite(temperature)) or not 0 < top_p <= 1 or max_new_tokens < 1:
        raise UserError(
            f"cannot sample at temperature {temperature}, top_p {top_p}, max_new_tokens {max_new_tokens}: "
            "they must be at least 0, in (0, 1], and at least 1"
        )


def _check_prompts(
    weights: DecodeWeights, prompts: Sequence[Sequence[int]], keys: np.ndarray, ends: np.ndarray
) -> None:
    if keys.ndim != 2 or len(keys) != len(prompts) or not keys.shape[1]:
        raise UserError(f"{len(prompts)} prompts need keys of shape (prompts, samples), not {keys.shape}")
    if ends.min() < 0 or ends.max() >= weights.vocabulary:
        raise UserError(f"end token {ends.tolist()} lies outside the policy's vocabulary of {weights.vocabulary}")
    for index, prompt in enumerate(prompts):
        if not len(prompt):
            raise UserError(f"prompt {index} is empty")
        if len(prompt) >= weights.context:
            raise UserError(
                f"prompt {index} has {len(prompt)} tokens and the policy's context holds {weights.context}, "
                "the completion among them"
            )
        if min(prompt) < 0 or max(prompt) >= weights.vocabulary:
            raise UserError(f"prompt {index} holds token ids outside the policy's vocabulary of {weights.vocabulary}")


class _Run:
    """One chunk of prompts, from its first token to its last."""

    def __init__(
        self,
        reader: Reader,
        prompts: np.ndarray,
        places: np.ndarray,
        keys: np.ndarray,
        limits: np.ndarray,
        ends: np.ndarray,
        result: Decoded,
    ):
        """prompts: (chunk, longest) ids, -1 after the end. places: (chunk,) their rows in keys, limits and result."""
        self.reader, self.prompts, self.ends = reader, prompts, ends
        samples = keys.shape[1]
        longest = result.tokens.shape[2]
        # one entry a sample that goes on; all are filtered alike when samples end
        self.prompt = np.repeat(np.arange(len(prompts)), samples)
        self.key = keys[places].ravel()
        self.begin = (prompts >= 0).sum(axis=1)[self.prompt]  # position of the first generated token
        self.limit = limits[places][self.prompt]
        self.out = (places[:, None] * samples + np.arange(samples)).ravel()
        self.row = np.zeros(len(self.out), np.int64)
        self.tokens = result.tokens.reshape(-1, longest)
        self.lengths, self.stopped = result.lengths.reshape(-1), result.stopped.reshape(-1)
        self.log_probs = None if result.log_probs is None else result.log_probs.reshape(-1, longest)
        self.last = self._branched(prompts[self.prompt, 0], 1, 0)

    def rows(self, drawing: dict[str, float]) -> Iterator[int]:
        """Decodes to the end; yields the number of rows of each step."""
        position = 0
        while len(self.out):
            yield len(self.last)
            if not len(self.out):
                return
            following = position + 1
            speaking = self.begin <= following
            logits = self.reader.step(self.last, position, logits=speaking.any())
            if speaking.all():
                chosen = self._spoken(logits, following, drawing)
            else:
                chosen = self._partly_spoken(logits, speaking, following, drawing)
            if len(self.out):
                self.last = self._branched(chosen, len(self.last), following)
            position = following

    def leave(self, prompts: int) -> None:
        """Goes on with the first `prompts` of the chunk only; the others are to be run again."""
        self._keep(self.prompt < prompts)

    def _spoken(self, logits: np.ndarray, position: int, drawing: dict[str, float]) -> np.ndarray:
        """Draws and records a token for every sample; drops those that end. Returns the tokens of the others."""
        if not np.isfinite(logits).all():
            raise UserError("the policy's predictions are NaN or infinite; its weights have grown too large")
        count = position - self.begin
        chosen = draw(logits, self.row, uniforms(self.key, _draw_of(count)), **drawing)
        self.tokens[self.out, count] = chosen
        if self.log_probs is not None:
            peaks = logits.max(axis=-1)
            totals = peaks + np.log(np.exp(logits - peaks[:, None]).sum(axis=-1))
            self.log_probs[self.out, count] = logits[self.row, chosen] - totals[self.row]
        ended = self.ends[chosen]
        over = ended | (count + 1 >= self.limit)
        if over.any():
            self.lengths[self.out[over]] = count[over] + 1
            self.stopped[self.out[over]] = ended[over]
            self._keep(~over)
            chosen = chosen[~over]
        return chosen

    def _partly_spoken(
        self, logits: np.ndarray | None, speaking: np.ndarray, position: int, drawing: dict[str, float]
    ) -> np.ndarray:
        """As `_spoken` where some samples are still inside their prompt, whose next token is given."""
        reading = ~speaking
        given = self.prompts[self.prompt[reading], min(position, self.prompts.shape[1] - 1)]
        if not speaking.any():
            return given
        waiting = self._taken(reading)
        self._keep(speaking)
        chosen = self._spoken(logits, position, drawing)
        for name, values in waiting.items():
            setattr(self, name, np.concatenate([getattr(self, name), values]))
        return np.concatenate([chosen, given])

    def _taken(self, which: np.ndarray) -> dict[str, np.ndarray]:
        return {name: getattr(self, name)[which] for name in ("prompt", "key", "begin", "limit", "out", "row")}

    def _keep(self, which: np.ndarray) -> None:
        for name, values in self._taken(which).items():
            setattr(self, name, values)

    def _branched(self, chosen: np.ndarray, rows: int, positions: int) -> np.ndarray:
        """Gives every distinct (row, token) a row of its own and moves the samples there; returns the rows' tokens.

        The first branch of a row keeps its slot, others get copies of its keys and values.
        """
        vocabulary = len(self.ends)
        codes = self.row * vocabulary + chosen
        present = np.zeros(rows * vocabulary, bool)
        present[codes] = True
        branches = np.flatnonzero(present)
        parents, tokens = np.divmod(branches, vocabulary)
        slots = np.full(len(branches), -1)
        first = np.ones(len(branches), bool)
        first[1:] = parents[1:] != parents[:-1]
        stays = first & (parents < len(branches))
        slots[stays] = parents[stays]
        taken = np.zeros(len(branches), bool)
        taken[parents[stays]] = True
        slots[~stays] = np.flatnonzero(~taken)
        self.reader.copy(parents[~stays], slots[~stays], positions)
        place = np.empty(len(present), np.int64)
        place[branches] = slots
        self.row = place[codes]
        last = np.empty_like(tokens)
        last[slots] = tokens
        return last


def _draw_of(count: np.ndarray) -> int | np.ndarray:
    """The draw's number, once where all samples are at the same one."""
    return int(count[0]) if (count == count[0]).all() else count
