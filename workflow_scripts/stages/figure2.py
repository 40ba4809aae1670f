"""Figure 2: access and execution along training, and how each entrance's pair of them moved between the ends."""

import pandas as pd

from workflow_scripts.figures.access_execution import Evidence, figure
from workflow_scripts.measures.access import CELLS
from workflow_scripts.measures.access_changes import family_changes
from workflow_scripts.measures.points import steps_and_entries, trained_ends
from workflow_scripts.records.stage import run
from workflow_scripts.records.tables import read_csv, read_table


def main(input, output, params, wildcards):
    summaries = pd.concat([read_csv(path) for path in input.steps], ignore_index=True)
    lines = {}
    for line, families, changes in zip(params.lines, input.families, input.changes, strict=True):
        moved, changes = family_changes(read_table(families, CELLS), trained_ends(line)), read_csv(changes)
        binned = changes[changes["measure"].str.startswith("execution_bin_")]
        lines[line["name"]] = Evidence(steps_and_entries(line), moved, binned, changes)
    # The base is a point of every line.
    summary = summaries.drop_duplicates(["entry", "measure"])
    figure(summary, lines, [output.pdf, output.png, output.svg, output.csv], confidence=params.confidence)


run(main, snakemake)
