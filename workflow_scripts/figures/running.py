"""Training metrics as curves: running means of each training over its steps, with the spread of its seeds."""

from collections.abc import Iterable, Mapping

import pandas as pd

from workflow_scripts.records.errors import UserError


def running_means(
    metrics: pd.DataFrame, labels: Mapping[str, str], measures: Iterable[str], *, key: str, window: int
) -> pd.DataFrame:
    """Columns `key`, label, measure, step, estimate, low, high, seeds.

    metrics: TRAINING rows with columns `key` (the training's name) and `seed`. labels: name to label, in the order of
    drawing. window: steps of the running mean (the last `window` of them; fewer at the start). estimate: mean over
    training seeds; low, high: the lowest and highest seed. Raises UserError for a training without rows.
    """
    parts = []
    for name, label in labels.items():
        rows = metrics[metrics[key] == name].sort_values(["seed", "step"])
        if rows.empty:
            raise UserError(f"there are no training metrics of {name}")
        for measure in measures:
            smooth = rows.groupby("seed")[measure].transform(lambda v: v.rolling(window, min_periods=1).mean())
            # `smooth` has the index of `rows`
            found = smooth.groupby(rows["step"]).agg(["mean", "min", "max", "size"])
            found = found.set_axis(["estimate", "low", "high", "seeds"], axis=1).reset_index()
            parts.append(found.assign(**{key: name}, label=label, measure=measure))
    columns = [key, "label", "measure", "step", "estimate", "low", "high", "seeds"]
    return pd.concat(parts, ignore_index=True)[columns]
