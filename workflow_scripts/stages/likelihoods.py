"""Teacher-forced log-probabilities of one policy on the solver's continuations of every evaluation problem."""

import torch

from workflow_scripts.policies.engines import token_log_probs
from workflow_scripts.policies.rendering import prompter
from workflow_scripts.records import manifests
from workflow_scripts.records.schemas import LIKELIHOODS, OPENINGS, PROBLEMS, SOLUTIONS
from workflow_scripts.records.stage import run
from workflow_scripts.records.tables import read_table, write_table
from workflow_scripts.tasks.countdown.continuations import continuations, entrance_tokens
from workflow_scripts.tasks.countdown.menus import menu
from workflow_scripts.tasks.countdown.wording import wording


def main(input, output, params, wildcards):
    torch.set_num_threads(1)  # fixed, since rounding follows it; Snakemake's threads scale with --cores
    manifests.check(input.policy)
    words, problems = wording(params.wording), read_table(input["problems"], PROBLEMS)
    solutions, openings = (
        menu(read_table(input[name], schema), params.solution_set)
        for name, schema in (("solutions", SOLUTIONS), ("openings", OPENINGS))
    )
    texts = continuations(solutions, openings, words)
    ask = prompter(input.policy, words)
    asked = {row.problem_id: ask(row.numbers, row.target) for row in problems.itertuples()}
    pairs = [(asked[row.problem_id], row.continuation) for row in texts.itertuples()]
    if words.words:
        log_probs = token_log_probs(params.engine, input.policy, pairs)
    else:
        scored = token_log_probs(params.engine, input.policy, pairs, spans=True)
        log_probs = [values for values, _ in scored]
        ends = [entrance_tokens(spans[:-1], end) for (_, spans), end in zip(scored, texts["entrance"], strict=True)]
        texts["entrance"] = [tokens for tokens, _ in ends]
        straddling = sum(straddles for _, straddles in ends)
        print(f"{straddling} of {len(ends)} entrances end inside a token, which is counted to the entrance")
    write_table(texts.assign(policy=wildcards.policy, log_probs=log_probs), output.likelihoods, LIKELIHOODS)


run(main, snakemake)
