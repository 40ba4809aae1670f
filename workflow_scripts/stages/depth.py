"""Completion by the number of operations given, the depth × late interaction, and access at each operation."""

import pandas as pd

from workflow_scripts.measures import depth
from workflow_scripts.measures.points import trained_ends
from workflow_scripts.measures.statistics import Bootstrap
from workflow_scripts.records.files import write_text
from workflow_scripts.records.schemas import CLAMPS, PROBLEMS, SCORES, STEP_MASSES
from workflow_scripts.records.stage import run
from workflow_scripts.records.tables import csv_text, read_table


def main(input, output, params, wildcards):
    problems = read_table(input["problems"], PROBLEMS)["problem_id"]
    scores = pd.concat([read_table(path, SCORES) for path in input.scores], ignore_index=True)
    masses = pd.concat([read_table(path, STEP_MASSES) for path in input.masses], ignore_index=True)
    ends = trained_ends(params.line)
    completions = depth.completion(scores, read_table(input.clamps, CLAMPS))
    values = depth.depth_values(completions, masses, problems)
    bootstrap = Bootstrap.of_line(params.line, len(problems), **params.statistics)
    confidence = params.statistics["confidence"]
    rows = [depth.interaction_rows(completions, ends, confidence=confidence), depth.depth_rows(values, bootstrap, ends)]
    write_text(output.changes, csv_text(pd.concat(rows, ignore_index=True).assign(line=wildcards.line)))
    write_text(output.operations, csv_text(depth.operations_table(values, bootstrap, ends).assign(line=wildcards.line)))


run(main, snakemake)
