"""How far a maths policy moved from the reference, and its entropy a token, over its own samples of each benchmark."""

import pandas as pd
import torch

from workflow_scripts.policies.drift import drift
from workflow_scripts.records import manifests
from workflow_scripts.records.maths_schemas import MATHS_PROBLEMS
from workflow_scripts.records.schemas import ROLLOUTS
from workflow_scripts.records.stage import run
from workflow_scripts.records.tables import read_table, write_table
from workflow_scripts.records.word_schemas import DRIFT
from workflow_scripts.tasks.maths.word_text import think_prompt


def main(input, output, params, wildcards):
    torch.set_num_threads(1)  # fixed, since rounding follows it; Snakemake's threads scale with --cores
    for folder in (input.policy, input.reference):
        manifests.check(folder)
    problems = pd.concat([read_table(path, MATHS_PROBLEMS) for path in input.problems], ignore_index=True)
    rollouts = pd.concat([read_table(path, ROLLOUTS) for path in input.rollouts], ignore_index=True)
    prompts = dict(zip(problems["problem_id"], map(think_prompt, problems["question"])))
    found = drift(input.policy, input.reference, prompts, rollouts, samples=params.samples)
    found["benchmark"] = found["problem_id"].map(dict(zip(problems["problem_id"], problems["benchmark"])))
    write_table(found.assign(policy=wildcards.policy, reference=params.reference), output.drift, DRIFT)


run(main, snakemake)
