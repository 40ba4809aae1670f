"""Working directories in which tests run the workflow, and copies of its sources that tests may edit."""

import os
import re
import shutil
import subprocess
import sys
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TextIO

ROOT = Path(__file__).resolve().parents[2]
PYTHON = Path(sys.executable)
SOURCES = ("Snakefile", "config", "envs", "profiles", "resources", "rules", "workflow_scripts", "pyproject.toml")
TINY = Path(__file__).with_name("tiny.yaml")

SAME_BYTES = (".csv", ".md", ".tex", ".svg", ".pdf", ".png")
"""Endings of tables and figures."""


def copy_sources(target: Path, of: Path = ROOT) -> Path:
    """Copies what the workflow consists of to the folder `target`, without what is made or installed."""
    target.mkdir(parents=True)
    for name in SOURCES:
        if (of / name).is_dir():
            shutil.copytree(of / name, target / name, ignore=shutil.ignore_patterns("__pycache__", "*.egg-info"))
        else:
            shutil.copy2(of / name, target / name)
    return target


@dataclass
class Planned:
    """A job that a dry run announces."""

    rule: str
    reason: str
    wildcards: dict[str, str] = field(default_factory=dict)


def planned_jobs(text: str) -> list[Planned]:
    """The jobs, `all` left out, that the output of a dry run announces."""
    jobs = []
    for block in re.split(r"^(?=(?:local)?rule \w+:$)", text, flags=re.MULTILINE)[1:]:
        rule = block.partition(":")[0].split()[-1]
        lines = dict(re.findall(r"^    (\w+): (.*)$", block, flags=re.MULTILINE))
        wildcards = dict(pair.split("=") for pair in lines.get("wildcards", "").split(", ") if pair)
        if rule != "all":
            jobs.append(Planned(rule, lines.get("reason", ""), wildcards))
    return jobs


class Workspace:
    """A working directory for the workflow whose sources lie in `sources` (default: this checkout)."""

    def __init__(self, folder: Path, config: str | Path = "config/smoke.yaml", sources: Path = ROOT):
        self.folder = folder
        self.sources = sources
        self.config = ROOT / config
        self.prefix: list[str | Path] = []  # what the call is run by, `setpriv` for one
        self.python = PYTHON
        self.environment: dict[str, str] = {}
        folder.mkdir(parents=True, exist_ok=True)

    def call(self, *arguments: str, cores: int = 2) -> list[str]:
        """The call of Snakemake that runs the study here."""
        # Through `-m`: the installed script names its interpreter in its first line, which cannot hold a space.
        call = [*self.prefix, self.python, "-m", "snakemake", "--snakefile", self.sources / "Snakefile"]
        call += ["--directory", self.folder, "--cores", cores, *arguments, "--configfile", self.config]
        return [str(part) for part in call]

    def variables(self) -> dict[str, str]:
        """The environment of the call. The PATH holds no Python, since rules must find the environment's own."""
        return {**os.environ, "PATH": "/usr/bin:/bin", **self.environment}

    def snakemake(self, *arguments: str, cores: int = 2, check: bool = True) -> subprocess.CompletedProcess:
        """Runs Snakemake here."""
        call = self.call(*arguments, cores=cores)
        done = subprocess.run(call, capture_output=True, text=True, env=self.variables(), check=False)
        assert not check or done.returncode == 0, done.stdout + done.stderr
        return done

    def started(self, *arguments: str, cores: int = 2) -> "Running":
        """Snakemake, started here and not waited for."""
        log = (self.folder / "snakemake said.txt").open("w+")
        call = self.call(*arguments, cores=cores)
        return Running(self, subprocess.Popen(call, stdout=log, stderr=log, env=self.variables()), log)

    def said(self, *arguments: str, cores: int = 2) -> str:
        """Everything that a run says which should fail."""
        done = self.snakemake(*arguments, cores=cores, check=False)
        assert done.returncode != 0, done.stdout + done.stderr
        return done.stdout + done.stderr

    def planned(self, *arguments: str, cores: int = 2) -> str:
        """What a dry run says."""
        done = self.snakemake("--dry-run", *arguments, cores=cores)
        return done.stdout + done.stderr

    def jobs(self, *arguments: str, cores: int = 2) -> list[Planned]:
        """The jobs that a dry run announces."""
        text = self.planned(*arguments, cores=cores)
        found = planned_jobs(text)
        assert found or "Nothing to be done" in text, text
        return found

    def entrances(self, *arguments: str) -> subprocess.CompletedProcess:
        """Runs the command line of the sources, in the working directory."""
        call = [str(part) for part in (*self.prefix, self.python, "-m", "workflow_scripts.cli", *arguments)]
        variables = self.variables() | {"PYTHONPATH": str(self.sources)}
        return subprocess.run(call, capture_output=True, text=True, env=variables, cwd=self.folder, check=False)

    @property
    def results(self) -> Path:
        """Results of the study that the workspace is for."""
        return self.folder / "results" / self.config.stem

    def outputs(self, endings: tuple[str, ...] = SAME_BYTES) -> dict[str, bytes]:
        """Content of every file with one of these endings, by path below results/."""
        results = self.folder / "results"
        return {
            str(path.relative_to(results)): path.read_bytes()
            for path in sorted(results.rglob("*"))
            if path.suffix in endings
        }

    def tables(self) -> dict[str, bytes]:
        """Every csv, md and tex that the study made, by relative path."""
        return self.outputs((".csv", ".md", ".tex"))

    def leftovers(self) -> list[Path]:
        """What writers set aside and did not finish."""
        return sorted(self.folder.glob("results/**/.*writing-*"))

    def copy(self, folder: Path) -> "Workspace":
        """The same, finished files and Snakemake's memory of them included, in another folder."""
        shutil.copytree(self.folder, folder, symlinks=True)
        other = Workspace(folder, self.config, self.sources)
        other.prefix, other.python, other.environment = [*self.prefix], self.python, dict(self.environment)
        return other


@dataclass
class Running:
    """A run that goes on beside the tests."""

    workspace: Workspace
    process: subprocess.Popen
    log: TextIO

    def finished(self) -> Workspace:
        """The workspace once the run has ended well."""
        code = self.process.wait()
        self.log.seek(0)
        assert code == 0, self.log.read()
        return self.workspace

    def stop(self) -> None:
        """Ends the run if it still goes on."""
        if self.process.poll() is None:
            self.process.terminate()
            self.process.wait()
        self.log.close()


def differing(one: Mapping[str, bytes], other: Mapping[str, bytes]) -> list[str]:
    """Names that only one of two sets of files has, or whose content differs."""
    return sorted(name for name in one.keys() | other.keys() if one.get(name) != other.get(name))
