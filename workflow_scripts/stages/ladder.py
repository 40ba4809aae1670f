"""How often designated entrances are completed, by what is given of them; scaffolds that leak are left out."""

import pandas as pd

from workflow_scripts.measures.ladder import completions, ladder_contrasts, ladder_summary
from workflow_scripts.measures.points import trained_ends
from workflow_scripts.measures.screening import failing
from workflow_scripts.measures.statistics import Bootstrap
from workflow_scripts.records.files import write_text
from workflow_scripts.records.schemas import CLAMPS, PROBLEMS, SCORES
from workflow_scripts.records.stage import run
from workflow_scripts.records.tables import csv_text, read_csv, read_table


def main(input, output, params, wildcards):
    problems = read_table(input["problems"], PROBLEMS)["problem_id"]
    ends = trained_ends(params.line)
    # Seeds have clamps of their own: the scaffolds are their late policies' failures.
    rates = []
    for seed, path in enumerate(input.clamps):
        clamps = read_table(path, CLAMPS)
        policies = {policies[seed] for policies in ends.values()}
        scores = [frame for frame in map(_scores, input.scores) if frame["policy"].iloc[0] in policies]
        rates.append(completions(clamps, pd.concat(scores, ignore_index=True)))
    rates = pd.concat(rates, ignore_index=True)
    failed = set(failing(read_csv(input.screening)))
    bootstrap = Bootstrap.of_line(params.line, len(problems), **params.statistics)
    changes = ladder_contrasts(rates, problems, bootstrap, ends, failed)
    write_text(output.changes, csv_text(changes.assign(line=wildcards.line)))
    # Cuts of successful runs stay in the table, marked, to show what a leak looks like.
    shown = ladder_summary(rates, problems, bootstrap, ends, failed - {"run_cut"})
    write_text(output.rungs, csv_text(shown.assign(line=wildcards.line)))


def _scores(path):
    return read_table(path, SCORES)


run(main, snakemake)
