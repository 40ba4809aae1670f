"""Problems as verl's training rows, and a step of verl's rollouts as a row about truth.

A row's `extra_info.problem` is the whole problem, checks and expected values included: the reward's process judges by
it. What a program should return never goes into the sandbox.
"""

import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from functools import lru_cache
from pathlib import Path
from typing import Any

from workflow_scripts.records.errors import UserError
from workflow_scripts.records.files import atomic_file
from workflow_scripts.tasks.scicode.problems import Check, Problem
from workflow_scripts.tasks.scicode.verdicts import LAYERS

DATA_SOURCE = "scicode"


def verl_rows(problems: Sequence[Problem], split: str = "training") -> list[dict[str, Any]]:
    """One row a problem, in order (for `pyarrow.Table.from_pylist`): data_source, prompt (one user message), ability,
    reward_model {style, ground_truth: the reference program}, extra_info {split, index, problem_id, family, topic,
    problem}.

    Raises UserError for a problem without checks, which any program would pass.
    """
    rows = []
    for index, problem in enumerate(problems):
        if not problem.checks:
            raise UserError(f"problem {problem.problem_id} has no checks, so that every answer to it would be right")
        rows.append(
            {
                "data_source": DATA_SOURCE,
                "prompt": [{"role": "user", "content": problem.prompt}],
                "ability": "code",
                "reward_model": {"style": "rule", "ground_truth": problem.reference},
                "extra_info": {
                    "split": split,
                    "index": index,
                    "problem_id": problem.problem_id,
                    "family": problem.family,
                    "topic": problem.topic,
                    "problem": problem_text(problem),
                },
            }
        )
    return rows


def write_verl_rows(problems: Sequence[Problem], path: Path, split: str = "training") -> None:
    """Writes `verl_rows` as one parquet file, whole or not at all."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    with atomic_file(path) as aside:
        pq.write_table(pa.Table.from_pylist(verl_rows(problems, split)), aside, compression="zstd")


def problem_text(problem: Problem) -> str:
    """A problem as JSON text."""
    return json.dumps(asdict(problem) | {"parameters": dict(problem.parameters)}, sort_keys=True)


@lru_cache(maxsize=4096)
def problem_of(text: str) -> Problem:
    """The problem that `problem_text` wrote. Raises UserError for any other text."""
    try:
        read = json.loads(text)
        return Problem(**read | {"checks": tuple(Check(**check) for check in read["checks"])})
    except (ValueError, TypeError, KeyError) as error:
        raise UserError(f"extra_info.problem is no problem: {text[:80]!r} ({error})") from error


def truth_row(step: int, samples: Sequence[Mapping[str, Any]], per_problem: int, largest: float) -> dict[str, float]:
    """A row of `records.scicode_schemas.SCICODE_TRAINING`.

    samples: of one step, as `verl_reward` scored them (`score`, the layers, `format_ok`, `characters`); those of a
    problem stand together, `per_problem` of them. largest: reward that can be had. All values are shares, of samples or
    of prompts, but for reward and characters, which are means over samples.
    Raises UserError where the samples do not divide into problems or lack a key.
    """
    if not samples or len(samples) % per_problem:
        raise UserError(f"step {step} has {len(samples)} samples, which are not {per_problem} for each problem")
    missing = [key for key in ("score", *LAYERS, "format_ok", "characters") if key not in samples[0]]
    if missing:
        raise UserError(f"step {step}: the samples lack {', '.join(missing)}; they were scored by another reward")
    groups = [samples[start : start + per_problem] for start in range(0, len(samples), per_problem)]
    right = [sum(bool(sample["correct"]) for sample in group) for group in groups]
    paid = [float(sample["score"]) >= largest / 2 and not sample["correct"] for sample in samples]
    return {
        "step": step,
        "reward": _mean([float(sample["score"]) for sample in samples]),
        **{layer: _mean([bool(sample[layer]) for sample in samples]) for layer in (*LAYERS, "format_ok")},
        "all_right": _mean([found == per_problem for found in right]),
        "all_wrong": _mean([not found for found in right]),
        "mixed": _mean([0 < found < per_problem for found in right]),
        "zero_variance": _mean([len({float(sample["score"]) for sample in group}) == 1 for group in groups]),
        "hacking": _mean(paid),
        "characters": _mean([float(sample["characters"]) for sample in samples]),
    }


def _mean(values: Sequence[float]) -> float:
    return sum(map(float, values)) / len(values)
