"""Precision and breadth of every road and arm beside the training lines; numbers behind C30–C32."""

import pandas as pd

from workflow_scripts.measures import roads as measured
from workflow_scripts.measures.breadth import breadth
from workflow_scripts.measures.comparison import bootstrap_of, contrasts
from workflow_scripts.measures.points import entries_of
from workflow_scripts.measures.recovery_rows import road_rows
from workflow_scripts.measures.road_plan import arms_of, continuation_of, doses_of, training_tokens
from workflow_scripts.records.files import write_text
from workflow_scripts.records.recovery_schemas import PREFERENCES, SUPERVISED
from workflow_scripts.records.schemas import OPENINGS, SCORES, SOLUTIONS, TRAINING
from workflow_scripts.records.stage import run
from workflow_scripts.records.tables import csv_text, read_table
from workflow_scripts.tasks.countdown.menus import menu

METRICS = {"sft": SUPERVISED, "dpo": PREFERENCES, "grpo": TRAINING}
NOTHING = pd.DataFrame(columns=["line", "before", "after", "measure", "start", "end", "estimate", "low", "high"])


def main(input, output, params, wildcards):
    solutions = read_table(input.solutions, SOLUTIONS)
    openings = menu(read_table(input.openings, OPENINGS), params.solution_set)
    frames = []
    for path in input.scores:
        scores = read_table(path, SCORES)
        frames.append(breadth(scores[scores["sample"] < params.samples], solutions, openings)[0])
    values = measured.road_values(pd.concat(frames, ignore_index=True), params.solution_set)
    seeds = max(len(row["seeds"]) for row in (*params.lines, *params.roads))
    bootstrap = bootstrap_of(values, seeds_per_line=seeds, **params.statistics)
    roads = {road["name"]: road["policies"] for road in params.roads}
    lines = {name: policies for line in params.lines for name, policies in entries_of(line).items()}
    reference = next((line for line in params.lines if line["algorithm"] == "grpo"), params.lines[0])
    broader = measured.broader_at_equal_precision(values, bootstrap, roads, entries_of(reference))
    arms = arms_of(params.roads)
    against = measured.against_control(values, bootstrap, arms, "control") if len(arms) > 1 else NOTHING
    policies = [(policy, METRICS[road["kind"]]) for road in params.roads for policy in road["policies"]]
    tables = {policy: read_table(path, schema) for (policy, schema), path in zip(policies, input.metrics, strict=True)}
    costs = {name: {"tokens": training_tokens(params.roads, name, tables)} for name in arms}
    worth = measured.verdicts(against, costs, "control") if len(arms) > 1 else NOTHING
    doses = doses_of(params.roads)
    points, trend = measured.dose_response(values, bootstrap, doses) if len(doses) > 1 else (NOTHING, NOTHING)
    changes = NOTHING
    road = continuation_of(params.roads)
    if road and len(doses) > 1:
        start, end = road["start"], road["name"]
        went = contrasts(values, bootstrap, {start: roads[start], end: roads[end]}, [(start, end)])
        changes = road_rows(
            line=reference["name"], broader=broader, trend=trend, continuation=went, broad=start, start=start, end=end
        )
    for path, table in (
        (output.plane, measured.plane(values, bootstrap, lines | roads)),
        (output.broader, broader),
        (output.arms, against),
        (output.worth, worth),
        (output.doses, points),
        (output.trend, trend),
        (output.changes, changes),
    ):
        write_text(path, csv_text(table))


run(main, snakemake)
