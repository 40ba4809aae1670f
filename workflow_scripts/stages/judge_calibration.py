"""How a judge's scores agree with execution, by reward, policy and set: a table."""

import pandas as pd

from workflow_scripts.figures import tables
from workflow_scripts.figures.code_tables import calibration_table
from workflow_scripts.measures.reward_truth import calibrations
from workflow_scripts.records.scicode_schemas import SCICODE_REWARDS, SCICODE_SCORES
from workflow_scripts.records.stage import run
from workflow_scripts.records.tables import read_table


def main(input, output, params, wildcards):
    scores = pd.concat([read_table(path, SCICODE_SCORES) for path in input.scores], ignore_index=True)
    rewards = pd.concat([read_table(path, SCICODE_REWARDS) for path in input.rewards], ignore_index=True)
    table = calibration_table(calibrations(scores, rewards, params.judged))
    tables.write(table, [output.csv, output.md, output.tex])


run(main, snakemake)
