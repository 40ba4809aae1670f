"""No limit on the jobs that start in a second, where they run on this machine.

Snakemake 9.27.1 always has such a limit. For it, the scheduler looks at all waiting jobs once more a second after every
look, and each job that ends begins another row of looks: after a hundred jobs it looks many times a second, which took
a sixth of one core. The number of cores limits local jobs better; what is sent to a cluster keeps the limit.
"""

from typing import Any


def start_when_a_core_is_free(workflow: Any) -> None:
    """Takes the limit off the scheduler of a workflow whose jobs run here; for `onstart`."""
    if workflow.local_exec:
        workflow.scheduler.job_rate_limiter = None
