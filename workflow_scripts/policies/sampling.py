"""The sampling stage's engine: rollouts of a policy folder, one random stream a sample.

The stream is keyed by (study seed, policy, problem, prefix, sample). So neither the order of the prompts nor their
division into shards nor the number of samples asked for changes a sample: the first 64 of 320 are those that a run with
64 gives.
"""

import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa

from workflow_scripts.policies.decoding import Decoded, decode
from workflow_scripts.policies.decoding_weights import DecodeWeights
from workflow_scripts.policies.foreign_model import built_in, load_foreign
from workflow_scripts.policies.foreign_tokenizer import AnyTokenizer, load_any_tokenizer
from workflow_scripts.policies.inference import Reader
from workflow_scripts.policies.readers import reading
from workflow_scripts.records.errors import UserError
from workflow_scripts.records.progress import progress
from workflow_scripts.records.schemas import ROLLOUTS
from workflow_scripts.records.seeds import sample_keys

_SAMPLED = ("tokens", "lengths", "stopped")


@dataclass(frozen=True)
class Prompt:
    """What a policy is given."""

    problem_id: str
    text: str  # the prompt as the policy reads it, its chat template applied
    prefix: str = ""  # the beginning of the completion, when it is forced


@dataclass(frozen=True)
class Speaker:
    """What samples are drawn from.

    weights: DecodeWeights of a small policy, or the policies.foreign_model.ForeignPolicy of any other folder. reader:
    how `decode` reads the weights' rows; a mixture brings its own.
    """

    weights: Any
    tokenizer: AnyTokenizer
    reader: Callable[[Any], Reader] = reading


def load_speaker(folder: str | os.PathLike) -> Speaker:
    """The policy of a folder, whatever made it; UserError where it is damaged or has fewer words than its tokenizer.

    A small word-level policy is decoded by the built-in engine, on which order, batches and shards have no influence.
    Any other is read by transformers (policies.foreign_model), where they change rounding.
    """
    weights = DecodeWeights.load(folder) if built_in(folder) else load_foreign(folder)
    tokenizer = load_any_tokenizer(folder)
    if len(tokenizer) > weights.vocabulary:
        raise UserError(f"{folder}: the tokenizer has {len(tokenizer)} words, the policy only {weights.vocabulary}")
    return Speaker(weights, tokenizer)


def sample_policy(
    folder: str | os.PathLike,
    prompts: Sequence[Prompt],
    *,
    policy: str,
    samples: int | range,
    temperature: float,
    top_p: float,
    max_new_tokens: int,
    study_seed: int,
    min_p: float = 0.0,
    shard: tuple[int, int] = (0, 1),
) -> pa.Table:
    """Rollouts of one policy: a table of records.schemas.ROLLOUTS, in the order of the prompts, then of the samples.

    policy: its name in the table and in the seeds. samples: how many a prompt, or the range of their numbers. shard:
    (i, n) takes every n-th prompt from the i-th on. temperature, top_p, min_p, max_new_tokens: see
    policies.decoding.decode.
    Completions leave the prefix out, and special tokens.
    Raises UserError for a damaged policy folder, words outside its vocabulary, a (problem, prefix) given twice, and
    prompts too long for the policy.
    """
    index, count = shard
    if not 0 <= index < count:
        raise UserError(f"there is no shard {index} of {count}; shards are numbered from 0")
    prompts = prompts[index::count]
    numbers = range(samples) if isinstance(samples, int) else samples
    _refuse_repeats(prompts)
    speaker = load_speaker(folder)
    keys = np.zeros((len(prompts), len(numbers)), np.uint64)
    for row, prompt in enumerate(prompts):
        keys[row] = sample_keys(study_seed, policy, prompt.problem_id, prompt.prefix, samples=numbers)
    drawing = {"temperature": temperature, "top_p": top_p, "min_p": min_p, "max_new_tokens": max_new_tokens}
    with progress(total=keys.size, title=f"sampling {policy}", unit="sample") as bar:
        decoded = _decoded(speaker, prompts, keys, drawing, bar.update)
    sample = np.tile(np.array(numbers, np.int32), len(prompts))
    return _table(policy, prompts, sample, keys, decoded, speaker.tokenizer)


