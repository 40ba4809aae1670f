"""A maths policy trained by reinforcement from its start, with the lab's reward: correct, format, nothing extracted."""

import pyarrow as pa
import torch

from workflow_scripts.policies.configured import line_settings
from workflow_scripts.policies.folders import load_small, save_small
from workflow_scripts.policies.state import new_state
from workflow_scripts.policies.training import train_segment
from workflow_scripts.records import manifests, seeds
from workflow_scripts.records.progress import progress
from workflow_scripts.records.schemas import TRAINING
from workflow_scripts.records.stage import refuse_other_engines, run
from workflow_scripts.records.tables import read_table, write_table
from workflow_scripts.records.word_schemas import WORD_PROBLEMS
from workflow_scripts.tasks.maths.word_rewarded import rewarded


def main(input, output, params, wildcards):
    given = params.settings
    refuse_other_engines(given["engine"])
    torch.set_num_threads(1)  # fixed, since rounding follows it; Snakemake's threads scale with --cores
    manifests.check(input.start)
    start, tokenizer = load_small(input.start)
    asked = rewarded(read_table(input["problems"], WORD_PROBLEMS), **params.rewards)
    seed = seeds.key(params.study_seed, int(wildcards.seed)) >> 1
    settings = line_settings(given, seed=seed, line=params.road)
    state = new_state(start, critic=False)
    prompts = [tokenizer.encode_known(prompt) for prompt in asked.prompts]
    steps = train_segment(state, start, prompts, asked.reward, tokenizer, settings, given["steps"])
    rows = list(progress(steps, total=given["steps"], title=f"training {params.road}", unit="step"))
    save_small(state.policy, tokenizer, output.policy)
    write_table(pa.Table.from_pylist(rows), output.metrics, TRAINING)


run(main, snakemake)
