"""Completion of extinct entrances and of the deep tail when they are forced, at every kept step of a line."""

import pandas as pd

from workflow_scripts.measures import recoverability
from workflow_scripts.measures.points import BASE, trained_ends
from workflow_scripts.measures.statistics import Bootstrap
from workflow_scripts.records.files import write_text
from workflow_scripts.records.schemas import CLAMPS, PROBLEMS, SCORES
from workflow_scripts.records.stage import run
from workflow_scripts.records.tables import csv_text, read_csv, read_table


def main(input, output, params, wildcards):
    sets = {"evaluation": input["problems"], "tail": input.tail_problems}
    problems = {name: read_table(path, PROBLEMS)["problem_id"] for name, path in sets.items()}
    menu, ends = read_table(input.clamps, CLAMPS), trained_ends(params.line)
    free = {frame["policy"].iloc[0]: frame for frame in map(_scores, input.scores)}
    clamped = pd.concat(map(_scores, input.entrances), ignore_index=True)
    found = {"evaluation": [], "tail": []}
    for seed, (tail, cells, halves) in enumerate(zip(input.tail, input.cells, input.halves, strict=True)):
        early, late = (ends[end][seed] for end in ("early", "late"))
        own = [BASE, *(policies[seed] for policies in params.line["policies"].values())]
        scores = clamped[clamped["policy"].isin(own)]
        groups = recoverability.evaluation_groups(free[early], free[late], _scores(halves), menu).assign(seed=seed)
        found["evaluation"].append(recoverability.family_completions(groups, menu, scores))
        # The base is no policy of this line: it was not forced into the line's tail cells.
        groups, scores = read_csv(cells).assign(seed=seed), scores[scores["policy"] != BASE]
        found["tail"].append(recoverability.family_completions(groups, read_table(tail, CLAMPS), scores))
    rows, curves = [], []
    for name, parts in found.items():
        table = pd.concat(parts, ignore_index=True)
        bootstrap = Bootstrap.of_line(params.line, len(problems[name]), **params.statistics)
        measure = recoverability.group_rows if name == "evaluation" else recoverability.tail_rows
        rows.append(measure(table, problems[name], bootstrap, ends))
        curves.append(recoverability.curves(table, problems[name], bootstrap, params.line).assign(pool=name))
    write_text(output.changes, csv_text(pd.concat(rows, ignore_index=True).assign(line=wildcards.line)))
    write_text(output.steps, csv_text(pd.concat(curves, ignore_index=True).assign(line=wildcards.line)))


def _scores(path):
    return read_table(path, SCORES)


run(main, snakemake)
