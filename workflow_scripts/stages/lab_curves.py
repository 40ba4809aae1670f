"""Figure: reward, format, first-calculation entropy and drift by step of every reinforcement stage of the lab."""

import pandas as pd

from workflow_scripts.figures.lab_curves import figure
from workflow_scripts.records.schemas import TRAINING
from workflow_scripts.records.stage import run
from workflow_scripts.records.tables import read_table


def main(input, output, params, wildcards):
    tables = dict(zip([policy for row in params.policies for policy in row["policies"]], input.metrics, strict=True))
    parts = [
        read_table(tables[policy], TRAINING).assign(policy=row["name"], seed=seed)
        for row in params.policies
        for seed, policy in enumerate(row["policies"])
    ]
    labels = {row["name"]: row["label"] for row in params.policies}
    figure(pd.concat(parts, ignore_index=True), labels, [output.pdf, output.png, output.svg, output.csv])


run(main, snakemake)
