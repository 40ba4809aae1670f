"""One setting of every intervention, chosen on the calibration problems alone and stored before any comparison."""

from workflow_scripts.measures.interventions import over_seeds
from workflow_scripts.measures.selection import choice_text, choose
from workflow_scripts.policies.intervention_grid import candidates, grid
from workflow_scripts.records.files import write_text
from workflow_scripts.records.schemas import PROBLEMS
from workflow_scripts.records.stage import run
from workflow_scripts.records.tables import read_csv, read_table


def main(input, output, params, wildcards):
    table = over_seeds([read_csv(path) for path in input.outcomes])
    problems = read_table(input["problems"], PROBLEMS)
    chosen = choose(table, problems, candidates(grid(params.settings)), "late", tolerance=params.tolerance)
    write_text(output.choice, choice_text(chosen))


run(main, snakemake)
