"""What changes between two points of a line in access and in execution, problem by problem and family by family."""

from collections.abc import Mapping, Sequence

import numpy as np
import pandas as pd

from workflow_scripts.measures.access import problem_measures
from workflow_scripts.measures.comparison import Values, contrasts
from workflow_scripts.measures.long_values import values_of
from workflow_scripts.measures.pairs import pair_rows, paired, seed_values, statistic_row
from workflow_scripts.measures.statistics import Bootstrap
from workflow_scripts.records.schemas import OUTSIDE

RARE = 0.05
"""Share of the menu's mass below which an entrance counts as hard to reach (reference protocol, section 4.2)."""

BINS = (-0.5, -0.2, -0.05, -0.01, 0.01, 0.05, 0.2, 0.5)
"""Edges, between −1 and 1, of the changes of a family's share that are looked at together."""


def change_rows(
    frame: pd.DataFrame,
    free: pd.DataFrame,
    problems: Sequence[str],
    bootstrap: Bootstrap,
    entries: Mapping[str, Sequence[str]],
    pair: tuple[str, str] = ("early", "late"),
) -> pd.DataFrame:
    """Paired changes of all of `problem_measures`, and what pairs alone tell: rows as comparison.contrasts gives.

    entries: name to policies, one per training seed. access_moved: mean over the menu of |Δq|, of the renormalised
    shares at temperature 1; access_moved_all: ½ Σ|Δq| over all cells, the mass that changed place. execution_rare,
    execution_common: in-family completion, before and after, of the families whose share of the menu is below RARE at
    the end, and of the others. access_execution_correlation: Pearson correlation over problems of the mean Δq and mean
    Δμ (in family) of their menus; access_execution_within: the same over families, centred within their menus.
    Reference protocol, section 4.2.
    """
    values = values_of(problem_measures(frame, free), problems)
    ends = {end: list(entries[end]) for end in pair}
    changes = paired(frame, *(ends[end] for end in pair))
    both = family_changes(frame, entries, pair)
    rows = [contrasts(values, bootstrap, ends, [pair])]
    rows.append(pair_rows(_pair_measures(changes, both), problems, ends[pair[1]], bootstrap, pair))
    by_problem, within = _products(both)
    for name, parts in (("access_execution_correlation", by_problem), ("access_execution_within", within)):
        rows.append(_correlation_row(name, seed_values(parts, problems, ends[pair[1]]), bootstrap, pair))
    return pd.concat(rows, ignore_index=True)


def family_changes(
    frame: pd.DataFrame, entries: Mapping[str, Sequence[str]], pair: tuple[str, str] = ("early", "late")
) -> pd.DataFrame:
    """Every menu entry at both ends: pairs.paired without `outside`, with its share of the menu's mass at temperature 1
    (share_before, share_after) and the changes of that share and of in-family completion (access, execution)."""
    both = paired(frame, entries[pair[0]], entries[pair[1]])
    both = both[both["opening"] != OUTSIDE].reset_index(drop=True)
    menus = both.groupby(["policy", "problem_id"])
    for end in ("before", "after"):
        mass = both[f"probability_{end}"]
        both[f"share_{end}"] = mass / menus[f"probability_{end}"].transform("sum")
    return both.assign(
        access=both["share_after"] - both["share_before"], execution=both["in_family_after"] - both["in_family_before"]
    )


def binned_rows(
    both: pd.DataFrame,
    problems: Sequence[str],
    policies: Sequence[str],
    bootstrap: Bootstrap,
    pair: tuple[str, str] = ("early", "late"),
) -> pd.DataFrame:
    """Mean change of execution by change of access: rows as comparison.contrasts, and columns bin, access, families.

    both: from family_changes. policies: the later ones, one per seed. bin: 0 … len(BINS); access: mean change of share
    of the bin's families; the change of execution is averaged within problems first. Empty bins have no row.
    """
    place = np.digitize(both["access"], BINS)
    means = both["execution"].groupby([both["policy"], both["problem_id"], place]).mean()
    long = means.rename("value").rename_axis(["policy", "problem_id", "bin"]).reset_index()
    long["measure"] = long["bin"].map("execution_bin_{}".format)
    rows = pair_rows(long, problems, policies, bootstrap, pair)
    rows["bin"] = rows["measure"].str.rsplit("_", n=1).str[1].astype(int)
    by_bin = both["access"].groupby(place)
    return rows.assign(access=rows["bin"].map(by_bin.mean()), families=rows["bin"].map(by_bin.size()))


def _pair_measures(changes: pd.DataFrame, both: pd.DataFrame) -> pd.DataFrame:
    """Long frame (policy, problem_id, measure, start, end, value) of what has no meaning at one end alone."""
    key = ["policy", "problem_id"]
    moved = (both["share_after"] - both["share_before"]).abs()
    everywhere = (changes["probability_after"] - changes["probability_before"]).abs() / 2
    parts = [
        moved.groupby([both[k] for k in key]).mean().rename("value").reset_index().assign(measure="access_moved"),
        everywhere.groupby([changes[k] for k in key])
        .sum()
        .rename("value")
        .reset_index()
        .assign(measure="access_moved_all"),
    ]
    rare = both["share_after"] < RARE
    for name, chosen in (("execution_rare", both[rare]), ("execution_common", both[~rare])):
        means = chosen.groupby(key)[["in_family_before", "in_family_after"]].mean().reset_index()
        means = means.rename(columns={"in_family_before": "start", "in_family_after": "end"})
        parts.append(means.assign(measure=name, value=means["end"] - means["start"]))
    return pd.concat(parts, ignore_index=True)


def _products(both: pd.DataFrame) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Moments that a correlation is made of, as long frames of problem values: over problems, and within menus."""
    key = ["policy", "problem_id"]
    x = both["probability_after"] - both["probability_before"]
    y = both["in_family_after"] - both["in_family_before"]
    means = pd.DataFrame({"x": x, "y": y}).groupby([both[k] for k in key]).mean()
    centred = pd.DataFrame({"x": x, "y": y}) - means.reindex(pd.MultiIndex.from_frame(both[key])).to_numpy()
    products = centred.assign(xx=centred["x"] ** 2, yy=centred["y"] ** 2, xy=centred["x"] * centred["y"])
    within = products.groupby([both[k] for k in key]).sum() * [0, 0, 1, 1, 1]  # means within a menu are 0 already
    over = means.assign(xx=means["x"] ** 2, yy=means["y"] ** 2, xy=means["x"] * means["y"])
    return tuple(frame.rename_axis(columns="measure").stack().rename("value").reset_index() for frame in (over, within))


def _correlation_row(name: str, moments: Values, bootstrap: Bootstrap, pair: tuple[str, str]) -> pd.DataFrame:
    at = [moments.measures.index(m) for m in ("x", "y", "xx", "yy", "xy")]

    def pearson(means: np.ndarray) -> np.ndarray:
        x, y, xx, yy, xy = np.moveaxis(means, -1, 0)
        with np.errstate(invalid="ignore", divide="ignore"):
            return (xy - x * y) / np.sqrt(np.maximum(xx - x**2, 0) * np.maximum(yy - y**2, 0))

    return statistic_row(name, moments.array[..., at], pearson, bootstrap, pair)
