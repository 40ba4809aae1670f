"""Free samples of one policy on every evaluation problem, one random stream a sample."""

from workflow_scripts.policies.sampling import Prompt, sample_policy
from workflow_scripts.records import manifests
from workflow_scripts.records.schemas import PROBLEMS, ROLLOUTS
from workflow_scripts.records.stage import run
from workflow_scripts.records.tables import read_table, write_table
from workflow_scripts.tasks.countdown.text import think_prompt


def main(input, output, params, wildcards):
    manifests.check(input.policy)
    problems = read_table(input.problems, PROBLEMS)
    prompts = [Prompt(row.problem_id, think_prompt(row.numbers.tolist(), row.target)) for row in problems.itertuples()]
    rollouts = sample_policy(
        input.policy, prompts, policy=wildcards.policy, study_seed=params.study_seed, **params.settings
    )
    write_table(rollouts, output.rollouts, ROLLOUTS)


run(main, snakemake)
