"""Entrances of the tail pool that a late policy cannot open under the study's decoding, to be forced upon its line."""

from workflow_scripts.measures.recoverability import tail_cells
from workflow_scripts.records.files import write_text
from workflow_scripts.records.schemas import CLAMPS, MASSES, OPENINGS, PROBLEMS
from workflow_scripts.records.stage import run
from workflow_scripts.records.tables import csv_text, read_table, write_table
from workflow_scripts.tasks.countdown.clamps import menu_clamps
from workflow_scripts.tasks.countdown.menus import menu
from workflow_scripts.tasks.countdown.wording import wording


def main(input, output, params, wildcards):
    openings = menu(read_table(input.openings, OPENINGS), params.solution_set)
    early, late = read_table(input.early, MASSES), read_table(input.late, MASSES)
    cells = tail_cells(early, late, openings, cells=params.cells, seed=params.seed)
    write_text(output.cells, csv_text(cells))
    wanted = cells.rename(columns={"opening": "family"})
    clamps = menu_clamps(read_table(input["problems"], PROBLEMS), openings, wanted, words=wording(params.wording))
    write_table(clamps, output.clamps, CLAMPS)


run(main, snakemake)
