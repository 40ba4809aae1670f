"""A policy's answers to the public CritPt problems as the file that its grading server takes; what they look like."""

from workflow_scripts.records.files import write_text
from workflow_scripts.records.schemas import ROLLOUTS
from workflow_scripts.records.scicode_schemas import SCICODE_PROBLEMS
from workflow_scripts.records.stage import run
from workflow_scripts.records.tables import csv_text, read_table
from workflow_scripts.tasks.scicode.critpt import output_statistics, submission
from workflow_scripts.tasks.scicode.problems import problems_of


def main(input, output, params, wildcards):
    problems = problems_of(read_table(input["problems"], SCICODE_PROBLEMS))
    rollouts = read_table(input.rollouts, ROLLOUTS)
    first = rollouts[rollouts["sample"] == 0]
    batch = submission(
        problems,
        first,
        model=params.model,
        timestamp=params.timestamp,
        generation_config=params.generation,
        metadata={"wrapping": params.wrapping},
    )
    write_text(output.submission, batch)
    write_text(output.statistics, csv_text(output_statistics(first)))


run(main, snakemake)
