"""A policy fine-tuned on several solutions a problem: built by the solver, or its start's own correct samples."""

import pyarrow as pa
import torch

from workflow_scripts.policies.folders import load_small, save_small
from workflow_scripts.policies.own_samples import own_samples
from workflow_scripts.policies.supervised import SupervisedSettings, correct_samples, encoded, supervise
from workflow_scripts.records import manifests, seeds
from workflow_scripts.records.progress import progress
from workflow_scripts.records.recovery_schemas import DEMONSTRATIONS, SUPERVISED
from workflow_scripts.records.stage import run
from workflow_scripts.records.tables import read_table, write_table
from workflow_scripts.tasks.countdown import problem_files
from workflow_scripts.tasks.countdown.rewarded import rewarded

OWN_SAMPLES = 8
"""Completions of each training problem that a policy may learn from."""

HELD_BACK = 200
"""Problems whose demonstrations are not trained on, at most a twentieth: their loss is in the metrics."""


def main(input, output, params, wildcards):
    torch.set_num_threads(1)  # fixed, since rounding follows it; Snakemake's threads scale with --cores
    given = params.settings
    for path in (input.start, input["problems"]):
        manifests.check(path)
    start, tokenizer = load_small(input.start)
    asked = rewarded(problem_files.read_verl_rows(input["problems"]))
    seed = seeds.key(params.study_seed, params.road, int(wildcards.seed))
    if given["source"] == "solver":
        shown = read_table(input.demonstrations, DEMONSTRATIONS)
        shown = shown[(shown["choice"] == given["choice"]) & (shown["place"] < given["demonstrations"])]
        pairs = list(zip(shown["problem_id"], shown["completion"]))
        groups = encoded(pairs, dict(zip(asked.problem_ids, asked.prompts)), tokenizer)
    else:
        batch = own_samples(
            start,
            asked.prompts,
            asked.reward,
            tokenizer,
            seed=seed,
            samples=OWN_SAMPLES,
            max_new_tokens=params.max_new_tokens,
        )
        chosen = correct_samples(batch, given["demonstrations"], seed=seed)
        groups = [[batch.texts[place] for place in places] for places in chosen if places]
    held = min(HELD_BACK, len(groups) // 20)
    settings = SupervisedSettings(
        seed=seed,
        steps=given["steps"],
        tokens=given["tokens"],
        rate=given["learning_rate"],
        warmup=min(SupervisedSettings.warmup, given["steps"]),
        selection=given["selection"],
    )
    held_texts = [text for group in groups[len(groups) - held :] for text in group]
    trained_on = groups[: len(groups) - held]
    if given["lora"]:
        from workflow_scripts.policies.lora import supervise_lora

        policy, rows = supervise_lora(
            input.start, trained_on, settings, rank=given["lora"], alpha=2 * given["lora"], held=held_texts
        )
    else:
        policy = start.copy()
        steps = supervise(policy, trained_on, settings, held=held_texts)
        rows = list(progress(steps, total=settings.steps, title=f"training {params.road}", unit="step"))
    save_small(policy, tokenizer, output.policy)
    write_table(pa.Table.from_pylist(rows), output.metrics, SUPERVISED)


run(main, snakemake)
