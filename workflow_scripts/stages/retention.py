"""What a line kept and lost between its early and its late policy; the numbers behind claims C05–C08.

Seeds are pooled: lost problems and missing entrances of every seed are trials of one proportion.
"""

import pandas as pd

from workflow_scripts.measures import breadth, comparison, retention
from workflow_scripts.measures.curves import rarefied_values
from workflow_scripts.measures.points import points_of
from workflow_scripts.records.files import write_text
from workflow_scripts.records.schemas import OPENINGS, SCORES, SOLUTIONS
from workflow_scripts.records.stage import run
from workflow_scripts.records.tables import csv_text, read_table

_PAIR = ("early", "late")


def _more(scores, solutions, openings):
    """PROBLEM_BREADTH of a further set of samples, empty where no problem was sampled."""
    if scores.empty:
        return pd.DataFrame(columns=breadth.PROBLEM_BREADTH.names)
    return breadth.breadth(scores, solutions, openings)[0]


def main(input, output, params, wildcards):
    line = params.line
    solutions, openings = read_table(input.solutions, SOLUTIONS), read_table(input.openings, OPENINGS)
    frame = pd.concat([read_table(path, breadth.PROBLEM_BREADTH) for path in input.problems], ignore_index=True)
    counts = pd.concat([read_table(path, breadth.FORM_COUNTS) for path in input.forms], ignore_index=True)
    values = comparison.problem_values(frame, [1], params.solution_set)
    bootstrap = comparison.bootstrap_of(
        values, seed=params.seed, draws=params.draws, confidence=params.confidence, seeds_per_line=len(line["seeds"])
    )
    ends = points_of(line)
    rows = [
        retention.survivor_rows(values, bootstrap, ends, _PAIR),
        retention.retention_rows(values, counts, bootstrap, ends, _PAIR),
    ]
    compared = [policy for end in _PAIR for policy in ends[end]]
    rarefied = rarefied_values(
        frame[frame["policy"].isin(compared)], counts[counts["policy"].isin(compared)], params.solution_set
    )
    rows.append(comparison.contrasts(rarefied, bootstrap, ends, [_PAIR]))
    lost = pd.concat([_more(read_table(path, SCORES), solutions, openings) for path in input.lost])
    rows.append(retention.lost_rows(lost, _PAIR, params.confidence))
    feasible = breadth.feasible_forms(solutions, openings)
    missing = []
    for path in input.halves:
        scores = read_table(path, SCORES)
        first = scores["sample"] < params.middle
        halves = [breadth.breadth(half, solutions, openings)[1] for half in (scores[first], scores[~first])]
        missing.append(retention.zero_access(*halves, feasible))
    rows.append(retention.zero_access_rows(pd.concat(missing), _PAIR, params.confidence))
    table = pd.concat(rows, ignore_index=True).assign(line=line["name"])
    write_text(output.csv, csv_text(table))


run(main, snakemake)
