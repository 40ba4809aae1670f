"""One segment of a training line by verl: the state folder before it, and its metrics step by step.

The reward is the judge of the evaluation, under the study's contract: correct 1, else 0.
"""

from pathlib import Path

import pyarrow as pa

from workflow_scripts.policies.foreign_tokenizer import load_any_tokenizer
from workflow_scripts.policies.rendering import prompter
from workflow_scripts.policies.verl_engine.hardware import Hardware
from workflow_scripts.policies.verl_engine.training import Segment
from workflow_scripts.policies.verl_engine.training import run as train
from workflow_scripts.records import manifests, seeds
from workflow_scripts.records.schemas import TRAINING
from workflow_scripts.records.stage import elsewhere, run
from workflow_scripts.records.tables import write_table
from workflow_scripts.tasks.countdown import problem_files
from workflow_scripts.tasks.countdown.wording import wording


def asked(input, words):
    """Prompts of the training problems, as the policy is asked in every other rule."""
    ask = prompter(input.base, words)
    start = load_any_tokenizer(input.base).begun
    return [start(ask(row.numbers, row.target)) for row in problem_files.read_verl_rows(input.problems).itertuples()]


def main(input, output, params, wildcards):
    for path in [input.base, input.problems, *([input.state] if params.first_step else [])]:
        manifests.check(path)
    segment = Segment(
        settings=params.settings,
        base=Path(input.base),
        problems=Path(input.problems),
        state=Path(output.state),
        before=Path(input.state) if params.first_step else None,
        first_step=params.first_step,
        last_step=params.last_step,
        seed=seeds.key(params.study_seed, int(wildcards.seed)) >> 1,
        line=params.line,
        contract=params.contract,
        prompts=asked(input, wording(params.wording)),
    )
    metrics = train(segment, Hardware(**params.hardware, gpus=elsewhere(snakemake, "lines", params.line, "gpus") or 0))
    write_table(pa.Table.from_pylist(metrics), output.metrics, TRAINING)


run(main, snakemake)
