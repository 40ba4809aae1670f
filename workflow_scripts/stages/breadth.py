"""Figure: pass@1 against coverage along the training lines."""

from workflow_scripts.figures.breadth import figure
from workflow_scripts.measures.points import labelled
from workflow_scripts.records.stage import run
from workflow_scripts.records.tables import read_csv


def main(input, output, params, wildcards):
    figure(
        read_csv(input.summary),
        {line["name"]: labelled(line) for line in params.lines},
        [output.pdf, output.png, output.svg, output.csv],
        samples=params.samples,
        solution_set=params.solution_set,
    )


run(main, snakemake)