def sample_requests(
    speaker: Speaker,
    requests: pd.DataFrame,
    *,
    policy: str,
    stream: str,
    temperature: float,
    top_p: float,
    max_new_tokens: int,
    study_seed: int,
    min_p: float = 0.0,
) -> pa.Table:
    """Rollouts asked for one by one: a table of records.schemas.ROLLOUTS, in the order of the requests.

    requests: columns problem_id, text (the prompt), prefix, sample (its number); one row a sample, so that the samples
    of a problem may differ in what they are given. policy: the name in the table. stream: the name in the seeds; two
    ways of sampling under one stream draw the same random numbers. The rest is as in `sample_policy`.
    Raises UserError as `sample_policy` does, and for a (problem, prefix, sample) asked for twice.
    """
    twice = requests.duplicated(["problem_id", "prefix", "sample"])
    if twice.any():
        row = requests[twice].iloc[0]
        raise UserError(f"sample {row['sample']} of problem {row['problem_id']}, prefix {row['prefix']!r}, twice")
    columns = (requests[name].tolist() for name in ("problem_id", "text", "prefix"))
    prompts = [Prompt(*row) for row in zip(*columns, strict=True)]
    sample = requests["sample"].to_numpy(np.int32)
    keys = np.zeros((len(prompts), 1), np.uint64)
    for row, (prompt, number) in enumerate(zip(prompts, sample.tolist(), strict=True)):
        keys[row] = sample_keys(study_seed, stream, prompt.problem_id, prompt.prefix, samples=range(number, number + 1))
    drawing = {"temperature": temperature, "top_p": top_p, "min_p": min_p, "max_new_tokens": max_new_tokens}
    return _table(policy, prompts, sample, keys, _decoded(speaker, prompts, keys, drawing), speaker.tokenizer)


def _decoded(
    speaker: Speaker,
    prompts: Sequence[Prompt],
    keys: np.ndarray,
    drawing: dict[str, float],
    on_progress: Callable[[int], object] | None = None,
) -> Decoded:
    given = _tokens(prompts, speaker.tokenizer, speaker.weights.context)
    ends, weights = speaker.tokenizer.end_ids, speaker.weights
    call = {**drawing, "eos_id": ends, "reader": speaker.reader, "on_progress": on_progress}
    if isinstance(weights, DecodeWeights):
        return decode(weights, given, keys, **call)
    # Rows of a large model are many megabytes each: samples that don't fit beside each other are drawn in turn.
    rows = weights.rows_at_once(max(map(len, given), default=0) + drawing["max_new_tokens"])
    parts = [
        decode(weights, given, keys[:, first : first + rows], **call, rows_at_once=rows)
        for first in range(0, keys.shape[1], rows)
    ]
    together = {name: np.concatenate([getattr(part, name) for part in parts], axis=1) for name in _SAMPLED}
    return replace(parts[0], **together)


def _refuse_repeats(prompts: Sequence[Prompt]) -> None:
    seen = set()
    for prompt in prompts:
        place = (prompt.problem_id, prompt.prefix)
        if place in seen:
            raise UserError(f"problem {prompt.problem_id} is given twice with the prefix {prompt.prefix!r}")
        seen.add(place)


def _tokens(prompts: Sequence[Prompt], tokenizer: AnyTokenizer, context: int) -> list[list[int]]:
    given = []
    for prompt in prompts:
        text, prefix = tokenizer.join(prompt.text, prompt.prefix)
        ids = [*text, *prefix]
        if not 0 < len(ids) < context:
            raise UserError(
                f"problem {prompt.problem_id}: prompt and prefix have {len(ids)} tokens; there must be some, and the "
                f"policy's context holds {context}, the completion among them"
            )
        given.append(ids)
    return given


def _table(
    policy: str,
    prompts: Sequence[Prompt],
    sample: np.ndarray,
    keys: np.ndarray,
    decoded: Decoded,
    tokenizer: AnyTokenizer,
) -> pa.Table:
    """sample: int32 (keys.size,), the number of each sample, in the order of keys."""
    samples = keys.shape[1]
    rows = decoded.tokens.reshape(keys.size, decoded.tokens.shape[2])
    lengths = decoded.lengths.ravel()
    texts: dict[bytes, str] = {}  # a collapsed policy says the same again and again
    completions = []
    for row, length in zip(rows, lengths.tolist()):
        ids = row[:length]
        said = ids.tobytes()
        if said not in texts:
            texts[said] = tokenizer.decode(ids.tolist())
        completions.append(texts[said])
    columns = {
        "policy": pa.array([policy]).take(pa.array(np.zeros(keys.size, np.int64))),
        "problem_id": pa.array([p.problem_id for p in prompts], pa.string()).take(_each(len(prompts), samples)),
        "prefix": pa.array([p.prefix for p in prompts], pa.string()).take(_each(len(prompts), samples)),
        "sample": pa.array(sample),
        "completion": pa.array(completions, pa.string()),
        "tokens": pa.array(lengths),
        "finish_reason": pa.array(["length", "stop"]).take(pa.array(decoded.stopped.ravel().astype(np.int64))),
        "seed": pa.array(keys.ravel()),
    }
    return pa.table(columns, schema=ROLLOUTS)


def _each(things: int, times: int) -> pa.Array:
    return pa.array(np.repeat(np.arange(things), times))
