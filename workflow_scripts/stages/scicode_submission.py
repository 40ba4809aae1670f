"""A policy's answers to the public CritPt problems as the file that its grading server takes."""

from workflow_scripts.records.files import write_text
from workflow_scripts.records.schemas import ROLLOUTS
from workflow_scripts.records.scicode_schemas import SCICODE_PROBLEMS
from workflow_scripts.records.stage import run
from workflow_scripts.records.tables import read_table
from workflow_scripts.tasks.scicode.critpt import submission
from workflow_scripts.tasks.scicode.problems import problems_of


def main(input, output, params, wildcards):
    batch = submission(
        problems_of(read_table(input["problems"], SCICODE_PROBLEMS)),
        read_table(input.rollouts, ROLLOUTS),
        model=params.model,
        timestamp=params.timestamp,
        generation_config=params.generation,
        metadata={"wrapping": wildcards.wrapping},
    )
    write_text(output.submission, batch)


run(main, snakemake)
