"""Whole Snakemake runs of the smoke study, in folders outside the checkout whose path holds a space."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
SNAKEMAKE = Path(sys.executable).with_name("snakemake")


class Workspace:
    """A working directory for the workflow of this checkout."""

    def __init__(self, folder: Path, config: str = "config/smoke.yaml"):
        self.folder = folder
        self.config = ROOT / config
        folder.mkdir(parents=True, exist_ok=True)

    def snakemake(self, *arguments: str, cores: int = 2, check: bool = True) -> subprocess.CompletedProcess:
        """Runs Snakemake here; the PATH holds no Python, since rules must find the environment's own."""
        call = [SNAKEMAKE, "--snakefile", ROOT / "Snakefile", "--directory", self.folder, "--cores", str(cores)]
        call += [*arguments, "--configfile", self.config]
        done = subprocess.run(
            call, capture_output=True, text=True, env={**os.environ, "PATH": "/usr/bin:/bin"}, check=False
        )
        assert not check or done.returncode == 0, done.stdout + done.stderr
        return done

    def planned(self, *arguments: str) -> str:
        """What a dry run says."""
        done = self.snakemake("--dry-run", *arguments)
        return done.stdout + done.stderr

    def tables(self) -> dict[str, bytes]:
        """Every csv, md and tex that the study made, by relative path."""
        results = self.folder / "results"
        return {
            str(path.relative_to(results)): path.read_bytes()
            for path in sorted(results.rglob("*"))
            if path.suffix in {".csv", ".md", ".tex"}
        }


@pytest.fixture(scope="session")
def smoke(tmp_path_factory) -> Workspace:
    """The finished smoke study."""
    workspace = Workspace(tmp_path_factory.mktemp("smoke run") / "work here")
    workspace.snakemake()
    return workspace
