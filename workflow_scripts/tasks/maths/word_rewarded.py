"""Word problems as tables, and the verifier that judges answers to them, in the form that trainers take.

One verifier (`judging`, exact comparison alone) serves preference pairs, reward and evaluation. What differs is the
score made of its verdict: `rewarded` by the lab's formula, `preferred` by whether an answer is both right and boxed.
"""

from collections.abc import Callable, Sequence
from typing import NamedTuple

import pandas as pd

from workflow_scripts.tasks.maths.first_calculation import first_calculation
from workflow_scripts.tasks.maths.numeric_traces import trace_key
from workflow_scripts.tasks.maths.reward import reward as lab_reward
from workflow_scripts.tasks.maths.verdicts import Verdict
from workflow_scripts.tasks.maths.word_text import think_prompt
from workflow_scripts.tasks.maths.words import WordProblem


class Rewarded(NamedTuple):
    """problem_ids, prompts (as the policy reads them): one a training problem. reward: verdicts of (place among them,
    completion) pairs, a dict each: score, correct, format_ok, status, think_opening (label of the first calculation,
    None without), formula_form (of correct answers: key of the numbers written, which tells routes apart)."""

    problem_ids: list[str]
    prompts: list[str]
    reward: Callable[[list[tuple[int, str]]], list[dict]]


def problem_frame(problems: Sequence[WordProblem], benchmark: str) -> pd.DataFrame:
    """Problems as rows of records.word_schemas.WORD_PROBLEMS."""
    return pd.DataFrame(
        {
            "benchmark": benchmark,
            "problem_id": [problem.problem_id for problem in problems],
            "question": [problem.question for problem in problems],
            "gold": [str(problem.gold) for problem in problems],
            "level": None,
            "family": [problem.family for problem in problems],
            "numbers": [list(problem.numbers) for problem in problems],
            "wording": [problem.wording for problem in problems],
        }
    )


def problems_of(rows: pd.DataFrame) -> list[WordProblem]:
    """The problems of a table that `problem_frame` made."""
    return [
        WordProblem(
            row.problem_id, row.family, tuple(map(int, row.numbers)), int(row.wording), row.question, int(row.gold)
        )
        for row in rows.itertuples()
    ]


def rewarded(
    rows: pd.DataFrame, *, correctness: float = 1.0, format_bonus: float = 0.1, invalid_penalty: float = 0.1
) -> Rewarded:
    """Scores by the lab's formula (`tasks.maths.reward`). rows: columns problem_id, question, gold."""

    def score(completion: str, gold: str) -> tuple[float, Verdict]:
        found = lab_reward(
            completion, gold, correctness=correctness, format_bonus=format_bonus, invalid_penalty=invalid_penalty
        )
        return found.score, found.verdict

    return _rewarded(rows, score)


def preferred(rows: pd.DataFrame) -> Rewarded:
    """Scores of what preference pairs are made of: 1 for an answer that is right and boxed, else 0. rows: as above."""

    def score(completion: str, gold: str) -> tuple[float, Verdict]:
        verdict = lab_reward(completion, gold).verdict
        return float(verdict.accept and verdict.format_ok), verdict

    return _rewarded(rows, score)


def _rewarded(rows: pd.DataFrame, score: Callable[[str, str], tuple[float, Verdict]]) -> Rewarded:
    gold = [str(answer) for answer in rows["gold"]]

    def reward(answers: list[tuple[int, str]]) -> list[dict]:
        return [_verdict(completion, *score(completion, gold[place])) for place, completion in answers]

    prompts = [think_prompt(question) for question in rows["question"]]
    return Rewarded(list(rows["problem_id"]), prompts, reward)


def _verdict(completion: str, score: float, verdict: Verdict) -> dict:
    calculation = first_calculation(completion)
    return {
        "score": score,
        "correct": verdict.accept,
        "format_ok": verdict.format_ok,
        "status": verdict.status.value,
        "think_opening": None if calculation is None else calculation.label,
        "formula_form": trace_key(completion) if verdict.accept else None,
    }
