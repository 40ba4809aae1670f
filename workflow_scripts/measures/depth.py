"""Depth: how completion and access change with the number of operations that a policy is given of one solution.

Operation k is the k-th step of the solution that tasks/countdown/depth_clamps.py clamps to. Access to it is the exact
mass, after the k − 1 operations before, on next openings from which the target can still be reached; execution is valid
completion once it is given. All numbers are per problem first; the problem is the unit.
"""

from collections.abc import Mapping, Sequence

import numpy as np
import pandas as pd

from workflow_scripts.measures.comparison import Values, contrasts, summary
from workflow_scripts.measures.long_values import values_of
from workflow_scripts.measures.statistics import Bootstrap
from workflow_scripts.records.errors import UserError
from workflow_scripts.records.schemas import OUTSIDE

OPERATORS = tuple("+-*/")
"""Second words of an opening, in the order of the arrays of `next_masses`."""

_LONG = ["policy", "problem_id", "measure", "value"]
_KEYS = ["problem_id", "prefix"]

MEASURES = {
    "access": "mass on openings that keep a solution reachable",
    "entropy": "entropy of the mass over these openings, nats",
    "top1": "largest share of this mass",
    "evenness": "this entropy over the logarithm of the number of openings, where there are two or more",
}
"""What is measured before an operation, `depth_<measure>_<operation>`, beside `depth_completion_<depth>`."""


def depth_of(rungs: pd.Series) -> pd.Series:
    """Operations given by each rung `depth2`. Raises UserError for another name."""
    numbers = rungs.str.extract(r"^depth(\d+)$")[0]
    if numbers.isna().any():
        raise UserError(f"{rungs[numbers.isna()].iloc[0]!r} is no depth rung (depth0, depth1, …)")
    return numbers.astype(int)


def completion(scores: pd.DataFrame, clamps: pd.DataFrame) -> pd.DataFrame:
    """Valid completion by depth: columns policy, problem_id, depth, samples, valid (share of samples).

    scores: SCORES of one or more policies on the clamps' prefixes. clamps: CLAMPS of depth_clamps. Raises UserError,
    naming it, where a policy has no score of a clamp.
    """
    rows = clamps.assign(depth=depth_of(clamps["rung"]))[[*_KEYS, "depth"]]
    rates = scores.groupby(["policy", *_KEYS])["correct"].agg(samples="size", valid="mean").reset_index()
    wanted = pd.DataFrame({"policy": sorted(scores["policy"].unique())}).merge(rows, how="cross")
    found = wanted.merge(rates, on=["policy", *_KEYS], how="left")
    if found["samples"].isna().any():
        missing = found[found["samples"].isna()].iloc[0]
        raise UserError(
            f"policy {missing['policy']} has no scores of problem {missing['problem_id']} at depth {missing['depth']} "
            f"(prefix {missing['prefix']!r})"
        )
    found = found.astype({"samples": int}).sort_values(["policy", "problem_id", "depth"], ignore_index=True)
    return found[["policy", "problem_id", "depth", "samples", "valid"]]


def next_masses(policy: str, menus: pd.DataFrame, pairs: Sequence[tuple[np.ndarray, np.ndarray]]) -> pd.DataFrame:
    """Exact masses of what is done next: columns policy, problem_id, rung, opening, feasible, probability, decoded.

    menus: from depth_clamps.next_menus. pairs: for each of its rows two arrays (operands, OPERATORS), probabilities of
    each opening at temperature 1 and as decoded, as policies.likelihood.next_pairs gives them. One row per opening,
    and one, `outside`, for all that is neither.
    """
    rows = []
    for menu, (probability, decoded) in zip(menus.itertuples(), pairs, strict=True):
        openings = [f"{operand}{operator}" for operand in menu.operands for operator in OPERATORS]
        feasible, key = set(menu.feasible), (policy, menu.problem_id, menu.rung)
        masses = zip(openings, probability.ravel().tolist(), decoded.ravel().tolist(), strict=True)
        rows += [(*key, opening, opening in feasible, *both) for opening, *both in masses]
        rows.append((*key, OUTSIDE, False, *(max(0.0, 1 - float(array.sum())) for array in (probability, decoded))))
    return pd.DataFrame(rows, columns=["policy", "problem_id", "rung", "opening", "feasible", "probability", "decoded"])


