"""What the maths lab reports of a policy: accuracy, format, reward, length, entropies, drift, best of n and the vote.

Everything is a value per problem, which `benchmark_means.summary` and `.contrasts` turn into means with intervals; the
four numbers that belong to a training run and not to a problem are in `training_numbers`.
"""

from collections.abc import Mapping, Sequence

import pandas as pd

from workflow_scripts.measures import first_calculations, loss_cost
from workflow_scripts.records.errors import UserError

MEASURES: Mapping[str, str] = {
    "format_rate": "share of samples whose answer stands in a box or behind ####",
    "format_wrong": "share of samples whose format is right and whose answer is not",
    "unmarked_correct": "share of samples that are right without the format",
    "reward": "expected reward: correctness, plus a bonus for the format, less a penalty where nothing was extracted",
    "tokens": "mean length of a sample, tokens",
    "entropy": first_calculations.MEASURES["entropy"],
    "token_entropy": "entropy of the policy's next token over its own samples, nats a token",
    "kl": "exact KL divergence of the next token from the reference over the policy's own samples, nats a token",
    "best": loss_cost.METHODS["best"],
    "majority": "chance that the answer with most votes among n samples is correct; answers that equal the gold answer "
    "are one, others go by their text, samples without an answer do not vote, ties are broken at random",
}
"""Measure and how it is computed; `pass@k`, `best@n` and `majority@n` carry their number."""

ALIKE = (
    "The sets of word problems share no (numbers, answer), the numbers in any order. Their texts are alike by design: "
    "problems of one family share its wordings, but for the shifted ones, which have their own."
)
"""What table and captions say of the same wordings in training and test."""

_COLUMNS = ["policy", "benchmark", "problem_id", "measure", "value"]


def lab_values(
    scores: pd.DataFrame,
    *,
    pass_at: Sequence[int],
    draws: Sequence[int],
    rewards: Mapping[str, float],
    seed: int,
    drift: pd.DataFrame | None = None,
) -> pd.DataFrame:
    """All MEASURES and pass@k of every policy and problem: columns policy, benchmark, problem_id, measure, value.

    scores: MATHS_SCORES of any number of policies, N samples a problem. pass_at, draws: the k and the n, 1 … N.
    rewards: correctness, format_bonus, invalid_penalty (`tasks.maths.reward`). seed: of the orders in which samples
    vote. drift: DRIFT rows; without them there is no kl and no token_entropy.
    Raises UserError as `first_calculations.problem_values` and for draws beyond N.
    """
    parts = [
        first_calculations.problem_values(scores, pass_at),
        _format_values(scores, rewards),
        vote_values(scores, draws, seed=seed),
    ]
    if drift is not None:
        wide = drift.set_index(["policy", "benchmark", "problem_id"])[["kl", "token_entropy"]]
        parts.append(first_calculations.long(wide))
    table = pd.concat([part[_COLUMNS] for part in parts], ignore_index=True)
    return table.sort_values(_COLUMNS[:4], ignore_index=True)


def _format_values(scores: pd.DataFrame, rewards: Mapping[str, float]) -> pd.DataFrame:
    lacking = {"correctness", "format_bonus", "invalid_penalty"} ^ set(rewards)
    if lacking:
        raise UserError(f"the reward has correctness, format_bonus and invalid_penalty; see {sorted(lacking)[0]!r}")
    correct, ok = scores["correct"].astype(bool), scores["format_ok"].astype(bool)
    nothing = scores["extracted"].fillna("").eq("")
    reward = rewards["correctness"] * correct + rewards["format_bonus"] * ok - rewards["invalid_penalty"] * nothing
    columns = {"reward": reward, "format_wrong": ok & ~correct, "unmarked_correct": correct & ~ok}
    keyed = scores[_COLUMNS[:3]].assign(**columns)
    return first_calculations.long(keyed.groupby(_COLUMNS[:3], sort=True)[list(columns)].mean())


def vote_values(scores: pd.DataFrame, draws: Sequence[int], *, seed: int) -> pd.DataFrame:
    """Best of n and majority vote (`best@n`, `majority@n`) of every policy and problem, columns as `lab_values`.

    The estimators are those of `loss_cost`; its `formula_form`, which says what votes together, is here the answer.
    """
    answers = scores["extracted"].fillna("").str.split().str.join(" ")
    answers = answers.mask(answers.eq("")).mask(scores["correct"].astype(bool), "\0gold")
    votes = scores.assign(prefix="", formula_form=answers)
    found = loss_cost.sampling_values(votes, draws, seed=seed)
    return found.merge(scores[["problem_id", "benchmark"]].drop_duplicates(), on="problem_id", validate="many_to_one")


def training_numbers(training: pd.DataFrame, *, samples: int, last: int = 25) -> dict[str, float]:
    """What a reinforcement run says of itself: columns of TRAINING to numbers, over its last steps.

    samples: completions a step, over all prompts. zero_variance: share of prompts whose rewards were all equal.
    reward, kl (from its start), token_entropy: means. tokens_a_second: of sampling, judging and updates together; this
    one differs from run to run.
    Raises UserError for a run without steps.
    """
    if training.empty:
        raise UserError("this run has no training steps")
    ends = training.sort_values("step").tail(last)
    numbers = {name: float(ends[name].mean()) for name in ("zero_variance", "reward", "kl", "token_entropy")}
    tokens = float(training["length"].sum()) * samples
    return numbers | {"tokens_a_second": tokens / float(training["seconds"].sum())}
