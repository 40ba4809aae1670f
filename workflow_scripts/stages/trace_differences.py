"""Same-trace difference in differences of every pair: by benchmark and origin of the traces, with its placebos."""

import pandas as pd

from workflow_scripts.measures import benchmark_means, trace_differences
from workflow_scripts.measures.maths_claims import AFTER, BEFORE, LINE
from workflow_scripts.records.files import write_text
from workflow_scripts.records.maths_schemas import TRACE_LIKELIHOODS
from workflow_scripts.records.stage import run
from workflow_scripts.records.tables import csv_text, read_table


def main(input, output, params, wildcards):
    likelihoods = pd.concat([read_table(path, TRACE_LIKELIHOODS) for path in input.likelihoods], ignore_index=True)
    summaries, excluded, claims = [], [], []
    for place, pair in enumerate(params.pairs):
        ends = [tuple(policies) for policies in pair["policies"]]
        frame, entries, counts = trace_differences.line_values(likelihoods, ends, seed=params.statistics["seed"])
        rows = benchmark_means.summary(frame, entries, **params.statistics)
        # Claims are read on the first pair; the others keep their names.
        line = pair["name"] if place else LINE
        claims.append(trace_differences.claim_rows(rows, line, BEFORE, AFTER))
        summaries.append(rows.rename(columns={"entry": "origin"}).assign(pair=pair["name"]))
        excluded.append(counts.assign(pair=pair["name"]))
    for frames, path in ((summaries, output.differences), (excluded, output.exclusions)):
        table = pd.concat(frames, ignore_index=True)
        write_text(path, csv_text(table[["pair", *table.columns.drop("pair")]]))
    write_text(output.claims, csv_text(pd.concat(claims, ignore_index=True)))


run(main, snakemake)
