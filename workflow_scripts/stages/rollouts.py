"""Free samples of one policy, one random stream a sample.

Further sets of the same policy take sample numbers that no other set has, so that they are independent of it.
"""

from workflow_scripts.policies.engines import sample
from workflow_scripts.policies.rendering import prompter
from workflow_scripts.policies.sampling import Prompt
from workflow_scripts.records import manifests
from workflow_scripts.records.parts import parts_folder, remove_parts
from workflow_scripts.records.schemas import PROBLEMS, ROLLOUTS
from workflow_scripts.records.stage import run
from workflow_scripts.records.tables import read_csv, read_table, write_table
from workflow_scripts.tasks.countdown.wording import wording


def main(input, output, params, wildcards):
    manifests.check(input.policy)
    problems = read_table(input.problems, PROBLEMS)
    if params.get("group"):
        survivors = read_csv(input.survivors)
        wanted = survivors.loc[survivors["group"] == params.group, "problem_id"]
        problems = problems[problems["problem_id"].isin(wanted)]
    ask = prompter(input.policy, wording(params.wording))
    prompts = [Prompt(row.problem_id, ask(row.numbers, row.target)) for row in problems.itertuples()]
    first, last = params.samples
    settings = dict(params.settings)
    rollouts = sample(
        settings.pop("engine"),
        input.policy,
        prompts,
        policy=wildcards.policy,
        samples=range(first, last),
        study_seed=params.study_seed,
        parts=parts_folder(output.rollouts),
        **settings,
    )
    write_table(rollouts, output.rollouts, ROLLOUTS)
    remove_parts(parts_folder(output.rollouts))


run(main, snakemake)
