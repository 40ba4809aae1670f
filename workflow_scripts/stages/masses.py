"""Exact probability that one policy opens each problem of a set with each pair of number and operator."""

import torch

from workflow_scripts.measures.calibration import asked_openings, mass_rows
from workflow_scripts.policies.likelihood import Context, next_pairs
from workflow_scripts.policies.rendering import prompter
from workflow_scripts.records import manifests
from workflow_scripts.records.schemas import MASSES, OPENINGS, PROBLEMS
from workflow_scripts.records.stage import run
from workflow_scripts.records.tables import read_table, write_table
from workflow_scripts.tasks.countdown.menus import menu
from workflow_scripts.tasks.countdown.wording import wording


def main(input, output, params, wildcards):
    torch.set_num_threads(1)  # fixed, since rounding follows it; Snakemake's threads scale with --cores
    manifests.check(input.policy)
    problems, openings = read_table(input["problems"], PROBLEMS), read_table(input.openings, OPENINGS)
    words = wording(params.wording)
    ask, (_, lead) = prompter(input.policy, words), words.context("")
    contexts = [
        Context(words.context(ask(row.numbers, row.target))[0], *asked_openings(row.numbers.tolist()))
        for row in problems.itertuples()
    ]
    temperature, top_p = params.settings["temperature"], params.settings["top_p"]
    pairs = next_pairs(input.policy, contexts, lead=lead, temperature=temperature, top_p=top_p)
    rows = mass_rows(wildcards.policy, problems, menu(openings, params.solution_set), pairs)
    write_table(rows, output.masses, MASSES)


run(main, snakemake)
