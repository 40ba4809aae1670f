"""Snakemake asked from inside one of its own jobs: for the rule graph and the report, which only it can write."""

import os
import subprocess
import sys
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import yaml

from workflow_scripts.records.errors import UserError

ROOT = Path(__file__).resolve().parents[2]
"""Of the checkout that this package belongs to; its Snakefile is the one that is asked."""

DEFAULT = ROOT / "config/config.yaml"

_CONSOLE = ("COLUMNS", "SNAKEMAKE_PROFILE")


def snakemake(config: Mapping[str, Any], targets: Sequence[str], *options: str) -> str:
    """What `snakemake` prints for `options` and `targets` of the study with this `config`, in the working directory.

    config: every key of the study, as plain data. Nothing may be executed: the folder belongs to the run that asks,
    whose lock is neither taken nor needed for reading. Raises UserError with the end of what Snakemake said.
    """
    with tempfile.TemporaryDirectory(prefix="snakemake-config-") as folder:
        path = Path(folder) / "config.yaml"
        whole = over_default(config, yaml.safe_load(DEFAULT.read_text(encoding="utf-8")))
        path.write_text(yaml.safe_dump(whole, allow_unicode=True, sort_keys=False), encoding="utf-8")
        call = [sys.executable, "-m", "snakemake", *targets, "--snakefile", str(ROOT / "Snakefile")]
        call += ["--directory", str(Path.cwd()), "--configfile", str(path), "--cores", "1", "--nolock", *options]
        environment = {name: value for name, value in os.environ.items() if name not in _CONSOLE}
        done = subprocess.run(call, capture_output=True, text=True, env=environment, check=False)
    sys.stderr.write(done.stderr)
    if done.returncode:
        end = "\n".join(done.stderr.strip().splitlines()[-15:])
        raise UserError(f"snakemake {' '.join(options)} failed:\n{end}")
    return done.stdout


def over_default(config: Mapping[str, Any], default: Mapping[str, Any]) -> dict[str, Any]:
    """The overlay of `default` that amounts to `config`: names that only the default has are null, which drops them.

    Snakemake lays what it is given over its own config file, so that a line that the study has dropped would be back.
    """
    kept = {
        name: over_default(value, default[name])
        if isinstance(value, Mapping) and isinstance(default.get(name), Mapping)
        else value
        for name, value in config.items()
    }
    return kept | {name: None for name in default if name not in config}
