"""From a long table of numbers per problem to the arrays that the bootstrap reads."""

from collections.abc import Sequence

import numpy as np
import pandas as pd

from workflow_scripts.measures.comparison import Values
from workflow_scripts.records.errors import UserError


def values_of(frame: pd.DataFrame, problems: Sequence[str], *, samples: int = 0) -> Values:
    """Values of every (policy, problem, measure), NaN where the frame has none.

    frame: columns policy, problem_id, measure, value; one row each. problems: all problems of the study's set, which
    decide the resamples, so that frames with some of them are compared under the same ones.
    Raises UserError, naming it, for a problem that is not among them and for a value given twice.
    """
    problems = sorted(problems)
    stray = sorted(set(frame["problem_id"]) - set(problems))
    if stray:
        raise UserError(f"problem {stray[0]} is not one of the set's {len(problems)} problems")
    twice = frame.duplicated(["policy", "problem_id", "measure"])
    if twice.any():
        row = frame[twice].iloc[0]
        raise UserError(f"{row['measure']} of {row['policy']} on {row['problem_id']} is given twice")
    policies, measures = (sorted(frame[column].unique()) for column in ("policy", "measure"))
    array = np.full((len(policies), len(problems), len(measures)), np.nan)
    places = [
        pd.Index(axis).get_indexer(frame[column])
        for axis, column in ((policies, "policy"), (problems, "problem_id"), (measures, "measure"))
    ]
    array[tuple(places)] = frame["value"].to_numpy(dtype=float)
    return Values(policies, problems, measures, samples, array)
