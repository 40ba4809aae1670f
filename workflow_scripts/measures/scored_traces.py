"""Which traces are scored for the same-trace difference, and where each of them is cut, in tokens."""

from collections.abc import Sequence

import numpy as np
import pandas as pd

from workflow_scripts.measures.trace_differences import select_traces
from workflow_scripts.records import seeds
from workflow_scripts.records.errors import UserError
from workflow_scripts.tasks.maths.milestones import milestones, tokens_before

TRACE = ["origin", "benchmark", "problem_id", "sample"]


def chosen_traces(
    scores: pd.DataFrame, rollouts: pd.DataFrame, *, per_branch: int = 1, most: int | None = None
) -> pd.DataFrame:
    """The traces of every policy that are scored, with their text: columns TRACE, completion.

    scores: MATHS_SCORES. rollouts: their ROLLOUTS. Every origin is chosen from alone (`select_traces`), so that its
    traces do not depend on which others are looked at: a policy scores the same ones in all of its pairs. most: of each
    origin. An origin without a correct, finished sample has none. Raises UserError where no origin has one, and
    for a scored sample without its rollout.
    """
    usable = scores[scores["correct"] & scores["finish_reason"].ne("length")]
    if usable.empty:
        raise UserError("no policy has a correct, finished sample: there are no traces to score")
    parts = [select_traces(rows, per_branch=per_branch, most=most) for _, rows in usable.groupby("policy")]
    chosen = pd.concat(parts, ignore_index=True).rename(columns={"policy": "origin"})[TRACE]
    said = rollouts.loc[rollouts["prefix"] == "", ["policy", "problem_id", "sample", "completion"]]
    joined = chosen.merge(said.rename(columns={"policy": "origin"}), how="left", validate="one_to_one")
    lost = joined["completion"].isna()
    if lost.any():
        row = joined[lost].iloc[0]
        raise UserError(f"sample {row['sample']} of {row['origin']} on {row['problem_id']} has a score and no rollout")
    return joined


def cuts(completion: str, offsets: Sequence[tuple[int, int]]) -> dict[str, int | bool | None]:
    """Where a trace is cut, tokens: boundary, boundary_sentence, boundary_second and split of TRACE_LIKELIHOODS.

    offsets: characters [start, end) of each token of the completion, without the end token.
    """
    places = milestones(completion)
    found = {"boundary": places.p1, "boundary_sentence": places.neighbour, "boundary_second": places.second}
    counted = {name: None if end is None else tokens_before(offsets, end) for name, end in found.items()}
    tokens = {name: None if count is None else count[0] for name, count in counted.items()}
    return tokens | {"split": None if counted["boundary"] is None else counted["boundary"][1]}


def drawn(traces: pd.DataFrame, count: int, *, seed: int) -> pd.DataFrame:
    """`count` of the traces, evenly at random over all origins and by a hash of their keys, in their order."""
    keys = [seeds.key("judged", seed, row.origin, row.problem_id, int(row.sample)) for row in traces.itertuples()]
    kept = np.sort(np.argsort(np.array(keys, dtype=np.uint64), kind="stable")[:count])
    return traces.iloc[kept].reset_index(drop=True)
