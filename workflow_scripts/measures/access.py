"""Access and execution: how likely a policy opens with each entrance, and how well it goes on from there.

P(solve) = Σ q_b μ_b over the entrances b of a problem's menu and one cell `outside` for all that opens otherwise.
q is exact (MASSES); μ is the valid share of continuations from the clamp `try a op` on a neutral scaffold, and for
`outside` that of the free samples whose first step opens no solution.
"""

import numpy as np
import pandas as pd
import pyarrow as pa

from workflow_scripts.measures import estimators
from workflow_scripts.measures.ladder import completions
from workflow_scripts.records.errors import UserError
from workflow_scripts.records.schemas import OUTSIDE

CELLS = pa.schema(
    [
        pa.field("policy", pa.string(), nullable=False),
        pa.field("problem_id", pa.string(), nullable=False),
        pa.field("opening", pa.string(), nullable=False),
        pa.field("probability", pa.float64(), nullable=False),  # as in MASSES
        pa.field("decoded", pa.float64(), nullable=False),
        pa.field("any_valid", pa.float64(), nullable=False),
        pa.field("in_family", pa.float64()),  # null for `outside`
        pa.field("samples", pa.int64(), nullable=False),  # continuations, or free samples of `outside`
    ]
)
"""One row per policy, problem and menu entry, and one for `outside`."""

_SUMS_TO_ONE = 1e-3  # single precision over some hundred words


def free_counts(scores: pd.DataFrame) -> pd.DataFrame:
    """Free samples by their first step: columns policy, problem_id, opening (empty: none stated), samples, correct.

    scores: SCORES of free samples; policy, problem_id, think_opening and correct are read.
    """
    opened = scores[["policy", "problem_id", "correct"]].assign(opening=scores["think_opening"].fillna(""))
    counts = opened.groupby(["policy", "problem_id", "opening"])["correct"].agg(samples="size", correct="sum")
    return counts.reset_index()


def cells(masses: pd.DataFrame, clamps: pd.DataFrame, scores: pd.DataFrame, free: pd.DataFrame) -> pd.DataFrame:
    """q and μ of every policy, problem and cell: columns CELLS, sorted.

    masses: MASSES of one or more policies; the menu is what it marks feasible, `outside` is the sum of all the rest.
    clamps: CLAMPS, of which the neutral entrances of these problems are used. scores: SCORES of their rollouts.
    free: free_counts of the same policies. μ of `outside` is 0 where no free sample opens outside; its in_family is
    NaN. Raises UserError for masses that do not add up to 1, menu entries without clamped rollouts, and policies or
    problems without free samples.
    """
    key = ["policy", "problem_id"]
    total = masses.groupby(key)[["probability", "decoded"]].sum()
    wrong = total[(total - 1).abs().max(axis=1) > _SUMS_TO_ONE]
    if len(wrong):
        raise UserError(f"masses of {wrong.index[0][0]} on {wrong.index[0][1]} add up to {wrong.iloc[0].max():.4f}")
    menu = masses[masses["feasible"]]
    entrances = clamps[(clamps["rung"] == "entrance") & (clamps["scaffold"] == "neutral")]
    inside_menu = pd.MultiIndex.from_frame(entrances[["problem_id", "family"]]).isin(
        pd.MultiIndex.from_frame(menu[["problem_id", "opening"]])
    )
    rates = completions(entrances[inside_menu], scores[scores["policy"].isin(masses["policy"].unique())])
    rates = rates.rename(columns={"family": "opening", "n": "samples"})
    rates = rates[[*key, "opening", "any_valid", "in_family", "samples"]]
    inside = menu.merge(rates, on=[*key, "opening"], how="left")
    missing = inside[inside["samples"].isna()]
    if len(missing):
        row = missing.iloc[0]
        raise UserError(
            f"entrance {row['opening']} of problem {row['problem_id']} has no clamped rollouts by {row['policy']}"
        )
    outside = masses.loc[~masses["feasible"]].groupby(key)[["probability", "decoded"]].sum().reindex(total.index)
    outside = outside.fillna(0.0).reset_index().assign(opening=OUTSIDE, in_family=np.nan)
    sampled = pd.MultiIndex.from_frame(outside[key]).isin(pd.MultiIndex.from_frame(free[key]))
    if not sampled.all():
        row = outside[~sampled].iloc[0]
        raise UserError(f"there are no free samples of {row['policy']} on problem {row['problem_id']}")
    outside = outside.merge(_outside_rates(free, menu), on=key, how="left").fillna({"samples": 0, "any_valid": 0.0})
    frame = pd.concat([inside[CELLS.names], outside[CELLS.names]], ignore_index=True)
    return frame.astype({"samples": int}).sort_values([*key, "opening"], ignore_index=True)


