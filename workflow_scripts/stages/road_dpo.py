"""A policy trained on preferences: its start's own correct samples over its wrong ones, by the verifier."""

import pyarrow as pa
import torch

from workflow_scripts.policies.folders import load_small, save_small
from workflow_scripts.policies.own_preferences import prefer_own_samples
from workflow_scripts.records import manifests, seeds
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
    policy, tokenizer = load_small(input.start)
    asked = rewarded(problem_files.read_verl_rows(input["problems"]).head(given["problems"]))
    seed = seeds.key(params.study_seed, params.road, int(wildcards.seed))
    longest = params.max_new_tokens
    steps = prefer_own_samples(policy, tokenizer, asked.prompts, asked.reward, given, seed=seed, max_new_tokens=longest)
    rows = list(progress(steps, total=given["steps"], title=f"training {params.road}"))
    save_small(policy, tokenizer, output.policy)
    write_table(pa.Table.from_pylist(rows), output.metrics, PREFERENCES)


run(main, snakemake)
