"""A few problems of every generated family, for trivial policies to answer; both solutions of each agree."""

from workflow_scripts.records.scicode_schemas import SCICODE_PROBLEMS
from workflow_scripts.records.stage import run
from workflow_scripts.records.tables import write_table
from workflow_scripts.tasks.scicode.families import FAMILIES
from workflow_scripts.tasks.scicode.generation import confirmed, generate
from workflow_scripts.tasks.scicode.problems import problem_frame
from workflow_scripts.tasks.scicode.sandbox import limited


def main(input, output, params, wildcards):
    problems = generate("audited", count=params.a_family * len(FAMILIES), seed=params.seed)
    with limited(params.limits) as sandbox:
        confirmed(problems, sandbox)
    write_table(problem_frame(problems, "audited"), output["problems"], SCICODE_PROBLEMS)


run(main, snakemake)
