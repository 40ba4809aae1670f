"""Two policies that speak as one: at every token their logits are mixed, in lockstep over the same rows.

The row machinery is that of `decode`: the late policy's samples keep their random streams, and samples that have said
the same share a row in both caches. With alpha 0 what is said is the late policy's, bit for bit.

Deviation from the reference code: all of a span's tokens are mixed, tags among them, in every strategy. There, all
strategies but `global` keep the late policy's logits on format tokens, which the paper's text does not say.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from workflow_scripts.policies.inference import Reader
from workflow_scripts.policies.nucleus import probabilities
from workflow_scripts.policies.readers import reading
from workflow_scripts.records.errors import UserError

STRATEGIES = ("global", "reasoning", "answer", "entropy_adaptive")
CLOSE = "</think>"


@dataclass(frozen=True)
class Mixture:
    """How a late policy's logits are mixed with an early one's: (1 − a) · late + a · early, raw and at temperature 1.

    early: the partner. alpha: in [0, 1]. strategy: where a is alpha and not 0. `global`: at every token; `reasoning`:
    until `</think>` has been said; `answer`: only after it; `entropy_adaptive`: everywhere, but a is
    alpha · min(1, H / ln V), with H the entropy (nats) of the late policy's next token among the V words.
    close_id: the id of `</think>`; None where several tokens spell it, and then piece: the text of a token, with which
    it is looked for in what the row has read. `decode(late, …, reader=mixture)` samples from it. Both policies: weights
    that policies.readers.reading knows.
    Raises UserError for another strategy and for alpha or close_id out of range.
    """

    early: Any
    alpha: float
    strategy: str
    close_id: int | None
    piece: Callable[[int], str] | None = None

    def __post_init__(self) -> None:
        if self.strategy not in STRATEGIES:
            raise UserError(f"mixing strategy {self.strategy!r} is none of {', '.join(STRATEGIES)}")
        if not 0 <= self.alpha <= 1:
            raise UserError(f"alpha of a mixture must be in [0, 1], not {self.alpha}")
        if self.close_id is None:
            if self.piece is None:
                raise UserError("a mixture needs the id of </think>, or the text of its tokens to look for it")
        elif not 0 <= self.close_id < self.early.vocabulary:
            raise UserError(f"</think> has the id {self.close_id}, outside the vocabulary of {self.early.vocabulary}")

    def __call__(self, late: Any) -> Reader:
        """Reads and predicts as both policies together.

        Raises UserError where the two have vocabularies of other sizes, or the partner a shorter context.
        """
        if late.vocabulary != self.early.vocabulary:
            raise UserError(
                f"policies with vocabularies of {late.vocabulary} and {self.early.vocabulary} words cannot be mixed: "
                "their logits do not stand for the same words"
            )
        if late.context > self.early.context:
            raise UserError(
                f"the policy reads {late.context} tokens and its partner only {self.early.context}; they cannot be "
                "mixed to the end of a text"
            )
        return _MixedReader(late, self) if self.alpha else reading(late)

    def shares(self, logits: np.ndarray, closed: np.ndarray) -> np.ndarray:
        """The partner's share a of each row, float32 (rows,).

        logits: the late policy's, (rows, vocabulary). closed: bool (rows,), whether `</think>` has been said.
        """
        alpha = np.float32(self.alpha)
        if self.strategy == "reasoning":
            return np.where(closed, np.float32(0), alpha)
        if self.strategy == "answer":
            return np.where(closed, alpha, np.float32(0))
        if self.strategy == "entropy_adaptive":
            p = probabilities(logits, 1)
            entropy = -(p * np.log(np.where(p > 0, p, np.float32(1)))).sum(axis=-1)
            return alpha * np.clip(entropy / np.float32(np.log(logits.shape[1])), 0, 1).astype(np.float32)
        return np.full(len(logits), alpha)


def mixed(late: np.ndarray, early: np.ndarray, shares: np.ndarray) -> np.ndarray:
    """(1 − a) · late + a · early for each row's share a: logits (rows, vocabulary), shares (rows,).

    Rows with a = 0 are the late policy's bit for bit, rows with a = 1 the early one's.
    """
    a = shares[:, None]
    return np.where(a == 0, late, np.where(a == 1, early, (1 - a) * late + a * early))


class _MixedReader:
    """Two readers of the same rows, and which rows have closed their think part."""

    def __init__(self, late: Any, mixture: Mixture):
        self.mixture, self.own, self.partner = mixture, reading(late), reading(mixture.early)
        self.closed = np.zeros(0, bool)
        self.tails = np.zeros(0, object)  # the last characters of rows whose </think> is several tokens
        self.alone = False  # every row is past the span in which the partner is asked

    def step(self, tokens: np.ndarray, position: int, *, logits: bool = True) -> np.ndarray | None:
        closed = self._room(len(tokens))[: len(tokens)]
        closed |= self._closing(tokens)  # in place: the rows' own record
        late = self.own.step(tokens, position, logits=logits)
        self.alone = self.alone or (self.mixture.strategy == "reasoning" and bool(closed.all()))
        if self.alone:  # for good: rows come from rows
            return late
        wanted = logits and (self.mixture.strategy != "answer" or closed.any())
        early = self.partner.step(tokens, position, logits=wanted)
        return late if early is None else mixed(late, early, self.mixture.shares(late, closed))

    def copy(self, sources: np.ndarray, targets: np.ndarray, positions: int) -> None:
        self.own.copy(sources, targets, positions)
        if not self.alone:
            self.partner.copy(sources, targets, positions)
        if len(sources):
            closed = self._room(int(max(sources.max(), targets.max())) + 1)
            closed[targets] = closed[sources]
            self.tails[targets] = self.tails[sources]

    def _closing(self, tokens: np.ndarray) -> np.ndarray:
        """Which rows say the end of `</think>` with this token."""
        rule = self.mixture
        if rule.close_id is not None:
            return tokens == rule.close_id
        said = [tail + rule.piece(token) for tail, token in zip(self.tails, tokens.tolist())]
        self.tails[: len(tokens)] = [text[1 - len(CLOSE) :] for text in said]
        return np.array([CLOSE in text for text in said], bool)

    def _room(self, rows: int) -> np.ndarray:
        more = rows - len(self.closed)
        if more > 0:
            self.closed = np.concatenate([self.closed, np.zeros(more, bool)])
            self.tails = np.concatenate([self.tails, np.full(more, "", object)])
        return self.closed


def mixture(
    early: Any,
    words: tuple[str, ...],
    *,
    alpha: float,
    strategy: str,
    piece: Callable[[int], str] | None = None,
) -> Callable[[Any], Reader]:
    """A Mixture whose close_id is that of the word `</think>` among `words`.

    piece: the text of a token, for vocabularies that spell `</think>` with several. Raises UserError where there is
    neither the word nor `piece`.
    """
    if CLOSE not in words and piece is None:
        raise UserError(f"the vocabulary lacks the word {CLOSE!r}, which ends the reasoning span")
    return Mixture(early, alpha, strategy, words.index(CLOSE) if CLOSE in words else None, piece)
