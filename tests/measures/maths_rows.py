"""Small hand-made tables about mathematics."""

import pandas as pd

from workflow_scripts.records.maths_schemas import MATHS_SCORES, TRACE_LIKELIHOODS

_SCORE = {
    "policy": "base", "benchmark": "words", "problem_id": "words-0000", "status": "WRONG", "correct": False,
    "format_ok": True, "extracted": None, "first_calculation": None, "numeric_trace": None, "p1": None, "tokens": 10,
    "finish_reason": "stop",
}  # fmt: skip


def scores(*rows: dict) -> pd.DataFrame:
    """MATHS_SCORES from partial rows; samples are numbered within a policy's problem unless given."""
    frame = pd.DataFrame([_SCORE | row for row in rows])
    if "sample" not in frame:
        frame["sample"] = frame.groupby(["policy", "problem_id"]).cumcount()
    return frame[MATHS_SCORES.names]


def samples(labels: str, **more) -> list[dict]:
    """One row per letter: `A` is a correct sample that begins with a, `a` a wrong one, `-` has no calculation."""
    return [
        {
            "first_calculation": None if letter == "-" else f"{ord(letter.lower()) - 96} + 9",
            "numeric_trace": None if letter == "-" else letter.lower(),
            "correct": letter.isupper(),
        }
        | more
        for letter in labels
    ]


def likelihoods(*traces: dict) -> pd.DataFrame:
    """TRACE_LIKELIHOODS of traces: each with its key, boundaries and `base` and `late`, log-probabilities."""
    rows = []
    for number, trace in enumerate(traces):
        for policy in ("base", "late"):
            row = {"origin": "base", "benchmark": "words", "problem_id": "words-0000", "sample": number}
            row |= {"boundary": None, "boundary_sentence": None, "boundary_second": None, "split": False}
            rows.append(row | trace | {"policy": policy, "log_probs": trace[policy]})
    return pd.DataFrame(rows)[TRACE_LIKELIHOODS.names]
