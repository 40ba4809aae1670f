"""The kinds of judges, what each marks, and the closed list of faults that they may name."""

FIELDS = {
    "generic": ("correctness", "instruction_following", "reasoning_quality", "final_answer_consistency", "reward"),
    "semantic": ("semantic", "contract", "grounded", "consistency", "overgeneration"),
    "final_answer": (
        "algorithmic_equivalence", "scientific_correctness", "exactness", "output_contract", "anti_guess",
    ),
    "final_answer_guessing": (
        "algorithmic_equivalence", "scientific_correctness", "exactness", "output_contract", "anti_guess",
    ),
}  # fmt: skip
"""Marks of a judge by kind: 0 to 10, `reward` 0 to 1. The last kind is the one before with a longer rubric against
guessed constants."""

TAGS = {
    "placeholder": "a placeholder stands where the answer belongs",
    "shape_only": "only the form of an answer, without its content",
    "constant_guess": "a plausible constant instead of a computation",
    "missing_algorithm": "the computation that the task needs is not there",
    "reference_mismatch": "the result differs from the reference's",
    "wrong_order": "right items in a wrong order",
    "wrong_filter": "items kept or dropped against the rule",
    "missing_object": "an item that is asked for is missing",
    "extra_object": "items that nobody asked for",
    "wrong_operator": "an operator or label is malformed or of the wrong kind",
    "contract_error": "name, arguments or form of `answer` are not as asked",
    "syntax_error": "the program does not parse",
    "runtime_error": "the program would fail when run",
}
"""Faults that a judge may name, and what each means."""
