"""The public CritPt problems under one wrapping, as a table of problems without checks."""

from workflow_scripts.records.scicode_schemas import SCICODE_PROBLEMS
from workflow_scripts.records.stage import run
from workflow_scripts.records.tables import write_table
from workflow_scripts.tasks.scicode.critpt import problem, read
from workflow_scripts.tasks.scicode.problems import problem_frame


def main(input, output, params, wildcards):
    problems = [problem(challenge, wildcards.wrapping) for challenge in read(params.source)]
    write_table(problem_frame(problems, f"critpt-{wildcards.wrapping}"), output["problems"], SCICODE_PROBLEMS)


run(main, snakemake)
