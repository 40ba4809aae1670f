"""Table 5: precision, first-calculation entropy and distinct traces of every maths policy; csv, Markdown, LaTeX."""

from workflow_scripts.figures import tables
from workflow_scripts.figures.table5 import table5
from workflow_scripts.measures.lab import ALIKE
from workflow_scripts.records.stage import run
from workflow_scripts.records.tables import read_csv

GENERATED = {"words", "shifted"}
"""Benchmarks that are written here and not published."""


def main(input, output, params, wildcards):
    table = table5(
        read_csv(input.summary),
        [(row["label"], row["name"]) for row in params.policies],
        benchmarks=params.benchmarks,
        pass_at=params.pass_at,
        samples=params.samples,
        depth=params.depth,
        confidence=params.confidence,
        notes=[ALIKE] if set(params.benchmarks) <= GENERATED else [],
    )
    tables.write(table, [output.csv, output.md, output.tex])


run(main, snakemake)
