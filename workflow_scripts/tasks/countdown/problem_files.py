"""Problem files: the public data format (`nums` or `numbers`, `target`) and verl/TinyZero training rows.

Cells are read as JSON or as digits with separators; nothing in a file is evaluated.
"""

import csv
import json
import os
import re
from collections.abc import Callable, Iterable, Iterator
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, Any

from workflow_scripts.records.errors import UserError, closest
from workflow_scripts.records.files import atomic_file
from workflow_scripts.records.hub import from_hub
from workflow_scripts.tasks.countdown.problems import problem_id
from workflow_scripts.tasks.countdown.text import prompt as laptop_prompt

if TYPE_CHECKING:
    import pandas as pd

FEWEST_NUMBERS, MOST_NUMBERS = 2, 6
DATA_SOURCE = "countdown"

_HUB_ID = re.compile(r"[\w.-]+/[\w.-]+")
_COMMIT = re.compile(r"[0-9a-f]{40}")
_NUMBER_LIST = re.compile(r"\s*[\[(]?\s*(\d+(?:[\s,;_]+\d+)*)\s*[\])]?\s*")
_COLUMNS = ("nums", "numbers", "target", "split", "reward_model", "extra_info", "prompt", "data_source")


def read_problems(
    source: str | os.PathLike, revision: str | None = None, split: str = "train", offline: bool = False
) -> "pd.DataFrame":
    """Problems of a file (parquet, jsonl, csv) or of a dataset on the Hugging Face hub, as a PROBLEMS table.

    source: a path, or a hub id `owner/name`. revision: the commit (40 hex digits) that a hub id must be pinned to.
    Rows hold `nums` or `numbers` (2 to 6 integers, not negative) and an integer `target`, or these in verl's
    `reward_model.ground_truth`. split: for rows that name none. offline: nothing is fetched. Order and repeats are
    kept.
    Raises UserError naming file, row (from 1) and key.
    """
    return _table(source, revision, split, offline, lambda where, row: {})


def read_verl_rows(source: str | os.PathLike, revision: str | None = None, split: str = "train") -> "pd.DataFrame":
    """verl/TinyZero training rows: the PROBLEMS columns and `prompt` (list of {role, content}) and `data_source`.

    Nested fields may be structs, numpy arrays or JSON strings; a plain string prompt is one user message.
    Raises UserError as `read_problems` does.
    """
    return _table(source, revision, split, False, _verl_fields)


def to_verl_rows(
    problems: "pd.DataFrame",
    prompt_of: Callable[[list[int], int], str] = laptop_prompt,
    data_source: str = DATA_SOURCE,
) -> list[dict[str, Any]]:
    """verl's training rows (for `pyarrow.Table.from_pylist`), one per problem, in order.

    prompt_of: text of the user message for (numbers, target).
    """
    rows = []
    for index, problem in enumerate(problems.itertuples()):
        numbers, target = [int(v) for v in problem.numbers], int(problem.target)
        rows.append(
            {
                "data_source": data_source,
                "prompt": [{"role": "user", "content": prompt_of(numbers, target)}],
                "ability": "math",
                "reward_model": {"style": "rule", "ground_truth": {"numbers": numbers, "target": target}},
                "extra_info": {"split": problem.split, "index": index},
            }
        )
    return rows