def _outside_rates(free: pd.DataFrame, menu: pd.DataFrame) -> pd.DataFrame:
    """Samples and valid share of the free samples whose first step is not in the menu, where there are any."""
    key = ["policy", "problem_id"]
    opened = pd.MultiIndex.from_frame(free[[*key, "opening"]]).isin(pd.MultiIndex.from_frame(menu[[*key, "opening"]]))
    rest = free[~opened].groupby(key)[["samples", "correct"]].sum()
    rest["any_valid"] = rest.pop("correct") / rest["samples"]
    return rest.reset_index()


def problem_measures(frame: pd.DataFrame, free: pd.DataFrame) -> pd.DataFrame:
    """Measures of every policy and problem in long form: columns policy, problem_id, measure, value.

    frame: from `cells`. free: free_counts of the same policies. Over the menu, with q renormalised to it:
    menu_entropy (nats), menu_evenness (the same over ln of the menu's size), top1, gini; menu_mass (q of the menu) and
    entropy_with_outside (nats, `outside` as one cell); all at temperature 1, and under the study's decoding with the
    suffix `_decoded`. execution_any_valid, execution_in_family: means over the menu. solve_predicted: Σ q μ (decoded,
    `outside` among it); solve_sampled: pass@1 of the free samples; solve_gap their difference, solve_gap_absolute its
    size. A problem without an expressible menu has no measure of it, nor one whose menu has no mass.
    """
    index, groups = _groups(frame)
    inside = (frame["opening"] != OUTSIDE).to_numpy()
    size = np.bincount(groups[inside], minlength=len(index))
    columns: dict[str, np.ndarray] = {}
    for column, suffix in (("probability", ""), ("decoded", "_decoded")):
        q = frame[column].to_numpy(dtype=float)
        shares = _concentration(q[inside], groups[inside], size)
        columns |= {f"{name}{suffix}": values for name, values in shares.items()}
        columns[f"entropy_with_outside{suffix}"] = estimators.entropies(counts=q, groups=groups, size=len(index))
    with np.errstate(invalid="ignore", divide="ignore"):
        for name in ("any_valid", "in_family"):
            summed = np.bincount(groups[inside], frame[name].to_numpy(dtype=float)[inside], minlength=len(index))
            columns[f"execution_{name}"] = summed / size
    columns["solve_predicted"] = np.bincount(groups, frame["decoded"] * frame["any_valid"], minlength=len(index))
    totals = free.groupby(["policy", "problem_id"])[["samples", "correct"]].sum().reindex(index)
    columns["solve_sampled"] = (totals["correct"] / totals["samples"]).to_numpy(dtype=float)
    columns["solve_gap"] = columns["solve_predicted"] - columns["solve_sampled"]
    columns["solve_gap_absolute"] = np.abs(columns["solve_gap"])
    wide = pd.DataFrame(columns, index=index).rename_axis(columns="measure")
    return wide.stack().rename("value").dropna().reset_index()


def _groups(frame: pd.DataFrame) -> tuple[pd.MultiIndex, np.ndarray]:
    """Every (policy, problem) once, in sorted order, and which of them each row belongs to."""
    codes, index = pd.MultiIndex.from_frame(frame[["policy", "problem_id"]]).factorize(sort=True)
    return index.set_names(["policy", "problem_id"]), codes


def _concentration(q: np.ndarray, groups: np.ndarray, size: np.ndarray) -> dict[str, np.ndarray]:
    """How unevenly mass lies within each menu. q, groups: (cells,). size: (menus,), cells of each menu."""
    mass = np.bincount(groups, q, minlength=len(size))
    order = np.lexsort([q, groups])
    place = np.arange(len(q)) - np.repeat(np.cumsum(size) - size, size)  # 0 … size − 1 within a menu, by ascending q
    top = np.zeros(len(size))
    np.maximum.at(top, groups, q)
    weighted = np.bincount(groups[order], (2 * place + 1 - size[groups[order]]) * q[order], minlength=len(size))
    entropy = estimators.entropies(counts=q, groups=groups, size=len(size))
    with np.errstate(invalid="ignore", divide="ignore"):
        return {
            "menu_mass": np.where(size > 0, mass, np.nan),
            "menu_entropy": entropy,
            "menu_evenness": np.where(size > 1, entropy / np.log(size), np.nan),
            "top1": top / mass,
            "gini": weighted / (size * mass),
        }
