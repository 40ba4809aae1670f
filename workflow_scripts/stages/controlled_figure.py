"""Figure: four candidates per problem along SFT, DPO and GRPO, and where the reward pays for a wrong box."""

from workflow_scripts.figures.controlled import figure
from workflow_scripts.records.stage import run
from workflow_scripts.records.tables import read_csv


def main(input, output, params, wildcards):
    paths = [output.pdf, output.png, output.svg, output.csv]
    figure(read_csv(input.steps), read_csv(input.incentive), paths, sampled=f"sampled_{min(params.sampled['updates'])}")


run(main, snakemake)
