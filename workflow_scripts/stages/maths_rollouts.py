"""Free samples of one maths policy on the problems of one or more benchmarks, one random stream a sample."""

import pandas as pd

from workflow_scripts.policies.engines import sample
from workflow_scripts.policies.sampling import Prompt
from workflow_scripts.records import manifests
from workflow_scripts.records.maths_schemas import MATHS_PROBLEMS
from workflow_scripts.records.parts import parts_folder, remove_parts
from workflow_scripts.records.schemas import ROLLOUTS
from workflow_scripts.records.stage import run
from workflow_scripts.records.tables import read_table, write_table
from workflow_scripts.tasks.maths.asked import prompts_of


def main(input, output, params, wildcards):
    manifests.check(input.policy)
    problems = pd.concat([read_table(path, MATHS_PROBLEMS) for path in input.problems], ignore_index=True)
    texts = prompts_of(problems, params.prompt)
    prompts = [Prompt(name, texts[name]) for name in problems["problem_id"]]
    settings = dict(params.settings)
    rollouts = sample(
        settings.pop("engine"),
        input.policy,
        prompts,
        policy=wildcards.policy,
        samples=params.samples,
        study_seed=params.study_seed,
        parts=parts_folder(output.rollouts),
        **settings,
    )
    write_table(rollouts, output.rollouts, ROLLOUTS)
    remove_parts(parts_folder(output.rollouts))


run(main, snakemake)
