"""Figure: completion of extinct and never open entrances when they are opened, at every kept step."""

import pandas as pd

from workflow_scripts.figures.recoverability import figure
from workflow_scripts.records.stage import run
from workflow_scripts.records.tables import read_csv


def main(input, output, params, wildcards):
    curves = pd.concat([read_csv(path) for path in input.steps], ignore_index=True)
    figure(curves, [output.pdf, output.png, output.svg, output.csv], confidence=params.confidence)


run(main, snakemake)
