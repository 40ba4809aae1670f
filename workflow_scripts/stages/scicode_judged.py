"""What rewards that ask a judge would have paid for the first samples of every problem.

Verdicts are found anew here, so that an outage of the judge holds up nothing but what the judge decides.
"""

import pandas as pd

from workflow_scripts.policies.endpoint import asking, placed
from workflow_scripts.records.schemas import ROLLOUTS
from workflow_scripts.records.scicode_schemas import SCICODE_PROBLEMS, SCICODE_REWARDS
from workflow_scripts.records.stage import elsewhere, run
from workflow_scripts.records.tables import read_table, write_table
from workflow_scripts.tasks.scicode.paid import paid
from workflow_scripts.tasks.scicode.rewards import rewards_of
from workflow_scripts.tasks.scicode.sandbox import limited
from workflow_scripts.tasks.scicode.scores import judged
from workflow_scripts.tasks.scicode.short_programs import rendered


def main(input, output, params, wildcards):
    problems = pd.concat([read_table(path, SCICODE_PROBLEMS) for path in input["problems"]], ignore_index=True)
    rollouts = read_table(input.rollouts, ROLLOUTS)
    with limited(params.limits) as sandbox:
        found = judged(rollouts[rollouts["sample"] < params.asked_of], problems, sandbox, rendered=rendered)
    ask = asking(placed(params.endpoint, elsewhere(snakemake, "scicode", "judge")))
    write_table(paid(found, rewards_of(params.rewards), ask), output.rewards, SCICODE_REWARDS)


run(main, snakemake)
