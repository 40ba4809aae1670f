r"""The controlled experiment: four candidates per problem, what the verifier pays for them, and what a policy does.

Candidates, in this order: the solution with its answer in a box; the same solution with a wrong answer in a box; the
solution with the right answer and no mark; a refusal, from which nothing can be extracted. A policy gives each a logit
(policies.categorical), so that probability, argmax and expected value can be told apart exactly.
"""

import json
import os
from collections.abc import Mapping, Sequence
from fractions import Fraction
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pandas as pd

from workflow_scripts.records.errors import UserError
from workflow_scripts.tasks.maths.reward import reward

CANDIDATES = {
    "boxed": "right, boxed",
    "wrong_boxed": "wrong, boxed",
    "unmarked": "right, unmarked",
    "refusal": "refusal",
}
"""Name of each candidate in order, and how it is called in print."""

BOXED, WRONG_BOXED, UNMARKED, REFUSAL = range(4)

PROBLEMS = Path(__file__).resolve().parents[2] / "resources" / "controlled" / "problems.jsonl"
"""The problems that come with the project."""

_KEYS = ("id", "question", "answer", "solution")


class Problem(NamedTuple):
    """A problem with its solution in words; answer: a whole number or a fraction a/b."""

    id: str
    question: str
    answer: str
    solution: str


class Judged(NamedTuple):
    """What the verifier says of every candidate, each [problems, 4]: rewards in units of reward, correct and
    formatted (the answer stands in a box) 0 or 1."""

    rewards: np.ndarray
    correct: np.ndarray
    formatted: np.ndarray


def read_problems(path: str | os.PathLike) -> list[Problem]:
    """Problems of a JSON Lines file with the keys of `Problem`. Raises UserError that names file, line and key."""
    try:
        lines = Path(path).read_text(encoding="utf-8").splitlines()
    except (OSError, UnicodeDecodeError) as error:
        raise UserError(f"{path}: cannot be read: {error}") from error
    problems: list[Problem] = []
    for number, line in enumerate(lines, start=1):
        where = f"{path}, line {number}"
        try:
            row = json.loads(line)
        except (ValueError, RecursionError) as error:
            raise UserError(f"{where}: no JSON: {error}") from error
        if not isinstance(row, dict) or sorted(row) != sorted(_KEYS):
            raise UserError(f"{where}: needs the keys {', '.join(_KEYS)} and no others")
        for key in _KEYS:
            if not isinstance(row[key], str) or not row[key].strip():
                raise UserError(f"{where}: {key} must be a text that is not empty")
        if row["id"] in {problem.id for problem in problems}:
            raise UserError(f"{where}: id {row['id']} is there twice; give each problem its own")
        try:
            wrong_answer(row["answer"])
        except (ValueError, ZeroDivisionError):
            raise UserError(
                f"{where}: answer must be a whole number or a fraction a/b, not {row['answer']!r}"
            ) from None
        problems.append(Problem(**row))
    if not problems:
        raise UserError(f"{path}: holds no problem; write one a line")
    return problems


def wrong_answer(answer: str) -> str:
    """An answer that is off by one. Raises ValueError or ZeroDivisionError for what is no number."""
    return str(Fraction(answer) + 1)


def candidates(problem: Problem) -> tuple[str, str, str, str]:
    """The four texts, in the order of `CANDIDATES`."""
    return (
        rf"{problem.solution} \boxed{{{problem.answer}}}",
        rf"{problem.solution} \boxed{{{wrong_answer(problem.answer)}}}",
        f"{problem.solution} So it is {problem.answer}.",
        "I cannot solve this problem.",
    )


def judge(problems: Sequence[Problem], *, format_bonus: float = 0.1, invalid_penalty: float = 0.1) -> Judged:
    """Verdict and reward of each problem's own candidates, by the verifier and reward of the word problems."""
    found = [
        [
            reward(text, problem.answer, format_bonus=format_bonus, invalid_penalty=invalid_penalty)
            for text in candidates(problem)
        ]
        for problem in problems
    ]
    return Judged(
        np.array([[one.score for one in row] for row in found]),
        np.array([[float(one.verdict.accept) for one in row] for row in found]),
        np.array([[float(one.verdict.format_ok) for one in row] for row in found]),
    )


