"""What a reinforcement run left behind, read plainly: metric tables, verl's logs, verl's records of the samples.

Read here are the tables of `records.schemas.TRAINING` and `records.scicode_schemas.SCICODE_TRAINING` (parquet; csv,
also with columns `line` and `seed`), the table that run_diagnostics makes of them, those of other trainers as far as
they have the same columns, the lines of verl's `file` logger (jsonl), verl's console output (`step:3 -
actor/entropy:0.27 - …`, with whatever stands before it), its records of the samples (`rollouts/3.jsonl`), and a state
folder, which has log and records. No number is made up: what a file does not say is missing. Nothing is unpickled.
"""

import json
import math
import os
import re
from collections.abc import Iterable, Mapping
from pathlib import Path

import pandas as pd

from workflow_scripts.measures.run_samples import numbers_of
from workflow_scripts.records import verl_files
from workflow_scripts.records.errors import UserError
from workflow_scripts.records.manifests import manifest_of

Steps = dict[int, dict[str, float]]
"""Numbers by step and column of run_diagnostics.COLUMNS."""

_ALIKE = (
    "reward", "kl", "clipped", "grad_norm", "length", "zero_variance", "all_right", "all_wrong", "mixed", "correct",
    "runs", "format_ok", "hacking", "entropy", "at_cap", "reward_min", "reward_max", "length_max", "prompts",
)  # fmt: skip
_OF_TABLES = {"token_entropy": "entropy", "truncated": "at_cap"} | {name: name for name in _ALIKE}

_OF_VERL = {
    "reward": ("critic/score/mean",),  # `critic/rewards` has a penalty on KL taken off
    "reward_min": ("critic/score/min",),
    "reward_max": ("critic/score/max",),
    "entropy": ("actor/entropy",),
    # From the reference; `actor/ppo_kl` is from the policy that sampled, `rollout_corr/kl` between two engines
    "kl": ("actor/kl_loss", "actor/reward_kl_penalty"),
    "clipped": ("actor/pg_clipfrac",),
    "grad_norm": ("actor/grad_norm",),
    "length": ("response_length/mean",),
    "length_max": ("response_length/max",),
    "at_cap": ("response_length/clip_ratio",),
}
"""Keys of verl's log, the first one that a step has."""

_STEP = re.compile(r"-step\d+.*")


def run_name(path: Path) -> str:
    """What a run is called after its file: `grpo-s1` for grpo-s1-step25.parquet and for the state grpo-s1-step25/."""
    path = path.absolute()
    if path.name in {"metrics.jsonl", "rollouts"}:
        path = path.parent
    elif path.parent.name == "rollouts":
        path = path.parents[1]
    return _STEP.sub("", path.name if path.is_dir() else path.stem) or path.name


def named(run: str | os.PathLike) -> tuple[str, Path]:
    """(Name, path) of NAME=PATH; the name is "" for a bare path."""
    name, equals, path = os.fspath(run).partition("=")
    return (name, Path(path)) if equals and not Path(run).exists() else ("", Path(run))


def read(path: Path) -> dict[str, Steps]:
    """The runs of a file or folder: "" for the one that it is about; `line-s1` for those that a csv tells apart.

    Raises UserError, naming the file, for what is missing, damaged, or no record of a run.
    """
    if path.is_dir():
        return {"": _folder(path)}
    if not path.is_file():
        raise UserError(f"{path}: no such file or folder; give a metric file, a log, or a state folder of verl")
    if path.suffix in {".parquet", ".csv"}:
        return _tables(path)
    return {"": _json_lines(path) if path.suffix == ".jsonl" else _console(path)}


def _folder(path: Path) -> Steps:
    log = path / "metrics.jsonl"
    files = ([log] if log.is_file() else []) + recorded(path)
    if not files:
        raise UserError(f"{path} holds neither metrics.jsonl nor rollouts/; give a state folder of verl, or a file")
    steps: Steps = {}
    for file in files:
        add(steps, _json_lines(file))
    return steps


def recorded(path: Path) -> list[Path]:
    """The files of samples of a state folder, or of its folder `rollouts` itself; none where verl wrote none."""
    found = [*path.glob("rollouts/*.jsonl"), *path.glob("*.jsonl")]
    return sorted(file for file in found if file.stem.isdecimal())


