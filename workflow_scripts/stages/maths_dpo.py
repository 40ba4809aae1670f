"""A maths policy trained on preferences: its start's own samples that are right and boxed over those that are not."""

import pyarrow as pa
import torch

from workflow_scripts.policies.folders import load_small, save_small
from workflow_scripts.policies.own_preferences import prefer_own_samples
from workflow_scripts.records import manifests, seeds
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
    policy, tokenizer = load_small(input.start)
    asked = preferred(read_table(input["problems"], WORD_PROBLEMS).head(given["problems"]))
    seed = seeds.key(params.study_seed, params.road, int(wildcards.seed))
    longest = params.max_new_tokens
    steps = prefer_own_samples(policy, tokenizer, asked.prompts, asked.reward, given, seed=seed, max_new_tokens=longest)
    rows = list(progress(steps, total=given["steps"], title=f"training {params.road}"))
    save_small(policy, tokenizer, output.policy)
    write_table(pa.Table.from_pylist(rows), output.metrics, PREFERENCES)


run(main, snakemake)