def probabilities(logits: np.ndarray) -> np.ndarray:
    """Softmax over the last axis."""
    exponent = np.exp(logits - logits.max(-1, keepdims=True))
    return exponent / exponent.sum(-1, keepdims=True)


def policy_measures(logits: np.ndarray, judged: Judged) -> dict[str, np.ndarray]:
    """Means over the problems of a policy's numbers, each [conditions…]; logits: [conditions…, problems, 4].

    p_*: probability of a candidate. pass@1, format@1, reward@1: of the likeliest candidate alone (the first of equals),
    as a table of argmax metrics shows them. expected_pass, expected_format, expected_reward: of one sample, exactly.
    expected_pass@4: that one of four samples is correct. entropy: nats.
    """
    shares = probabilities(logits)
    best = np.eye(shares.shape[-1])[logits.argmax(-1)]
    found = {f"p_{name}": shares[..., place].mean(-1) for place, name in enumerate(CANDIDATES)}
    kinds = {"pass": judged.correct, "format": judged.formatted, "reward": judged.rewards}
    found |= {f"{kind}@1": (best * worth).sum(-1).mean(-1) for kind, worth in kinds.items()}
    found |= {f"expected_{kind}": (shares * worth).sum(-1).mean(-1) for kind, worth in kinds.items()}
    found["expected_pass@4"] = (1 - (1 - (shares * judged.correct).sum(-1)).clip(0) ** 4).mean(-1)
    found["entropy"] = -(shares * np.log(shares.clip(1e-300))).sum(-1).mean(-1)
    return found


def along(logits: np.ndarray, judged: Judged, *, road: str, first: int = 0) -> pd.DataFrame:
    """Every measure after every update: columns road, update, measure, estimate, low, high.

    logits: [updates + 1, problems, 4] or [updates + 1, seeds, problems, 4]; estimate is the mean over seeds, low and
    high the lowest and highest of them. first: number of the first row's update.
    """
    parts = []
    for measure, values in policy_measures(logits, judged).items():
        values = values.reshape(len(logits), -1)
        ends = {"estimate": values.mean(1), "low": values.min(1), "high": values.max(1)}
        parts.append(pd.DataFrame({"road": road, "update": first + np.arange(len(logits)), "measure": measure} | ends))
    return pd.concat(parts, ignore_index=True)


def row_of(
    entry: str, logits: np.ndarray, judged: Judged, extra: Mapping[str, np.ndarray | float] | None = None
) -> pd.DataFrame:
    """Cells of a table about one policy: columns entry, measure, estimate, low, high, seeds.

    logits: [problems, 4], or [seeds, problems, 4]: then the mean, lowest and highest seed. extra: further measures, one
    value or one a seed. Without several seeds low and high are empty.
    """
    rows = []
    for measure, values in (policy_measures(logits, judged) | dict(extra or {})).items():
        values = np.atleast_1d(np.asarray(values, dtype=float))
        several = logits.ndim == 3
        ends = (values.min(), values.max()) if several else (np.nan, np.nan)
        # A loss that is 0 by construction comes out as whatever the last bits add up to
        numbers = (0.0 if abs(number) < 1e-12 else float(number) for number in (values.mean(), *ends))
        rows.append((entry, measure, *numbers, len(logits) if several else 1))
    return pd.DataFrame(rows, columns=["entry", "measure", "estimate", "low", "high", "seeds"])


def overtaking(logits: np.ndarray) -> np.ndarray:
    """The first update after which the boxed solution beats the unmarked one in every problem: [conditions…].

    logits: [updates + 1, conditions…, problems, 4]; NaN where it never is.
    """
    ahead = (logits[..., BOXED] > logits[..., UNMARKED]).all(-1)
    return np.where(ahead.any(0), ahead.argmax(0), np.nan)
