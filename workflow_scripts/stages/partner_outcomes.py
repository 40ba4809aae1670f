"""What each kept policy gives as the early partner of the late one, on the held-out problems."""

from workflow_scripts.measures.interventions import outcomes
from workflow_scripts.policies.intervention_grid import partners
from workflow_scripts.policies.interventions import run_settings, settings_of
from workflow_scripts.policies.rendering import prompter
from workflow_scripts.records import manifests
from workflow_scripts.records.files import write_text
from workflow_scripts.records.schemas import OPENINGS, PROBLEMS, SOLUTIONS
from workflow_scripts.records.stage import run
from workflow_scripts.records.tables import csv_text, read_table
from workflow_scripts.tasks.countdown.menus import menu
from workflow_scripts.tasks.countdown.requests import plain_requests
from workflow_scripts.tasks.countdown.scores import scores_of
from workflow_scripts.tasks.countdown.wording import wording


def main(input, output, params, wildcards):
    folders = dict(zip([*params.steps, "late"], [*input.partners, input.late], strict=True))
    for folder in folders.values():
        manifests.check(folder)
    problems = read_table(input["problems"], PROBLEMS)
    problems = problems[problems["split"] == "held_out"].reset_index(drop=True)
    words = wording(params.wording)
    drawing = {key: params.decoding[key] for key in ("temperature", "top_p", "max_new_tokens")}
    rollouts = run_settings(
        folders,
        {"plain": plain_requests(problems, params.samples, ask=prompter(input.late, words))},
        settings_of(partners(params.steps, params.alpha)),
        study_seed=params.study_seed,
        **drawing,
    ).to_pandas()
    scores = scores_of(rollouts, problems, contract=params.contract, gap=words.gap)
    openings = menu(read_table(input.openings, OPENINGS), params.solution_set)
    known = problems["problem_id"]
    solutions, openings = (
        frame[frame["problem_id"].isin(known)] for frame in (read_table(input.solutions, SOLUTIONS), openings)
    )
    write_text(output.outcomes, csv_text(outcomes(scores, solutions, openings, solution_set=params.solution_set)))


run(main, snakemake)
