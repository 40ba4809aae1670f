"""Every solution of every evaluation problem under both equivalences, and the menu of its openings."""

import pandas as pd

from workflow_scripts.records.errors import UserError
from workflow_scripts.records.progress import progress
from workflow_scripts.records.schemas import OPENINGS, PROBLEMS, SOLUTIONS
from workflow_scripts.records.stage import run
from workflow_scripts.records.tables import read_table, write_table
from workflow_scripts.tasks.countdown.solver import solve_many

_BATCH = 512


def main(input, output, params, wildcards):
    problems = read_table(input.problems, PROBLEMS)
    instances = [(tuple(map(int, numbers)), int(target)) for numbers, target in zip(problems.numbers, problems.target)]
    solved = []
    for start in progress(range(0, len(instances), _BATCH), title="solving", unit="batch"):
        solved += solve_many(instances[start : start + _BATCH])
    unsolvable = [found.problem_id for found in solved if not found.solutions]
    if unsolvable:
        named = ", ".join(unsolvable[:20]) + (" …" if len(unsolvable) > 20 else "")
        raise UserError(
            f"{input.problems}: {len(unsolvable)} problem(s) have no solution, so no coverage: {named}. "
            "Leave them out of the problem file"
        )
    for name, path, schema in (("solutions", output.solutions, SOLUTIONS), ("openings", output.openings, OPENINGS)):
        rows = [{"problem_id": found.problem_id, **row._asdict()} for found in solved for row in getattr(found, name)]
        write_table(pd.DataFrame(rows), path, schema)


run(main, snakemake)
