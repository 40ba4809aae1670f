"""One segment of a training line: from the full state kept before it to the full state and the policy after it.

The reward is the judge of the evaluation under the `strict` contract: correct 1, else 0. A line's name, its seed and
the step key every random stream, so that segments of any length give the same line.
"""

import pyarrow as pa
import torch

from workflow_scripts.policies.configured import line_settings
from workflow_scripts.policies.folders import load_small, save_small
from workflow_scripts.policies.state import load_state, new_state, save_state
from workflow_scripts.policies.training import train_segment
from workflow_scripts.records import manifests, seeds
from workflow_scripts.records.files import atomic_folder
from workflow_scripts.records.progress import progress
from workflow_scripts.records.schemas import TRAINING
from workflow_scripts.records.stage import refuse_other_engines, run
from workflow_scripts.records.tables import write_table
from workflow_scripts.tasks.countdown import problem_files
from workflow_scripts.tasks.countdown.rewarded import rewarded


def main(input, output, params, wildcards):
    refuse_other_engines(params.settings["engine"])
    torch.set_num_threads(1)  # fixed, since rounding follows it; Snakemake's threads scale with --cores
    for path in [input.base, input.problems, *([input.state] if params.first_step else [])]:
        manifests.check(path)
    asked = rewarded(problem_files.read_verl_rows(input.problems))
    base, tokenizer = load_small(input.base)
    prompts = [tokenizer.encode_known(prompt) for prompt in asked.prompts]
    seed = seeds.key(params.study_seed, int(wildcards.seed)) >> 1
    settings = line_settings(params.settings, seed=seed, line=params.line)
    state = load_state(input.state, settings) if params.first_step else new_state(base, critic=settings.critic)
    metrics = []
    with progress(total=params.last_step - state.step, title=f"training {params.line}", unit="step") as bar:
        for row in train_segment(state, base, prompts, asked.reward, tokenizer, settings, params.last_step):
            metrics.append(row)
            bar.set_postfix_str(f"reward {row['reward']:.3f}", refresh=False)
            bar.update()
    save_small(state.policy, tokenizer, output.policy)
    if output.get("state"):  # a road ends here
        with atomic_folder(output.state) as folder:
            save_state(state, folder, settings)
    write_table(pa.Table.from_pylist(metrics), output.metrics, TRAINING)


run(main, snakemake)
