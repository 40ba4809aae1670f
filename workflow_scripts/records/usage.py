"""What a job took, in the columns of Snakemake's `benchmark:`, for rules whose outputs may come from a cache.

Snakemake allows either `benchmark:` or `cache:`. As an output the file travels with the results: one that was fetched
keeps the cost of the job that made it.
"""

import os
import resource
from datetime import timedelta
from pathlib import Path

from workflow_scripts.records.files import write_text


def _seconds_alive() -> float:
    """Wall seconds since this process began (Linux)."""
    begun = Path("/proc/self/stat").read_text().rpartition(")")[2].split()[19]  # ticks since the machine started
    return float(Path("/proc/uptime").read_text().split()[0]) - int(begun) / os.sysconf("SC_CLK_TCK")


def write_usage(path: str | os.PathLike) -> None:
    """Writes wall seconds, CPU seconds and peak memory (MB) of this process and its children so far, one row."""
    kinds = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    wall = _seconds_alive()
    row = {
        "s": f"{wall:.4f}",
        "h:m:s": str(timedelta(seconds=int(wall))),
        "max_rss": f"{max(kind.ru_maxrss for kind in kinds) / 1024:.2f}",
        "cpu_time": f"{sum(kind.ru_utime + kind.ru_stime for kind in kinds):.2f}",
    }
    write_text(path, "\t".join(row) + "\n" + "\t".join(row.values()) + "\n")
