"""Problems of the generated families for a given policy: to train on, to be asked, and families that training lacks.

No two sets share content or parameters; the shifted set asks held-out families, benchmark-style.
"""

from workflow_scripts.records.errors import UserError
from workflow_scripts.records.scicode_schemas import SCICODE_PROBLEMS
from workflow_scripts.records.stage import run
from workflow_scripts.records.tables import write_table
from workflow_scripts.tasks.scicode.families import FAMILIES
from workflow_scripts.tasks.scicode.generation import confirmed, generate, keys_of
from workflow_scripts.tasks.scicode.problems import problem_frame
from workflow_scripts.tasks.scicode.sandbox import limited


def main(input, output, params, wildcards):
    rest = [name for name in FAMILIES if name not in params.held_out]
    if not rest:
        raise UserError("scicode.sets.held_out names every family, so that none is left to train on; drop some")
    taken = frozenset()
    with limited(params.limits) as sandbox:
        for name in ("evaluation", "shifted", "training"):
            shifted = name == "shifted"
            problems = generate(
                name,
                count=params.sizes[name],
                seed=params.seed,
                families=params.held_out if shifted else rest,
                wrapped=shifted or params.wrapped,
                exclude=taken,
            )
            confirmed(problems, sandbox)
            taken |= keys_of(problems)
            write_table(problem_frame(problems, name), output[name], SCICODE_PROBLEMS)


run(main, snakemake)
