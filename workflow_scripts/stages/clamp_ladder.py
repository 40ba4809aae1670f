"""Figure: completion of designated entrances by rung, early against late."""

import pandas as pd

from workflow_scripts.figures.ladder import figure
from workflow_scripts.records.stage import run
from workflow_scripts.records.tables import read_csv


def main(input, output, params, wildcards):
    rungs = pd.concat([read_csv(path) for path in input.rungs], ignore_index=True)
    ends = [(line["name"], end, f"{end}: step {line[end]}") for line in params.lines for end in ("early", "late")]
    figure(rungs, ends, [output.pdf, output.png, output.svg, output.csv], confidence=params.confidence)


run(main, snakemake)
