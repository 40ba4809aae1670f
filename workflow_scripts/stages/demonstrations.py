"""Solver-built solutions of the training problems, in the order in which they are shown, by each way of choosing."""

import pandas as pd

from workflow_scripts.records import manifests
from workflow_scripts.records.recovery_schemas import DEMONSTRATIONS
from workflow_scripts.records.stage import run
from workflow_scripts.records.tables import write_table
from workflow_scripts.tasks.countdown import problem_files
from workflow_scripts.tasks.countdown.demonstrations import of_problems


def main(input, output, params, wildcards):
    manifests.check(input["problems"])
    rows = problem_files.read_verl_rows(input["problems"])
    problems = [(tuple(map(int, row.numbers)), int(row.target)) for row in rows.itertuples()]
    parts = []
    for choice, most in sorted(params.most.items()):
        shown = pd.DataFrame(of_problems(problems, most, choice=choice, seed=params.seed))
        parts.append(shown.assign(choice=choice, place=shown.groupby("problem_id").cumcount()))
    write_table(pd.concat(parts, ignore_index=True), output.demonstrations, DEMONSTRATIONS)


run(main, snakemake)
