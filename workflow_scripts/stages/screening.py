"""Which kinds of scaffold tell what follows a rung, beyond problem and family. Those that do are left out of tables."""

import pandas as pd

from workflow_scripts.measures.points import trained_ends
from workflow_scripts.measures.screening import leak_rows, rows_of, screen
from workflow_scripts.records.files import write_text
from workflow_scripts.records.schemas import CLAMPS, PROBLEMS, ROLLOUTS
from workflow_scripts.records.stage import run
from workflow_scripts.records.tables import csv_text, read_table
from workflow_scripts.tasks.countdown.wording import wording

SEEDS_APART = 1000
"""Added to scaffold numbers from seed to seed of a line, whose scaffolds are not the same texts."""


def main(input, output, params, wildcards):
    problems = read_table(input["problems"], PROBLEMS)
    rollouts = pd.concat([read_table(path, ROLLOUTS) for path in input.rollouts], ignore_index=True)
    rows, words = [], wording(params.wording)
    for seed, path in enumerate(input.clamps):
        clamps = read_table(path, CLAMPS)
        clamps["scaffold_id"] += SEEDS_APART * seed
        policies = [end[seed] for end in trained_ends(params.line).values()]
        rows.append(rows_of(clamps, rollouts[rollouts["policy"].isin(policies)], problems, words.in_words))
    table = screen(pd.concat(rows, ignore_index=True), permutations=params.permutations, **params.statistics)
    write_text(output.csv, csv_text(table))
    write_text(output.changes, csv_text(leak_rows(table).assign(line=wildcards.line)))


run(main, snakemake)
