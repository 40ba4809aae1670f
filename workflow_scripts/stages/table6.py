"""Table 6: the first calculations of one problem, by policy; csv, Markdown, LaTeX."""

import pandas as pd

from workflow_scripts.figures import tables
from workflow_scripts.figures.table6 import table6
from workflow_scripts.records.maths_schemas import MATHS_PROBLEMS
from workflow_scripts.records.stage import run
from workflow_scripts.records.tables import read_csv, read_table


def main(input, output, params, wildcards):
    example = read_csv(input.example)
    problems = pd.concat([read_table(path, MATHS_PROBLEMS) for path in input["problems"]], ignore_index=True)
    asked = problems[problems["problem_id"] == example["problem_id"].iloc[0]].iloc[0]
    table = table6(
        example,
        [(row["label"], row["name"]) for row in params.policies],
        {row["name"]: row["policies"] for row in params.policies},
        question=asked["question"],
        gold=asked["gold"],
    )
    tables.write(table, [output.csv, output.md, output.tex])


run(main, snakemake)
