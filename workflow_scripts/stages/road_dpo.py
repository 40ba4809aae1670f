"""A policy trained on preferences: its start's own correct samples over its wrong ones, by the verifier."""

import pyarrow as pa
import torch

from workflow_scripts.policies.model import load_policy, save_policy
from workflow_scripts.policies.own_samples import own_samples
from workflow_scripts.policies.preferences import PreferenceSettings, prefer, preference_pairs
from workflow_scripts.policies.tokenizer import load_tokenizer, save_tokenizer
from workflow_scripts.records import manifests, seeds
from workflow_scripts.records.files import atomic_folder
from workflow_scripts.records.progress import progress
from workflow_scripts.records.recovery_schemas import PREFERENCES
from workflow_scripts.records.stage import run
from workflow_scripts.records.tables import write_table
from workflow_scripts.tasks.countdown import problem_files
from workflow_scripts.tasks.countdown.rewarded import rewarded


def main(input, output, params, wildcards):
    torch.set_num_threads(1)  # fixed, since rounding follows it; Snakemake's threads scale with --cores
    given = params.settings
    for path in (input.start, input["problems"]):
        manifests.check(path)
    policy, tokenizer = load_policy(input.start), load_tokenizer(input.start)
    asked = rewarded(problem_files.read_verl_rows(input["problems"]).head(given["problems"]))
    seed = seeds.key(params.study_seed, params.road, int(wildcards.seed))
    batch = own_samples(
        policy,
        asked.prompts,
        asked.reward,
        tokenizer,
        seed=seed,
        samples=given["samples"],
        max_new_tokens=params.max_new_tokens,
    )
    pairs = preference_pairs(batch, given["pairs_a_problem"], seed=seed)
    settings = PreferenceSettings(
        seed=seed,
        steps=given["steps"],
        pairs=given["pairs"],
        rate=given["learning_rate"],
        warmup=min(PreferenceSettings.warmup, given["steps"]),
        beta=given["beta"],
    )
    rows = list(progress(prefer(policy, pairs, settings), total=settings.steps, title=f"training {params.road}"))
    with atomic_folder(output.policy) as folder:
        save_policy(policy, folder)
        save_tokenizer(tokenizer.words, folder, max_length=policy.architecture.positions)
    write_table(pa.Table.from_pylist(rows), output.metrics, PREFERENCES)


run(main, snakemake)
