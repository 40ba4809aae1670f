"""`entrances judge TASK FILE`: answers or completions of a file judged row by row, by the task's own `judge_rows`."""

import argparse
import json
import sys
from collections.abc import Callable, Generator, Iterator, Mapping
from contextlib import closing
from pathlib import Path
from typing import Any, NamedTuple, get_args

from workflow_scripts.commands import command
from workflow_scripts.records.errors import UserError
from workflow_scripts.tasks.scicode.extraction import Form

Rows = Iterator[dict[str, Any]]
Verdicts = Generator[dict[str, Any], None, None]


class Task(NamedTuple):
    """A task whose answers can be judged. row: what its verdicts tell and its rows hold, for people. example: the
    arguments of one. options: of its own, as `add_argument` takes them. verdicts: one a row, as they are asked for."""

    row: str
    example: str
    options: Mapping[str, Mapping[str, Any]]
    verdicts: Callable[[Rows, argparse.Namespace], Verdicts]


def add(commands: "argparse._SubParsersAction") -> None:
    """Adds `judge` with a subcommand for each of TASKS."""
    judge = commands.add_parser("judge", help="Judge answers or completions from a file.")
    names = judge.add_subparsers(required=True, metavar="TASK")
    for name, task in TASKS.items():
        does = f"One JSON verdict a line, in the order of the rows{task.row}"
        parser = command(names, name, does, f"entrances judge {name} {task.example}", _judge)
        parser.set_defaults(task=task)
        parser.add_argument("file", type=Path, help="jsonl or parquet")
        for flag, option in task.options.items():
            parser.add_argument(flag, **option)
        parser.add_argument("--json", action="store_true", help="accepted for symmetry: verdicts are always JSON lines")


def _judge(arguments: argparse.Namespace) -> None:
    # Closed however it ends: workers and sandboxes wait behind it.
    with closing(arguments.task.verdicts(_rows(arguments.file), arguments)) as verdicts:
        for verdict in verdicts:
            print(json.dumps(verdict))  # in ASCII: readers split at U+2028, and half a surrogate pair has no UTF-8


def _rows(path: Path) -> Rows:
    """Rows of a jsonl or parquet file as plain dicts. Raises UserError naming file and line."""
    if not path.is_file():
        raise UserError(f"{path}: no such file")
    if path.suffix == ".parquet":
        import pyarrow as pa
        import pyarrow.parquet as pq

        try:
            for batch in pq.ParquetFile(path).iter_batches():
                yield from batch.to_pylist()
        except (pa.ArrowInvalid, OSError) as error:
            raise UserError(f"{path} is not a readable parquet file: {error}") from error
        return
    with path.open(encoding="utf-8-sig", errors="replace") as lines:
        for number, line in enumerate(lines, start=1):
            if not line.strip():
                continue
            try:
                row = json.loads(line)
            except (ValueError, RecursionError) as error:
                raise UserError(f"{path}, line {number}: not valid JSON ({error})") from error
            if not isinstance(row, dict):
                raise UserError(f"{path}, line {number}: a JSON object is needed, not {type(row).__name__}")
            yield row


def _countdown(rows: Rows, arguments: argparse.Namespace) -> Verdicts:
    from workflow_scripts.tasks.countdown.judging import judge_rows

    yield from judge_rows(rows, contract=arguments.contract)


def _maths(rows: Rows, arguments: argparse.Namespace) -> Verdicts:
    from workflow_scripts.tasks.maths.judging import judge_rows

    yield from judge_rows(rows, symbolic=not arguments.exact)


def _scicode(rows: Rows, arguments: argparse.Namespace) -> Verdicts:
    from workflow_scripts.tasks.scicode.rows import judge_rows
    from workflow_scripts.tasks.scicode.sandbox import Limits, Sandbox

    with Sandbox(Limits(cpu_seconds=arguments.seconds), isolation=arguments.isolation) as sandbox:
        print(f"sandbox: {sandbox.isolation.name}, open to: {', '.join(sandbox.isolation.leaves)}", file=sys.stderr)
        yield from judge_rows(rows, sandbox, form=arguments.form)


TASKS = {
    "countdown": Task(
        row=". A row has `numbers`, `target` and either `answer` (the bare text) or `completion`.",
        example="completions.jsonl --contract strict",
        options={"--contract": {"default": "strict", "help": "strict (default), paper_ppo or paper_grpo"}},
        verdicts=_countdown,
    ),
    "maths": Task(
        row=". A row has `gold` and either `answer` or `completion`; `question` (does it ask for a percentage?) and "
        "`tolerance` if wanted.",
        example="answers.jsonl",
        options={
            "--exact": {"action": "store_true", "help": "exact comparison alone, without the symbolic worker"},
        },
        verdicts=_maths,
    ),
    "scicode": Task(
        row=": extracted, parses, defines, runs, typed, correct. A row has `completion` or `code`, and `checks` (a "
        "list of {kind, expected, args, tolerance}) or a `reference` program. Programs run in the sandbox, which a "
        "line on stderr describes.",
        example="programs.jsonl",
        options={
            "--seconds": {"type": float, "default": 2.0, "help": "processor time of one program (default: 2)"},
            "--isolation": {
                "default": "auto",
                "help": "auto (default: the strongest that works), namespaces, bubblewrap, process",
            },
            "--form": {
                "choices": get_args(Form),
                "default": "any",
                "help": "the program of a completion: its fenced block, the raw text after the thinking, or any "
                "(default: a block, else the whole text if that is a program)",
            },
        },
        verdicts=_scicode,
    ),
}
