"""The columns of tables about other roads of training and about interventions on trained policies."""

import pyarrow as pa

_text, _count, _number = pa.string(), pa.int64(), pa.float64()


def _required(**columns: pa.DataType) -> list[pa.Field]:
    return [pa.field(name, kind, nullable=False) for name, kind in columns.items()]


DEMONSTRATIONS = pa.schema(
    _required(
        problem_id=_text,
        choice=_text,  # how solutions were chosen: diverse or uniform
        place=_count,  # 0, 1, …: the first k are what k demonstrations a problem are
        opening=_text,
        paper_form=_text,
        completion=_text,
    )
)
"""Solver-built solutions of training problems."""

SUPERVISED = pa.schema(
    [
        *_required(step=_count, loss=_number, rate=_number, grad_norm=_number, seconds=_number, tokens=_count),
        pa.field("held_loss", _number),  # nats a token, null where it was not looked at
    ]
)
"""One row per supervised update. loss: nats a token. tokens: of completions, trained on so far."""

PREFERENCES = pa.schema(
    _required(
        step=_count,
        loss=_number,  # nats a pair
        accuracy=_number,
        margin=_number,
        chosen=_number,  # change of the completion's log-probability, nats
        rejected=_number,
        rate=_number,
        grad_norm=_number,
        tokens=_count,
        seconds=_number,
    )
)
"""One row per preference update."""
