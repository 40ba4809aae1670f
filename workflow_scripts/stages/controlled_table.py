"""Table: the controlled experiment, what every policy does, by its likeliest candidate and by a sample."""

from workflow_scripts.figures import tables
from workflow_scripts.figures.controlled import row_labels, table
from workflow_scripts.records.stage import run
from workflow_scripts.records.tables import read_csv


def main(input, output, params, wildcards):
    shown = table(
        read_csv(input.policies),
        read_csv(input.incentive),
        row_labels(params.sampled["samples"], params.sampled["updates"]),
        constants=params.reward,
        problems=params.problems,
    )
    tables.write(shown, [output.csv, output.md, output.tex])


run(main, snakemake)
