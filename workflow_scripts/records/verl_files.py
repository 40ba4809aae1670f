"""What verl leaves behind of a run, read: its `file` logger (jsonl), its records of the samples, its console output.

Numbers keep verl's own names here; who reads them says which ones it means.
"""

import json
import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, Literal

from workflow_scripts.records.errors import UserError

Kind = Literal["log", "samples", "either"]

_NOT_ONE = {
    "log": "not a line of verl's log ({error})",
    "samples": "not a sample of verl's records ({error!r})",
    "either": "neither of verl's log nor of its samples ({error!r})",
}
_COLOUR = re.compile(r"\x1b\[[0-9;]*m")
_STEP = re.compile(r"\bstep:(\d+) - (.+)")
_BOXED = re.compile(r"np\.\w+\((.*)\)")  # numpy 2 shows its scalars so


def entries(path: Path, kind: Kind, *, strict: bool) -> list[dict[str, Any]]:
    """The lines of a jsonl file of verl, in order.

    log: `step` and `data`, its numbers. samples: as recorded, with `input` a text and `score` a number. either: a line
    with `data` is of a log, another a sample; each with its `step`, by default the file's name.
    strict: of a run that has ended. Otherwise it may go on or have been killed: a last line that breaks off is left out
    unless it is the only one, and what is no text is replaced. Raises UserError, naming file and line, for any other
    line of another kind.
    """
    found = []
    read = lines(path, strict=strict)
    for at, line in enumerate(read, start=1):
        try:
            found.append(_entry(json.loads(line), kind, path))
        except (ValueError, KeyError, TypeError, AttributeError) as error:
            if not strict and found and at == len(read):
                break
            raise UserError(f"{path}, line {at}: {_NOT_ONE[kind].format(error=error)}") from error
    return found


def _entry(told: Any, kind: Kind, path: Path) -> dict[str, Any]:
    if kind == "log":
        return {"step": int(told["step"]), "data": dict(told["data"])}
    if kind == "samples":
        return told | {"score": float(told["score"]), "input": str(told["input"])}
    kept = {"data": dict(told["data"])} if "data" in told else {"score": float(told["score"])}
    return told | kept | {"step": int(told.get("step", path.stem))}


def lines(path: Path, *, strict: bool) -> list[str]:
    """The lines of a text file of verl; strict as in `entries`. Raises UserError where it cannot be read."""
    try:
        text = path.read_text(encoding="utf-8", errors="strict" if strict else "replace")
    except (OSError, UnicodeError) as error:
        why = "is missing or unreadable: verl did not write it" if strict else f"cannot be read: {error}"
        raise UserError(f"{path} {why}") from error
    # Not splitlines: verl writes U+2028 and its like as they stand in a sample.
    return text.removesuffix("\n").split("\n") if text else []


def numbers_of_console(line: str) -> tuple[int, Mapping[str, float]] | None:
    """Step and numbers of a line of console output (`step:3 - actor/entropy:0.27 - …`, with whatever stands before it);
    None where it holds none."""
    found = _STEP.search(_COLOUR.sub("", line))
    return (int(found[1]), dict(_pairs(found[2]))) if found else None


def _pairs(text: str) -> Iterator[tuple[str, float]]:
    for pair in text.split(" - "):
        key, _, value = pair.strip().rpartition(":")
        boxed = _BOXED.fullmatch(value)
        try:
            yield key, float(boxed[1] if boxed else value)
        except ValueError:
            continue