def access(masses: pd.DataFrame) -> pd.DataFrame:
    """Access before each operation, long: columns policy, problem_id, measure, value; measures of MEASURES, of the mass
    at temperature 1, and with `_decoded` in the study's sampling.

    masses: as from `next_masses`. The shape of the menu (entropy, top1, evenness) is that of the mass over feasible
    openings scaled to 1, missing where all of them have none. Raises UserError where a policy has no feasible opening
    at a rung.
    """
    keys = ["policy", "problem_id", "rung"]
    menus = masses.groupby(keys)["feasible"].any()
    if not menus.all():
        policy, problem_id, rung = menus.index[~menus][0]
        raise UserError(f"problem {problem_id} has no feasible opening at {rung} for {policy}")
    feasible = masses[masses["feasible"]]
    parts = []
    for column, suffix in (("probability", ""), ("decoded", "_decoded")):
        total = feasible.groupby(keys)[column].transform("sum")
        share = feasible[column] / total.where(total > 0)
        surprise = (-share * np.log(share.where(share > 0))).where(share != 0, 0.0)  # 0 log 0 = 0
        groups = feasible.assign(share=share, surprise=surprise).groupby(keys)
        found = groups.agg(size=(column, "size"), access=(column, "sum"), top1=("share", "max"))
        found["entropy"] = groups["surprise"].sum(min_count=1)
        found["evenness"] = found["entropy"] / np.log(found["size"]).where(found["size"] > 1)
        found = found.reset_index()
        operation = (depth_of(found["rung"]) + 1).astype(str)
        parts += [
            found[["policy", "problem_id"]].assign(measure=f"depth_{name}{suffix}_" + operation, value=found[name])
            for name in MEASURES
        ]
    return pd.concat(parts, ignore_index=True).dropna(subset=["value"])[_LONG]


def depth_values(completions: pd.DataFrame, masses: pd.DataFrame | None, problems: Sequence[str]) -> Values:
    """Values of every policy and problem: completion by depth, its slope over depth, access by operation.

    completions: from `completion`. masses: as in `access`, or None. problems: all of the study's depth set. Slopes are
    least-squares slopes per operation, `depth_slope` over depth 1 … 3 and `depth_slope_from_zero` over 0 … 3; the
    change of their means is the interaction that `interaction_rows` fits, here with resampled seeds too.
    """
    by_depth = completions.pivot(index=["policy", "problem_id"], columns="depth", values="valid")
    series = {f"depth_completion_{depth}": by_depth[depth] for depth in by_depth}
    for name, first in _FITS.items():
        used = by_depth[[depth for depth in by_depth if depth >= first]]
        centred = used.columns.to_numpy(dtype=float) - used.columns.to_numpy(dtype=float).mean()
        if len(centred) > 1:
            series[name] = (used * centred).sum(axis=1, skipna=False) / (centred**2).sum()
    parts = [values.rename("value").reset_index().assign(measure=name) for name, values in series.items()]
    parts += [access(masses)] if masses is not None else []
    frame = pd.concat([part[_LONG] for part in parts], ignore_index=True)
    return values_of(frame, problems, samples=int(completions["samples"].max()))


_FITS = {"depth_slope": 1, "depth_slope_from_zero": 0}
"""Slope to the smallest depth that it counts."""


