"""A stage, run by snakemake as one rule of a workflow of its own."""

import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

STAGES = Path(__file__).resolve().parents[2] / "workflow_scripts" / "stages"


def run_stage(
    name: str,
    folder: Path,
    input: Mapping[str, str],
    output: Mapping[str, str],
    params: Mapping[str, Any],
    seed: int = 1,
) -> str:
    """Runs `name` in `folder`; returns the rule's log. Outputs named `state` and `policy` are folders.

    The rule has the wildcard `seed`, which has to be in each output's path as {seed}.
    """
    made = {key: f"directory({path!r})" if key in ("state", "policy") else repr(path) for key, path in output.items()}
    sections = {
        "input": [f"{key}={path!r}" for key, path in input.items()],
        "output": [f"{key}={text}" for key, text in made.items()],
        "log": ["'log-s{seed}.txt'"],
        "params": [f"{key}={value!r}" for key, value in params.items()],
    }
    lines = [f"rule {name}:"]
    script = str(STAGES / f"{name}.py")
    for section, entries in sections.items():
        lines += [f"    {section}:", *(f"        {entry}," for entry in entries)]
    file = folder / f"{name}.smk"
    file.write_text("\n".join([*lines, f"    script: {script!r}"]) + "\n")
    wanted = [path.replace("{seed}", str(seed)) for path in output.values()]
    command = [sys.executable, "-m", "snakemake", "--cores", "1", "-q", "progress", "-s", str(file), *wanted]
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True)
    log = folder / f"log-s{seed}.txt"
    said = log.read_text() if log.exists() else ""
    assert done.returncode == 0, done.stdout[-2000:] + done.stderr[-4000:] + said[-4000:]
    return said
