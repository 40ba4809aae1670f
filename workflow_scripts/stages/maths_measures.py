"""First calculations, traces and pass@k of every maths policy, what changed in each pair, and one worked example."""

import pandas as pd

from workflow_scripts.measures import benchmark_means, first_calculations, maths_claims, trace_diversity
from workflow_scripts.records.files import write_text
from workflow_scripts.records.maths_schemas import MATHS_SCORES
from workflow_scripts.records.stage import run
from workflow_scripts.records.tables import csv_text, read_table

PIPELINE = "pipeline"
"""Name of the pair whose change is set against the first pair's (claim C29)."""


def claimed(values, contrasts, scores, entries, params, example):
    """Rows of claims C24, C25, C28 for every pair; of C34 and, where there is a pair `pipeline`, of C29."""
    parts, pairs = [], params.pairs
    ends = {"before": maths_claims.BEFORE, "after": maths_claims.AFTER}
    for place, pair in enumerate(pairs):
        found = contrasts[(contrasts["before"] == pair["before"]) & (contrasts["after"] == pair["after"])]
        line = pair["name"] if place else maths_claims.LINE
        parts.append(benchmark_means.claim_rows(found, line).assign(**ends))
    first = [(pair["before"], pair["after"]) for pair in pairs[:1]]
    if first:
        rows = first_calculations.example_rows(scores, example, entries, first, **params.statistics)
        parts.append(benchmark_means.claim_rows(rows, maths_claims.LINE).assign(**ends))
    named = {pair["name"]: pair for pair in pairs}
    if first and PIPELINE in named:
        groups = [tuple(entries[pair[end]] for end in ends) for pair in (pairs[0], named[PIPELINE])]
        parts.append(
            maths_claims.pipeline_rows(
                values,
                straight=groups[0],
                pipeline=groups[1],
                line=maths_claims.LINE,
                statistics=params.statistics,
            )
        )
    columns = ["line", "before", "after", "measure", "start", "end", "estimate", "low", "high", "problems"]
    return pd.concat(parts, ignore_index=True)[columns] if parts else pd.DataFrame(columns=columns)


def main(input, output, params, wildcards):
    scores = pd.concat([read_table(path, MATHS_SCORES) for path in input.scores], ignore_index=True)
    entries = {row["name"]: row["policies"] for row in params.policies}
    values = pd.concat(
        [
            first_calculations.problem_values(scores, params.pass_at),
            trace_diversity.curve_values(scores, trace_diversity.depths(params.depth)),
        ],
        ignore_index=True,
    )
    write_text(output.summary, csv_text(benchmark_means.summary(values, entries, **params.statistics)))
    ends = list(dict.fromkeys((pair["before"], pair["after"]) for pair in params.pairs))
    contrasts = benchmark_means.contrasts(values, entries, ends, **params.statistics) if ends else pd.DataFrame()
    write_text(output.contrasts, csv_text(contrasts))
    example = first_calculations.chosen_example(values, params.pairs, params.example, params.benchmarks)
    write_text(output.example, csv_text(first_calculations.worked_example(scores, example)))
    write_text(output.claims, csv_text(claimed(values, contrasts, scores, entries, params, example)))


run(main, snakemake)
