"""The cost table: wall and CPU seconds and peak memory of each rule, from the benchmark files of its jobs."""

from workflow_scripts.figures.cost import costs, markdown
from workflow_scripts.figures.tables import csv_text
from workflow_scripts.records.files import write_text
from workflow_scripts.records.stage import run


def main(input, output, params, wildcards):
    # Every input is named by the rule that wrote it; one with a single job is a path, not a list.
    files = {rule: [paths] if isinstance(paths, str) else list(paths) for rule, paths in input.items()}
    table = costs(files)
    write_text(output.csv, csv_text(table))
    write_text(output.md, markdown(table, unmeasured=params.unmeasured))


run(main, snakemake)
