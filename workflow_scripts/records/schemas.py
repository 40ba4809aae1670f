"""The columns of every table that passes between stages. One row per thing; ids run from request to score."""

import pyarrow as pa

_text, _count, _flag = pa.string(), pa.int64(), pa.bool_()
_numbers = pa.list_(pa.int64())


def _schema(**columns: pa.DataType) -> pa.Schema:
    return pa.schema([pa.field(name, kind, nullable=False) for name, kind in columns.items()])


PROBLEMS = _schema(problem_id=_text, numbers=_numbers, target=_count, split=_text)
"""One row per problem. numbers: in the prompt's order. split: an evaluation set holds 'calibration' and 'held_out'."""

SOLUTIONS = _schema(
    problem_id=_text,
    paper_form=_text,  # leaf under the `paper` equivalence
    formula_form=_text,  # class under the `formula` equivalence
    paper_family=_text,  # read off paper_form, spelled `4*`
    rendering=_text,  # an expression with spaces and few brackets that reads back to paper_form
    expressible=_flag,  # some writing has whole intermediate values in the text's range
    witness=_flag,  # first of its paper family: no leading bracket, shorter, alphabetical
)
"""One row per paper leaf of each problem."""

OPENINGS = _schema(problem_id=_text, opening=_text, solutions=_count, expressible=_flag, witness=_text)
"""A problem's menu: one row per opening of any writing of any solution.

solutions: paper leaves that can be opened so. expressible: one of those writings is expressible.
witness: an expression (expressible where possible) whose first executed step has this opening.
"""

ROLLOUTS = _schema(
    policy=_text,
    problem_id=_text,
    prefix=_text,  # clamp text given after the prompt; empty when sampling is free
    sample=pa.int32(),
    completion=_text,
    tokens=pa.int32(),  # generated, the end token included
    finish_reason=_text,  # 'stop' or 'length'
    seed=pa.uint64(),  # key of the sample's random stream
)

SCORES = pa.schema(
    [
        *_schema(policy=_text, problem_id=_text, prefix=_text, sample=pa.int32(), status=_text, correct=_flag),
        pa.field("format_ok", _flag, nullable=False),
        pa.field("extracted", _text),  # null where there is no answer to extract
        pa.field("paper_form", _text),  # null where the answer is not an expression with a value
        pa.field("formula_form", _text),
        pa.field("paper_family", _text),
        pa.field("answer_opening", _text),  # of the answer's first executed step as written
        pa.field("think_opening", _text),  # of the first step written in the think part
        pa.field("tokens", pa.int32(), nullable=False),
        pa.field("finish_reason", _text, nullable=False),
    ]
)
"""Same key as ROLLOUTS."""

_number = pa.float64()

PRETRAINING = _schema(step=_count, loss=_number, rate=_number, grad_norm=_number, seconds=_number)
"""One row per optimiser step. loss: nats per predicted token, before the step. rate: learning rate."""

TRAINING = _schema(
    step=_count,
    **dict.fromkeys(
        [
            "reward",  # mean over samples
            "kl",  # exact, from the base, nats a token
            "token_entropy",  # nats
            "entrance_entropy",  # nats, of the first step within a problem's samples
            "distinct_formulas",  # different correct formulas a problem
            "zero_variance",  # share of problems whose samples all got one reward
            "distinct",  # different completions a sample
            "format_ok",
            "truncated",
            "length",  # tokens a sample
            "loss",
            "clipped",
            "grad_norm",  # before clipping
            "value_loss",  # of a critic; 0 without
            "seconds_sampling",
            "seconds_judging",
            "seconds",
        ],
        _number,
    ),
)
"""One row per training step."""

CLAMPS = _schema(
    problem_id=_text,
    family=_text,  # the designated opening, `4*`
    scaffold=_text,  # kind of text around the rung
    scaffold_id=_count,  # which of the problem's scaffolds of that kind
    rung=_text,  # what is given of the family
    prefix=_text,  # scaffold and rung, what the policy is given after the prompt; empty for nothing
    chance=_number,  # share of all writings with this opening that reach the target
)
"""One row per (problem, family, scaffold, rung). Rows with one (problem_id, prefix) share their rollouts."""

LIKELIHOODS = _schema(
    policy=_text,
    problem_id=_text,
    opening=_text,  # of the continuation
    paper_form=_text,
    menu=_flag,  # it stands for its opening
    leaf=_flag,  # it stands for its paper leaf
    continuation=_text,
    entrance=_count,  # its first tokens, up to and with the operator of the first step
    log_probs=pa.list_(pa.float32()),  # nats, of each token, the end token included
)
"""One row per solver-built continuation, teacher-forced after the prompt at temperature 1."""

OUTSIDE = "outside"
"""The cell for all that opens no solution, in tables of openings."""

MASSES = _schema(
    policy=_text,
    problem_id=_text,
    opening=_text,  # `4*`, or OUTSIDE for all that opens otherwise
    feasible=_flag,  # in the expressible menu
    probability=_number,  # at temperature 1, all tokens: what training samples from
    decoded=_number,  # under the temperature and nucleus of the study's sampling
)
"""Exact probability that a policy opens so, one row per pair of given number and operator, and one for the rest."""

STEP_MENUS = _schema(
    problem_id=_text,
    rung=_text,  # of the clamp that ends before this step
    prefix=_text,
    operands=_numbers,  # distinct values at hand
    feasible=pa.list_(_text),  # openings that keep a solution in reach
)
"""One row per problem and operation of the depth set."""

STEP_MASSES = _schema(
    policy=_text,
    problem_id=_text,
    rung=_text,
    opening=_text,
    feasible=_flag,
    probability=_number,
    decoded=_number,
)
"""As MASSES, of the next step after each clamp of the depth set."""
