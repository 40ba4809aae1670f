"""Which problems the early and the late policy of a line solve: both, lost, gained, neither."""

import pandas as pd

from workflow_scripts.measures import comparison
from workflow_scripts.measures.breadth import PROBLEM_BREADTH
from workflow_scripts.measures.retention import survivors
from workflow_scripts.records.files import write_text
from workflow_scripts.records.stage import run
from workflow_scripts.records.tables import csv_text, read_table


def main(input, output, params, wildcards):
    frame = pd.concat([read_table(path, PROBLEM_BREADTH) for path in (input.early, input.late)])
    values = comparison.problem_values(frame, [1])
    write_text(output.csv, csv_text(survivors(values, params.early, params.late)))


run(main, snakemake)
