"""Does the policy gradient at the entrance say where mass goes next? A test of the paper's theory, segment by segment.

The on-policy gradient on an entrance's logit is q_b (μ_b − μ̄), μ̄ = Σ q μ with the cell `outside` in it. Within a
problem it is set against what log q_b does until the next kept checkpoint. Both are centred over the menu, since the
rest of a softmax moves all entrances alike. q is that at temperature 1, which training samples from and which is
exact; μ is measured under the study's decoding, which is somewhat sharper than training's.
"""

from collections.abc import Mapping, Sequence
from functools import partial
from itertools import pairwise

import numpy as np
import pandas as pd
import pyarrow as pa

from workflow_scripts.measures.pairs import ROWS, pair_rows, paired, seed_values, statistic_row
from workflow_scripts.measures.points import entry, policies_at
from workflow_scripts.measures.statistics import Bootstrap
from workflow_scripts.records.schemas import OUTSIDE

FLOOR = 1e-6
"""q is taken as at least this in log q: below it a change of log q is no change that sampling could ever show."""

MENU = 3
"""Smallest menu that is ranked: two entrances, centred, always agree or disagree completely."""

WHOLE = ("base", "last")
"""Before and after of what is taken over all segments."""

PREDICTORS = ("gradient", "advantage", "access")
"""gradient: q_b (μ_b − μ̄), the paper's. advantage: μ_b − μ̄, execution alone. access: q_b alone (the rich get
richer)."""


SEGMENTS = pa.schema(
    [
        *(pa.field(name, pa.string(), nullable=False) for name in ("policy", "problem_id", "opening")),
        *(pa.field(name, pa.int64(), nullable=False) for name in ("before", "after")),
        *(pa.field(name, pa.float64(), nullable=False) for name in (*PREDICTORS, "outcome", "sharpening")),
    ]
)
"""One row per menu entry and pair of neighbouring kept checkpoints."""


def segments(frame: pd.DataFrame, line: Mapping) -> pd.DataFrame:
    """Predictors and outcome of every menu entry over every pair of neighbouring kept checkpoints.

    frame: access.cells of all policies of the line and of the base. line: a row as in measures/points.py. Returns
    SEGMENTS: policy (the later one), problem_id, opening, before, after (steps, base 0), PREDICTORS and outcome
    (Δ log q, nats), centred over the menu, and `sharpening`, the part of the outcome that a constant times log q gives,
    one constant (least squares) for a segment; problems with fewer than MENU entries are left out. Raises UserError as
    pairs.paired does.
    """
    parts = []
    steps = [0, *line["steps"]]
    for before, after in pairwise(steps):
        both = paired(frame, policies_at(line, before), policies_at(line, after))
        parts.append(_predicted(both).assign(before=before, after=after))
    return pd.concat(parts, ignore_index=True)[SEGMENTS.names]


def _predicted(both: pd.DataFrame) -> pd.DataFrame:
    key = ["policy", "problem_id"]
    q, mu = both["probability_before"], both["any_valid_before"]
    solve = (q * mu).groupby([both[k] for k in key]).transform("sum")
    logs = [np.log(both[f"probability_{end}"].clip(lower=FLOOR)) for end in ("before", "after")]
    rows = both[[*key, "opening"]].assign(
        gradient=q * (mu - solve), advantage=mu - solve, access=q, outcome=logs[1] - logs[0], sharpening=logs[0]
    )
    rows = rows[rows["opening"] != OUTSIDE]
    menus = rows.groupby(key)
    numbers = [*PREDICTORS, "outcome", "sharpening"]
    rows[numbers] = rows[numbers] - menus[numbers].transform("mean")
    # Rounding leaves an entrance of a flat menu a hair's breadth from the mean, which would be ranked.
    rows[numbers] = rows[numbers].round(12)
    rows = rows[menus["opening"].transform("size") >= MENU].copy()
    size = (rows["sharpening"] ** 2).sum()
    slope = (rows["sharpening"] * rows["outcome"]).sum() / size if size > 0 else 0.0
    rows["sharpening"] *= slope
    return rows


