"""The reference system's rewards (CritPT-RL) that ask a language model, as specifications.

generic_judge and its length-aware twin brief_judge; semantic_judge (E1, E2); final_answer_judge (E3) and its lenient
(E4), balanced (E5b) and strict (E6) sets of constants. None of them looks at the verdict.
"""

from collections.abc import Mapping
from typing import Any


def _final_answer_judge(weights: tuple[float, ...], caps: tuple[float, ...], accept: float, kind: str) -> dict:
    """One row of constants. weights: algorithm, science, exactness, contract, against guessing. caps: fatal, guess,
    missing algorithm, reference mismatch, rule failure, contract, syntax or runtime, then low marks: algorithm (≤ 2),
    against guessing (≤ 2), science (≤ 2), algorithm (≤ 4), exactness (≤ 4)."""
    marks = ("algorithmic_equivalence", "scientific_correctness", "exactness", "output_contract", "anti_guess")
    conditions = (
        "fatal",
        "tag_placeholder or tag_shape_only or tag_constant_guess and judged_algorithmic_equivalence <= 0.4",
        "tag_missing_algorithm",
        "tag_reference_mismatch",
        "tag_wrong_order or tag_wrong_filter or tag_missing_object or tag_extra_object or tag_wrong_operator",
        "tag_contract_error",
        "tag_syntax_error or tag_runtime_error",
        "judged_algorithmic_equivalence <= 0.2",
        "judged_anti_guess <= 0.2",
        "judged_scientific_correctness <= 0.2",
        "judged_algorithmic_equivalence <= 0.4",
        "judged_exactness <= 0.4",
    )
    return {
        "judge": kind,
        "accept": accept,
        "rejects": {"empty": 0.0, "characters < 24": 0.01, "not has_answer": 0.04},
        "terms": {f"judged_{mark}": weight for mark, weight in zip(marks, weights, strict=True)},
        "caps": dict(zip(conditions, caps, strict=True)),
    }


_STRICT_JUDGES = {
    "final_answer_judge": (
        (0.35, 0.30, 0.15, 0.10, 0.10),
        (0.03, 0.15, 0.25, 0.35, 0.45, 0.45, 0.20, 0.20, 0.20, 0.25, 0.45, 0.65),
        0.78,
        "final_answer",
    ),
    "final_answer_judge_lenient": (
        (0.38, 0.22, 0.25, 0.10, 0.05),
        (0.03, 0.12, 0.75, 0.32, 0.40, 0.62, 0.18, 0.18, 0.60, 0.24, 0.52, 0.62),
        0.78,
        "final_answer",
    ),
    "final_answer_judge_balanced": (
        (0.40, 0.20, 0.26, 0.08, 0.06),
        (0.03, 0.32, 0.50, 0.42, 0.42, 0.60, 0.18, 0.28, 0.42, 0.30, 0.50, 0.62),
        0.78,
        "final_answer",
    ),
    "final_answer_judge_strict": (
        (0.44, 0.16, 0.30, 0.05, 0.05),
        (0.02, 0.06, 0.18, 0.18, 0.18, 0.40, 0.12, 0.12, 0.10, 0.14, 0.28, 0.25),
        0.82,
        "final_answer_guessing",
    ),
}

_GENERAL: Mapping[str, Mapping[str, Any]] = {
    "generic_judge": {
        "judge": "generic",
        "accept": 0.7,
        "rejects": {"empty": 0.0, "characters < 12": 0.02},
        "terms": {"judged_reward": 1.0},
        "caps": {"fatal": 0.05},
    },
    "brief_judge": {
        "judge": "generic",
        "accept": 0.7,
        "rejects": {"empty": 0.0, "characters < 12": 0.02},
        "terms": {"judged_reward": 1.0},
        "penalties": {"length": {"terms": {"thousands_over": 0.035}, "most": 0.10}},
        "caps": {"fatal": 0.05, "not marked": 0.72, "not marked and characters > 2200": 0.55},
    },
    "semantic_judge": {
        "judge": "semantic",
        "accept": 0.72,
        "rejects": {"empty": 0.0},
        "terms": {
            "judged_semantic": 0.55, "judged_contract": 0.20, "judged_grounded": 0.10, "judged_consistency": 0.15,
        },
        "penalties": {"overgeneration": {"terms": {"judged_overgeneration": 0.08}}},
        "caps": {
            "fatal": 0.05,
            "judged_overgeneration >= 0.7": 0.40,
            "tag_wrong_operator": 0.40,
            "tag_missing_object or tag_wrong_filter": 0.50,
        },
    },
}  # fmt: skip

JUDGED: Mapping[str, Mapping[str, Any]] = {
    **_GENERAL,
    **{name: _final_answer_judge(*constants) for name, constants in _STRICT_JUDGES.items()},
}
"""Specifications by name."""
