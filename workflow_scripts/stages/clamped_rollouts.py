"""How one policy goes on from forced beginnings: the same bytes at every policy, equal ones read once."""

import pandas as pd

from workflow_scripts.policies.sampling import Prompt, sample_policy
from workflow_scripts.records import manifests
from workflow_scripts.records.schemas import CLAMPS, PROBLEMS, ROLLOUTS
from workflow_scripts.records.stage import refuse_other_engines, run
from workflow_scripts.records.tables import read_table, write_table
from workflow_scripts.tasks.countdown.text import think_prompt


def main(input, output, params, wildcards):
    refuse_other_engines(params.settings["engine"])
    manifests.check(input.policy)
    problems = pd.concat([read_table(path, PROBLEMS) for path in input["problems"]]).set_index("problem_id")
    clamps = pd.concat([read_table(path, CLAMPS) for path in input["clamps"]])
    asked = {name: think_prompt(row.numbers.tolist(), row.target) for name, row in problems.iterrows()}
    given = clamps[["problem_id", "prefix"]].drop_duplicates().sort_values(["problem_id", "prefix"])
    prompts = [Prompt(row.problem_id, asked[row.problem_id], row.prefix) for row in given.itertuples()]
    rollouts = sample_policy(
        input.policy,
        prompts,
        policy=wildcards.policy,
        samples=params.continuations,
        study_seed=params.study_seed,
        **{key: value for key, value in params.settings.items() if key != "engine"},
    )
    write_table(rollouts, output.rollouts, ROLLOUTS)


run(main, snakemake)
