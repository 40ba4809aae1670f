"""Roads to a policy on the plane of precision and breadth: who is broader at equal precision, and at what price.

A road is an entry with its policies, one per training seed, all sampled equally often.
"""

from collections.abc import Mapping, Sequence
from itertools import pairwise

import numpy as np
import pandas as pd

from workflow_scripts.measures.comparison import Values, contrasts, problem_values, summary
from workflow_scripts.measures.statistics import Bootstrap
from workflow_scripts.records.errors import UserError

PRECISION = "pass@1"
BREADTHS = ("coverage_paper", "coverage_formula", "opening_coverage")
MEASURES = (PRECISION, *BREADTHS, "entropy_think")
"""Of comparison.measures, as far as roads are compared in them."""

WORTH = "worth its cost"
DEAR = "broader, but too dear"
OPEN = "broader, precision open"
LOSS = "broader at a loss of precision"
NO_GAIN = "no broader"
"""Verdicts on a countermeasure, see `verdicts`."""


def road_values(frame: pd.DataFrame, solution_set: str = "expressible") -> Values:
    """MEASURES of every policy and problem. frame: PROBLEM_BREADTH; raises as comparison.problem_values does."""
    values = problem_values(frame, [1], solution_set)
    wanted = [values.measures.index(name) for name in MEASURES]
    return values._replace(measures=list(MEASURES), array=values.array[..., wanted])


def _checked(values: Values, *groups: Mapping[str, Sequence[str]]) -> None:
    for group in groups:
        for entry, policies in group.items():
            for policy in policies:
                if policy not in values.policies:
                    raise UserError(f"{entry}: there are no samples of the policy {policy!r}")


def plane(values: Values, bootstrap: Bootstrap, entries: Mapping[str, Sequence[str]]) -> pd.DataFrame:
    """Where every road lies: columns entry, measure (MEASURES), estimate, low, high, problems."""
    _checked(values, entries)
    return summary(values, bootstrap, entries)


def non_increasing(y: np.ndarray) -> np.ndarray:
    """Least-squares fit to y (..., points) that never rises along its last axis: isotonic regression, equal weights.

    By the min–max formula, fit[i] = min over a ≤ i of max over b ≥ i of mean(y[a … b]) (Robertson, Wright and Dykstra
    1988, section 1.4).
    """
    y = np.asarray(y, dtype=float)
    size = y.shape[-1]
    sums = np.concatenate([np.zeros((*y.shape[:-1], 1)), np.cumsum(y, axis=-1)], axis=-1)
    first, last = np.arange(size)[:, None], np.arange(size)[None, :]
    inside = first <= last
    means = (sums[..., None, 1:] - sums[..., :-1, None]) / np.where(inside, last - first + 1, 1)
    largest = np.maximum.accumulate(np.where(inside, means, -np.inf)[..., ::-1], axis=-1)[..., ::-1]
    return np.where(inside, largest, np.inf).min(axis=-2)


def reference_breadth(x: np.ndarray, y: np.ndarray, at: np.ndarray) -> np.ndarray:
    """Breadth that the reference policies would have at precision `at`: (draws,).

    x, y: precision and breadth of the reference policies, (draws, points). They are put in order of precision, fitted
    by a breadth that never rises with it, and joined by straight lines; beyond the ends the nearest end holds.
    """
    order = np.argsort(x, axis=1, kind="stable")
    x, y = np.take_along_axis(x, order, axis=1), non_increasing(np.take_along_axis(y, order, axis=1))
    return np.array([np.interp(a, xs, ys) for a, xs, ys in zip(at, x, y, strict=True)])


def broader_at_equal_precision(
    values: Values,
    bootstrap: Bootstrap,
    roads: Mapping[str, Sequence[str]],
    reference: Mapping[str, Sequence[str]],
    *,
    breadths: Sequence[str] = BREADTHS,
) -> pd.DataFrame:
    """Each road's breadth less that of the reference line at the road's own precision.

    reference: its points, base and checkpoints, to policies. Columns before (`reference`), after (the road), measure,
    start (the reference at equal precision), end, estimate, low, high, problems, precision (the road's pass@1), outside
    (it lies beyond the reference's range, whose nearest end is taken), outside_share (of the resamples). In every
    resample of problems (and seeds) all means are taken anew, and with them the reference curve.
    """
    _checked(values, roads, reference)
    if len(reference) < 2:
        raise UserError("a reference line needs two policies or more to interpolate between")

    def points(policies: Sequence[str]) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """(1 + draws, measures), the estimate first, and the number of problems of each measure."""
        array = values.of(policies)
        result = bootstrap.estimate(array)
        return np.vstack([result.value, bootstrap.means(array)]), result.problems

    curve = np.stack([points(policies)[0] for policies in reference.values()], axis=1)
    column = {name: values.measures.index(name) for name in (PRECISION, *breadths)}
    x = curve[..., column[PRECISION]]
    rows = []
    for road, policies in roads.items():
        own, problems = points(policies)
        precision = own[:, column[PRECISION]]
        outside = (precision < x.min(axis=1)) | (precision > x.max(axis=1))
        for measure in breadths:
            level = reference_breadth(x, curve[..., column[measure]], precision)
            difference = np.round(own[:, column[measure]] - level, 12)
            low, high = bootstrap.interval(difference[1:, None])
            rows.append(
                {"before": "reference", "after": road, "measure": measure, "start": level[0]}
                | {"end": own[0, column[measure]], "estimate": difference[0], "low": low[0], "high": high[0]}
                | {"problems": int(problems[column[measure]]), "precision": precision[0]}
                | {"outside": bool(outside[0]), "outside_share": float(outside[1:].mean())}
            )
    return pd.DataFrame(rows)


