"""Is a reinforcement run healthy? One table of numbers by step for whatever trained it, and what they amount to.

`diagnose` reads the metric files of any runs (`run_files`) into COLUMNS; `summary` compares the run's ends; the
warnings are in `run_warnings`. A number that a run did not log is missing, never 0: a KL that nobody measured is not a
small one.
"""

import os
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

import numpy as np
import pandas as pd

from workflow_scripts.measures import run_files
from workflow_scripts.records.errors import UserError

COLUMNS: Mapping[str, str] = {
    "reward": "reward seen by training, mean over the step's samples",
    "reward_min": "lowest reward of a sample",
    "reward_max": "highest reward of a sample",
    "correct": "share of samples that are right, whatever their reward",
    "runs": "share of samples whose program runs",
    "format_ok": "share of samples in the asked format",
    "hacking": "share of samples with at least half of the largest reward that are not right",
    "all_right": "share of prompts all of whose samples are right",
    "all_wrong": "share of prompts none of whose samples is right",
    "mixed": "share of prompts with right and wrong samples: those that can teach what is right",
    "zero_variance": "share of prompts whose samples all got one reward, so that their advantages are 0",
    "effective": "share of prompts whose samples got different rewards",
    "effective_prompts": "their number",
    "prompts": "prompts of the step",
    "entropy": "entropy of the next token, nats",
    "kl": "KL divergence from the reference policy, nats a token (as the trainer estimates it)",
    "clipped": "share of tokens whose probability ratio was clipped",
    "length": "length of a sample, mean, tokens",
    "length_max": "longest sample, tokens",
    "at_cap": "share of samples that were cut off at the longest completion",
    "grad_norm": "norm of the gradient, before clipping",
    "no_gradient": "1 where the step had no gradient: its norm is 0, or, where no norm was logged, no prompt was "
    "effective",
}
"""Column of `diagnose` and what it says of a step; NaN where it was not logged. Without groups, one sample a prompt,
nothing is said of groups."""

WINDOW = 10
"""Steps at either end of a run whose means are compared."""

_SAME_RUN = ("reward", "grad_norm")

Runs = Mapping[str, Sequence[str | os.PathLike]] | Iterable[str | os.PathLike]


def diagnose(runs: Runs) -> pd.DataFrame:
    """Columns run, step and COLUMNS, sorted by run in the given order and step.

    runs: name to its metric files; or files alone, each as NAME=PATH or named after itself (run_files.run_name). Files
    of one name are parts of one run: segments, or several records of the same steps, of which the first one that has a
    number counts. Raises UserError, naming the file, as run_files.read, and where two files of one name tell different
    rewards (or gradient norms) of one step: they are two runs.
    """
    steps: dict[str, run_files.Steps] = {}
    for name, path in _named(runs):
        for part, found in run_files.read(path).items():
            run = " ".join(filter(None, [name, part])) if name else part or run_files.run_name(path)
            _refuse_another(run, path, steps.setdefault(run, {}), found)
            run_files.add(steps[run], found)
    if not steps:
        raise UserError("no metric files were given")
    rows = [{"run": run, "step": step, **given[step]} for run, given in steps.items() for step in sorted(given)]
    frame = pd.DataFrame(rows).reindex(columns=["run", "step", *COLUMNS])
    frame[list(COLUMNS)] = frame[list(COLUMNS)].astype(float)
    return _completed(frame)


def _named(runs: Runs) -> list[tuple[str, Path]]:
    if isinstance(runs, Mapping):
        return [(name, Path(path)) for name, paths in runs.items() for path in paths]
    return [run_files.named(path) for path in runs]


def _refuse_another(run: str, path: Path, known: run_files.Steps, found: run_files.Steps) -> None:
    for step in known.keys() & found.keys():
        for column in _SAME_RUN:
            both = [numbers[step][column] for numbers in (known, found) if column in numbers[step]]
            # Files round differently: fp32 in logs, ten digits in csv
            if len(both) == 2 and not np.isclose(*both, rtol=1e-3, atol=1e-6, equal_nan=True):
                raise UserError(
                    f"{path}: step {step} of {run} has {column} {both[1]:.6g}, and {both[0]:.6g} in a file before it: "
                    "these are two runs; give each its own name, NAME=PATH"
                )


def _completed(frame: pd.DataFrame) -> pd.DataFrame:
    """What follows from what was logged."""
    frame["effective"] = 1 - frame["zero_variance"]
    frame["effective_prompts"] = (frame["effective"] * frame["prompts"]).round()
    idle = frame["grad_norm"].eq(0).where(frame["grad_norm"].notna(), frame["zero_variance"].eq(1))
    frame["no_gradient"] = idle.astype(float).where(frame["grad_norm"].notna() | frame["zero_variance"].notna())
    return frame


def summary(frame: pd.DataFrame, *, window: int = WINDOW) -> pd.DataFrame:
    """One row per run and logged column: run, measure, steps, first, last, change_se, mean, lowest, highest.

    frame: of `diagnose`. steps: those with a value. first, last: means over the first and last `window` steps, or over
    either half of a run of fewer than twice as many. change_se: standard error of last − first, steps taken as
    independent; NaN with fewer than two steps at an end. The mean of no_gradient is the share of steps without one.
    """
    rows = []
    for run, steps in frame.groupby("run", sort=False):
        steps = steps.sort_values("step")
        for measure in COLUMNS:
            values = steps[measure].dropna().to_numpy()
            if len(values):
                rows.append({"run": run, "measure": measure, **_ends(values, window)})
    columns = ["run", "measure", "steps", "first", "last", "change_se", "mean", "lowest", "highest"]
    return pd.DataFrame(rows, columns=columns)


def _ends(values: np.ndarray, window: int) -> dict[str, float]:
    count = max(1, min(window, len(values) // 2))
    first, last = values[:count], values[-count:]
    error = np.sqrt((first.var(ddof=1) + last.var(ddof=1)) / count) if count > 1 else np.nan
    return {
        "steps": len(values),
        "first": first.mean(),
        "last": last.mean(),
        "change_se": float(error),
        "mean": values.mean(),
        "lowest": values.min(),
        "highest": values.max(),
    }


def not_logged(frame: pd.DataFrame) -> pd.DataFrame:
    """Columns run, measure: what a run never says."""
    silent = frame.groupby("run", sort=False)[list(COLUMNS)].apply(lambda steps: steps.isna().all())
    return pd.DataFrame(
        [(run, measure) for run, row in silent.iterrows() for measure in COLUMNS if row[measure]],
        columns=["run", "measure"],
    )
