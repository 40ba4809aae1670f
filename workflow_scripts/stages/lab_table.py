"""Lab table: accuracy, format, reward, length, drift and entropies of every small maths policy, on both test sets."""

import pandas as pd

from workflow_scripts.figures import tables
from workflow_scripts.figures.lab_table import lab_table, speed, training_cells
from workflow_scripts.measures import benchmark_means
from workflow_scripts.measures.lab import lab_values
from workflow_scripts.records import manifests
from workflow_scripts.records.files import write_text
from workflow_scripts.records.maths_schemas import MATHS_SCORES
from workflow_scripts.records.stage import run
from workflow_scripts.records.tables import csv_text, read_table
from workflow_scripts.records.word_schemas import DRIFT


def main(input, output, params, wildcards):
    rows = params.policies
    scores = pd.concat([read_table(path, MATHS_SCORES) for path in input.scores], ignore_index=True)
    moved = pd.concat([read_table(path, DRIFT) for path in input.drift], ignore_index=True)
    metrics = dict(zip([policy for row in rows for policy in row["policies"]], input.training, strict=True))
    for path in metrics.values():
        manifests.check(path)
    training = {policy: pd.read_parquet(path) for policy, path in metrics.items()}
    values = lab_values(
        scores,
        pass_at=params.pass_at,
        draws=params.draws,
        rewards=params.rewards,
        seed=params.statistics["seed"],
        drift=moved,
    )
    summary = benchmark_means.summary(values, {row["name"]: row["policies"] for row in rows}, **params.statistics)
    reinforced = {policy: training[policy] for row in rows if row["stage"] == "grpo" for policy in row["policies"]}
    cells = pd.concat([summary, training_cells(reinforced, rows, params.benchmarks)], ignore_index=True)
    table = lab_table(
        cells,
        [(row["label"], row["name"]) for row in rows],
        benchmarks=params.benchmarks,
        pass_at=params.pass_at,
        draws=params.draws,
        samples=int(scores.groupby(["policy", "problem_id"]).size().min()),
        confidence=params.statistics["confidence"],
        notes=["How fast each policy was trained differs from run to run and is in lab_speed.csv."],
    )
    tables.write(table, [output.csv, output.md, output.tex])
    write_text(output.speed, csv_text(speed(training, rows)))


run(main, snakemake)
