"""Whether a reward pays for the format of a wrong answer: swept over its constants and over where training starts.

Starts are one problem's probabilities of the candidates of `measures.controlled`: correct ones together, in equal
parts boxed and unmarked, and how the rest is split between the wrong boxed answer and the refusal.
"""

from collections.abc import Sequence

import numpy as np
import pandas as pd

from workflow_scripts.measures.controlled import BOXED, REFUSAL, UNMARKED, WRONG_BOXED, probabilities

STARTS = ["correct", "wrong_share"]
"""Columns that name a start."""


def start_rows(correct: Sequence[float], wrong_shares: Sequence[float]) -> pd.DataFrame:
    """All starts: columns correct, wrong_share. correct: probability of a right answer, boxed or not. wrong_share: of
    what is left, that of the wrong boxed answer. Both in (0, 1)."""
    return pd.DataFrame([(right, wrong) for right in correct for wrong in wrong_shares], columns=STARTS)


def start_logits(starts: pd.DataFrame) -> np.ndarray:
    """Logits of `start_rows`: [starts, 4]."""
    right, wrong = starts["correct"].to_numpy(), starts["wrong_share"].to_numpy()
    shares = np.empty((len(starts), 4))
    shares[:, BOXED] = shares[:, UNMARKED] = right / 2
    shares[:, WRONG_BOXED], shares[:, REFUSAL] = (1 - right) * wrong, (1 - right) * (1 - wrong)
    return np.log(shares)


def incentive(starts: pd.DataFrame, logits: np.ndarray, gradient: np.ndarray) -> pd.DataFrame:
    """What training does to the wrong boxed answer from each start: `starts` with further columns.

    logits: [updates + 1, starts, 4], along the mean of GRPO. gradient: [starts, 4], of the first update.
    reinforced: its logit is raised by the first update, that is, its advantage is positive on average. raised: its
    probability is higher after the first update; this can happen without reinforcement, where a likelier candidate is
    pushed down harder. start, peak, peak_update, end: its probability along the way. prevails: it is likelier than the
    two right candidates together at the end. end_correct, end_format: of one sample at the end.
    """
    shares = probabilities(logits)
    wrong = shares[..., WRONG_BOXED]
    correct = shares[-1, :, BOXED] + shares[-1, :, UNMARKED]
    return starts.assign(
        reinforced=gradient[:, WRONG_BOXED] > 0,
        raised=wrong[1] > wrong[0],
        start=wrong[0],
        peak=wrong.max(0),
        peak_update=wrong.argmax(0),
        end=wrong[-1],
        prevails=wrong[-1] > correct,
        end_correct=correct,
        end_format=shares[-1, :, BOXED] + wrong[-1],
    )


def shares_of_starts(rows: pd.DataFrame) -> pd.DataFrame:
    """Shares of the starts, by reward constants and by whether advantages are divided by their deviation.

    rows: `incentive` with columns divide, format_bonus, invalid_penalty. Returns those with starts, reinforced, raised,
    prevails (shares) and end_correct, end_format (means over starts).
    """
    groups = rows.groupby(["divide", "format_bonus", "invalid_penalty"], sort=True)
    found = groups[["reinforced", "raised", "prevails", "end_correct", "end_format"]].mean()
    return found.assign(starts=groups.size()).reset_index()
