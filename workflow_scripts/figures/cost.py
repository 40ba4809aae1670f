"""The cost table: what each rule of a study took, summed over its jobs from Snakemake's benchmark files."""

import math
import os
from collections.abc import Mapping, Sequence
from pathlib import Path

import pandas as pd

from workflow_scripts.records.errors import UserError

COLUMNS = ("rule", "jobs", "wall_seconds", "cpu_seconds", "longest_seconds", "peak_mb")
"""Of cost.csv. wall_seconds, cpu_seconds: summed over jobs. longest_seconds, peak_mb: of the job that had most."""


def benchmark_files(folder: str | os.PathLike) -> dict[str, list[Path]]:
    """Benchmark files by rule: those named `<rule>.tsv` or in a folder of the rule's name, sorted."""
    found: dict[str, list[Path]] = {}
    for path in sorted(Path(folder).rglob("*.tsv")):
        found.setdefault(path.relative_to(folder).parts[0].removesuffix(".tsv"), []).append(path)
    return found


def _job(path: str | os.PathLike) -> dict[str, float]:
    """Wall seconds, CPU seconds and peak memory (MB) of one job; a job that was repeated is summed."""
    path = Path(path)
    try:
        table = pd.read_csv(path, sep="\t", na_values=["-"])
        wall, resident = table["s"].astype(float), table["max_rss"].astype(float)
        # Jobs shorter than Snakemake's first look at them have no load.
        if "cpu_time" in table:
            spent = table["cpu_time"].astype(float)
        else:
            spent = table["mean_load"].astype(float) * wall / 100
    except (OSError, ValueError, KeyError) as error:
        raise UserError(
            f"{path} is not a benchmark file ({error}); delete it and run its rule again with --forcerun"
        ) from error
    if wall.empty or wall.isna().any():
        raise UserError(f"{path} holds no measured seconds; delete it and run its rule again with --forcerun")
    return {"wall": wall.sum(), "cpu": spent.sum(), "peak": resident.max()}


def costs(benchmarks: Mapping[str, Sequence[str | os.PathLike]]) -> pd.DataFrame:
    """One row per rule, columns COLUMNS, the dearest first (by CPU seconds).

    benchmarks: rule to the benchmark files of its jobs. Raises UserError, naming the file, for one that cannot be
    read.
    """
    rows = []
    for rule, paths in benchmarks.items():
        jobs = pd.DataFrame([_job(path) for path in paths], columns=["wall", "cpu", "peak"])
        longest, peak = (jobs["wall"].max(), jobs["peak"].max()) if len(jobs) else (0.0, math.nan)
        rows.append([rule, len(jobs), jobs["wall"].sum(), jobs["cpu"].sum(), longest, peak])
    table = pd.DataFrame(rows, columns=list(COLUMNS))
    return table.sort_values(["cpu_seconds", "rule"], ascending=[False, True], ignore_index=True)


def _decimal(value: float, digits: int) -> str:
    return "–" if math.isnan(value) else f"{value:,.{digits}f}"


def markdown(table: pd.DataFrame, *, unmeasured: Sequence[str] = ()) -> str:
    """The table as GitHub Markdown, with its sum and what the numbers mean.

    table: from `costs`. unmeasured: rules without benchmark files, for the note.
    """
    lines = [
        "**Cost of this study by rule**",
        "",
        "| rule | jobs | wall, s | CPU, s | longest job, s | peak memory, MB |",
        "|---|---:|---:|---:|---:|---:|",
    ]
    total = ["all", table["jobs"].sum(), table["wall_seconds"].sum(), table["cpu_seconds"].sum()]
    total += [table["longest_seconds"].max(), table["peak_mb"].max()]
    for row in [*table[list(COLUMNS)].itertuples(index=False, name=None), total]:
        rule, jobs, *seconds, peak = row
        cells = [f"**{rule}**" if rule == "all" else rule, str(jobs)]
        cells += [*(_decimal(value, 1) for value in seconds), _decimal(peak, 0)]
        lines.append("| " + " | ".join(cells) + " |")
    notes = [
        "Rows are sorted by CPU seconds. Wall seconds are summed over jobs, so that jobs that ran side by side count "
        "once each; memory is the largest resident set of any job.",
        "Times differ from run to run and from machine to machine: of all tables, this one alone is not the same "
        "bytes each time.",
        "Every job whose benchmark file lies in the study's folder counts, as it last ran: what was not made again in "
        "this run keeps the time of the run that made it.",
    ]
    if unmeasured:
        notes.append(f"Rules that are not measured: {', '.join(unmeasured)}.")
    return "\n".join([*lines, "", *(f"* {note}" for note in notes)]) + "\n"
