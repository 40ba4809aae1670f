"""One solution of each four-number problem, given up to each operation, and what may come next there."""

from workflow_scripts.records.schemas import CLAMPS, OPENINGS, PROBLEMS, STEP_MENUS
from workflow_scripts.records.stage import run
from workflow_scripts.records.tables import read_table, write_table
from workflow_scripts.tasks.countdown.depth_clamps import depth_clamps, next_menus
from workflow_scripts.tasks.countdown.menus import menu


def main(input, output, params, wildcards):
    problems = read_table(input["problems"], PROBLEMS)
    clamps = depth_clamps(problems, menu(read_table(input.openings, OPENINGS), params.solution_set))
    write_table(clamps, output.clamps, CLAMPS)
    write_table(next_menus(problems, clamps), output.menus, STEP_MENUS)


run(main, snakemake)
