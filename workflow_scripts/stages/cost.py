"""The cost table: wall and CPU seconds and peak memory of each rule, from the benchmark files of its jobs."""

from pathlib import Path

from workflow_scripts.figures.cost import benchmark_files, costs, markdown
from workflow_scripts.records.files import write_text
from workflow_scripts.records.stage import run
from workflow_scripts.records.tables import csv_text


def main(input, output, params, wildcards):
    # They are no inputs: a job that was taken from a cache has none, and a lost one is no reason to train again.
    table = costs(benchmark_files(Path(output.csv).parents[1] / "benchmarks"))
    write_text(output.csv, csv_text(table))
    write_text(output.md, markdown(table, unmeasured=params.unmeasured))


run(main, snakemake)
