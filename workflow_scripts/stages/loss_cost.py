"""What the loss costs by number of samples: best of n, majority vote, samples spread over entrances; a line."""

import pandas as pd

from workflow_scripts.figures.coverage_curve import draws
from workflow_scripts.measures import loss_cost
from workflow_scripts.measures.breadth import PROBLEM_BREADTH
from workflow_scripts.measures.points import points_of
from workflow_scripts.measures.statistics import Bootstrap
from workflow_scripts.records.files import write_text
from workflow_scripts.records.schemas import CLAMPS, PROBLEMS, SCORES
from workflow_scripts.records.stage import run
from workflow_scripts.records.tables import csv_text, read_table


def main(input, output, params, wildcards):
    problems = read_table(input["problems"], PROBLEMS)["problem_id"]
    known = set(problems)
    free = pd.concat([read_table(path, SCORES) for path in input.scores], ignore_index=True)
    forced = pd.concat([read_table(path, SCORES) for path in input.entrances], ignore_index=True)
    forced = forced[forced["problem_id"].isin(known)]
    numbers = draws(params.samples)
    values = [
        loss_cost.sampling_values(free, numbers, seed=params.statistics["seed"]),
        loss_cost.stratified_values(read_table(input.clamps, CLAMPS), forced, numbers),
    ]
    values = loss_cost.with_gain(pd.concat(values, ignore_index=True))
    points, bootstrap = points_of(params.line), Bootstrap.of_line(params.line, len(problems), **params.statistics)
    breadth = pd.concat([read_table(path, PROBLEM_BREADTH) for path in input.breadth], ignore_index=True)
    for path, table in (
        (output.curves, loss_cost.cost_curves(values, problems, bootstrap, points)),
        (output.changes, loss_cost.cost_changes(values, problems, bootstrap, points)),
        (output.crossings, loss_cost.crossings(breadth, bootstrap, points)),
    ):
        write_text(path, csv_text(table.assign(line=wildcards.line)))


run(main, snakemake)
