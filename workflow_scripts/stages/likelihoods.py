"""Teacher-forced log-probabilities of one policy on the solver's continuations of every evaluation problem."""

import torch

from workflow_scripts.policies.likelihood import token_log_probs
from workflow_scripts.records import manifests
from workflow_scripts.records.schemas import LIKELIHOODS, OPENINGS, PROBLEMS, SOLUTIONS
from workflow_scripts.records.stage import refuse_other_engines, run
from workflow_scripts.records.tables import read_table, write_table
from workflow_scripts.tasks.countdown.continuations import continuations
from workflow_scripts.tasks.countdown.text import think_prompt


def main(input, output, params, wildcards):
    refuse_other_engines(params.engine)
    torch.set_num_threads(1)  # fixed, since rounding follows it; Snakemake's threads scale with --cores
    manifests.check(input.policy)
    problems = read_table(input["problems"], PROBLEMS)
    texts = continuations(read_table(input.solutions, SOLUTIONS), read_table(input.openings, OPENINGS))
    asked = {row.problem_id: think_prompt(row.numbers.tolist(), row.target) for row in problems.itertuples()}
    pairs = [(asked[row.problem_id], row.continuation) for row in texts.itertuples()]
    log_probs = token_log_probs(input.policy, pairs)
    write_table(texts.assign(policy=wildcards.policy, log_probs=log_probs), output.likelihoods, LIKELIHOODS)


run(main, snakemake)