def agreement(found: pd.DataFrame) -> pd.DataFrame:
    """How well each predictor ranks the entrances of each problem: columns policy, problem_id, before, after, measure,
    value.

    found: from `segments`. Measures, for each of PREDICTORS: `rank_<p>`, Spearman's correlation of predictor and
    outcome over the menu (expected under permutation: 0; none where either is constant), `sign_<p>`, the share of
    entrances that move to the predicted side of the menu's mean, and `sign_<p>_chance`, its exact expectation when the
    outcomes are permuted among the menu's entrances (not always ½: a predictor may put one entrance above the mean and
    all others below). Entrances at the mean (either quantity 0) have no sign.
    """
    key = ["policy", "problem_id", "before", "after"]
    menus = found.groupby(key)
    ranks = menus[[*PREDICTORS, "outcome"]].rank()
    ranks = ranks - ranks.groupby([found[k] for k in key]).transform("mean")
    columns = {}
    y = ranks["outcome"]
    for name in PREDICTORS:
        x = ranks[name]
        sums = pd.DataFrame({"xy": x * y, "xx": x**2, "yy": y**2}).groupby([found[k] for k in key]).sum()
        norm = np.sqrt(sums["xx"] * sums["yy"])
        columns[f"rank_{name}"] = (sums["xy"] / norm).where(norm > 1e-9)
        signed = found[(found[name] != 0) & (found["outcome"] != 0)]
        up = pd.DataFrame({"x": signed[name] > 0, "y": signed["outcome"] > 0})
        up["same"] = up["x"] == up["y"]
        shares = up.groupby([signed[k] for k in key]).mean()
        columns[f"sign_{name}"] = shares["same"]
        columns[f"sign_{name}_chance"] = shares["x"] * shares["y"] + (1 - shares["x"]) * (1 - shares["y"])
    wide = pd.DataFrame(columns).rename_axis(columns="measure")
    return wide.stack().rename("value").dropna().reset_index()


def theory_rows(found: pd.DataFrame, line: Mapping, problems: Sequence[str], bootstrap: Bootstrap) -> pd.DataFrame:
    """The measures of `agreement`, means over problems with interval, and correlations over all entrances.

    found: from `segments`. Rows as comparison.contrasts gives; before and after name a segment's ends (entries of the
    line), or `base` and `last` for all segments together, where a problem's mean over the segments is taken first.
    pooled_<p>: correlation of the ranks of all entrances, centred within their menus and ranked together; the ranks
    are kept on resamples. Its expectation under permutation within menus is near 0. <p>_beyond_sharpening, of gradient
    and advantage: Pearson's partial correlation of predictor and outcome given `sharpening`; 0 is expected of a policy
    that merely sharpens, since the gradient then correlates with the outcome through q alone.
    """
    if found.empty:  # no problem has a menu to rank
        return pd.DataFrame(columns=list(ROWS))
    key = ["policy", "problem_id", "measure"]
    measured = agreement(found)
    seed_of = _seeds(line)
    parts = []
    for (before, after), rows in measured.groupby(["before", "after"]):
        pair = (entry(line, before), entry(line, after))
        policies = policies_at(line, after)
        parts.append(pair_rows(rows.drop(columns=["before", "after"]), problems, policies, bootstrap, pair))
        chosen = found[(found["before"] == before) & (found["after"] == after)]
        parts.append(_pooled_rows(chosen, problems, policies, bootstrap, pair))
    together = measured.assign(policy=measured["policy"].map(seed_of)).groupby(key)["value"].mean().reset_index()
    seeds = sorted(set(seed_of.values()))
    parts.append(pair_rows(together, problems, seeds, bootstrap, WHOLE))
    every = found.assign(policy=found["policy"].map(seed_of))
    parts.append(_pooled_rows(every, problems, seeds, bootstrap, WHOLE))
    return pd.concat(parts, ignore_index=True)


def _seeds(line: Mapping) -> dict[str, str]:
    """Policies to the place of their seed in the line, so that segments can be averaged."""
    return {policy: f"seed {i:03d}" for step in line["steps"] for i, policy in enumerate(policies_at(line, step))}


