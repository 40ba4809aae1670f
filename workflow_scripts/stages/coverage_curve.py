"""Figure: coverage and pass@k against the number of samples, for base, early and late of each line."""

import pandas as pd

from workflow_scripts.figures.coverage_curve import draws, figure
from workflow_scripts.measures import comparison, curves
from workflow_scripts.measures.breadth import FORM_COUNTS, PROBLEM_BREADTH
from workflow_scripts.measures.points import BASE, points_of
from workflow_scripts.records.stage import run
from workflow_scripts.records.tables import read_table


def main(input, output, params, wildcards):
    frame = pd.concat([read_table(path, PROBLEM_BREADTH) for path in input.problems], ignore_index=True)
    counts = pd.concat([read_table(path, FORM_COUNTS) for path in input.forms], ignore_index=True)
    values = curves.curve_values(frame, counts, draws(params.samples), params.solution_set)
    found, points = [], []
    for line in params.lines:
        bootstrap = comparison.bootstrap_of(
            values,
            seed=params.seed,
            draws=params.draws,
            confidence=params.confidence,
            seeds_per_line=len(line["seeds"]),
        )
        summary = comparison.summary(values, bootstrap, points_of(line))
        found.append(curves.curve_frame(summary).assign(line=line["name"]))
        labels = {BASE: BASE} | {end: f"{end}: step {line[end]}" for end in ("early", "late")}
        points += [(line["name"], end, label) for end, label in labels.items()]
    figure(
        pd.concat(found, ignore_index=True),
        points,
        [output.pdf, output.png, output.svg, output.csv],
        solution_set=params.solution_set,
        confidence=params.confidence,
    )


run(main, snakemake)
