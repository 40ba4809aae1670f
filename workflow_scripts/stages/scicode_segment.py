"""One segment of training under one reward: from the state kept before it to the state and the policy after it.

The verdict of every sample is kept beside the reward that training saw: it trains nothing.
"""

import pyarrow as pa
import torch

from workflow_scripts.policies.configured import line_settings
from workflow_scripts.policies.folders import load_small, save_small
from workflow_scripts.policies.state import load_state, new_state, save_state
from workflow_scripts.policies.training import observed_segment
from workflow_scripts.records import manifests, seeds
from workflow_scripts.records.files import atomic_folder
from workflow_scripts.records.progress import progress
from workflow_scripts.records.schemas import TRAINING
from workflow_scripts.records.scicode_schemas import SCICODE_PROBLEMS, SCICODE_TRAINING
from workflow_scripts.records.stage import refuse_other_engines, run
from workflow_scripts.records.tables import read_table, write_table
from workflow_scripts.tasks.scicode.problems import problems_of
from workflow_scripts.tasks.scicode.rewards import composition
from workflow_scripts.tasks.scicode.sandbox import limited
from workflow_scripts.tasks.scicode.short_rewarded import rewarded, sampled
from workflow_scripts.tasks.scicode.verl_rows import truth_row


def main(input, output, params, wildcards):
    given = params.settings
    refuse_other_engines(given["engine"])
    torch.set_num_threads(1)  # fixed, since rounding follows it; Snakemake's threads scale with --cores
    for path in [input.base, input["problems"], *([input.state] if params.first_step else [])]:
        manifests.check(path)
    base, tokenizer = load_small(input.base)
    reward = composition(params.reward, name=f"the reward of {params.line}")
    seed = seeds.key(params.study_seed, int(wildcards.seed)) >> 1
    settings = line_settings(given, seed=seed, line=params.line)
    state = load_state(input.state, settings) if params.first_step else new_state(base, critic=False)
    metrics, truth = [], []
    with limited(params.limits, workers=1) as sandbox:
        asked = rewarded(problems_of(read_table(input["problems"], SCICODE_PROBLEMS)), reward, sandbox)
        prompts = [tokenizer.encode_known(prompt) for prompt in asked.prompts]
        steps = observed_segment(state, base, prompts, asked.reward, tokenizer, settings, params.last_step)
        total = params.last_step - state.step
        for row, batch in progress(steps, total=total, title=f"training {params.line}", unit="step"):
            metrics.append(row)
            samples = sampled(batch.verdicts, batch.counts.tolist())
            truth.append(truth_row(row["step"], samples, settings.samples, reward.largest))
    save_small(state.policy, tokenizer, output.policy)
    with atomic_folder(output.state) as folder:
        save_state(state, folder, settings)
    write_table(pa.Table.from_pylist(metrics), output.metrics, TRAINING)
    write_table(pa.Table.from_pylist(truth), output.truth, SCICODE_TRAINING)


run(main, snakemake)
