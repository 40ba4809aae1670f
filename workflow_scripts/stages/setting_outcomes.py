"""What every setting of the interventions gives on the problems of one split: coverage, families, precision, tokens.

On the calibration problems all settings are tried. On the held-out ones only those that a stored choice names; it is
read before anything is sampled.
"""

import json
from pathlib import Path

import pandas as pd

from workflow_scripts.measures.interventions import outcomes, tokens_of, within_budget
from workflow_scripts.policies.intervention_grid import BASELINE, HOT, MATCHED, grid
from workflow_scripts.policies.interventions import run_settings, settings_of
from workflow_scripts.policies.rendering import prompter
from workflow_scripts.records import manifests
from workflow_scripts.records.files import write_text
from workflow_scripts.records.schemas import OPENINGS, PROBLEMS, SCORES, SOLUTIONS
from workflow_scripts.records.stage import run
from workflow_scripts.records.tables import csv_text, read_table
from workflow_scripts.tasks.countdown import requests
from workflow_scripts.tasks.countdown.menus import menu
from workflow_scripts.tasks.countdown.scores import scores_of
from workflow_scripts.tasks.countdown.wording import wording


def _wanted(rows, choice):
    """The rows to run: all, or the baselines and what was chosen."""
    if choice is None:
        return rows
    manifests.check(choice)
    chosen = {row["setting"] for row in json.loads(Path(choice).read_text(encoding="utf-8"))["rows"]}
    return [row for row in rows if row["setting"] in chosen or row["intervention"] in (BASELINE, "early_allocation")]


def main(input, output, params, wildcards):
    given = params.settings
    for folder in (input.early, input.late):
        manifests.check(folder)
    problems = read_table(input["problems"], PROBLEMS)
    problems = problems[problems["split"] == params.split].reset_index(drop=True)
    solutions = read_table(input.solutions, SOLUTIONS)
    openings = menu(read_table(input.openings, OPENINGS), params.solution_set)
    known = set(problems["problem_id"])
    solutions, openings = (frame[frame["problem_id"].isin(known)] for frame in (solutions, openings))
    count, proposing = given["samples"], given["proposing"]
    early, late = (read_table(path, SCORES) for path in (input.early_scores, input.late_scores))
    early, late = (frame[frame["problem_id"].isin(known) & (frame["sample"] < count)] for frame in (early, late))
    words = wording(params.wording)
    ask = prompter(input.late, words)

    def spread(entrances):
        return requests.allocated_requests(problems, entrances, count, ask=ask, prefix_of=words.entrance)

    asked = {
        "plain": requests.plain_requests(problems, count, ask=ask),
        "reordered": requests.reordered_requests(problems, count, seed=params.study_seed, ask=ask),
        "forced_operator": requests.forced_operator_requests(problems, late, ask=ask, prefix_of=words.entrance),
        "solver": spread(requests.solver_entrances(openings)),
        "early": spread(requests.seen_entrances(early, first=proposing)),
        "agreed": spread(requests.agreed_entrances(early, first=proposing)),
        "first": requests.plain_requests(problems, proposing, ask=ask),
    }
    folders = {"early": input.early, "late": input.late}
    drawing = {key: params.decoding[key] for key in ("temperature", "top_p", "max_new_tokens")}
    drawing |= {"study_seed": params.study_seed}
    hot = {"setting": HOT, "policy": "late", "requests": "first", **params.hot}
    hot_rollouts = run_settings(folders, asked, settings_of([hot]), **drawing).to_pandas()
    proposals = scores_of(hot_rollouts, problems, gap=words.gap)
    asked[HOT] = spread(requests.seen_entrances(proposals, first=proposing))
    rows = _wanted(grid(given), input.get("choice"))
    rollouts = run_settings(folders, asked, settings_of(rows), **drawing).to_pandas()
    scores = scores_of(rollouts, problems, contract=params.contract, gap=words.gap)
    # What a proposer's own samples cost is paid before the first sample that it spends the budget on.
    paid = {"early": tokens_of(early, proposing), "agreed": tokens_of(early, proposing), HOT: tokens_of(proposals)}
    budgets = {name: tokens_of(scores[scores["policy"] == name]) for name in ("early", "late")}
    kept, spending = [], []
    for row in rows:
        own = scores[scores["policy"] == row["setting"]]
        if row["intervention"] in MATCHED:
            own, spent = within_budget(own, budgets[row["policy"]], spent=paid.get(row["requests"]))
            spending.append(spent.assign(setting=row["setting"]))
        kept.append(own)
    table = outcomes(pd.concat(kept), solutions, openings, solution_set=params.solution_set)
    write_text(output.outcomes, csv_text(table))
    write_text(output.spending, csv_text(pd.concat(spending, ignore_index=True)))


run(main, snakemake)
