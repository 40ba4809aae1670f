"""Maths benchmarks as published: six files with six sets of fields, read into one table.

Fields are named in a closed map per benchmark; the first name that a row has is taken. A file is local, or fetched from
the hub at a pinned revision; nothing in it is evaluated.
"""

import json
import os
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from math import isfinite
from pathlib import Path
from typing import Any

import pandas as pd

from workflow_scripts.records import manifests
from workflow_scripts.records.errors import UserError, closest
from workflow_scripts.records.maths_schemas import MATHS_PROBLEMS
from workflow_scripts.tasks.maths.extraction import last_box

LIMIT = 500
"""Most problems of one benchmark (paper)."""


def _plain(value: Any) -> str:
    if isinstance(value, bool) or not isinstance(value, str | int | float):
        raise ValueError("is neither text nor a number")
    if isinstance(value, float) and not isfinite(value):
        raise ValueError(f"is {value}, no number")
    return str(int(value)) if isinstance(value, float) and value.is_integer() else str(value).strip()


def _after_hashes(value: Any) -> str:
    _, marker, gold = _plain(value).rpartition("####")
    if not marker or not gold.strip():
        raise ValueError("has no answer after ####")
    return gold.strip()


def _boxed(value: Any) -> str:
    box, detail = last_box(_plain(value))
    if not box:
        raise ValueError(f"has no answer in a closed \\boxed{{}}{detail and f' ({detail})'}")
    return box


def _listed(value: Any) -> str:
    if isinstance(value, str):
        return value.strip()
    parts = [_plain(part) for part in value] if isinstance(value, list | tuple) else []
    if not parts or not all(parts):
        raise ValueError("is not a list of answers")
    return ", ".join(parts)


@dataclass(frozen=True)
class Fields:
    """Names of a benchmark's fields in order of preference. gold: (name, how its text becomes the answer).

    id: empty where a problem is called by its place in the file. context: a text that comes before the question.
    """

    question: tuple[str, ...]
    gold: tuple[tuple[str, Callable[[Any], str]], ...]
    id: tuple[str, ...] = ()
    level: tuple[str, ...] = ()
    context: tuple[str, ...] = ()


BENCHMARKS: Mapping[str, Fields] = {
    "gsm8k": Fields(("question",), (("answer", _after_hashes),), ("idx",)),
    # Its rows are called by a path; in the order of paths the first N would be of one subject.
    "math500": Fields(("problem",), (("answer", _plain),), level=("level",)),
    "minerva_math": Fields(("problem", "question"), (("answer", _plain), ("solution", _boxed)), ("idx",)),
    "olympiadbench": Fields(("question",), (("final_answer", _listed),), ("id",), context=("context",)),
    "amc23": Fields(("question", "problem"), (("answer", _plain),), ("id",)),
    "aime24": Fields(("question", "problem"), (("answer", _plain), ("solution", _boxed)), ("id",)),
}
"""Field maps of the benchmarks of the paper."""


def read_benchmark(
    name: str, path: str | os.PathLike, *, limit: int | None = None, sha256: str | None = None
) -> pd.DataFrame:
    """MATHS_PROBLEMS of a benchmark, in the order of its ids.

    name: one of BENCHMARKS. path: jsonl, json (a list of rows) or parquet. limit: the first so many, 1 to LIMIT
    (default LIMIT). sha256: what the file must hash to, where it is pinned. problem_id is `gsm8k-0012`: the file's
    number, or the place in the file from 0 where it has none.
    Raises UserError naming file and row (from 1) for unknown benchmarks, missing fields, unusable values, and ids given
    twice.
    """
    if name not in BENCHMARKS:
        known = list(BENCHMARKS)
        raise UserError(f"there is no benchmark {name!r}{closest(name, known)}; known ones: {', '.join(known)}")
    if limit is not None and not 1 <= limit <= LIMIT:
        raise UserError(f"{name}: limit must be 1 to {LIMIT}, not {limit}")
    path = Path(path)
    if not path.is_file():
        raise UserError(f"{path} (benchmark {name}) does not exist; fetch it, or point the config at a local file")
    if sha256 is not None and (found := manifests.sha256(path)) != sha256:
        raise UserError(f"{path} (benchmark {name}) has SHA-256 {found}, not the pinned {sha256}; fetch it again")
    rows = [_problem(name, path, number, row) for number, row in enumerate(_rows(path), 1)]
    if not rows:
        raise UserError(f"{path} (benchmark {name}) holds no problems")
    seen: dict[int, int] = {}
    for number, (index, _) in enumerate(rows, 1):
        if seen.setdefault(index, number) != number:
            raise UserError(f"{path}: rows {seen[index]} and {number} have one id, {index}")
    rows.sort(key=lambda row: row[0])
    frame = pd.DataFrame([row for _, row in rows[: limit or LIMIT]], columns=MATHS_PROBLEMS.names)
    return frame.astype({"level": object})


