"""The columns of tables about mathematics: problems, scores of sampled solutions, likelihoods of traces, judgements."""

import pyarrow as pa

_text, _count, _flag, _number = pa.string(), pa.int64(), pa.bool_(), pa.float64()


def _required(**columns: pa.DataType) -> list[pa.Field]:
    return [pa.field(name, kind, nullable=False) for name, kind in columns.items()]


def _optional(**columns: pa.DataType) -> list[pa.Field]:
    return [pa.field(name, kind) for name, kind in columns.items()]


MATHS_PROBLEMS = pa.schema(
    [
        *_required(
            benchmark=_text,
            problem_id=_text,  # `gsm8k-0012`: unique over all benchmarks
            question=_text,
            gold=_text,
        ),
        *_optional(level=_text),  # difficulty as the file states it; null where it states none
    ]
)
"""One row per problem."""

MATHS_SCORES = pa.schema(
    [
        *_required(policy=_text, benchmark=_text, problem_id=_text, sample=pa.int32(), status=_text),
        *_required(correct=_flag, format_ok=_flag),
        *_optional(
            extracted=_text,  # null where there is no answer to extract
            first_calculation=_text,  # `16 - 3`, operands as written; null where the text has no calculation
            numeric_trace=_text,  # key of the first numbers of the text; null where it has none
            p1=pa.int32(),  # end of the unit that holds the first calculation, characters; null without one
        ),
        *_required(tokens=pa.int32(), finish_reason=_text),
    ]
)
"""One row per sample, keyed as its row of ROLLOUTS (without a prefix)."""

TRACE_LIKELIHOODS = pa.schema(
    [
        *_required(
            policy=_text,  # that scored the trace
            origin=_text,  # that wrote it
            benchmark=_text,
            problem_id=_text,
            sample=pa.int32(),
            log_probs=pa.list_(pa.float32()),  # nats, one a token of the completion, at temperature 1
        ),
        *_optional(
            boundary=pa.int32(),  # tokens up to P1; null where there is no calculation
            boundary_sentence=pa.int32(),  # tokens up to the nearest other unit end
            boundary_second=pa.int32(),  # tokens up to the end of the unit of the second calculation
            split=_flag,  # P1 falls inside a token, which then counts as before it; null where there is no P1
        ),
    ]
)
"""One row per trace and policy that scores it: the same tokens under each policy."""

JUDGEMENTS = pa.schema(
    [
        *_required(
            item_id=_text,  # what the judge was told: a hash, nothing else
            origin=_text,
            benchmark=_text,
            problem_id=_text,
            sample=pa.int32(),
            copy=pa.int32(),  # 0, or 1 for an item asked a second time
            status=_text,  # see tasks.maths.segmentation.Status
        ),
        *_optional(
            unit_id=pa.int32(),
            start=pa.int32(),  # of the span in the text, characters
            end=pa.int32(),
            boundary=pa.int32(),  # end of the unit that holds the span, characters
            boundary_kind=_text,
            confidence=_number,  # as the judge states it, 0 to 1
        ),
    ]
)
"""One row per blind judgement of where the first complete calculation of a trace stands."""
