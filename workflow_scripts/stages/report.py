"""The report: one HTML file with every table, figure and claim of the study, their captions, and how they were made."""

import os
from pathlib import Path

from workflow_scripts.records.files import atomic_file
from workflow_scripts.records.nested import snakemake as ask
from workflow_scripts.records.stage import run


def main(input, output, params, wildcards):
    with atomic_file(output.report) as aside:
        # Snakemake goes by the ending.
        written = aside.with_name(f"{aside.name}.html")
        try:
            ask(params.config, params.targets, "--report", os.fspath(written))
            Path(written).replace(aside)
        finally:
            written.unlink(missing_ok=True)


run(main, snakemake)
