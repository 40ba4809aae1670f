"""Failed jobs stay to be done.

Snakemake notes a job that failed as it notes one that succeeded (its params, its inputs' checksums), and removes its
outputs. Where files made from those outputs in an earlier run still exist, the next run would see nothing to do and the
old tables would pass for new ones. Seen with 9.27.1.
"""

from pathlib import Path
from typing import Any

FAILED = "'the job failed'"
"""Stands among the noted params of a failed job; a dry run shows it as what has changed."""


def keep_to_be_done(dag: Any, persistence: Any) -> list[str]:
    """Changes what Snakemake noted of jobs that should have run and lack an output; returns their outputs.

    dag, persistence: those of the workflow that failed.
    """
    marked = []
    for job in dag.needrun_jobs():
        if all(Path(path).exists() for path in job.output):
            continue
        for path in job.output:
            noted = persistence.metadata(path)
            if noted is not None:
                noted.params = [FAILED]
                persistence._write_record(str(path), noted)
                marked.append(str(path))
    return marked