def summary(problems: pd.DataFrame) -> pd.DataFrame:
    """One row per benchmark: benchmark, problems, and words: mean number of words of a question (not of tokens, which
    differ from policy to policy).

    problems: MATHS_PROBLEMS.
    """
    measured = problems.assign(words=problems["question"].map(lambda text: len(text.split())))
    return measured.groupby("benchmark")["words"].agg(problems="size", words="mean").reset_index()


def _rows(path: Path) -> Iterator[dict]:
    try:
        if path.suffix == ".parquet":
            import pyarrow.parquet as pq

            yield from pq.read_table(path).to_pylist()
            return
        text = path.read_text(encoding="utf-8-sig")  # files saved on Windows begin with a byte-order mark
        if path.suffix == ".json":
            rows = json.loads(text)
            yield from rows if isinstance(rows, list) else [rows]
            return
    except (OSError, ValueError, RecursionError) as error:
        raise UserError(f"{path} cannot be read ({error}); benchmarks are .jsonl, .json or .parquet") from error
    # Not splitlines: U+2028 and its like stand inside questions.
    for number, line in enumerate(text.split("\n"), 1):
        if line.strip():
            try:
                yield json.loads(line)
            except (ValueError, RecursionError) as error:
                raise UserError(f"{path}: line {number} is not JSON ({error})") from error


def _problem(name: str, path: Path, number: int, row: Any) -> tuple[int, dict[str, str | None]]:
    where, fields = f"{path}: row {number} (benchmark {name})", BENCHMARKS[name]
    if not isinstance(row, dict):
        raise UserError(f"{where} is not an object with fields")

    def value(names: tuple[str, ...]) -> Any:
        return next((row[field] for field in names if row.get(field) is not None), None)

    question = value(fields.question)
    if not isinstance(question, str) or not question.strip():
        raise UserError(f"{where} has no text in {' or '.join(fields.question)}; it has {', '.join(map(str, row))}")
    gold = next(((field, read) for field, read in fields.gold if row.get(field) is not None), None)
    if gold is None:
        raise UserError(f"{where} has no {' or '.join(f for f, _ in fields.gold)}; it has {', '.join(map(str, row))}")
    try:
        answer = gold[1](row[gold[0]])
    except ValueError as error:
        raise UserError(f"{where}: {gold[0]} {error}") from error
    if not answer:
        raise UserError(f"{where}: {gold[0]} is empty")
    index = value(fields.id)
    index = number - 1 if index is None else index
    if isinstance(index, str) and index.isascii() and index.isdecimal() and len(index) < 10:
        index = int(index)
    if isinstance(index, bool) or not isinstance(index, int) or index < 0:
        raise UserError(f"{where}: {fields.id[0]} must be a whole number, not {index!r}")
    context, level = value(fields.context), value(fields.level)
    asked = (
        f"{context.strip()}\n{question.strip()}" if isinstance(context, str) and context.strip() else question.strip()
    )
    row = {"benchmark": name, "problem_id": f"{name}-{index:04d}", "question": asked, "gold": answer}
    row |= {"level": None if level is None else str(level)}
    for text in filter(None, row.values()):
        try:
            text.encode()
        except UnicodeEncodeError as error:
            raise UserError(f"{where} holds half a character: {text[error.start]!r} without its other half") from error
    return index, row
