"""Blind judgements of where the first complete calculation of a trace stands."""

import pandas as pd

from workflow_scripts.measures.scored_traces import chosen_traces, drawn
from workflow_scripts.policies.endpoint import ChatClient, Endpoint, Request, placed
from workflow_scripts.records.errors import UserError
from workflow_scripts.records.maths_schemas import JUDGEMENTS, MATHS_PROBLEMS, MATHS_SCORES
from workflow_scripts.records.schemas import ROLLOUTS
from workflow_scripts.records.stage import elsewhere, run
from workflow_scripts.records.tables import read_table, write_table
from workflow_scripts.tasks.maths.segmentation import SCHEMA, items, judgements, messages


def main(input, output, params, wildcards):
    problems, rollouts, scores = (
        pd.concat([read_table(path, schema) for path in paths], ignore_index=True)
        for paths, schema in (
            (input["problems"], MATHS_PROBLEMS),
            (input.rollouts, ROLLOUTS),
            (input.scores, MATHS_SCORES),
        )
    )
    # What is judged is a part of what trace_likelihoods scores.
    traces = chosen_traces(scores, rollouts, per_branch=params.per_branch, most=params.most)
    members = {policy for pair in params.pairs for ends in pair["policies"] for policy in ends}
    traces = drawn(traces[traces["origin"].isin(members)], params.judged, seed=params.seed)
    asked = items(traces, seed=params.seed, duplicates=params.duplicates)
    question = problems.set_index("problem_id")["question"]
    requests = [
        Request(messages(question[row.problem_id], row.completion), SCHEMA, int(row.copy))
        for row in asked[["problem_id", "completion", "copy"]].itertuples(index=False, name="Item")
    ]
    client = ChatClient(Endpoint(**placed(params.endpoint, elsewhere(snakemake, "maths", "judge"))))
    answers = [reply.value for reply in client.ask(requests)]
    if all(answer is None for answer in answers):
        raise UserError(
            f"{params.endpoint['model']} gave no answer that fits the schema, to any of {len(answers)} items"
        )
    write_table(judgements(asked, answers), output.judgements, JUDGEMENTS)
    print(
        f"{client.usage.requests} requests, {client.usage.tokens} tokens, {client.usage.cached} answers from the cache"
    )


run(main, snakemake)
