"""The verdict, first calculation and numeric trace of every sample of one maths policy."""

from functools import partial

import pandas as pd

from workflow_scripts.records.maths_schemas import MATHS_PROBLEMS, MATHS_SCORES
from workflow_scripts.records.schemas import ROLLOUTS
from workflow_scripts.records.stage import run
from workflow_scripts.records.tables import read_table, write_table
from workflow_scripts.tasks.maths.judging import judge_rows
from workflow_scripts.tasks.maths.scores import scores_of


def main(input, output, params, wildcards):
    problems = pd.concat([read_table(path, MATHS_PROBLEMS) for path in input["problems"]], ignore_index=True)
    rollouts = read_table(input.rollouts, ROLLOUTS)
    # Answers to word problems are whole numbers: what is not decided exactly there is nothing for a symbolic worker.
    scores = scores_of(rollouts, problems, partial(judge_rows, symbolic=params.symbolic))
    write_table(scores, output.scores, MATHS_SCORES)


run(main, snakemake)
