"""One solution of each four-number problem, given up to each operation, and what may come next there."""

from workflow_scripts.records.schemas import CLAMPS, OPENINGS, PROBLEMS, STEP_MENUS
from workflow_scripts.records.stage import run
from workflow_scripts.records.tables import read_table, write_table
from workflow_scripts.tasks.countdown.depth_clamps import depth_clamps, next_menus
from workflow_scripts.tasks.countdown.menus import menu
from workflow_scripts.tasks.countdown.wording import wording


def main(input, output, params, wildcards):
    problems = read_table(input["problems"], PROBLEMS)
    words, openings = (
        wording(params.wording),
        menu(read_table(input.openings, OPENINGS), params.solution_set),
    )
    clamps = depth_clamps(problems, openings, words)
    write_table(clamps, output.clamps, CLAMPS)
    menus = next_menus(problems, clamps, words=words, solution_set=params.solution_set)
    write_table(menus, output.menus, STEP_MENUS)


run(main, snakemake)
