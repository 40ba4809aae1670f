"""Access and execution of a line at every kept step: exact opening masses, completion given each opening, the split."""

import pandas as pd

from workflow_scripts.measures import access
from workflow_scripts.measures.access_changes import binned_rows, change_rows, family_changes
from workflow_scripts.measures.comparison import summary
from workflow_scripts.measures.long_values import values_of
from workflow_scripts.measures.points import entries_of, trained_ends
from workflow_scripts.measures.shapley import shapley_rows
from workflow_scripts.measures.statistics import Bootstrap
from workflow_scripts.records.files import write_text
from workflow_scripts.records.schemas import CLAMPS, MASSES, PROBLEMS, SCORES
from workflow_scripts.records.stage import run
from workflow_scripts.records.tables import csv_text, read_table, write_table


def main(input, output, params, wildcards):
    problems = read_table(input["problems"], PROBLEMS)["problem_id"]
    masses = pd.concat([read_table(path, MASSES) for path in input.masses], ignore_index=True)
    clamped = pd.concat([read_table(path, SCORES) for path in input.entrances], ignore_index=True)
    free = pd.concat([access.free_counts(read_table(path, SCORES)) for path in input.scores], ignore_index=True)
    cells = access.cells(masses, read_table(input.clamps, CLAMPS), clamped, free)
    write_table(cells, output.families, access.CELLS)
    bootstrap, ends = Bootstrap.of_line(params.line, len(problems), **params.statistics), trained_ends(params.line)
    values = values_of(access.problem_measures(cells, free), problems)
    steps = summary(values, bootstrap, entries_of(params.line))
    write_text(output.steps, csv_text(steps.assign(line=wildcards.line)))
    rows = [
        change_rows(cells, free, problems, bootstrap, ends),
        shapley_rows(cells, problems, bootstrap, ends),
        binned_rows(family_changes(cells, ends), problems, ends["late"], bootstrap),
    ]
    write_text(output.changes, csv_text(pd.concat(rows, ignore_index=True).assign(line=wildcards.line)))


run(main, snakemake)
