"""Jobs run with the Python that runs Snakemake and with the package of the checkout that they belong to."""

import os
import shlex
import sys
from pathlib import Path


def hand_to_jobs(root: Path) -> None:
    """Makes the package of the checkout at `root` the one that jobs import, whatever is installed in the environment.

    Jobs inherit PYTHONPATH. `script:` puts the interpreter's path into a shell command without quoting it, so a path
    with spaces is quoted here.
    """
    inherited = os.environ.get("PYTHONPATH", "")
    if str(root) not in inherited.split(os.pathsep):
        os.environ["PYTHONPATH"] = os.pathsep.join(filter(None, [str(root), inherited]))
    if sys.executable != shlex.quote(sys.executable) and Path(sys.executable).exists():
        sys.executable = shlex.quote(sys.executable)


def fetch_nothing() -> None:
    """Tells jobs, by the hub's own variable, that nothing is to be fetched: no param of theirs, since it changes no
    result."""
    os.environ["HF_HUB_OFFLINE"] = "1"
