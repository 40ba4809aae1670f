"""Figure: from which step on a checkpoint must have been kept for interpolation and for sampling from both to help."""

import pandas as pd

from workflow_scripts.figures.partner_curve import figure
from workflow_scripts.measures.interventions import paired, partner_curve
from workflow_scripts.policies.intervention_grid import partners
from workflow_scripts.records.schemas import PROBLEMS
from workflow_scripts.records.stage import run
from workflow_scripts.records.tables import read_csv, read_table

WORDS = {"interpolation": "all weights, {alpha:g} of the partner", "checkpoints": "half the samples from the partner"}


def main(input, output, params, wildcards):
    problems = read_table(input["problems"], PROBLEMS)
    held_out = problems.loc[problems["split"] == "held_out", "problem_id"]
    curves = []
    for line in params.lines:
        paths = [path for path in input.outcomes if f"/{line['name']}-s" in path]
        tables = [read_csv(path) for path in paths]
        whole = pd.concat([t.assign(policy=t["policy"] + f" s{seed}") for seed, t in enumerate(tables)])
        rows = partners({str(step): step for step in line["partners"]}, params.alpha)[1:]
        settings = {row["setting"]: [f"{row['setting']} s{seed}" for seed in range(len(tables))] for row in rows}
        late = [f"late s{seed}" for seed in range(len(tables))]
        differences = paired(whole, held_out, late, settings, **params.statistics)
        steps = {row["setting"]: int(row["partner"]) for row in rows}
        changes = {row["setting"]: row["intervention"] for row in rows}
        curves.append(partner_curve(differences, steps, changes).assign(line=line["name"]))
    words = {name: text.format(alpha=params.alpha) for name, text in WORDS.items()}
    figure(
        pd.concat(curves, ignore_index=True),
        words,
        [output.pdf, output.png, output.svg, output.csv],
        confidence=params.statistics["confidence"],
    )


run(main, snakemake)
