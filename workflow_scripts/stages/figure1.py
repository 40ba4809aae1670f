"""Figure 1: one instance from its numbers through its entrances to its solutions, and a line's mass on each branch.

The masses are exact; the share of an entrance's mass that ends in a correct answer is sampled.
"""

import pandas as pd
import torch

from workflow_scripts.figures.entrance_diagram import figure
from workflow_scripts.measures.branches import policy_masses
from workflow_scripts.measures.calibration import asked_openings, mass_rows
from workflow_scripts.measures.points import BASE, points_of
from workflow_scripts.policies.likelihood import Context, next_pairs
from workflow_scripts.policies.rendering import prompter
from workflow_scripts.policies.sampling import Prompt, sample_policy
from workflow_scripts.records import manifests
from workflow_scripts.records.schemas import OPENINGS
from workflow_scripts.records.stage import run
from workflow_scripts.tasks.countdown.judging import judge_completion
from workflow_scripts.tasks.countdown.problems import problem_id, table
from workflow_scripts.tasks.countdown.solver import solve
from workflow_scripts.tasks.countdown.wording import wording


def main(input, output, params, wildcards):
    torch.set_num_threads(1)  # fixed, since rounding follows it; Snakemake's threads scale with --cores
    numbers, target = params.instance["numbers"], params.instance["target"]
    name, words = problem_id(numbers, target), wording(params.wording)
    problems = table([(tuple(numbers), target)], "instance")
    menu = [(name, *opening) for opening in solve(numbers, target).openings]
    openings = pd.DataFrame(menu, columns=OPENINGS.names)
    decoding = {key: params.settings[key] for key in ("temperature", "top_p")}
    masses, scores = [], []
    policies = [policy for point in points_of(params.line).values() for policy in point]
    for folder, policy in zip(input.policies, policies, strict=True):
        manifests.check(folder)
        prompt = prompter(folder, words)(numbers, target)
        text, lead = words.context(prompt)
        pairs = next_pairs(folder, [Context(text, *asked_openings(numbers))], lead=lead, **decoding)
        masses.append(mass_rows(policy, problems, openings, pairs))
        rollouts = sample_policy(
            folder,
            [Prompt(name, prompt)],
            policy=policy,
            samples=params.samples,
            study_seed=params.seed,
            max_new_tokens=params.settings["max_new_tokens"],
            **decoding,
        ).to_pandas()
        verdicts = [judge_completion(text, numbers, target, params.contract) for text in rollouts["completion"]]
        judged = [(verdict.accept, verdict.think_opening) for verdict in verdicts]
        told = pd.DataFrame(judged, columns=["correct", "think_opening"])
        scores.append(rollouts[["policy", "problem_id", "prefix"]].join(told))
    points = {
        BASE if point == BASE else f"{point}: step {params.line[point]}": found
        for point, found in points_of(params.line).items()
    }
    shares = policy_masses(pd.concat(masses), name, points, scores=pd.concat(scores))
    figure(numbers, target, [output.pdf, output.png, output.svg, output.csv], masses=shares)


run(main, snakemake)
