"""The chosen interventions against the plain policies, paired by held-out problem: C18–C23 and Table 4."""

import json
from pathlib import Path

import pandas as pd

from workflow_scripts.measures.interventions import over_seeds, paired
from workflow_scripts.measures.recovery_rows import intervention_rows
from workflow_scripts.measures.selection import chosen_settings
from workflow_scripts.records import manifests
from workflow_scripts.records.files import write_text
from workflow_scripts.records.schemas import PROBLEMS
from workflow_scripts.records.stage import run
from workflow_scripts.records.tables import csv_text, read_csv, read_table


def main(input, output, params, wildcards):
    manifests.check(input.choice)
    choice = json.loads(Path(input.choice).read_text(encoding="utf-8"))
    problems = read_table(input["problems"], PROBLEMS)
    held_out = problems.loc[problems["split"] == "held_out", "problem_id"]
    calibration = over_seeds([read_csv(path) for path in input.calibration])
    tables = [read_csv(path) for path in input.held_out]
    chosen = chosen_settings(choice, calibration, problems, pd.concat(tables, ignore_index=True))
    whole = pd.concat([t.assign(policy=t["policy"] + f" s{seed}") for seed, t in enumerate(tables)], ignore_index=True)

    def of_seeds(setting):
        return [f"{setting} s{seed}" for seed in range(len(tables))]

    found, rows = [], []
    for end, settings in (("late", chosen), ("early", {"allocation": "early_allocation"})):
        compared = {setting: of_seeds(setting) for setting in settings.values()}
        differences = paired(whole, held_out, of_seeds(end), compared, **params.statistics)
        found.append(differences.assign(before=end))
        rows.append(intervention_rows(differences, settings, line=wildcards.line, end=end))
    write_text(output.differences, csv_text(pd.concat(found, ignore_index=True).assign(line=wildcards.line)))
    write_text(output.changes, csv_text(pd.concat(rows, ignore_index=True)))


run(main, snakemake)
