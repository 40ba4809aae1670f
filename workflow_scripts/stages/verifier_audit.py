"""The same answers under every checker (maths verifiers, Countdown contracts): agreement, and where they differ."""

import pandas as pd

from workflow_scripts.figures import tables
from workflow_scripts.figures.verifier_audit import audit_table, examples_markdown
from workflow_scripts.measures.agreement import agreement, countdown_opinions, disagreements, maths_opinions
from workflow_scripts.records.files import write_text
from workflow_scripts.records.maths_schemas import MATHS_PROBLEMS
from workflow_scripts.records.schemas import PROBLEMS, ROLLOUTS
from workflow_scripts.records.stage import run
from workflow_scripts.records.tables import csv_text, read_table


def main(input, output, params, wildcards):
    opinions = []
    if input.get("countdown_rollouts"):
        problems = read_table(input.countdown_problems, PROBLEMS)
        opinions.append(countdown_opinions(rollouts(input.countdown_rollouts, params.samples), problems))
    if input.get("maths_rollouts"):
        problems = pd.concat([read_table(path, MATHS_PROBLEMS) for path in input.maths_problems])
        opinions.append(maths_opinions(rollouts(input.maths_rollouts, params.samples), problems))
    opinions = pd.concat(opinions, ignore_index=True)
    pairs, listed = agreement(opinions), disagreements(opinions, limit=params.listed)
    table = audit_table(pairs, notes=[f"Policies: {', '.join(params.policies)}."])
    tables.write(table, [output.csv, output.tex])
    write_text(output.md, tables.markdown(table) + examples_markdown(listed))
    write_text(output.disagreements, csv_text(listed))


def rollouts(paths, samples):
    """The first samples of each problem: what is the same is judged once, and math-verify takes its time."""
    columns = ["problem_id", "completion"]
    tables_of = [read_table(path, ROLLOUTS, [*columns, "sample"]) for path in paths]
    first = pd.concat([table[table["sample"] < samples] for table in tables_of], ignore_index=True)
    return first[columns]


run(main, snakemake)
