"""`entrances audit`: the whole study on checkpoints that exist. Checks them, writes a config, runs the workflow on it.

The first folder is the base; all of them, in the order given, are the kept steps 1, 2, … of one line called `own`, of
which the first is early and the last is late. A single folder is measured as a base alone.
"""

import subprocess
import sys
from collections.abc import Sequence
from importlib.util import find_spec
from pathlib import Path
from typing import Any, NamedTuple

from workflow_scripts.audit import checks
from workflow_scripts.audit.config import Sizes, new_tokens, overlay
from workflow_scripts.records.errors import UserError
from workflow_scripts.records.files import write_text
from workflow_scripts.settings import DEFAULT, read_yaml, validated
from workflow_scripts.settings import merged as laid_over
from workflow_scripts.tasks.countdown.problem_files import read_problems
from workflow_scripts.tasks.countdown.wording import NAMED, wording


class Audit(NamedTuple):
    """What is about to be run. config: path of the overlay. found: plain facts of each folder. call: of Snakemake."""

    config: Path
    found: list[dict[str, Any]]
    call: list[str]


def prepared(
    sources: Sequence[str],
    *,
    study: str = "audit",
    template: str | None = None,
    contract: str | None = None,
    engine: str = "built_in",
    sizes: Sizes,
    problems: str | None = None,
    cores: int = 2,
    dry_run: bool = False,
) -> Audit:
    """Checks everything that can be checked beforehand and writes the config to results/<study>/audit.yaml.

    sources: folders or hub ids, see checks.placed. template: a wording's name or file; by default `laptop` for small
    word-level policies, `native` for others. Raises UserError for whatever would fail later.
    """
    _refuse_arguments(sizes, cores, engine)
    folders = [checks.placed(source, study, may_fetch=not dry_run) for source in sources]
    for folder in folders:
        if folders.count(folder) > 1:
            raise UserError(f"{folder} is given twice; each checkpoint once")
        checks.require_policy(folder)
    name = checks.chosen_wording(folders, template)
    name = name if name in NAMED else str(Path(name).resolve())
    words, longest = wording(name), new_tokens(sizes, name)
    checkpoints = [checks.looked_at(folder, words) for folder in folders]
    checks.refuse_unlike(checkpoints)
    asked = read_problems(problems) if problems else None
    tokens = [checks.refuse_long_prompts(checkpoint, words, asked, longest) for checkpoint in checkpoints]
    config = overlay(
        checkpoints,
        study=study,
        wording_name=name,
        contract=contract,
        engine=engine,
        sizes=sizes,
        problems_file=problems and str(Path(problems).resolve()),
    )
    path = _written(config, checkpoints)
    found = [
        {
            "folder": str(c.folder),
            "model_type": c.model_type,
            "context": c.context,
            "vocabulary": len(c.tokenizer),
            "wording": name,
            "asked_by": c.asked,
            "longest_prompt": count,
            "end_tokens": list(c.tokenizer.end_ids),
        }
        for c, count in zip(checkpoints, tokens, strict=True)
    ]
    return Audit(path, found, command(path, targets(study, len(folders)), cores=cores, dry_run=dry_run))


def targets(study: str, checkpoints: int) -> list[str]:
    """What is asked of Snakemake: the report, which needs every table and figure, or what a base alone has."""
    if checkpoints > 1:
        return ["report"]
    results = f"results/{study}"
    files = ["measures/problems/base.parquet", "masses/evaluation/base.parquet", "likelihoods/base.parquet"]
    return [f"{results}/{file}" for file in (*files, "scores/base.entrances.parquet", "scores/base.depth.parquet")]


def _refuse_arguments(sizes: Sizes, cores: int, engine: str) -> None:
    counts = {"--samples": sizes.samples, "--max-new-tokens": sizes.max_new_tokens, "--cores": cores}
    for option, count in counts.items():
        if count is not None and count < 1:
            raise UserError(f"{option} must be at least 1, not {count}")
    if engine == "vllm" and find_spec("vllm") is None:
        raise UserError(
            "--engine vllm: vLLM is not installed here; make env-engines builds an environment that has it "
            "(.venv-engines/bin/entrances), or leave --engine out"
        )


def _written(config: dict[str, Any], checkpoints: Sequence[checks.Checkpoint]) -> Path:
    """Writes the config, validated, with what was found of each folder as comments, in the study's folder."""
    import yaml

    path = Path("results") / config["study"] / "audit.yaml"
    validated(laid_over(read_yaml(DEFAULT), config), str(path))
    about = [f"# {c.folder}: {c.model_type}, context {c.context}, asked by {c.asked}" for c in checkpoints]
    about.append(f"# Makes every table, figure and claim of the line, and results/{config['study']}/report.html.")
    if len(checkpoints) == 1:
        about[-1] = "# One folder: its line is a placeholder, only the base's files are made."
    text = yaml.safe_dump(config, sort_keys=False, allow_unicode=True, width=120)
    write_text(path, "\n".join(["# An overlay of config/config.yaml, written by `entrances audit`.", *about, text]))
    return path


def command(config: Path, wanted: Sequence[str], *, cores: int, dry_run: bool) -> list[str]:
    """The call of Snakemake that runs an audit."""
    snakefile = DEFAULT.parents[1] / "Snakefile"
    # What one table lacks is no fault of the others
    call = [sys.executable, "-m", "snakemake", *wanted, "--keep-going", "--snakefile", str(snakefile)]
    call += ["--configfile", str(config)]
    return [*call, "--cores", str(cores), *(["--dry-run", "--quiet", "rules"] if dry_run else [])]


def run(call: Sequence[str]) -> int:
    """Runs it in the working directory, its output on the terminal; the exit status."""
    return subprocess.run(call, check=False).returncode
