"""The lab table: what every stage of a pipeline does to accuracy, format, reward, length, drift and entropies."""

from collections.abc import Mapping, Sequence

import numpy as np
import pandas as pd

from workflow_scripts.figures.tables import Column, Table
from workflow_scripts.measures.lab import ALIKE, MEASURES, training_numbers
from workflow_scripts.records.errors import UserError

TRAINED = {"zero_variance": "share of prompts whose samples all got one reward, over the last 25 steps of training"}
"""Measures of a training run, the same on every benchmark; of policies that were not trained by reinforcement, none."""

SPEED = ["policy", "stage", "steps", "seconds", "tokens", "tokens_a_second"]
"""Of `speed`. seconds: of all steps. tokens: of completions that were sampled or trained on."""


def columns(pass_at: Sequence[int], draws: Sequence[int]) -> tuple[Column, ...]:
    """The columns of the table: pass@k for every k, the vote among every n, and the rest of MEASURES."""
    best = set(draws)
    return (
        *(Column(f"pass@{k}", f"pass@{k} = best of {k}" if k in best else f"pass@{k}") for k in pass_at),
        *(Column(f"majority@{n}", f"vote of {n}") for n in draws),
        Column("format_rate", "format"),
        Column("format_wrong", "format right, answer wrong"),
        Column("reward", "reward"),
        Column("tokens", "tokens", 1),
        Column("kl", "KL from base, nats a token"),
        Column("token_entropy", "token entropy, nats"),
        Column("entropy", "first-calculation entropy, nats"),
        Column("zero_variance", "zero-variance groups"),
    )


def training_cells(
    training: Mapping[str, pd.DataFrame], rows: Sequence[Mapping], benchmarks: Sequence[str]
) -> pd.DataFrame:
    """TRAINED as rows of benchmark_means.summary: the mean over a policy's training seeds, NaN where it has none.

    training: TRAINING of every policy that was trained by reinforcement. rows: name, policies, samples_a_step (of
    reinforcement alone).
    """
    cells = []
    for row in rows:
        found = [
            training_numbers(training[policy], samples=row["samples_a_step"])
            for policy in row["policies"]
            if policy in training
        ]
        for measure in TRAINED:
            mean = float(np.mean([numbers[measure] for numbers in found])) if found else np.nan
            cells += [
                {"entry": row["name"], "benchmark": name, "measure": measure, "estimate": mean} for name in benchmarks
            ]
    return pd.DataFrame(cells).assign(low=np.nan, high=np.nan, problems=0)


def lab_table(
    summary: pd.DataFrame,
    rows: Sequence[tuple[str, str]],
    *,
    benchmarks: Sequence[str],
    pass_at: Sequence[int],
    draws: Sequence[int],
    samples: int,
    confidence: float = 0.95,
    notes: Sequence[str] = (),
) -> Table:
    """The lab table, for figures.tables.write: a row per benchmark and policy.

    summary: benchmark_means.summary of lab.lab_values, with the rows of `training_cells`. rows: (label, entry).
    pass_at, draws: as of lab_values. samples: of a problem. Raises UserError where a measure is missing.
    """
    shown = columns(pass_at, draws)
    chosen = summary[summary["measure"].isin([column.name for column in shown]) & summary["benchmark"].isin(benchmarks)]
    cells = chosen.assign(entry=chosen["benchmark"] + " " + chosen["entry"])
    told = {name: words for name, words in (MEASURES | TRAINED).items() if name not in ("best", "majority")}
    about = [
        f"Means over the problems of a test set, {samples} samples each; in brackets the {100 * confidence:g} % "
        "interval of a bootstrap over problems. Best of n, picked by the verifier, is pass@n.",
        f"Vote: {MEASURES['majority']}.",
        *(f"{column.heading}: {told[column.name]}." for column in shown if column.name in told),
        ALIKE,
        *notes,
    ]
    placed = [(f"{name}: {label}", f"{name} {entry}") for name in benchmarks for label, entry in rows]
    return Table("Lab table. Every stage of the pipelines on word problems", placed, shown, cells, tuple(about))


def speed(training: Mapping[str, pd.DataFrame], rows: Sequence[Mapping]) -> pd.DataFrame:
    """How fast every policy was trained: columns SPEED, one row per policy. It differs from run to run.

    training: metrics of every trained policy: TRAINING, or SUPERVISED or PREFERENCES, whose tokens are summed already;
    of pre-training there are no tokens, they are NaN. Raises UserError for a policy without steps.
    """
    found = []
    for row in rows:
        for policy in row["policies"]:
            steps = training.get(policy)
            if steps is None or steps.empty:
                raise UserError(f"{policy} has no training steps; remake its training metrics")
            seconds, tokens = float(steps["seconds"].sum()), np.nan
            if "length" in steps:
                tokens = float(steps["length"].sum()) * row["samples_a_step"]
            elif "tokens" in steps:
                tokens = float(steps["tokens"].max())
            found.append([policy, row["stage"], len(steps), seconds, tokens, tokens / seconds])
    return pd.DataFrame(found, columns=SPEED)
