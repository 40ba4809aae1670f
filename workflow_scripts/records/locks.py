"""The lock that a killed Snakemake leaves in its working directory, and whether anyone still holds it.

Snakemake's lock files name no process. A run is alive when a process that works in the folder is Snakemake itself or a
job of its (`.snakemake/scripts/`), which may outlive it.
"""

import os
from pathlib import Path

from workflow_scripts.records.errors import UserError

_PROCESSES = Path("/proc")


def _arguments(process: Path) -> list[str]:
    return process.joinpath("cmdline").read_bytes().decode(errors="replace").split("\0")


def _is_workflow(arguments: list[str]) -> bool:
    names = [Path(argument).name for argument in arguments[:3]]
    return "snakemake" in names or any("/.snakemake/scripts/" in argument for argument in arguments)


def live_runs(folder: str | os.PathLike) -> list[int]:
    """Ids of the processes that run a workflow in `folder`, this one and its parents left out."""
    folder = Path(folder).resolve()
    found = []
    for process in _PROCESSES.glob("[0-9]*"):
        try:
            if process.joinpath("cwd").resolve(strict=True) == folder and _is_workflow(_arguments(process)):
                found.append(int(process.name))
        except OSError:
            continue  # it ended meanwhile, or belongs to someone else
    return sorted(set(found) - {os.getpid(), os.getppid()})


def clear_stale_lock(folder: str | os.PathLike = ".") -> bool:
    """Removes the lock of a run that is dead; True if there was one.

    Raises UserError, naming the processes, where the run is alive.
    """
    locks = sorted(Path(folder).glob(".snakemake/locks/*.lock"))
    if not locks:
        return False
    alive = live_runs(folder)
    if alive:
        raise UserError(
            f"{Path(folder).resolve()} is in use by a running workflow (process {', '.join(map(str, alive))}); "
            "wait until it ends, or stop it"
        )
    for lock in locks:
        lock.unlink(missing_ok=True)
    return True
