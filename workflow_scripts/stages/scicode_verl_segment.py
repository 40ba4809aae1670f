"""A segment of scientific coding by verl under one reward: the state after it, its metrics, and the truth beside them.

Rewards that ask a judge are given a client of its endpoint; all others see the verdict of the sandbox alone.
"""

from pathlib import Path
from tempfile import TemporaryDirectory

import pyarrow as pa

from workflow_scripts.policies.endpoint import placed
from workflow_scripts.policies.verl_engine.hardware import Hardware
from workflow_scripts.policies.verl_engine.metrics import read_rollouts
from workflow_scripts.policies.verl_engine.questions import asked
from workflow_scripts.policies.verl_engine.training import Segment
from workflow_scripts.policies.verl_engine.training import run as train
from workflow_scripts.policies.verl_engine.verbatim import most_tokens
from workflow_scripts.records import manifests, seeds
from workflow_scripts.records.errors import UserError
from workflow_scripts.records.schemas import TRAINING
from workflow_scripts.records.scicode_schemas import SCICODE_PROBLEMS, SCICODE_TRAINING
from workflow_scripts.records.stage import elsewhere, run
from workflow_scripts.records.tables import read_table, write_table
from workflow_scripts.tasks.scicode.problems import problems_of
from workflow_scripts.tasks.scicode.rewards import composition
from workflow_scripts.tasks.scicode.verl_rows import truth_row, write_verl_rows

REWARD = "workflow_scripts.tasks.scicode.verl_reward"
JUDGED = "workflow_scripts.policies.verl_engine.judged_reward"


def told(params, reward):
    """What the reward's process is told."""
    paid = {"reward": params.reward, "limits": dict(params.limits), "workers": params.workers}
    if not reward.needs_judge:
        return paid
    if not params.endpoint:
        raise UserError(f"line {params.line}: its reward needs a judge; set scicode.judge to an endpoint")
    judge = placed(params.endpoint, elsewhere(snakemake, "scicode", "judge"))
    judge["cache"] = str(Path.cwd() / judge["cache"])  # verl's processes have folders of their own
    return paid | {"task": REWARD, "judge": judge}


def main(input, output, params, wildcards):
    for path in [input.base, *([input.state] if params.first_step else [])]:
        manifests.check(path)
    problems = problems_of(read_table(input["problems"], SCICODE_PROBLEMS))
    reward = composition(params.reward, name=f"lines.{params.line}.reward")
    prompts = asked(input.base, [problem.prompt for problem in problems])
    longest, most = most_tokens(input.base, prompts), params.settings["max_prompt_tokens"]
    if most and longest > most:
        raise UserError(f"line {params.line}: the longest prompt has {longest} tokens, max_prompt_tokens is {most}")
    with TemporaryDirectory() as folder:
        rows = Path(folder) / "problems.parquet"
        write_verl_rows(problems, rows)
        segment = Segment(
            settings=params.settings,
            base=Path(input.base),
            problems=rows,
            state=Path(output.state),
            before=Path(input.state) if params.first_step else None,
            first_step=params.first_step,
            last_step=params.last_step,
            seed=seeds.key(params.study_seed, int(wildcards.seed)) >> 1,
            line=params.line,
            reward=f"pkg://{JUDGED if reward.needs_judge else REWARD}",
            paid=told(params, reward),
            prompt_tokens=most or longest,
            prompts=prompts,
        )
        gpus = elsewhere(snakemake, "scicode", "lines", params.line, "gpus") or 0
        metrics = train(segment, Hardware(**params.hardware, gpus=gpus))
    write_table(pa.Table.from_pylist(metrics), output.metrics, TRAINING)
    rollouts, samples = Path(output.state) / "rollouts", params.settings["samples"]
    truth = [
        truth_row(step, read_rollouts(rollouts / f"{step}.jsonl"), samples, reward.largest)
        for step in range(params.first_step + 1, params.last_step + 1)
    ]
    write_table(pa.Table.from_pylist(truth), output.truth, SCICODE_TRAINING)


run(main, snakemake)
