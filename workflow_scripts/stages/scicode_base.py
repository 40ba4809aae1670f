"""The base policy that writes programs: trained from scratch on random texts that ask no problem of an evaluation."""

import pyarrow as pa
import torch

from workflow_scripts.policies.architecture import architecture_of
from workflow_scripts.policies.model import new_policy, save_policy
from workflow_scripts.policies.pretraining import Schedule, pretrain
from workflow_scripts.policies.tokenizer import save_tokenizer
from workflow_scripts.records.files import atomic_folder
from workflow_scripts.records.progress import progress
from workflow_scripts.records.schemas import PRETRAINING
from workflow_scripts.records.scicode_schemas import SCICODE_PROBLEMS
from workflow_scripts.records.stage import run
from workflow_scripts.records.tables import read_table, write_table
from workflow_scripts.tasks.scicode.problems import problems_of
from workflow_scripts.tasks.scicode.short_problems import key_of
from workflow_scripts.tasks.scicode.short_text import CHAT_TEMPLATE, VOCABULARY, random_texts


def main(input, output, params, wildcards):
    torch.set_num_threads(1)  # fixed, since rounding follows it; Snakemake's threads scale with --cores
    asked = [problem for path in input.problems for problem in problems_of(read_table(path, SCICODE_PROBLEMS))]
    excluded = {key_of(problem) for problem in asked}
    sizes, settings = params.architecture, params.settings
    with atomic_folder(output.policy) as folder:
        tokenizer = save_tokenizer(VOCABULARY, folder, CHAT_TEMPLATE, max_length=sizes["context"])
        end = [tokenizer.end_id]

        def batch(step):
            texts = random_texts(params.seed, "programs", step, count=settings["batch"], excluded=excluded)
            return [(tokenizer.encode_known(p), tokenizer.encode_known(c) + end) for p, c in texts]

        policy = new_policy(architecture_of(sizes, VOCABULARY), params.seed)
        schedule = Schedule(steps=settings["steps"], rate=settings["learning_rate"], workers=params.workers)
        steps = pretrain(policy, batch, schedule)
        rows = list(progress(steps, total=schedule.steps, title="pre-training", unit="step"))
        save_policy(policy, folder)
    write_table(pa.Table.from_pylist(rows), output.metrics, PRETRAINING)


run(main, snakemake)
