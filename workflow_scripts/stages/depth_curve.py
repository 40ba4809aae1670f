"""Figure: completion by the operations given, and access at each operation, early against late."""

from workflow_scripts.figures.depth import figure
from workflow_scripts.records.stage import run
from workflow_scripts.records.tables import read_csv


def main(input, output, params, wildcards):
    tables = {line["name"]: read_csv(path) for line, path in zip(params.lines, input.operations, strict=True)}
    figure(tables, [output.pdf, output.png, output.svg, output.csv], confidence=params.confidence)


run(main, snakemake)