def interaction_rows(
    completions: pd.DataFrame,
    ends: Mapping[str, Sequence[str]],
    *,
    confidence: float = 0.95,
    pair: tuple[str, str] = ("early", "late"),
) -> pd.DataFrame:
    """Does completion fall with depth more steeply late than early? Rows as of comparison.contrasts.

    Linear probability model, completion ~ 1 + depth + late + depth × late, by statsmodels' OLS on the shares of each
    (policy, problem, depth), errors clustered by problem, t interval. The estimate is γ, the coefficient of the
    product, per operation; start and end are the slopes at the two ends. Measures depth_interaction (depth 1 … 3: among
    policies that are given an entrance) and depth_interaction_from_zero (0 … 3).
    completions: from `completion`. ends: end to its policies, one per seed; the seeds are pooled (their spread is in
    the interval of `depth_slope`, see `depth_values`). Raises UserError where an end has no policy in the completions.
    """
    sides = []
    for late, end in enumerate(pair):
        chosen = completions[completions["policy"].isin(ends[end])]
        if set(chosen["policy"]) != set(ends[end]):
            raise UserError(
                f"there are no depth completions of {', '.join(sorted(set(ends[end]) - set(chosen['policy'])))}"
            )
        sides.append(chosen.assign(late=late))
    frame = pd.concat(sides, ignore_index=True)
    rows = []
    for name, first in (("depth_interaction", 1), ("depth_interaction_from_zero", 0)):
        row = {"before": pair[0], "after": pair[1], "measure": name}
        rows.append(row | _interaction(frame[frame["depth"] >= first], confidence))
    return pd.DataFrame(rows)


def _interaction(frame: pd.DataFrame, confidence: float) -> dict[str, float]:
    import statsmodels.api as sm
    from scipy.stats import t

    problems = frame["problem_id"].nunique()
    row = dict.fromkeys(("start", "end", "estimate", "low", "high"), np.nan) | {"problems": problems}
    if frame["depth"].nunique() < 2:
        return row
    depth, late = (frame[column].to_numpy(dtype=float) for column in ("depth", "late"))
    design = np.column_stack([np.ones(len(frame)), depth, late, depth * late])
    model = sm.OLS(frame["valid"].to_numpy(dtype=float), design)
    if problems < 2:  # no errors to cluster
        slopes = model.fit().params
        return row | {"start": slopes[1], "end": slopes[1] + slopes[3], "estimate": slopes[3]}
    groups = frame["problem_id"].factorize()[0]
    fit = model.fit(cov_type="cluster", cov_kwds={"groups": groups}, use_t=True)
    slope, gamma = fit.params[1], fit.params[3]
    # Where all problems agree the variance is 0, or less by a rounding error
    error = np.sqrt(max(fit.cov_params()[3, 3], 0.0))
    half = t.ppf((1 + confidence) / 2, problems - 1) * error
    numbers = {"start": slope, "end": slope + gamma, "estimate": gamma, "low": gamma - half, "high": gamma + half}
    # Slopes below rounding are none: a verdict must not hang on the last bit of a fit.
    return row | {name: round(float(number), 12) for name, number in numbers.items()}


def depth_rows(
    values: Values, bootstrap: Bootstrap, ends: Mapping[str, Sequence[str]], pair: tuple[str, str] = ("early", "late")
) -> pd.DataFrame:
    """Paired change of every measure of `depth_values` between the ends of a line, as comparison.contrasts gives it."""
    return contrasts(values, bootstrap, {end: ends[end] for end in pair}, [pair])


def operations_table(values: Values, bootstrap: Bootstrap, ends: Mapping[str, Sequence[str]]) -> pd.DataFrame:
    """Where the collapse spreads next: columns end, at, measure, estimate, low, high, problems.

    ends: name to policies, as points_of a line gives them. at: operations given for `completion`, the operation that
    comes next for the measures of MEASURES. Access at k and completion at k are the two factors at operation k.
    """
    frame = summary(values, bootstrap, ends).rename(columns={"entry": "end"})
    split = frame["measure"].str.extract(r"^depth_(completion|" + "|".join(MEASURES) + r")(_decoded)?_(\d+)$")
    frame = (
        frame.assign(measure=split[0] + split[1].fillna(""), at=split[2]).dropna(subset=["measure"]).astype({"at": int})
    )
    return frame[["end", "at", "measure", "estimate", "low", "high", "problems"]].reset_index(drop=True)
