"""The minimal entrance of every opening of every evaluation problem's menu, to be forced upon policies."""

from workflow_scripts.records.schemas import CLAMPS, OPENINGS, PROBLEMS
from workflow_scripts.records.stage import run
from workflow_scripts.records.tables import read_table, write_table
from workflow_scripts.tasks.countdown.clamps import menu_clamps
from workflow_scripts.tasks.countdown.menus import menu
from workflow_scripts.tasks.countdown.wording import wording


def main(input, output, params, wildcards):
    openings = menu(read_table(input.openings, OPENINGS), params.solution_set)
    clamps = menu_clamps(read_table(input["problems"], PROBLEMS), openings, words=wording(params.wording))
    write_table(clamps, output.clamps, CLAMPS)


run(main, snakemake)
