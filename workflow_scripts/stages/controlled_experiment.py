"""The controlled experiment: four candidates per problem through SFT, DPO and GRPO; what the reward pays for."""

import pandas as pd
import torch

from workflow_scripts.measures import controlled, format_incentive
from workflow_scripts.policies import categorical
from workflow_scripts.records.files import write_text
from workflow_scripts.records.stage import run
from workflow_scripts.records.tables import csv_text


def main(input, output, params, wildcards):
    torch.set_num_threads(1)
    problems = controlled.read_problems(controlled.PROBLEMS)  # their text is a param, so that an edit is noticed
    judged = controlled.judge(problems, **params.reward)
    rewards = torch.from_numpy(judged.rewards)
    base = torch.tensor(params.start, dtype=torch.float64).repeat(len(problems), 1)
    sft = categorical.train_sft(base, controlled.UNMARKED, **params.sft)
    start = sft.logits[-1]
    dpo = categorical.train_dpo(start, controlled.BOXED, controlled.UNMARKED, **params.dpo)
    grpo = categorical.train_grpo(start, rewards, **params.grpo)
    rows = [controlled.row_of("base", base.numpy(), judged)]
    steps = []
    for road, path, first in (("sft", sft, 0), ("dpo", dpo, len(sft.losses)), ("grpo", grpo, len(sft.losses))):
        extra = {"loss": path.losses[-1].item()}
        extra |= {"overtaking": controlled.overtaking(path.logits.numpy())} if road == "grpo" else {}
        rows.append(controlled.row_of(road, path.logits[-1].numpy(), judged, extra))
        steps.append(controlled.along(path.logits.numpy(), judged, road=road, first=first))
    sampled = params.sampled
    for updates in sampled["updates"]:
        found = categorical.train_grpo_sampled(
            start,
            rewards,
            seeds=[params.seed + place for place in range(sampled["seeds"])],
            samples=sampled["samples"],
            batches=params.grpo["updates"] // updates,
            updates=updates,
            rate=params.grpo["rate"],
            clip=sampled["clip"],
        )
        road, logits = f"sampled_{updates}", found.path.logits.numpy()
        extra = {
            "loss": found.path.losses[-1],
            "clipped": found.clipped.mean(0),
            "overtaking": controlled.overtaking(logits),
        }
        rows.append(controlled.row_of(road, logits[-1], judged, extra | {"zero_variance": found.zero_variance.mean(0)}))
        steps.append(controlled.along(logits, judged, road=road, first=len(sft.losses)))
    sweep, starts = _swept(params, problems, start)
    for path, table in (
        (output.policies, pd.concat(rows, ignore_index=True)),
        (output.steps, pd.concat(steps, ignore_index=True)),
        (output.sweep, sweep),
        (output.starts, starts),
        (output.incentive, format_incentive.shares_of_starts(starts)),
    ):
        write_text(path, csv_text(table))


def _swept(params, problems, sft):
    """Every pair of reward constants: enumerated GRPO from SFT, and the mean of sampled GRPO from every start."""
    grid = [
        {"format_bonus": bonus, "invalid_penalty": penalty}
        for bonus in params.sweep["format_bonus"]
        for penalty in params.sweep["invalid_penalty"]
    ]
    judged = [controlled.judge(problems, **constants) for constants in grid]
    paid = torch.stack([torch.from_numpy(one.rewards) for one in judged])
    ends = categorical.train_grpo(sft, paid, **params.grpo).logits[-1].numpy()
    first = categorical.relative_rewards(paid)[..., controlled.WRONG_BOXED].mean(-1).tolist()
    sweep = pd.DataFrame(
        [
            constants | {"advantage_wrong_boxed": advantage} | controlled.policy_measures(end, one)
            for constants, advantage, end, one in zip(grid, first, ends, judged, strict=True)
        ]
    )
    starts = format_incentive.start_rows(params.sweep["correct"], params.sweep["wrong_share"])
    begun = torch.from_numpy(format_incentive.start_logits(starts))
    samples, rate = params.sampled["samples"], params.grpo["rate"] / len(problems)
    every = paid.mean(1)[:, None, :].expand(-1, len(starts), -1)  # pairs x starts x candidates
    parts = []
    for divide in (True, False):
        lessons = categorical.group_lessons(every, samples, divide=divide)
        gradients = categorical.expected_gradient(begun.expand(every.shape), lessons, samples).numpy()
        logits = categorical.train_grpo_expected(
            begun, every, samples=samples, updates=params.grpo["updates"], rate=rate, divide=divide
        ).numpy()
        for place, constants in enumerate(grid):
            part = format_incentive.incentive(starts, logits[:, place], gradients[place])
            parts.append(part.assign(divide=divide, **constants))
    return sweep, pd.concat(parts, ignore_index=True)


run(main, snakemake)
