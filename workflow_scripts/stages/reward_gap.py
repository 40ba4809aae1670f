"""Table and figure of reward against truth."""

import pandas as pd

from workflow_scripts.figures import tables
from workflow_scripts.figures.reward_truth import figure, table
from workflow_scripts.records.scicode_schemas import SCICODE_TRAINING
from workflow_scripts.records.stage import run
from workflow_scripts.records.tables import read_csv, read_table
from workflow_scripts.tasks.scicode.rewards import rewards_of


def main(input, output, params, wildcards):
    changed, said = read_csv(input.changes), read_csv(input.verdicts)
    seeds = {line["name"]: line["seeds"] for line in params.lines}
    made = table(changed, said, samples=params.samples, seeds=seeds)
    tables.write(made, [output.csv, output.md, output.tex])
    drawn = [output.pdf, output.png, output.svg, output.data]
    figure(read_csv(input.checkpoints), drawn, *by_step(input.get("truth", []), params))


def by_step(paths, params):
    """SCICODE_TRAINING of all lines, and what their rewards can pay; nothing where the rule gives no such files."""
    if not paths:
        return None, None
    paths, rewards = iter(paths), rewards_of(params.rewards)
    parts = [
        read_table(next(paths), SCICODE_TRAINING).assign(line=row["line"], seed=row["seed"])
        for row in params.runs
        for _ in row["files"]
    ]
    return pd.concat(parts, ignore_index=True), {row["name"]: rewards[row["reward"]].largest for row in params.lines}


run(main, snakemake)
