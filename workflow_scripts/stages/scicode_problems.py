"""Short problems to train on, to be asked, and the shifted, official-style ones; no two sets share parameters."""

from workflow_scripts.records.scicode_schemas import SCICODE_PROBLEMS
from workflow_scripts.records.stage import run
from workflow_scripts.records.tables import write_table
from workflow_scripts.tasks.scicode.problems import problem_frame
from workflow_scripts.tasks.scicode.short_problems import key_of, short_set


def main(input, output, params, wildcards):
    taken = set()
    for name in ("evaluation", "shifted", "training"):
        count = params.sizes[name]
        problems = short_set(name, count, seed=params.seed, excluded=taken, shifted=name == "shifted")
        taken |= {key_of(problem) for problem in problems}
        write_table(problem_frame(problems, name), output[name], SCICODE_PROBLEMS)


run(main, snakemake)