def _pooled_rows(
    found: pd.DataFrame,
    problems: Sequence[str],
    policies: Sequence[str],
    bootstrap: Bootstrap,
    pair: tuple[str, str],
) -> pd.DataFrame:
    ranks = found[[*PREDICTORS, "outcome"]].rank()
    columns = (ranks - ranks.mean()).add_prefix("rank_").join(found[[*PREDICTORS[:2], "outcome", "sharpening"]])
    names = list(columns)
    moments = {"n": pd.Series(1.0, index=columns.index)} | {name: columns[name] for name in names}
    moments |= {f"{a} {b}": columns[a] * columns[b] for i, a in enumerate(names) for b in names[i:]}
    sums = pd.DataFrame(moments).groupby([found["policy"], found["problem_id"]]).sum().rename_axis(columns="measure")
    values = seed_values(sums.stack().rename("value").reset_index(), problems, policies)
    at = {name: values.measures.index(name) for name in moments}

    def covariance(means: np.ndarray, a: str, b: str) -> np.ndarray:
        n = means[..., at["n"]]
        return means[..., at[f"{a} {b}"]] / n - means[..., at[a]] * means[..., at[b]] / n**2

    def correlation(means: np.ndarray, a: str, b: str) -> np.ndarray:
        spread = np.maximum(covariance(means, a, a), 0) * np.maximum(covariance(means, b, b), 0)
        with np.errstate(invalid="ignore", divide="ignore"):
            return covariance(means, a, b) / np.sqrt(spread)

    def beyond_sharpening(means: np.ndarray, a: str) -> np.ndarray:
        shared, sharpening = correlation(means, a, "sharpening"), correlation(means, "outcome", "sharpening")
        with np.errstate(invalid="ignore", divide="ignore"):
            left = np.sqrt(np.maximum(1 - shared**2, 0) * np.maximum(1 - sharpening**2, 0))
            found = (correlation(means, a, "outcome") - shared * sharpening) / left
        return np.where(left > 1e-6, found, np.nan)  # nothing is left where sharpening explains it all

    wanted = {f"pooled_{name}": partial(correlation, a=f"rank_{name}", b="rank_outcome") for name in PREDICTORS}
    wanted |= {f"{name}_beyond_sharpening": partial(beyond_sharpening, a=name) for name in PREDICTORS[:2]}
    rows = [statistic_row(name, values.array, statistic, bootstrap, pair) for name, statistic in wanted.items()]
    return pd.concat(rows, ignore_index=True)


def binned_outcomes(
    found: pd.DataFrame, line: Mapping, problems: Sequence[str], bootstrap: Bootstrap, bins: int = 10
) -> pd.DataFrame:
    """Mean outcome by quantile of each predictor, over all segments: columns predictor, bin (1 … bins), predicted
    (mean), estimate (nats), low, high, problems.

    found: from `segments`. Entrances of all segments are ranked together and cut into bins of equal size; the outcome
    is averaged within problems first.
    """
    if found.empty:
        return pd.DataFrame(columns=["predictor", "bin", "predicted", "estimate", "low", "high", "problems"])
    seed_of = _seeds(line)
    parts = []
    for name in PREDICTORS:
        places = np.ceil(found[name].rank(method="first") / len(found) * bins).astype(int).clip(1, bins)
        means = found["outcome"].groupby([found["policy"].map(seed_of), found["problem_id"], places]).mean()
        long = means.rename("value").rename_axis(["policy", "problem_id", "bin"]).reset_index()
        rows = pair_rows(
            long.assign(measure=long["bin"].map("{:03d}".format)),
            problems,
            sorted(set(seed_of.values())),
            bootstrap,
            WHOLE,
        )
        rows = rows.assign(predictor=name, bin=rows["measure"].astype(int))
        parts.append(rows.assign(predicted=rows["bin"].map(found[name].groupby(places).mean())))
    columns = ["predictor", "bin", "predicted", "estimate", "low", "high", "problems"]
    return pd.concat(parts, ignore_index=True)[columns]
