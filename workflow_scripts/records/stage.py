"""What every stage does around its work: log, clear errors, manifests.

A stage file ends with `run(main, snakemake)`; its `main(input, output, params, wildcards)` reads and writes files and
calls the library. What decides a result stands among the params, so that changing it makes the result stale; where a
job runs and whom it asks does not, and a stage finds it in the config by `elsewhere`.
"""

import os
import sys
import traceback
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any

from workflow_scripts.records import manifests
from workflow_scripts.records.errors import UserError
from workflow_scripts.records.files import explained, is_full_disk
from workflow_scripts.records.usage import write_usage

_NOT_IN_MANIFEST = ("code",)


def _log_to(path: str) -> None:
    """Sends stdout and stderr, those of libraries in C included, to the rule's log from now on."""
    Path(path).parent.mkdir(parents=True, exist_ok=True)
    handle = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o644)
    sys.stdout.flush()
    sys.stderr.flush()
    os.dup2(handle, 1)
    os.dup2(handle, 2)
    os.close(handle)


def elsewhere(snakemake: Any, *keys: str) -> Any:
    """A value or section of the config that decides no result, None where there is none."""
    found: Any = snakemake.config
    for key in keys:
        found = (found or {}).get(key)
    return found


def refuse_other_engines(engine: str) -> None:
    """Raises UserError for an engine that this rule has no way of using."""
    if engine != "built_in":
        raise UserError(f"engine {engine!r} trains lines; this rule trains with the built-in engine: set built_in")


def _to_tell(error: BaseException, log: str) -> UserError | None:
    """What the terminal shows of an error; None for a fault of ours, whose traceback is in the log."""
    if isinstance(error, UserError):
        return error
    return explained(error, getattr(error, "filename", None) or log) if is_full_disk(error) else None


def run(main: Callable[..., None], snakemake: Any) -> None:
    """Runs a stage for a `script:` rule.

    The rule's first log file gets all output; a UserError is also shown on the terminal, as one line. Outputs named
    `*manifest*` are written here, from the others; so is one named `benchmark`.
    """
    terminal = os.dup(2)
    params = dict(snakemake.params.items())
    log = snakemake.log[0] if snakemake.log else ""
    named = dict(snakemake.output.items())
    outputs = {name: path for name, path in named.items() if "manifest" not in name and name != "benchmark"}
    try:
        if log:
            _log_to(log)
        main(snakemake.input, snakemake.output, snakemake.params, snakemake.wildcards)
        kept = {name: value for name, value in params.items() if name not in _NOT_IN_MANIFEST}
        manifests.write(list(outputs.values()), [*snakemake.input], kept)
        if "benchmark" in named:
            write_usage(named["benchmark"])
    except BaseException as error:
        told = _to_tell(error, log)
        if told:
            os.write(terminal, f"\n{snakemake.rule}: {told}\n\n".encode())
        with suppress(OSError):  # the log may lie on the disk that is full
            if told:
                print(f"error: {told}", file=sys.stderr)
            else:
                traceback.print_exc()
            sys.stderr.flush()
        if told:
            sys.exit(1)
        raise
