"""The verdict on every sample of one policy. Equal answers to one problem are judged once."""

from functools import partial

import pandas as pd

from workflow_scripts.records.progress import progress
from workflow_scripts.records.schemas import PROBLEMS, ROLLOUTS, SCORES
from workflow_scripts.records.stage import run
from workflow_scripts.records.tables import read_table, write_table
from workflow_scripts.tasks.countdown.scores import scores_of
from workflow_scripts.tasks.countdown.wording import wording


def main(input, output, params, wildcards):
    problems = pd.concat([read_table(path, PROBLEMS) for path in input["problems"]])
    watched = partial(progress, title=f"judging {wildcards.sampled}", unit="completion")
    rollouts, gap = read_table(input.rollouts, ROLLOUTS), wording(params.wording).gap
    scores = scores_of(rollouts, problems, contract=params.contract, gap=gap, watched=watched)
    write_table(scores, output.scores, SCORES)


run(main, snakemake)
