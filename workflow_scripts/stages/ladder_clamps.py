"""Every rung of the ladder, by itself and inside the late policy's own failed attempts, and cuts of successful runs.

Scaffolds come from the line's late policy and cuts from its early one, which still knows several runs a problem; all
policies of the line are given the same bytes.
"""

import pandas as pd

from workflow_scripts.records.schemas import CLAMPS, OPENINGS, PROBLEMS, ROLLOUTS, SCORES, SOLUTIONS
from workflow_scripts.records.stage import run
from workflow_scripts.records.tables import read_table, write_table
from workflow_scripts.tasks.countdown.clamps import ladder_clamps
from workflow_scripts.tasks.countdown.menus import menu
from workflow_scripts.tasks.countdown.scaffolds import retry_scaffolds, run_cuts
from workflow_scripts.tasks.countdown.wording import wording


def main(input, output, params, wildcards):
    problems, solutions = read_table(input["problems"], PROBLEMS), read_table(input.solutions, SOLUTIONS)
    openings = menu(read_table(input.openings, OPENINGS), params.solution_set)
    late = read_table(input.rollouts, ROLLOUTS), read_table(input.scores, SCORES)
    early = read_table(input.early_rollouts, ROLLOUTS), read_table(input.early_scores, SCORES)
    given = {"room": params.room, "words": wording(params.wording)}
    own = retry_scaffolds(*late, problems, openings, per_family=params.scaffolds, **given)
    rungs = ladder_clamps(problems, openings, own, solutions, families=params.families, words=given["words"])
    cuts = run_cuts(*early, problems, openings, per_problem=params.run_cuts, **given)
    write_table(pd.concat([rungs, cuts], ignore_index=True), output.clamps, CLAMPS)


run(main, snakemake)
