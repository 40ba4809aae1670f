"""Wrong answers kept to be read: a few of every policy, benchmark and reason; csv, and Markdown for the report."""

import pandas as pd

from workflow_scripts.figures.maths_failures import page
from workflow_scripts.measures.failed_examples import failed_examples
from workflow_scripts.records.files import write_text
from workflow_scripts.records.maths_schemas import MATHS_PROBLEMS, MATHS_SCORES
from workflow_scripts.records.schemas import ROLLOUTS
from workflow_scripts.records.stage import run
from workflow_scripts.records.tables import csv_text, read_table
from workflow_scripts.tasks.maths.word_faults import fault


def main(input, output, params, wildcards):
    scores, rollouts, problems = (
        pd.concat([read_table(path, schema) for path in paths], ignore_index=True)
        for paths, schema in (
            (input.scores, MATHS_SCORES),
            (input.rollouts, ROLLOUTS),
            (input["problems"], MATHS_PROBLEMS),
        )
    )
    given = {"each": params.each, "seed": params.seed} | ({"reason": fault} if params.words else {})
    table = failed_examples(scores, rollouts, problems, **given)
    write_text(output.csv, csv_text(table))
    labels = {policy: row["label"] for row in params.policies for policy in row["policies"]}
    totals = scores.groupby(["policy", "benchmark"]).size()
    write_text(output.md, page(table, totals, labels))


run(main, snakemake)
