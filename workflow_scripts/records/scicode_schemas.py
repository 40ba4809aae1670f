"""The columns of tables about scientific coding: problems, judged programs, training curves."""

import pyarrow as pa

_text, _count, _flag, _number = pa.string(), pa.int64(), pa.bool_(), pa.float64()


def _required(**columns: pa.DataType) -> list[pa.Field]:
    return [pa.field(name, kind, nullable=False) for name, kind in columns.items()]


def _optional(**columns: pa.DataType) -> list[pa.Field]:
    return [pa.field(name, kind) for name, kind in columns.items()]


SCICODE_PROBLEMS = pa.schema(
    _required(
        set=_text,
        problem_id=_text,
        family=_text,
        topic=_text,
        prompt=_text,
        template=_text,
        reference=_text,  # a right program
        checks=_text,  # JSON, see tasks.scicode.problems
        parameters=_text,  # JSON
        core=_text,  # the task without wrappers: what duplicates are told by
    )
)
"""One row per problem."""

SCICODE_SCORES = pa.schema(
    [
        *_required(policy=_text, set=_text, problem_id=_text, family=_text, sample=pa.int32(), status=_text),
        # Layers, each only where those before it hold.
        *_required(extracted=_flag, parses=_flag, defines=_flag, runs=_flag, typed=_flag, correct=_flag),
        *_required(passed=pa.int32(), checks=pa.int32(), format_ok=_flag, tokens=pa.int32(), characters=pa.int32()),
        *_optional(value=_text),  # what the first call returned, encoded and cut to 200 characters; null without one
        *_required(finish_reason=_text),
    ]
)
"""One row per sample, keyed as its row of ROLLOUTS (without a prefix)."""

SCICODE_REWARDS = pa.schema(
    _required(policy=_text, set=_text, problem_id=_text, sample=pa.int32(), reward=_text, score=_number)
)
"""One row per sample and reward: what each reward would have given for it."""

SCICODE_TRAINING = pa.schema(
    _required(
        step=_count,
        **dict.fromkeys(
            [
                "reward",  # seen by training, mean over samples
                # Shares of the step's samples
                "extracted", "parses", "defines", "runs", "typed", "correct", "format_ok",
                # Shares of the step's prompts, by their samples
                "all_right", "all_wrong", "mixed",  # in truth: every, no, some sample correct
                "zero_variance",  # all samples got one reward
                "hacking",  # share of samples with at least half of the largest reward that are not correct
                "characters",  # a completion
            ],
            _number,
        ),
    )
)  # fmt: skip
"""One row per training step: what its samples were, judged beside the reward that training saw."""
