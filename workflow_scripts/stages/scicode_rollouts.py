"""Free samples of one policy on problems of one or more sets, one random stream a sample."""

import pandas as pd

from workflow_scripts.policies.engines import sample
from workflow_scripts.policies.foreign_model import built_in
from workflow_scripts.policies.sampling import Prompt
from workflow_scripts.policies.verl_engine.questions import asked
from workflow_scripts.records import manifests
from workflow_scripts.records.parts import parts_folder, remove_parts
from workflow_scripts.records.schemas import ROLLOUTS
from workflow_scripts.records.scicode_schemas import SCICODE_PROBLEMS
from workflow_scripts.records.stage import run
from workflow_scripts.records.tables import read_table, write_table


def main(input, output, params, wildcards):
    manifests.check(input.policy)
    problems = pd.concat([read_table(path, SCICODE_PROBLEMS) for path in input.problems], ignore_index=True)
    questions = problems["prompt"].tolist()
    # The small policy reads a question as it stands; any other, as in training, under its chat template.
    texts = questions if built_in(input.policy) else asked(input.policy, questions)
    settings = dict(params.settings)
    rollouts = sample(
        settings.pop("engine"),
        input.policy,
        [Prompt(*pair) for pair in zip(problems["problem_id"], texts, strict=True)],
        policy=wildcards.sampled.partition(".")[0],
        samples=params.samples,
        study_seed=params.study_seed,
        parts=parts_folder(output.rollouts),
        **settings,
    )
    write_table(rollouts, output.rollouts, ROLLOUTS)
    remove_parts(parts_folder(output.rollouts))


run(main, snakemake)
