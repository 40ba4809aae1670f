"""Figure: best of n, majority vote and samples spread over entrances, for base, early and late of each line."""

import pandas as pd

from workflow_scripts.figures.loss_cost import figure
from workflow_scripts.measures.points import labelled_ends
from workflow_scripts.records.stage import run
from workflow_scripts.records.tables import read_csv


def main(input, output, params, wildcards):
    curves, crossings = (
        pd.concat([read_csv(path) for path in paths], ignore_index=True) for paths in (input.curves, input.crossings)
    )
    points = [(line["name"], entry, label) for line in params.lines for entry, label in labelled_ends(line).items()]
    paths = [output.pdf, output.png, output.svg, output.csv]
    figure(curves, points, paths, crossings=crossings, confidence=params.confidence)


run(main, snakemake)
