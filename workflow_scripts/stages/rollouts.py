"""Free samples of one policy, one random stream a sample.

Further sets of the same policy take sample numbers that no other set has, so that they are independent of it.
"""

from workflow_scripts.policies.sampling import Prompt, sample_policy
from workflow_scripts.records import manifests
from workflow_scripts.records.schemas import PROBLEMS, ROLLOUTS
from workflow_scripts.records.stage import refuse_other_engines, run
from workflow_scripts.records.tables import read_csv, read_table, write_table
from workflow_scripts.tasks.countdown.text import think_prompt


def main(input, output, params, wildcards):
    refuse_other_engines(params.settings["engine"])
    manifests.check(input.policy)
    problems = read_table(input.problems, PROBLEMS)
    if params.get("group"):
        survivors = read_csv(input.survivors)
        wanted = survivors.loc[survivors["group"] == params.group, "problem_id"]
        problems = problems[problems["problem_id"].isin(wanted)]
    prompts = [Prompt(row.problem_id, think_prompt(row.numbers.tolist(), row.target)) for row in problems.itertuples()]
    first, last = params.samples
    rollouts = sample_policy(
        input.policy,
        prompts,
        policy=wildcards.policy,
        samples=range(first, last),
        study_seed=params.study_seed,
        **{key: value for key, value in params.settings.items() if key != "engine"},
    )
    write_table(rollouts, output.rollouts, ROLLOUTS)


run(main, snakemake)
