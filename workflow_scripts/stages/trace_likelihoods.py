"""Log-probabilities that one policy gives to correct traces: its own, and those of the policies it is paired with."""

import pandas as pd
import torch

from workflow_scripts.measures.scored_traces import chosen_traces, cuts
from workflow_scripts.policies.foreign_tokenizer import load_any_tokenizer
from workflow_scripts.policies.likelihood import token_log_probs
from workflow_scripts.records import manifests
from workflow_scripts.records.maths_schemas import MATHS_PROBLEMS, MATHS_SCORES, TRACE_LIKELIHOODS
from workflow_scripts.records.schemas import ROLLOUTS
from workflow_scripts.records.stage import run
from workflow_scripts.records.tables import read_table, write_table
from workflow_scripts.tasks.maths.asked import prompts_of


def main(input, output, params, wildcards):
    torch.set_num_threads(1)  # fixed, since rounding follows it; Snakemake's threads scale with --cores
    manifests.check(input.policy)
    problems, rollouts, scores = (
        pd.concat([read_table(path, schema) for path in paths], ignore_index=True)
        for paths, schema in (
            (input["problems"], MATHS_PROBLEMS),
            (input.rollouts, ROLLOUTS),
            (input.scores, MATHS_SCORES),
        )
    )
    traces = chosen_traces(scores, rollouts, per_branch=params.per_branch, most=params.most)
    asked = prompts_of(problems, params.prompt)
    tokenizer = load_any_tokenizer(input.policy)
    # A trace that shares a token with its prompt (two line ends) cannot be scored from its beginning on.
    parted = [not tokenizer.straddling(asked[row.problem_id], row.completion) for row in traces.itertuples()]
    print(f"{len(parted) - sum(parted)} of {len(parted)} traces share a token with their prompt and are left out")
    traces = traces[parted].reset_index(drop=True)
    texts = [(asked[row.problem_id], row.completion) for row in traces.itertuples()]
    scored = token_log_probs(input.policy, texts, spans=True)
    # The end token belongs to no part of the text: a trace with nothing after P1 has no execution.
    cut = [cuts(text, spans[:-1].tolist()) for (_, text), (_, spans) in zip(texts, scored, strict=True)]
    found = pd.concat([traces, pd.DataFrame(cut)], axis=1)
    counts = ["boundary", "boundary_sentence", "boundary_second"]
    found = found.astype(dict.fromkeys(counts, "Int32") | {"split": "boolean"})
    found = found.assign(policy=wildcards.policy, log_probs=[values[:-1] for values, _ in scored])
    write_table(found, output.likelihoods, TRACE_LIKELIHOODS)
    print(f"{int(found['split'].sum())} of {len(found)} traces have P1 inside a token, which is counted as before it")


run(main, snakemake)