def add(steps: Steps, more: Steps) -> None:
    """Fills in what `steps` does not have yet."""
    for step, numbers in more.items():
        steps[step] = numbers | steps.get(step, {})


def _tables(path: Path) -> dict[str, Steps]:
    try:
        frame = pd.read_parquet(path) if path.suffix == ".parquet" else pd.read_csv(path)
    except Exception as error:  # pyarrow and pandas raise many kinds
        raise UserError(f"{path} is not a readable {path.suffix[1:]} file: {error}") from error
    known = [name for name in _OF_TABLES if name in frame]
    if "step" not in frame or not known:
        raise UserError(
            f"{path} is no table of a training: it needs a column `step` and one of {', '.join(_OF_TABLES)}"
        )
    keys = ["run"] if "run" in frame else [key for key in ("line", "seed") if key in frame]
    shape = _shape(path)
    if not keys:
        return {"": _table(frame, known, shape)}
    groups = frame.groupby(keys, sort=False)
    return {"-s".join(map(str, key)): _table(rows, known, shape) for key, rows in groups}


def _table(frame: pd.DataFrame, known: Iterable[str], shape: Mapping[str, float]) -> Steps:
    steps = {}
    alone = shape.get("samples") == 1 or _with_critic_alone(frame)
    for row in frame.to_dict("records"):
        numbers = {_OF_TABLES[name]: float(row[name]) for name in known if row[name] is not None}
        if alone:
            numbers.pop("zero_variance", None)
        if "prompts" in shape:
            numbers["prompts"] = shape["prompts"]
        steps[int(row["step"])] = {name: value for name, value in numbers.items() if not math.isnan(value)}
    return steps


def _with_critic_alone(frame: pd.DataFrame) -> bool:
    # One sample a prompt has no group. The built-in trainer then says 1 at every step, and a critic is what learns.
    if not {"value_loss", "zero_variance"} <= set(frame):
        return False
    return bool((frame["value_loss"] != 0).any() and (frame["zero_variance"] == 1).all())


def _shape(path: Path) -> dict[str, float]:
    """prompts and samples a step, from the manifest beside a table, where one says so."""
    try:
        params = json.loads(manifest_of(path).read_text(encoding="utf-8"))["params"]
    except (OSError, ValueError, KeyError, TypeError):
        return {}
    for given in [params, *params.values()] if isinstance(params, dict) else []:
        if isinstance(given, dict) and {"prompts", "samples"} <= given.keys():
            return {name: float(given[name]) for name in ("prompts", "samples")}
    return {}


def entries(path: Path) -> list[dict]:
    """The objects of a jsonl file: lines of verl's `file` logger, with `data`, or its samples, with `score`; each with
    its `step`.

    A last line that breaks off is left out: a run that was killed, or still goes on, leaves one. Raises UserError,
    naming file and line, for another line that is neither.
    """
    found = verl_files.entries(path, "either", strict=False)
    if not found:
        raise UserError(f"{path} is empty: no step was logged")
    return found


def _json_lines(path: Path) -> Steps:
    steps: Steps = {}
    samples: dict[int, list[dict]] = {}
    for entry in entries(path):
        if "data" in entry:
            steps.setdefault(entry["step"], {}).update(_of_verl(entry["data"]))
        else:
            samples.setdefault(entry["step"], []).append(entry)
    add(steps, {step: numbers_of(given) for step, given in samples.items()})
    return steps


def _console(path: Path) -> Steps:
    steps: Steps = {}
    for line in verl_files.lines(path, strict=False):
        told = of_console(line)
        if told:
            steps.setdefault(told[0], {}).update(told[1])
    if not any(steps.values()):
        raise UserError(f"{path} holds no line of verl's metrics (`step:1 - actor/entropy:0.3 - …`)")
    return steps


def of_console(line: str) -> tuple[int, dict[str, float]] | None:
    """Step and numbers of a line of console output; None where it holds none."""
    told = verl_files.numbers_of_console(line)
    return (told[0], _of_verl(told[1])) if told else None


def _of_verl(logged: Mapping[str, object]) -> dict[str, float]:
    found = {}
    for column, keys in _OF_VERL.items():
        values = [logged[key] for key in keys if isinstance(logged.get(key), int | float)]
        if values and not math.isnan(values[0]):
            found[column] = float(values[0])
    return found
