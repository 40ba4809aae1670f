"""Figure 3: first-calculation entropy against pass@1 of each pair, and the same-trace difference with placebos."""

from workflow_scripts.figures.figure3 import figure
from workflow_scripts.records.stage import run
from workflow_scripts.records.tables import read_csv


def main(input, output, params, wildcards):
    figure(
        read_csv(input.summary),
        read_csv(input.differences),
        params.pairs,
        params.benchmarks,
        [output.pdf, output.png, output.svg, output.csv],
        confidence=params.confidence,
    )


run(main, snakemake)
