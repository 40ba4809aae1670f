"""Log-probabilities of given texts by vLLM: what policies.likelihood gives, for policies of any size.

They are those of the prompt's tokens, at temperature 1 and untruncated, and computed with prefix caching off: what
is read from a cache has no log-probabilities, and versions of vLLM differ in what they then say.
"""

import logging
import os
from collections.abc import Sequence

import numpy as np

from workflow_scripts.policies.foreign_tokenizer import load_any_tokenizer
from workflow_scripts.policies.likelihood import _joined
from workflow_scripts.policies.vllm_engine import Engine, context_of, drawing, engine
from workflow_scripts.records.errors import UserError
from workflow_scripts.records.progress import progress

Ids = tuple[int, ...]
_TWICE = 16
_log = logging.getLogger(__name__)


def token_log_probs_vllm(
    folder: str | os.PathLike,
    texts: Sequence[tuple[str, str]],
    *,
    dtype: str | None = "float32",
    spans: bool = False,
    texts_at_once: int = 512,
    tolerance: float = 1e-4,
    **engine_settings: float,
) -> list[np.ndarray] | list[tuple[np.ndarray, np.ndarray]]:
    """Log-probability of every token of each continuation after its prompt, at temperature 1 (paper, Table 2).

    folder: a policy. texts: (prompt, continuation) as the policy reads them, without the end token, which is added.
    spans: as policies.likelihood.token_log_probs returns them. dtype, engine_settings: of policies.vllm_engine.engine.
    texts_at_once: given to vLLM together. tolerance: nats, by which 16 of the texts may differ when they are scored
    again in another batch; narrow types need more.
    Returns float32 (continuation's tokens + 1,) each, nats, the end token last; equal texts are scored once.
    Raises UserError, naming policy and text, for words outside the vocabulary, an empty prompt, a text longer than the
    policy's positions, one whose tokens depend on where prompt and continuation are parted, values that are not finite,
    and a larger difference of the two scorings.
    """
    tokenizer, context = load_any_tokenizer(folder), context_of(folder)
    asked: list[tuple[Ids, Ids]] = []
    for prompt, continuation in texts:
        given, said = _joined(tokenizer, prompt, continuation, where=folder)
        said = (*said, tokenizer.end_id)
        if len(given) + len(said) > context:
            raise UserError(
                f"{folder}: a text of {len(given)} + {len(said)} tokens is longer than the policy's {context} positions"
            )
        asked.append((given, said))
    distinct = list(dict.fromkeys(asked))
    if not distinct:
        return []
    longest = max(len(given) + len(said) for given, said in distinct) + 1  # vLLM also draws a token
    found: list[np.ndarray] = []
    with (
        engine(folder, longest=longest, dtype=dtype, prefix_caching=False, **engine_settings) as reader,
        progress(total=len(distinct), title="scoring texts", unit="text") as bar,
    ):
        for start in range(0, len(distinct), texts_at_once):
            found += _scored(reader, distinct[start : start + texts_at_once], folder)
            bar.update(len(found) - start)
        again = sorted(range(0, len(distinct), max(1, len(distinct) // _TWICE)), reverse=True)[:_TWICE]
        gap = _gap([found[row] for row in again], _scored(reader, [distinct[row] for row in again], folder))
    _log.info("%s: %d texts scored twice differ by at most %.1e nats a token", folder, len(again), gap)
    if gap > tolerance:
        raise UserError(
            f"{folder}: texts scored twice differ by {gap:.1e} nats, more than {tolerance:.1e}; use dtype float32, or "
            "another version of vLLM"
        )
    scored = dict(zip(distinct, found, strict=True))
    if not spans:
        return [scored[text] for text in asked]
    covered = [[*tokenizer.spans(*text), (len(text[1]), len(text[1]))] for text in texts]
    return [(scored[text], np.array(span, np.int32)) for text, span in zip(asked, covered, strict=True)]


def _gap(one: Sequence[np.ndarray], other: Sequence[np.ndarray]) -> float:
    return max(float(np.abs(a - b).max()) for a, b in zip(one, other, strict=True))


def _scored(reader: Engine, texts: Sequence[tuple[Ids, Ids]], where: str | os.PathLike) -> list[np.ndarray]:
    once = drawing(0, temperature=0.0, top_p=1.0, min_p=0.0, max_new_tokens=1, ends=()) | {"prompt_logprobs": 0}
    answers = reader.ask([(*given, *said) for given, said in texts], [once] * len(texts))
    found = []
    for (given, said), answer in zip(texts, answers, strict=True):
        after = answer.prompt_logprobs[len(given) :]
        values = np.array([step[token].logprob for token, step in zip(said, after, strict=True)], np.float32)
        if not np.isfinite(values).all():
            raise UserError(f"{where}: the policy's predictions are NaN or infinite; its weights have grown too large")
        found.append(values)
    return found