def against_control(
    values: Values, bootstrap: Bootstrap, entries: Mapping[str, Sequence[str]], control: str
) -> pd.DataFrame:
    """Every arm less the control arm of the same budget: the columns of comparison.contrasts, before = `control`."""
    _checked(values, entries)
    if control not in entries:
        raise UserError(f"the control arm {control!r} is not among {', '.join(entries)}")
    return contrasts(values, bootstrap, entries, [(control, arm) for arm in entries if arm != control])


def verdicts(
    differences: pd.DataFrame,
    costs: Mapping[str, Mapping[str, float]],
    control: str,
    *,
    breadth: str = "coverage_paper",
    tolerance: float = 0.03,
    unit: str = "tokens",
    dearest: float = 1.25,
) -> pd.DataFrame:
    """Is an arm worth its cost? One row per arm, in the order of `differences`.

    differences: from against_control. costs: arm to unit to amount spent in training, the control among them.
    Rule: `no broader` unless the whole interval of the breadth gain lies above 0; then by pass@1: `broader at a loss of
    precision` where its whole interval lies below 0 and reaches below −tolerance, `broader, precision open` where it
    reaches below −tolerance but not wholly below 0; otherwise `worth its cost`, unless the arm costs more than
    `dearest` times the control in `unit` (`broader, but too dear`).
    Columns arm, gain, gain_low, gain_high, precision, precision_low, precision_high, <unit>_ratio for every unit,
    verdict. Raises UserError for an arm without costs.
    """
    rows = []
    table = differences[differences["before"] == control].set_index(["after", "measure"])
    for arm in dict.fromkeys(differences.loc[differences["before"] == control, "after"]):
        gain, precision = (table.loc[(arm, measure), ["estimate", "low", "high"]] for measure in (breadth, PRECISION))
        for name in (arm, control):
            if unit not in costs.get(name, {}):
                raise UserError(f"arm {name} has no cost in {unit}")
        ratios = {f"{kind}_ratio": costs[arm][kind] / costs[control][kind] for kind in sorted(costs[arm])}
        if not gain["low"] > 0:
            found = NO_GAIN
        elif not precision["low"] >= -tolerance:
            found = LOSS if precision["high"] < 0 else OPEN
        else:
            found = WORTH if ratios[f"{unit}_ratio"] <= dearest else DEAR
        rows.append(
            {"arm": arm, "gain": gain["estimate"], "gain_low": gain["low"], "gain_high": gain["high"]}
            | {"precision": precision["estimate"], "precision_low": precision["low"]}
            | {"precision_high": precision["high"]}
            | ratios
            | {"verdict": found}
        )
    return pd.DataFrame(rows)


def dose_response(
    values: Values,
    bootstrap: Bootstrap,
    doses: Mapping[int, Sequence[str]],
    *,
    measures: Sequence[str] = MEASURES,
) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Precision and breadth by the number of demonstrations of a problem, and their trend.

    doses: k to policies. Returns (points, trend). points: columns k, measure, estimate, low, high, problems.
    trend: columns measure, quantity, start, end, estimate, low, high, problems; quantity is `slope` (least squares on
    log2 k: the change per doubling) or a successive difference (`1→2`).
    """
    if len(doses) < 2:
        raise UserError("a dose–response needs two numbers of demonstrations or more")
    ks = sorted(doses)
    entries = {str(k): list(doses[k]) for k in ks}
    points = plane(values, bootstrap, entries)
    points = points[points["measure"].isin(measures)]
    points = points.assign(k=points.pop("entry").astype(int)).sort_values(["measure", "k"], ignore_index=True)
    names = [f"{a}→{b}" for a, b in pairwise(ks)]
    steps = contrasts(values, bootstrap, entries, [(str(a), str(b)) for a, b in pairwise(ks)])
    steps = steps[steps["measure"].isin(measures)]
    steps = steps.assign(quantity=steps["before"] + "→" + steps["after"]).drop(columns=["before", "after"])
    doubling = np.log2(ks) - np.log2(ks).mean()
    weights = doubling / (doubling @ doubling)
    array = np.stack([values.of(entries[str(k)]) for k in ks])
    result = bootstrap.estimate(np.round(np.tensordot(weights, array, axes=1), 12))
    slope = pd.DataFrame(
        {"measure": values.measures, "quantity": "slope", "start": np.nan, "end": np.nan}
        | {"estimate": result.value, "low": result.low, "high": result.high, "problems": result.problems}
    )
    trend = pd.concat([slope[slope["measure"].isin(measures)], steps])
    trend = trend.sort_values(
        ["measure", "quantity"],
        key=lambda c: c.map({"slope": -1} | {name: at for at, name in enumerate(names)}) if c.name == "quantity" else c,
        ignore_index=True,
    )
    columns = ["estimate", "low", "high", "problems"]
    return points[["k", "measure", *columns]], trend[["measure", "quantity", "start", "end", *columns]]
