"""Reward against truth along every line: values with intervals, changes, verdicts."""

import pandas as pd

from workflow_scripts.measures.reward_truth import by_checkpoint, changes, problem_values, verdicts
from workflow_scripts.records.errors import UserError
from workflow_scripts.records.files import write_text
from workflow_scripts.records.scicode_schemas import SCICODE_REWARDS, SCICODE_SCORES
from workflow_scripts.records.stage import run
from workflow_scripts.records.tables import csv_text, read_table


def main(input, output, params, wildcards):
    if not params.lines:
        raise UserError("scicode.lines is empty, so that there is no training to compare; name a line")
    scores = pd.concat([read_table(path, SCICODE_SCORES) for path in input.scores], ignore_index=True)
    rewards = pd.concat([read_table(path, SCICODE_REWARDS) for path in input.rewards], ignore_index=True)
    values = problem_values(scores, rewards, params.pass_at)
    changed = changes(values, params.lines, **params.statistics)
    write_text(output.checkpoints, csv_text(by_checkpoint(values, params.lines, **params.statistics)))
    write_text(output.changes, csv_text(changed))
    write_text(output.verdicts, csv_text(verdicts(changed)))


run(main, snakemake)
