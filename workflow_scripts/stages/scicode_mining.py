"""Problems that a policy fails at, and a training set that dwells on them; nothing of an evaluation set is in it."""

import pandas as pd

from workflow_scripts.records.files import write_text
from workflow_scripts.records.schemas import ROLLOUTS
from workflow_scripts.records.scicode_schemas import SCICODE_PROBLEMS, SCICODE_SCORES
from workflow_scripts.records.stage import run
from workflow_scripts.records.tables import csv_text, read_table, write_table
from workflow_scripts.tasks.scicode.generation import confirmed, keys_of
from workflow_scripts.tasks.scicode.mining import failures, mined
from workflow_scripts.tasks.scicode.problems import problem_frame, problems_of
from workflow_scripts.tasks.scicode.sandbox import limited


def main(input, output, params, wildcards):
    rollouts, scores = read_table(input.rollouts, ROLLOUTS), read_table(input.scores, SCICODE_SCORES)
    answered, evaluation = (
        problems_of(pd.concat([read_table(path, SCICODE_PROBLEMS) for path in paths], ignore_index=True))
        for paths in (input["problems"], input.evaluation)
    )
    table = failures(rollouts, scores)
    chosen = mined(
        answered,
        table,
        count=params.size,
        seed=params.seed,
        share=params.share,
        wrapped=params.wrapped,
        exclude=keys_of(evaluation),
    )
    with limited(params.limits) as sandbox:
        confirmed(chosen, sandbox)
    write_text(output.candidates, csv_text(table))
    write_table(problem_frame(chosen, "mined"), output["mined"], SCICODE_PROBLEMS)


run(main, snakemake)
