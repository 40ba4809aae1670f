"""Problems that a language model specified and that running its solvers bears out; every other with its reason."""

import pandas as pd

from workflow_scripts.policies.endpoint import ChatClient, Endpoint, Request, placed
from workflow_scripts.records.errors import UserError
from workflow_scripts.records.files import write_text
from workflow_scripts.records.scicode_schemas import SCICODE_PROBLEMS
from workflow_scripts.records.stage import elsewhere, run
from workflow_scripts.records.tables import csv_text, read_table, write_table
from workflow_scripts.tasks.scicode.generation import keys_of
from workflow_scripts.tasks.scicode.problems import problem_frame, problems_of
from workflow_scripts.tasks.scicode.sandbox import limited
from workflow_scripts.tasks.scicode.teacher import written


def main(input, output, params, wildcards):
    frames = [read_table(path, SCICODE_PROBLEMS) for path in input.others]
    others = keys_of(problems_of(pd.concat(frames, ignore_index=True))) if frames else frozenset()
    where = elsewhere(snakemake, "scicode", "teacher", "endpoint")
    client = ChatClient(Endpoint(**placed(params.endpoint, where)))
    with limited(params.limits) as sandbox:
        found = written(
            params.specifications,
            lambda requests: client.ask([Request(**request) for request in requests]),
            sandbox,
            seed=params.seed,
            exclude=others,
        )
    write_text(output.table, csv_text(found.table))
    if not found.problems:
        counts = found.table["reason"].value_counts()
        told = ", ".join(f"{reason} {count}" for reason, count in counts.items())
        raise UserError(f"none of {params.specifications} specifications of {client.endpoint.model} holds: {told}")
    write_table(problem_frame(found.problems, "teacher"), output["problems"], SCICODE_PROBLEMS)
    print(f"{client.usage.requests} requests, {client.usage.tokens} tokens, {client.usage.cached} from the cache")


run(main, snakemake)
