"""What one policy found of each problem's solutions, families and openings: counts that every measure starts from."""

from workflow_scripts.measures.breadth import FORM_COUNTS, PROBLEM_BREADTH, breadth, status_counts
from workflow_scripts.records.files import write_text
from workflow_scripts.records.schemas import OPENINGS, SCORES, SOLUTIONS
from workflow_scripts.records.stage import run
from workflow_scripts.records.tables import csv_text, read_table, write_table


def main(input, output, params, wildcards):
    scores = read_table(input.scores, SCORES)
    solutions, openings = read_table(input.solutions, SOLUTIONS), read_table(input.openings, OPENINGS)
    problems, forms = breadth(scores, solutions, openings)
    write_table(problems, output.problems, PROBLEM_BREADTH)
    write_table(forms, output.forms, FORM_COUNTS)
    write_text(output.statuses, csv_text(status_counts(scores)))


run(main, snakemake)