def write_verl_rows(problems: "pd.DataFrame", path: str | os.PathLike, **options: Any) -> None:
    """Writes `to_verl_rows(problems, **options)` as one parquet file, whole or not at all."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    with atomic_file(path) as aside:
        pq.write_table(pa.Table.from_pylist(to_verl_rows(problems, **options)), aside, compression="zstd")


def _table(source, revision, split, offline, more: Callable[[str, dict], dict]) -> "pd.DataFrame":
    import pandas as pd

    files = _files(source, revision, offline)
    rows = []
    for file in files:
        for at, row in enumerate(_rows(file), start=1):
            where = f"{file}, row {at}"
            numbers, target = _problem(where, row)
            own = row.get("split") or _nested(where, "extra_info", row.get("extra_info")).get("split")
            entry = {"problem_id": problem_id(numbers, target), "numbers": numbers, "target": target}
            rows.append({**entry, "split": str(own or split), **more(where, row)})
    if not rows:
        raise UserError(f"{source} holds no problems")
    return pd.DataFrame(rows)


def _files(source: str | os.PathLike, revision: str | None, offline: bool) -> list[Path]:
    path = Path(source)
    if path.is_file():
        return [path]
    if path.exists() or not _HUB_ID.fullmatch(str(source)) or path.suffix in _READERS:
        raise UserError(
            f"{source} is no file; give a parquet, jsonl or csv file, or a hub id owner/name with a revision"
        )
    if not revision or not _COMMIT.fullmatch(revision):
        raise UserError(f"{source}: pin the hub dataset to a commit (revision: 40 hex digits), not {revision!r}")
    patterns = tuple(f"*{suffix}" for suffix in _READERS)
    folder, names = from_hub(str(source), revision, None, patterns, offline, kind="dataset", recursive=True)
    files = sorted(folder / name for name in names if Path(name).suffix in _READERS)
    if not files:
        raise UserError(f"{source} at {revision} holds no parquet, jsonl or csv file")
    return files


def _rows(file: Path) -> Iterator[dict[str, Any]]:
    reader = _READERS.get(file.suffix)
    if reader is None:
        raise UserError(f"{file}: unknown kind {file.suffix!r}; use {', '.join(_READERS)}")
    rows = reader(file)
    try:
        first = next(rows, None)
    except (OSError, UnicodeDecodeError) as error:
        raise UserError(f"{file} cannot be read: {error}") from error
    return iter(()) if first is None else chain([first], rows)


def _parquet_rows(file: Path) -> Iterator[dict[str, Any]]:
    import pyarrow as pa
    import pyarrow.parquet as pq

    try:
        opened = pq.ParquetFile(file)
        names = [name for name in opened.schema_arrow.names if name in _COLUMNS] or opened.schema_arrow.names
        for batch in opened.iter_batches(columns=names):
            yield from batch.to_pylist()
    except (pa.ArrowException, OSError) as error:
        raise UserError(f"{file} is not a readable parquet file ({error})") from error


def _jsonl_rows(file: Path) -> Iterator[dict[str, Any]]:
    with file.open(encoding="utf-8") as lines:
        for at, line in enumerate(lines, start=1):
            if not line.strip():
                continue
            try:
                row = json.loads(line)
            except ValueError as error:
                raise UserError(f"{file}, line {at}: not JSON ({error})") from error
            if not isinstance(row, dict):
                raise UserError(
                    f"{file}, line {at}: expected an object with numbers and target, got {line.strip()[:60]}"
                )
            yield row


def _csv_rows(file: Path) -> Iterator[dict[str, Any]]:
    with file.open(encoding="utf-8-sig", newline="") as lines:
        yield from csv.DictReader(lines)


_READERS = {".parquet": _parquet_rows, ".jsonl": _jsonl_rows, ".csv": _csv_rows}


def _nested(where: str, name: str, value: Any) -> dict[str, Any]:
    """A nested field that may be a mapping, a JSON string of one, or absent."""
    if isinstance(value, str) and value.strip():
        try:
            value = json.loads(value)
        except ValueError as error:
            raise UserError(f"{where}: {name} is not JSON ({error})") from error
    if value is None or value == "":
        return {}
    if not isinstance(value, dict):
        raise UserError(f"{where}: {name} must be a mapping, not {value!r:.60}")
    return value


def _problem(where: str, row: dict[str, Any]) -> tuple[list[int], int]:
    model = _nested(where, "reward_model", row.get("reward_model"))
    truth = _nested(where, "reward_model.ground_truth", model.get("ground_truth")) or row
    name = next((name for name in ("numbers", "nums") if truth.get(name) is not None), None)
    for wanted, present in (("numbers", name), ("target", truth.get("target"))):
        if present is None:
            hint = next(filter(None, (closest(wanted, [str(k)]) for k in truth)), "")
            raise UserError(
                f"{where}: no {wanted!r}{' (or nums)' if wanted == 'numbers' else ''}; it has {list(truth)}{hint}"
            )
    numbers = _integers(where, name, truth[name])
    target = _integer(where, "target", truth["target"])
    if not FEWEST_NUMBERS <= len(numbers) <= MOST_NUMBERS or min(numbers) < 0:
        limits = f"{FEWEST_NUMBERS} to {MOST_NUMBERS} integers that are not negative"
        raise UserError(f"{where}: {name} must be {limits}, not {numbers}")
    return numbers, target


def _integers(where: str, name: str, value: Any) -> list[int]:
    if isinstance(value, str):
        found = _NUMBER_LIST.fullmatch(value)
        if not found:
            raise UserError(f"{where}: {name} must look like [4, 5, 7] or 4 5 7, not {value!r:.60}")
        return [int(digits) for digits in re.findall(r"\d+", found[1])]
    if isinstance(value, dict | bytes) or not isinstance(value, Iterable):
        raise UserError(f"{where}: {name} must be a list of integers, not {value!r:.60}")
    return [_integer(where, name, item) for item in value]


def _integer(where: str, name: str, value: Any) -> int:
    """An int from an int, a whole float (columns with gaps become floats) or a string of digits; numpy's kinds too."""
    value = value.item() if hasattr(value, "item") else value
    if isinstance(value, str) and re.fullmatch(r"\s*-?\d+(?:\.0+)?\s*", value):
        value = float(value) if "." in value else int(value)
    if isinstance(value, bool) or not isinstance(value, int | float) or value != value // 1:
        raise UserError(f"{where}: {name} must be an integer, not {value!r:.60}")
    return int(value)


def _verl_fields(where: str, row: dict[str, Any]) -> dict[str, Any]:
    messages = row.get("prompt")
    if isinstance(messages, str):
        try:
            decoded = json.loads(messages)
        except ValueError:
            decoded = None
        messages = decoded if isinstance(decoded, list) else [{"role": "user", "content": messages}]
    if not isinstance(messages, list) or not messages:
        raise UserError(f"{where}: prompt must be a list of messages or a text, not {messages!r:.60}")
    for message in messages:
        if not isinstance(message, dict) or not {"role", "content"} <= set(message):
            raise UserError(f"{where}: a message of prompt lacks role or content: {message!r:.60}")
    prompt = [{"role": str(m["role"]), "content": str(m["content"])} for m in messages]
    return {"prompt": prompt, "data_source": str(row.get("data_source") or DATA_SOURCE)}
