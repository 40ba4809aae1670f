"""Whether the gradient on an entrance, q (μ − μ̄), tells how its probability changes over the next segment."""

import pandas as pd

from workflow_scripts.measures.access import CELLS
from workflow_scripts.measures.points import trained_ends
from workflow_scripts.measures.statistics import Bootstrap
from workflow_scripts.measures.survival import survival_rows
from workflow_scripts.measures.theory import binned_outcomes, segments, theory_rows
from workflow_scripts.records.files import write_text
from workflow_scripts.records.schemas import PROBLEMS
from workflow_scripts.records.stage import run
from workflow_scripts.records.tables import csv_text, read_table


def main(input, output, params, wildcards):
    problems = read_table(input["problems"], PROBLEMS)["problem_id"]
    cells = read_table(input.families, CELLS)
    bootstrap = Bootstrap.of_line(params.line, len(problems), **params.statistics)
    found = segments(cells, params.line)
    rows = [
        theory_rows(found, params.line, problems, bootstrap),
        survival_rows(cells, problems, bootstrap, trained_ends(params.line), group=params.group),
    ]
    write_text(output.segments, csv_text(pd.concat(rows, ignore_index=True).assign(line=wildcards.line)))
    write_text(output.bins, csv_text(binned_outcomes(found, params.line, problems, bootstrap)))


run(main, snakemake)
