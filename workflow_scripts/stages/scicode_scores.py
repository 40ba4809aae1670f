"""The verdict of every program of one policy, and what every reward would have paid for it."""

import pandas as pd

from workflow_scripts.records.schemas import ROLLOUTS
from workflow_scripts.records.scicode_schemas import SCICODE_PROBLEMS, SCICODE_REWARDS, SCICODE_SCORES
from workflow_scripts.records.stage import run
from workflow_scripts.records.tables import read_table, write_table
from workflow_scripts.tasks.scicode.paid import paid
from workflow_scripts.tasks.scicode.rewards import rewards_of
from workflow_scripts.tasks.scicode.sandbox import limited
from workflow_scripts.tasks.scicode.scores import judged, scores_of
from workflow_scripts.tasks.scicode.short_programs import rendered


def main(input, output, params, wildcards):
    problems = pd.concat([read_table(path, SCICODE_PROBLEMS) for path in input["problems"]], ignore_index=True)
    rollouts = read_table(input.rollouts, ROLLOUTS)
    # The small policy writes words; a text without its words for lines and indents stays as it is.
    with limited(params.limits) as sandbox:
        found = judged(rollouts, problems, sandbox, rendered=rendered)
    write_table(scores_of(found), output.scores, SCICODE_SCORES)
    write_table(paid(found, rewards_of(params.rewards)), output.rewards, SCICODE_REWARDS)


run(main, snakemake)
