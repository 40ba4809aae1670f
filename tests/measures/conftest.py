"""Small hand-made and larger made-up tables in the schemas that measures read."""

import hashlib

import numpy as np
import pandas as pd
import pytest

from workflow_scripts.records.schemas import OPENINGS, SCORES, SOLUTIONS

SCORE_DEFAULTS = {
    "policy": "toy",
    "problem_id": "1_2-3",
    "prefix": "",
    "status": "OK",
    "correct": False,
    "format_ok": True,
    "extracted": None,
    "paper_form": None,
    "formula_form": None,
    "paper_family": None,
    "answer_opening": None,
    "think_opening": None,
    "tokens": 10,
    "finish_reason": "stop",
}


def score_rows(*rows: dict) -> pd.DataFrame:
    """SCORES from partial rows; samples are numbered in order within a problem unless given."""
    frame = pd.DataFrame([SCORE_DEFAULTS | row for row in rows])
    if "sample" not in frame:
        frame["sample"] = frame.groupby(["policy", "problem_id"]).cumcount()
    return frame[SCORES.names]


@pytest.fixture
def hand_made():
    """One problem worked by hand: three leaves, two formulas, two families, three openings; four samples."""
    leaf = {"problem_id": "1_2-3", "rendering": "", "witness": False}
    solutions = pd.DataFrame(
        [
            leaf | {"paper_form": "P1", "formula_form": "F1", "paper_family": "4*", "expressible": True},
            leaf | {"paper_form": "P2", "formula_form": "F1", "paper_family": "4*", "expressible": True},
            leaf | {"paper_form": "P3", "formula_form": "F2", "paper_family": "5+", "expressible": False},
        ]
    )[SOLUTIONS.names]
    openings = pd.DataFrame(
        [("1_2-3", "4*", 2, True, ""), ("1_2-3", "7*", 1, True, ""), ("1_2-3", "5+", 1, False, "")],
        columns=OPENINGS.names,
    )
    first = {"paper_form": "P1", "formula_form": "F1", "paper_family": "4*", "answer_opening": "4*"}
    third = {"paper_form": "P3", "formula_form": "F2", "paper_family": "5+", "answer_opening": "5+"}
    wrong = {
        "paper_form": "W",
        "formula_form": "X",
        "paper_family": "5+",
        "answer_opening": "9-",
        "status": "WRONG_VALUE",
    }
    scores = score_rows(
        first | {"correct": True, "think_opening": "4*"},
        third | {"correct": True, "think_opening": "4*"},
        wrong | {"think_opening": "9-"},
        {"think_opening": "7*", "finish_reason": "length", "format_ok": False, "status": "NO_ANSWER", "tokens": 30},
    )
    return scores, solutions, openings


def made_up(policy: str, seed: int, *, problems: int = 20, samples: int = 40, skill: float = 0.3, breadth: float = 1.0):
    """SCORES, SOLUTIONS, OPENINGS of a made-up policy; the problems depend on `problems` alone.

    skill: mean pass@1. breadth: Dirichlet concentration over the leaves.
    """
    task, policy_stream = np.random.default_rng(problems), np.random.default_rng(seed)
    solutions, openings, scores = [], [], []
    for p in range(problems):
        problem_id, leaves = f"{p}_1-{p + 1}", int(task.integers(2, 12))
        formulas = [hashlib.sha256(f"{p}/{leaf // 2}".encode()).hexdigest()[:16] for leaf in range(leaves)]
        expressible = (task.random(leaves) < 0.8) | (np.arange(leaves) == 0)
        for leaf in range(leaves):
            family = f"{leaf % 3}*"
            solutions.append((problem_id, f"({p},{leaf})", formulas[leaf], family, "", bool(expressible[leaf]), False))
        openings += [(problem_id, f"{o}*", 1, o < 3, "") for o in range(4)]
        correct = policy_stream.random(samples) < policy_stream.beta(2 * skill, 2 * (1 - skill))
        chosen = policy_stream.choice(leaves, samples, p=policy_stream.dirichlet(np.full(leaves, breadth)))
        start = policy_stream.choice(6, samples, p=policy_stream.dirichlet(np.full(6, breadth)))
        scores += [
            {
                "policy": policy,
                "problem_id": problem_id,
                "sample": s,
                "correct": bool(correct[s]),
                "status": "OK" if correct[s] else "WRONG_VALUE",
                "paper_form": f"({p},{chosen[s]})" if correct[s] else f"w{chosen[s]}",
                "formula_form": formulas[chosen[s]] if correct[s] else "0" * 16,
                "paper_family": f"{chosen[s] % 3}*",
                "answer_opening": f"{start[s]}*",
                "think_opening": f"{start[s]}*" if s % 7 else None,
            }
            for s in range(samples)
        ]
    return (
        score_rows(*scores),
        pd.DataFrame(solutions, columns=SOLUTIONS.names),
        pd.DataFrame(openings, columns=OPENINGS.names),
    )


@pytest.fixture(name="made_up")
def made_up_fixture():
    """The function `made_up`."""
    return made_up


@pytest.fixture(name="score_rows")
def score_rows_fixture():
    """The function `score_rows`."""
    return score_rows
