"""The base policy: the small model trained from scratch on random traces that touch no evaluation problem."""

import pyarrow as pa
import torch

from workflow_scripts.policies.architecture import architecture_of
from workflow_scripts.policies.model import new_policy, save_policy
from workflow_scripts.policies.pretraining import Schedule, pretrain
from workflow_scripts.policies.tokenizer import save_tokenizer
from workflow_scripts.records.files import atomic_folder
from workflow_scripts.records.progress import progress
from workflow_scripts.records.schemas import PRETRAINING, PROBLEMS
from workflow_scripts.records.stage import run
from workflow_scripts.records.tables import read_table, write_table
from workflow_scripts.tasks.countdown import problems
from workflow_scripts.tasks.countdown.text import VOCABULARY, traces


def main(input, output, params, wildcards):
    torch.set_num_threads(1)  # fixed, since rounding follows it; Snakemake's threads scale with --cores
    excluded = set(problems.keys(read_table(input.problems, PROBLEMS)))
    sizes, settings = params.architecture, params.settings
    architecture = architecture_of(sizes, VOCABULARY)
    with atomic_folder(output.policy) as folder:
        tokenizer = save_tokenizer(VOCABULARY, folder, max_length=sizes["context"])

        def batch(step):
            texts = traces(
                params.seed,
                "base",
                step,
                count=settings["batch"],
                excluded=excluded,
                stated=settings["on_target"],
                failed=settings["retried"],
                sizes=params.operands,
                values=params.values,
                targets=params.targets,
            )
            end = [tokenizer.end_id]
            return [(tokenizer.encode_known(p), tokenizer.encode_known(c) + end) for p, c in texts]

        policy = new_policy(architecture, params.seed)
        schedule = Schedule(steps=settings["steps"], rate=settings["learning_rate"], workers=params.workers)
        with progress(total=schedule.steps, title="pre-training", unit="step") as bar:
            rows = []
            for row in pretrain(policy, batch, schedule):
                rows.append(row)
                bar.set_postfix_str(f"loss {row['loss']:.3f} nats/token", refresh=False)
                bar.update()
        save_policy(policy, folder)
    write_table(pa.Table.from_pylist(rows), output.metrics, PRETRAINING)


run(main, snakemake)
