"""Figure: what each token costs late against early, by its place relative to the entrance."""

import pandas as pd

from workflow_scripts.figures.likelihood import figure
from workflow_scripts.records.stage import run
from workflow_scripts.records.tables import read_csv


def main(input, output, params, wildcards):
    tokens = pd.concat([read_csv(path) for path in input.tokens], ignore_index=True)
    paths = [output.pdf, output.png, output.svg, output.csv]
    figure(tokens, [line["name"] for line in params.lines], paths, confidence=params.confidence)


run(main, snakemake)
