"""Table 2: what entrance and execution cost in nats a token, early against late, as csv, Markdown and LaTeX."""

import pandas as pd

from workflow_scripts.figures import tables
from workflow_scripts.figures.likelihood import table2
from workflow_scripts.records.stage import run
from workflow_scripts.records.tables import read_csv


def main(input, output, params, wildcards):
    changes = pd.concat([read_csv(path) for path in input.changes], ignore_index=True)
    tokens = pd.concat([read_csv(path) for path in input.tokens], ignore_index=True)
    names = [line["name"] for line in params.lines]
    notes = [
        f"Line {line['name']}: early is step {line['early']}, late is step {line['late']}." for line in params.lines
    ]
    table = table2(
        changes,
        tokens,
        names,
        solution_set=params.solution_set,
        confidence=params.confidence,
        notes=notes,
    )
    tables.write(table, [output.csv, output.md, output.tex])


run(main, snakemake)
