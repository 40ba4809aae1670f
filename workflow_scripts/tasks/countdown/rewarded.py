"""Training problems and the verifier that rewards answers to them, in the form that trainers take."""

from collections.abc import Callable
from typing import NamedTuple

import pandas as pd

from workflow_scripts.tasks.countdown.reward import compute_score
from workflow_scripts.tasks.countdown.text import think_prompt


class Rewarded(NamedTuple):
    """problem_ids, prompts (as the policy reads them): one a training problem. reward: verdicts of (place among them,
    completion) pairs, as `compute_score` gives them."""

    problem_ids: list[str]
    prompts: list[str]
    reward: Callable[[list[tuple[int, str]]], list[dict]]


def rewarded(rows: pd.DataFrame) -> Rewarded:
    """rows: verl rows as problem_files.read_verl_rows gives them."""
    asked = [{"numbers": list(map(int, row.numbers)), "target": int(row.target)} for row in rows.itertuples()]
    sources = list(rows["data_source"])

    def reward(answers: list[tuple[int, str]]) -> list[dict]:
        return [compute_score(sources[place], completion, asked[place]) for place, completion in answers]

    return Rewarded(list(rows["problem_id"]), [think_prompt(**problem) for problem in asked], reward)
