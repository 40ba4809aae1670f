"""The columns of tables about the word problems: what is asked and trained on."""

import pyarrow as pa

from workflow_scripts.records.maths_schemas import MATHS_PROBLEMS

WORD_PROBLEMS = pa.schema(
    [
        *MATHS_PROBLEMS,  # benchmark: the set's name; level: null
        pa.field("family", pa.string(), nullable=False),
        pa.field("numbers", pa.list_(pa.int64()), nullable=False),  # in the order of the family's letters
        pa.field("wording", pa.int32(), nullable=False),  # which of the family's; -1 for the unseen one
    ]
)
"""One row per problem of a set, MATHS_PROBLEMS with what its routes are found from."""

DRIFT = pa.schema(
    [
        pa.field("policy", pa.string(), nullable=False),
        pa.field("reference", pa.string(), nullable=False),
        pa.field("benchmark", pa.string(), nullable=False),
        pa.field("problem_id", pa.string(), nullable=False),
        pa.field("samples", pa.int64(), nullable=False),  # of the policy's own, that were looked at
        pa.field("kl", pa.float64(), nullable=False),  # exact, of the next token from the reference, nats a token
        pa.field("token_entropy", pa.float64(), nullable=False),  # nats a token
    ]
)
"""One row per policy and problem."""
