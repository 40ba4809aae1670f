"""A maths policy trained on preferences: its start's own samples that are right and boxed over those that are not."""

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
from workflow_scripts.records.tables import read_table, write_table
from workflow_scripts.records.word_schemas import WORD_PROBLEMS
from workflow_scripts.tasks.maths.word_rewarded import preferred


def main(input, output, params, wildcards):
    torch.set_num_threads(1)  # fixed, since rounding follows it; Snakemake's threads scale with --cores
    given = params.settings
    manifests.check(input.start)
    policy, tokenizer = load_policy(input.start), load_tokenizer(input.start)
    asked = preferred(read_table(input["problems"], WORD_PROBLEMS).head(given["problems"]))
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
