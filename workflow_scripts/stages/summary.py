"""Every measure of every kept policy with its interval, and paired differences between the ends of each line.

A line trained with several seeds has one entry per step, over all its seeds.
"""

import pandas as pd

from workflow_scripts.measures import comparison
from workflow_scripts.measures.breadth import PROBLEM_BREADTH
from workflow_scripts.measures.points import entries_of, points_of
from workflow_scripts.records.files import write_text
from workflow_scripts.records.stage import run
from workflow_scripts.records.tables import csv_text, read_table


def main(input, output, params, wildcards):
    frame = pd.concat([read_table(path, PROBLEM_BREADTH) for path in input.problems], ignore_index=True)
    values = comparison.problem_values(frame, params.pass_at, params.solution_set)
    summaries, contrasts = [], []
    for line in params.lines:
        bootstrap = comparison.bootstrap_of(
            values,
            seed=params.seed,
            draws=params.draws,
            confidence=params.confidence,
            seeds_per_line=len(line["seeds"]),
        )
        summaries.append(comparison.summary(values, bootstrap, entries_of(line)))
        ends = points_of(line)
        found = comparison.contrasts(values, bootstrap, ends, [("base", "early"), ("early", "late"), ("base", "late")])
        contrasts.append(found.assign(line=line["name"]))
    # The base is an entry of every line; its numbers are the same in each, but for the width that seeds add.
    summary = pd.concat(summaries, ignore_index=True).drop_duplicates(["entry", "measure"])
    write_text(output.summary, csv_text(summary))
    write_text(output.contrasts, csv_text(pd.concat(contrasts, ignore_index=True)))


run(main, snakemake)
