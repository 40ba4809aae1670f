"""Figure: entropies by step when reinforcement learning starts from the base and from broader policies."""

import pandas as pd

from workflow_scripts.figures.continuation import figure
from workflow_scripts.records.schemas import TRAINING
from workflow_scripts.records.stage import run
from workflow_scripts.records.tables import read_table


def main(input, output, params, wildcards):
    tables = dict(zip([policy for road in params.roads for policy in road["policies"]], input.metrics, strict=True))
    # Arms other than the control start where it does; the figure is about starts.
    shown = [road for road in params.roads if road["role"] == "road" or road["name"] == "control"]
    parts = [
        read_table(tables[policy], TRAINING).assign(line=road["name"], seed=seed)
        for road in shown
        for seed, policy in zip(road["seeds"], road["policies"], strict=True)
    ]
    labels = {road["name"]: f"{road['start']} → GRPO" for road in shown}
    figure(pd.concat(parts, ignore_index=True), labels, [output.pdf, output.png, output.svg, output.csv])


run(main, snakemake)
