"""What the answers to the public CritPt problems look like, by policy and wrapping: a table. Nothing is run."""

import pandas as pd

from workflow_scripts.figures import tables
from workflow_scripts.figures.code_tables import outputs_table
from workflow_scripts.records.schemas import ROLLOUTS
from workflow_scripts.records.stage import run
from workflow_scripts.records.tables import read_table
from workflow_scripts.tasks.scicode.critpt import output_statistics


def main(input, output, params, wildcards):
    answers = [
        read_table(path, ROLLOUTS).assign(wrapping=wrapping)
        for path, wrapping in zip(input.rollouts, params.wrappings, strict=True)
    ]
    found = output_statistics(pd.concat(answers, ignore_index=True), by=("policy", "wrapping"))
    tables.write(outputs_table(found), [output.csv, output.md, output.tex])


run(main, snakemake)
