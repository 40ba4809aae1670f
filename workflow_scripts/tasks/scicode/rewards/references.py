"""Rewards that ask nobody: those of the reference system (CritPT-RL) as specifications, and a few for comparison.

Names and the reference's own labels: execution (V13), compact (V14), bounded (V15), clean (V17), shaped (V19), focused
(V20 and V21, as far as their conditions do not name one generated family), final_answer (the text verifier of V5 to
V12). Kept as they are, faults included: `clean` and `shaped` take a maximum that undoes the caps of `compact`. What
counts as right is this project's verdict, which is not that of the reference.

format, length, intermediates: one ingredient each, made for this study. strict, layers: nothing but the truth, and the
truth with the layers that lead to it; neither looks at the shape of the text.
"""

from collections.abc import Mapping
from typing import Any

_BASE = {"executes": 0.45, "passed_share if executes": 0.35, "single_function and not executes": 0.25}
_FORMAT = {
    "terms": {
        "fence": 0.04, "single_fence": 0.03, "no_think": 0.04, "has_answer": 0.04, "single_function": 0.05,
        "compiles": 0.04, "executes": 0.03,
    },
    "most": 0.27,
}  # fmt: skip
_COMPACT = {
    "terms": {
        "not unclosed": 0.03, "not long": 0.05, "repeat_ratio < 0.08": 0.04, "phrases <= 3 and lines <= 3": 0.03,
    },
    "most": 0.15,
}  # fmt: skip
_LENGTH = {"terms": {"long": 0.08, "very_long": 0.12, "unclosed": 0.10}, "most": 0.25}
_REPETITION = {
    "terms": {"phrases >= 8": 0.08, "lines >= 5": 0.08},
    "groups": {"repeats": {"terms": {"repeat_ratio": 1.4}, "most": 0.30}},
    "most": 0.40,
}
_PENALTIES = {"length": _LENGTH, "repetition": _REPETITION}
_LOOPS = "repeat_ratio > 0.2 or phrases >= 10"

PROGRAMMATIC: Mapping[str, Mapping[str, Any]] = {
    "strict": {"terms": {"correct": 1.0}},
    "layers": {
        "terms": {
            "extracted": 0.02, "compiles": 0.05, "defines": 0.05, "executes": 0.08, "typed": 0.1,
            "passed_share if typed": 0.3, "correct": 0.4,
        }
    },
    "execution": {
        "right": {"terms": {"always": 0.97, "no_think": 0.03}},
        "wrong": {
            "base": _BASE,
            "combine": "max",
            "groups": {
                "format": {
                    "terms": {
                        "fence": 0.08, "single_fence": 0.03, "no_think": 0.05, "has_answer": 0.08,
                        "single_function": 0.10, "compiles": 0.04, "executes": 0.02,
                    },
                    "most": 0.40,
                }
            },
        },
    },
    "compact": {
        "right": {
            "terms": {"always": 0.97, "no_think": 0.03},
            "penalties": {"shape": {"groups": _PENALTIES, "most": 0.08}},
        },
        "wrong": {
            "base": _BASE,
            "combine": "max",
            "groups": {"format": _FORMAT, "compact": _COMPACT},
            "penalties": _PENALTIES,
            "caps": {
                "not compiles": 0.08,
                "not executes": 0.22,
                "unclosed or very_long": 0.18,
                "repeat_ratio > 0.18 or phrases >= 10": 0.20,
                "not has_answer": 0.05,
            },
        },
    },
    "bounded": {
        "right": {
            "base": "compact",
            "caps": {"not no_think": 0.92, "long": 0.84, "very_long or unclosed": 0.12, _LOOPS: 0.82},
        },
        "wrong": {"base": "compact", "caps": {"long": 0.10, "very_long or unclosed": 0.12, _LOOPS: 0.12}},
    },
    "clean": {
        "right": {
            "terms": {"always": 0.86, "brief": 0.05, "single_fence": 0.02, "single_function": 0.02, "no_think": 0.07},
            "caps": {"long": 0.84, "very_long or unclosed": 0.12, _LOOPS: 0.82},
        },
        "wrong": {
            "base": "compact",
            "combine": "max",
            "groups": {"format": _FORMAT, "compact": _COMPACT},
            "bonus": {"no_think and single_fence": 0.02},
            "caps": {"long": 0.12, "very_long or unclosed": 0.12, _LOOPS: 0.12},
        },
    },
    "shaped": {
        "right": {
            "terms": {"always": 0.76, "no_think": 0.12, "single_fence": 0.05, "single_function": 0.04, "brief": 0.03},
            "caps": {"long": 0.78, "very_long or unclosed": 0.16, _LOOPS: 0.74, "not no_think": 0.89},
        },
        "wrong": {
            "base": "compact",
            "combine": "max",
            "groups": {"format": _FORMAT, "compact": _COMPACT},
            "bonus": {"no_think and single_fence": 0.03, "compiles": 0.02, "executes": 0.02},
            "caps": {
                "always": 0.58, "long": 0.18, "very_long or unclosed": 0.16, _LOOPS: 0.16, "not no_think": 0.30,
            },
        },
    },
    "focused": {
        "right": {"base": "shaped"},
        "wrong": {
            "base": "shaped",
            "caps": {"expects_empty": 0.38, "fails": 0.28, "many_literals": 0.32, "literals >= 80": 0.22},
        },
    },
    "format": {
        "terms": {
            "fence": 0.2, "single_fence": 0.1, "no_think": 0.1, "has_answer": 0.2, "single_function": 0.25,
            "compiles": 0.15,
        }
    },
    "length": {"terms": {"executes": 0.4, "brief if executes": 0.4, "correct": 0.2}},
    "intermediates": {"terms": {"intermediates": 0.4, "correct": 0.6}},
    "final_answer": {
        "terms": {
            "text_correct and marked": 1.0,
            "text_correct and not marked": 0.82,
            "marked if not text_correct": 0.12,
            "answer_reads if not text_correct": 0.12,
            "text_share if not text_correct": 0.55,
        },
        "caps": {"skips": 0.65},
    },
}  # fmt: skip
"""Specifications by name; a base stands before what is built on it."""
