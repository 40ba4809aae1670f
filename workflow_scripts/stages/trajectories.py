"""Figure: entropy, coverage, precision and entrance mass at every kept step of the training lines."""

import pandas as pd

from workflow_scripts.figures.trajectories import figure
from workflow_scripts.measures import comparison
from workflow_scripts.measures.breadth import FORM_COUNTS, PROBLEM_BREADTH
from workflow_scripts.measures.mass import mass_values
from workflow_scripts.measures.points import entries_of, entry
from workflow_scripts.records.stage import run
from workflow_scripts.records.tables import read_csv, read_table


def main(input, output, params, wildcards):
    frame = pd.concat([read_table(path, PROBLEM_BREADTH) for path in input.problems], ignore_index=True)
    counts = pd.concat([read_table(path, FORM_COUNTS) for path in input.forms], ignore_index=True)
    masses, summaries = mass_values(frame, counts, params.solution_set), [read_csv(input.summary)]
    for line in params.lines:
        bootstrap = comparison.bootstrap_of(
            masses,
            seed=params.seed,
            draws=params.draws,
            confidence=params.confidence,
            seeds_per_line=len(line["seeds"]),
        )
        summaries.append(comparison.summary(masses, bootstrap, entries_of(line)))
    figure(
        pd.concat(summaries, ignore_index=True).drop_duplicates(["entry", "measure"]),
        {line["name"]: [(step, entry(line, step)) for step in (0, *line["steps"])] for line in params.lines},
        [output.pdf, output.png, output.svg, output.csv],
        samples=params.samples,
        solution_set=params.solution_set,
        confidence=params.confidence,
    )


run(main, snakemake)
