"""Exact probability of every next step of one policy at each operation along the solutions of the depth set."""

import pandas as pd
import torch

from workflow_scripts.measures.depth import OPERATORS, next_masses
from workflow_scripts.policies.likelihood import Context, next_pairs
from workflow_scripts.policies.rendering import prompter
from workflow_scripts.records import manifests
from workflow_scripts.records.schemas import PROBLEMS, STEP_MASSES, STEP_MENUS
from workflow_scripts.records.stage import run
from workflow_scripts.records.tables import read_table, write_table
from workflow_scripts.tasks.countdown.wording import wording


def main(input, output, params, wildcards):
    torch.set_num_threads(1)  # fixed, since rounding follows it; Snakemake's threads scale with --cores
    manifests.check(input.policy)
    problems, menus = read_table(input["problems"], PROBLEMS), read_table(input.menus, STEP_MENUS)
    words = wording(params.wording)
    ask = prompter(input.policy, words)
    asked = {row.problem_id: ask(row.numbers, row.target) for row in problems.itertuples()}
    decoding = {key: params.settings[key] for key in ("temperature", "top_p")}
    first = menus["prefix"] == ""
    parts = []
    for prefix, part in (("", menus[first]), (",", menus[~first])):  # a later step follows its comma at once
        _, lead = words.context("", prefix)
        contexts = [
            Context(words.context(asked[row.problem_id], row.prefix)[0], [*map(str, row.operands)], OPERATORS)
            for row in part.itertuples()
        ]
        parts.append(next_masses(wildcards.policy, part, next_pairs(input.policy, contexts, lead=lead, **decoding)))
    write_table(pd.concat(parts, ignore_index=True), output.masses, STEP_MASSES)


run(main, snakemake)
