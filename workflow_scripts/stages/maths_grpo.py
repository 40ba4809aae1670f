"""A maths policy trained by reinforcement from its start, with the lab's reward: correct, format, nothing extracted."""

import pyarrow as pa
import torch

from workflow_scripts.policies.model import load_policy, save_policy
from workflow_scripts.policies.state import new_state
from workflow_scripts.policies.tokenizer import load_tokenizer, save_tokenizer
from workflow_scripts.policies.training import LineSettings, train_segment
from workflow_scripts.records import manifests, seeds
from workflow_scripts.records.files import atomic_folder
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
    start, tokenizer = load_policy(input.start), load_tokenizer(input.start)
    asked = rewarded(read_table(input["problems"], WORD_PROBLEMS), **params.rewards)
    settings = LineSettings(
        seed=seeds.key(params.study_seed, int(wildcards.seed)) >> 1,
        line=params.road,
        prompts=given["prompts"],
        samples=given["samples"],
        temperature=given["temperature"],
        max_new_tokens=given["max_new_tokens"],
        rate=given["learning_rate"],
        average=given["average"],
        divide=given["normalise_std"],
        kl=given["kl"],
        entropy=given["entropy"],
        clip_low=given["clip"],
        clip_high=given["clip"] if given["clip_high"] is None else given["clip_high"],
        clip_norm=given["max_grad_norm"],
        parts=given["updates"],
    )
    state = new_state(start, critic=False)
    prompts = [tokenizer.encode_known(prompt) for prompt in asked.prompts]
    steps = train_segment(state, start, prompts, asked.reward, tokenizer, settings, given["steps"])
    rows = list(progress(steps, total=given["steps"], title=f"training {params.road}", unit="step"))
    with atomic_folder(output.policy) as folder:
        save_policy(state.policy, folder)
        save_tokenizer(tokenizer.words, folder, max_length=start.architecture.positions)
    write_table(pa.Table.from_pylist(rows), output.metrics, TRAINING)


run(main, snakemake)
