"""The problems of a published benchmark as one table, from its file or from its hub data set at the pinned revision."""

import tempfile
from pathlib import Path

from workflow_scripts.records.downloads import fetch_dataset_file
from workflow_scripts.records.errors import UserError
from workflow_scripts.records.files import write_text
from workflow_scripts.records.hub import is_hub_id
from workflow_scripts.records.maths_schemas import MATHS_PROBLEMS
from workflow_scripts.records.stage import run
from workflow_scripts.records.tables import csv_text, write_table
from workflow_scripts.tasks.maths.benchmarks import read_benchmark, summary


def main(input, output, params, wildcards):
    given, name = params.settings, wildcards.benchmark
    if not is_hub_id(given["source"]):
        problems = read_benchmark(given["format"], given["source"], limit=given["problems"], sha256=given["sha256"])
    elif given["file"] is None:
        raise UserError(f"maths.benchmarks.{name}: file must say which file of {given['source']} is read")
    else:
        with tempfile.TemporaryDirectory() as folder:
            file = fetch_dataset_file(
                given["source"],
                given["file"],
                revision=given["revision"],
                sha256=given["sha256"],
                target=Path(folder) / Path(given["file"]).name,
            )
            problems = read_benchmark(given["format"], file, limit=given["problems"])
    # Two benchmarks of the config may have one format: their names tell them apart.
    ids = name + problems["problem_id"].str.removeprefix(given["format"])
    problems = problems.assign(benchmark=name, problem_id=ids)
    write_table(problems, output["problems"], MATHS_PROBLEMS)
    write_text(output.summary, csv_text(summary(problems)))


run(main, snakemake)
