"""Figure: breadth by the number of demonstrated solutions, at equal tokens."""

from workflow_scripts.figures.dose_response import figure
from workflow_scripts.records.stage import run
from workflow_scripts.records.tables import read_csv


def main(input, output, params, wildcards):
    paths = [output.pdf, output.png, output.svg, output.csv]
    figure(read_csv(input.doses), paths, trend=read_csv(input.trend), confidence=params.confidence)


run(main, snakemake)
