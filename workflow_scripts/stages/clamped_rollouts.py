"""How one policy goes on from forced beginnings: the same bytes at every policy, equal ones read once."""

import pandas as pd

from workflow_scripts.policies.engines import sample
from workflow_scripts.policies.rendering import prompter
from workflow_scripts.policies.sampling import Prompt
from workflow_scripts.records import manifests
from workflow_scripts.records.parts import parts_folder, remove_parts
from workflow_scripts.records.schemas import CLAMPS, PROBLEMS, ROLLOUTS
from workflow_scripts.records.stage import run
from workflow_scripts.records.tables import read_table, write_table
from workflow_scripts.tasks.countdown.wording import wording


def main(input, output, params, wildcards):
    manifests.check(input.policy)
    problems = pd.concat([read_table(path, PROBLEMS) for path in input["problems"]]).set_index("problem_id")
    clamps = pd.concat([read_table(path, CLAMPS) for path in input["clamps"]])
    ask = prompter(input.policy, wording(params.wording))
    asked = {name: ask(row.numbers, row.target) for name, row in problems.iterrows()}
    given = clamps[["problem_id", "prefix"]].drop_duplicates().sort_values(["problem_id", "prefix"])
    prompts = [Prompt(row.problem_id, asked[row.problem_id], row.prefix) for row in given.itertuples()]
    settings = dict(params.settings)
    rollouts = sample(
        settings.pop("engine"),
        input.policy,
        prompts,
        policy=wildcards.policy,
        samples=params.continuations,
        study_seed=params.study_seed,
        parts=parts_folder(output.rollouts),
        **settings,
    )
    write_table(rollouts, output.rollouts, ROLLOUTS)
    remove_parts(parts_folder(output.rollouts))


run(main, snakemake)
