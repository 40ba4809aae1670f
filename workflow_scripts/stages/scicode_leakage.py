"""Leakage and shortcuts: what evaluation sets share with training, and what answers without any science get right."""

from workflow_scripts.figures.code_tables import leakage_table
from workflow_scripts.figures.tables import markdown
from workflow_scripts.records.files import write_text
from workflow_scripts.records.scicode_schemas import SCICODE_PROBLEMS
from workflow_scripts.records.stage import run
from workflow_scripts.records.tables import csv_text, read_table
from workflow_scripts.tasks.scicode.leakage import report
from workflow_scripts.tasks.scicode.problems import problems_of
from workflow_scripts.tasks.scicode.sandbox import limited


def main(input, output, params, wildcards):
    training = problems_of(read_table(input.training, SCICODE_PROBLEMS))
    frames = [read_table(path, SCICODE_PROBLEMS) for path in input.others]
    others = {name: problems_of(part) for frame in frames for name, part in frame.groupby("set", sort=True)}
    with limited(params.limits) as sandbox:
        table = report(training, others, sandbox)
    write_text(output.csv, csv_text(table))
    write_text(output.md, markdown(leakage_table(table)))


run(main, snakemake)
