"""A maths policy fine-tuned on worked-out answers to the training problems, several routes of each."""

import pyarrow as pa
import torch

from workflow_scripts.policies.folders import load_small, save_small
from workflow_scripts.policies.supervised import SupervisedSettings, encoded, supervise
from workflow_scripts.records import manifests, seeds
from workflow_scripts.records.progress import progress
from workflow_scripts.records.recovery_schemas import SUPERVISED
from workflow_scripts.records.stage import run
from workflow_scripts.records.tables import read_table, write_table
from workflow_scripts.records.word_schemas import WORD_PROBLEMS
from workflow_scripts.tasks.maths.word_rewarded import problems_of
from workflow_scripts.tasks.maths.word_text import demonstrations, think_prompt

HELD_BACK = 20
"""One in so many problems is not trained on; the loss on its demonstrations is in the metrics."""


def main(input, output, params, wildcards):
    torch.set_num_threads(1)  # fixed, since rounding follows it; Snakemake's threads scale with --cores
    given = params.settings
    manifests.check(input.start)
    policy, tokenizer = load_small(input.start)
    problems = problems_of(read_table(input["problems"], WORD_PROBLEMS))
    seed = seeds.key(params.study_seed, params.road, int(wildcards.seed))
    shown = demonstrations(problems, given["demonstrations"], seed=seed, boxed=given["boxed"])
    prompts = {problem.problem_id: think_prompt(problem.question) for problem in problems}
    groups = encoded(shown, prompts, tokenizer)
    trained = len(groups) - len(groups) // HELD_BACK
    settings = SupervisedSettings(
        seed=seed,
        steps=given["steps"],
        tokens=given["tokens"],
        rate=given["learning_rate"],
        warmup=min(SupervisedSettings.warmup, given["steps"]),
    )
    held = [text for group in groups[trained:] for text in group]
    steps = supervise(policy, groups[:trained], settings, held=held)
    rows = list(progress(steps, total=settings.steps, title=f"training {params.road}", unit="step"))
    save_small(policy, tokenizer, output.policy)
    write_table(pa.Table.from_pylist(rows), output.metrics, SUPERVISED)


run(main, snakemake)
