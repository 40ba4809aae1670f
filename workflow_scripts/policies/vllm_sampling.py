"""Rollouts of any policy folder by vLLM: the table that policies.sampling makes, with the same seeds a sample.

Each sample is a request of its own with its own seed, so that order, shards and number of samples change no seed. The
streams are vLLM's: a sample is another than the built-in engine's of the same seed, from the same distribution. On a
GPU a seed need not give the same text again, since rounding follows the batch; the completions are what is kept.
"""

import logging
import os
from collections.abc import Iterator, Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa

from workflow_scripts.policies.decoding import Decoded
from workflow_scripts.policies.foreign_tokenizer import load_any_tokenizer
from workflow_scripts.policies.sampling import Prompt, _refuse_repeats, _table, _tokens
from workflow_scripts.policies.vllm_engine import (
    COOLEST,
    HOTTEST,
    Engine,
    context_of,
    drawing,
    engine,
    engine_version,
    vocabulary_of,
)
from workflow_scripts.records import manifests
from workflow_scripts.records.errors import UserError
from workflow_scripts.records.parts import Parts
from workflow_scripts.records.progress import progress
from workflow_scripts.records.schemas import ROLLOUTS
from workflow_scripts.records.seeds import sample_keys

_log = logging.getLogger(__name__)


def sample_vllm(
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
    dtype: str | None = None,
    parts: str | os.PathLike | None = None,
    requests_at_once: int = 4096,
    **engine_settings: Any,
) -> pa.Table:
    """Rollouts of one policy: a table of records.schemas.ROLLOUTS, in the order of the prompts, then of the samples.

    The first arguments are those of policies.sampling.sample_policy. dtype and engine_settings (sequences, cache_gib,
    gpu_share): of policies.vllm_engine.engine. parts: folder to keep finished parts in (records.parts), so that a
    killed job goes on where it was; the caller removes it when the table is written. requests_at_once: samples of a
    part, at least those of one prompt; it changes no seed.
    Raises UserError as sample_policy does, and for settings that vLLM treats otherwise (min-p together with top-p,
    temperatures outside [0.01, 2]), samples that ended for another reason than an end token or the limit, and a vLLM
    that does not heed seeds.
    """
    draw = {"temperature": temperature, "top_p": top_p, "min_p": min_p}
    _check(**draw, max_new_tokens=max_new_tokens)
    index, count = shard
    if not 0 <= index < count:
        raise UserError(f"there is no shard {index} of {count}; shards are numbered from 0")
    prompts = prompts[index::count]
    numbers = range(samples) if isinstance(samples, int) else samples
    _refuse_repeats(prompts)
    tokenizer, context, vocabulary = load_any_tokenizer(folder), context_of(folder), vocabulary_of(folder)
    if len(tokenizer) > vocabulary:
        raise UserError(f"{folder}: the tokenizer has {len(tokenizer)} words, the policy only {vocabulary}")
    given = _tokens(prompts, tokenizer, context)
    settings = {
        "policy": policy, "weights": _digest(folder), "study_seed": study_seed, "engine": engine_version(), **draw,
        "dtype": dtype, "max_new_tokens": max_new_tokens, "samples": [numbers.start, numbers.stop, numbers.step],
    }  # fmt: skip
    kept = Parts(Path(parts), settings, ROLLOUTS) if parts else None
    longest = min(context, max(map(len, given), default=0) + max_new_tokens)
    tables = [ROLLOUTS.empty_table()]
    with ExitStack() as block:
        bar = block.enter_context(
            progress(total=len(prompts) * len(numbers), title=f"sampling {policy}", unit="sample")
        )
        speaker: Engine | None = None
        for rows in _slices(len(prompts), max(1, requests_at_once // max(1, len(numbers)))):
            asked, ids = prompts[rows], given[rows]
            name = [[prompt.problem_id, prompt.prefix, tokens] for prompt, tokens in zip(asked, ids, strict=True)]
            table = kept.load(name) if kept else None
            if table is None:
                if speaker is None:  # not started where every part is there
                    how = {"longest": longest, "dtype": dtype, "prefix_caching": True, **engine_settings}
                    speaker = block.enter_context(engine(folder, **how))
                    if temperature > 0:
                        speaker.check_seeds(vocabulary, longest)
                keys = np.array(
                    [sample_keys(study_seed, policy, p.problem_id, p.prefix, samples=numbers) for p in asked], np.uint64
                )
                limits = [min(max_new_tokens, context - len(tokens)) for tokens in ids]
                decoded = drawn(speaker, asked, ids, keys, limits, draw, tokenizer.end_ids)
                sample = np.tile(np.array(numbers, np.int32), len(asked))
                table = _table(policy, asked, sample, keys, decoded, tokenizer)
                if kept:
                    kept.save(name, table)
            tables.append(table)
            bar.update(table.num_rows)
    whole = pa.concat_tables(tables).combine_chunks()
    distinct = whole.group_by(["problem_id", "prefix", "completion"]).aggregate([]).num_rows
    _log.info("%s: %.3f different completions a sample", policy, distinct / max(1, whole.num_rows))
    return whole


def _check(temperature: float, top_p: float, min_p: float, max_new_tokens: int) -> None:
    if not (temperature >= 0 and np.isfinite(temperature)) or not 0 < top_p <= 1 or max_new_tokens < 1:
        raise UserError(
            f"cannot sample at temperature {temperature}, top_p {top_p}, max_new_tokens {max_new_tokens}: "
            "they must be at least 0, in (0, 1], and at least 1"
        )
    if not 0 <= min_p <= 1:
        raise UserError(f"cannot sample with min_p {min_p}: it must be in [0, 1]")
    if temperature != 0 and not COOLEST <= temperature <= HOTTEST:
        raise UserError(f"vLLM samples at temperature 0 or from {COOLEST} to {HOTTEST}, not at {temperature}")
    if min_p > 0 and top_p < 1:
        raise UserError(
            f"vLLM applies min_p {min_p} before top_p {top_p}, the built-in engine after it: give one of the two"
        )


def _slices(rows: int, size: int) -> Iterator[slice]:
    return (slice(start, start + size) for start in range(0, rows, size))


def _digest(folder: str | os.PathLike) -> str:
    """Changes with the policy: of its manifest where it has one, else of its files."""
    manifest = manifests.manifest_of(folder)
    files = [manifest] if manifest.is_file() else sorted(p for p in Path(folder).iterdir() if p.is_file())
    return " ".join(manifests.sha256(file) for file in files)


def drawn(
    speaker: Engine,
    prompts: Sequence[Prompt],
    given: Sequence[Sequence[int]],
    keys: np.ndarray,
    limits: Sequence[int],
    draw: dict[str, float],
    ends: Sequence[int],
) -> Decoded:
    """What vLLM says to some prompts, every sample with its seed.

    given: ids of the prompts. keys: uint64 (prompts, samples). limits: new tokens, by prompt. draw: temperature, top_p,
    min_p. ends: ids that end a sample. Raises UserError for equal seeds, and for a sample, naming its problem, that
    ended for another reason than an end token or the limit.
    """
    if len(np.unique(keys >> np.uint64(1))) < keys.size:
        raise UserError("two samples have one seed; take another study seed")
    settings = [
        drawing(key, **draw, max_new_tokens=limit, ends=ends)
        for row, limit in zip(keys.tolist(), limits, strict=True)
        for key in row
    ]
    answers = speaker.ask([ids for ids in given for _ in range(keys.shape[1])], settings)
    longest = max((len(answer.outputs[0].token_ids) for answer in answers), default=0)
    tokens = np.full((len(answers), longest), -1, np.int32)
    stopped = np.zeros(len(answers), bool)
    for row, answer in enumerate(answers):
        said = answer.outputs[0]
        ids = list(said.token_ids)
        stopped[row] = bool(ids) and ids[-1] in ends
        if said.finish_reason != ("stop" if stopped[row] else "length"):
            where = f"problem {prompts[row // keys.shape[1]].problem_id}, sample {row % keys.shape[1]} of this call"
            raise UserError(f"{where}: vLLM ended it as {said.finish_reason!r} after {len(ids)} tokens; run it again")
        tokens[row, : len(ids)] = ids
    lengths = (tokens >= 0).sum(1).astype(np.int32)
    return Decoded(tokens.reshape(*keys.shape, longest), lengths.reshape(keys.shape), stopped.reshape(keys.shape), None)
