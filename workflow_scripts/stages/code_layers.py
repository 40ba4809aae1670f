"""The share of programs at every layer, by policy and set, and by family: tables."""

import pandas as pd

from workflow_scripts.figures import tables
from workflow_scripts.figures.code_layers import layer_table
from workflow_scripts.measures.code_layers import layer_rates
from workflow_scripts.records.files import write_text
from workflow_scripts.records.scicode_schemas import SCICODE_SCORES
from workflow_scripts.records.stage import run
from workflow_scripts.records.tables import csv_text, read_table


def main(input, output, params, wildcards):
    scores = pd.concat([read_table(path, SCICODE_SCORES) for path in input["scores"]], ignore_index=True)
    rows = params.policies
    rates = layer_rates(scores, {row["name"]: row["policies"] for row in rows}, **params.statistics)
    table = layer_table(
        rates,
        [(row["label"], row["name"]) for row in rows],
        samples=int(scores.groupby(["policy", "problem_id"]).size().min()),
        confidence=params.statistics["confidence"],
    )
    tables.write(table, [output.csv, output.md, output.tex])
    write_text(output.rates, csv_text(rates))


run(main, snakemake)
