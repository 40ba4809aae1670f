"""Progress bars for long jobs: rate and time left, written to the job's log."""

import sys
from collections.abc import Iterable
from typing import Any


def progress(things: Iterable | None = None, *, total: int | None = None, title: str, unit: str = "it") -> Any:
    """A tqdm bar on stderr (the job's log); a line every few seconds where the output is no terminal."""
    from tqdm import tqdm

    interactive = sys.stderr.isatty()
    return tqdm(
        things,
        total=total,
        desc=title,
        unit=unit,
        file=sys.stderr,
        ascii=not interactive,
        ncols=100,
        mininterval=0.2 if interactive else 5,
        dynamic_ncols=False,
    )
