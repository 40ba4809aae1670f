"""Which problems stand in two places: within a benchmark, in two benchmarks, or among the texts of training."""

import pandas as pd

from workflow_scripts.records.files import write_text
from workflow_scripts.records.maths_schemas import MATHS_PROBLEMS
from workflow_scripts.records.stage import run
from workflow_scripts.records.tables import csv_text, read_table
from workflow_scripts.tasks.maths.contamination import counted, overlaps


def main(input, output, params, wildcards):
    problems = pd.concat([read_table(path, MATHS_PROBLEMS) for path in input["problems"]], ignore_index=True)
    report = overlaps(problems, threshold=params.threshold)
    write_text(output.pairs, csv_text(report))
    write_text(output.counts, csv_text(counted(report, problems)))


run(main, snakemake)
