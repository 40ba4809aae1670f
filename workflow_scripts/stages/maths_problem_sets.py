"""Word problems: those of evaluation, those of the shifted test, and those of training.

No set holds a problem (sorted numbers, answer) of a set before it, in this order.
"""

from workflow_scripts.records.stage import run
from workflow_scripts.records.tables import write_table
from workflow_scripts.records.word_schemas import WORD_PROBLEMS
from workflow_scripts.tasks.maths.word_rewarded import problem_frame
from workflow_scripts.tasks.maths.words import problem_set


def main(input, output, params, wildcards):
    taken = set()
    for name in ("words", "shifted", "training"):
        problems = problem_set(
            name,
            params.sizes[name],
            seed=params.seed,
            excluded=taken,
            shifted=name == "shifted",
            distinct_keys=name != "training",
        )
        taken |= {problem.key for problem in problems}
        write_table(problem_frame(problems, name), output[name], WORD_PROBLEMS)


run(main, snakemake)
