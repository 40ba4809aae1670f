"""What is kept, lost and gained between two policies: problems, solutions, and families that are never visited.

Each `*_rows` function returns rows as comparison.contrasts does, so that the scorecard reads them alike; where a
quantity is a proportion of trials, its interval is Clopper–Pearson and `problems` is the number of trials.
"""

from collections.abc import Mapping, Sequence

import numpy as np
import pandas as pd

from workflow_scripts.measures.comparison import Values, contrasts
from workflow_scripts.measures.statistics import Bootstrap, proportion_interval, upper_bound
from workflow_scripts.records.errors import UserError


def _column(values: Values, policies: Sequence[str], measure: str) -> np.ndarray:
    return values.of(policies)[..., values.measures.index(measure)]


def survivors(values: Values, early: str, late: str) -> pd.DataFrame:
    """Which problems both policies solve: columns problem_id, group (`both`, `lost`, `gained`, `neither`)."""
    before, after = (_column(values, [policy], "solved")[0] > 0 for policy in (early, late))
    group = np.select([before & after, before, after], ["both", "lost", "gained"], "neither")
    return pd.DataFrame({"problem_id": values.problems, "group": group})


def survivor_rows(
    values: Values,
    bootstrap: Bootstrap,
    entries: Mapping[str, Sequence[str]],
    pair: tuple[str, str] = ("early", "late"),
) -> pd.DataFrame:
    """Change of coverage on the problems that both ends solve: measures coverage_paper_survivors,
    coverage_formula_survivors."""
    early, late = entries[pair[0]], entries[pair[1]]
    both = (_column(values, early, "solved") > 0) & (_column(values, late, "solved") > 0)
    names = ["coverage_paper", "coverage_formula"]
    wanted = [values.measures.index(name) for name in names]
    ends = [np.where(both[..., None], values.of(policies)[..., wanted], np.nan) for policies in (early, late)]
    # One policy may stand at several seeds' early end, so the two ends are kept as policies of their own.
    labels = [[f"{side}{i}" for i in range(len(both))] for side in ("early", "late")]
    array = np.concatenate([np.broadcast_to(end, (len(both), *end.shape[1:])) for end in ends])
    restricted = Values(
        [*labels[0], *labels[1]], values.problems, [f"{n}_survivors" for n in names], values.samples, array
    )
    return contrasts(restricted, bootstrap, dict(zip(pair, labels, strict=True)), [pair])


def kept_forms(counts: pd.DataFrame, early: str, late: str, kind: str = "paper") -> pd.DataFrame:
    """Per problem with a solution found early: columns problem_id, early, kept, lost, gained (numbers of forms).

    counts: FORM_COUNTS of both policies. kind: `paper` or `formula`. Forms count where a correct sample has them and
    the solver lists them.
    """
    chosen = counts[(counts["kind"] == kind) & counts["feasible"] & (counts["correct"] > 0)]
    # As objects: pandas 3 cannot merge empty columns of strings
    forms = {p: chosen[chosen["policy"] == p][["problem_id", "form"]].astype(object) for p in (early, late)}
    merged = forms[early].merge(forms[late], on=["problem_id", "form"], how="outer", indicator=True)
    table = pd.crosstab(merged["problem_id"], merged["_merge"]).reindex(
        columns=["both", "left_only", "right_only"], fill_value=0
    )
    frame = pd.DataFrame(
        {
            "early": table["both"] + table["left_only"],
            "kept": table["both"],
            "lost": table["left_only"],
            "gained": table["right_only"],
        }
    )
    return frame[frame["early"] > 0].rename_axis("problem_id").reset_index()


def retention_rows(
    values: Values,
    counts: pd.DataFrame,
    bootstrap: Bootstrap,
    entries: Mapping[str, Sequence[str]],
    pair: tuple[str, str] = ("early", "late"),
) -> pd.DataFrame:
    """Share of early solutions seen late, against the share of early problems still solved.

    Measures retention_gap (paper leaves) and retention_gap_formula: `end` is the mean over problems of the share of
    its early forms that are kept, `start` the share of those problems that the late policy solves, the estimate their
    difference. Problems without an early solution are left out.
    """
    early, late = (list(entries[end]) for end in pair)
    seeds = max(len(early), len(late))
    early, late = (policies * seeds if len(policies) == 1 else policies for policies in (early, late))
    solved = _column(values, late, "solved")
    parts = []
    for kind, name in (("paper", "retention_gap"), ("formula", "retention_gap_formula")):
        share = np.full(solved.shape, np.nan)
        for i, (before, after) in enumerate(zip(early, late, strict=True)):
            kept = kept_forms(counts, before, after, kind).set_index("problem_id").reindex(values.problems)
            share[i] = kept["kept"] / kept["early"]
        start = np.where(np.isnan(share), np.nan, solved)
        result = bootstrap.estimate((share - start)[..., None])
        parts.append(
            {"before": pair[0], "after": pair[1], "measure": name}
            | {
                "start": np.nanmean(start) if result.problems[0] else np.nan,
                "end": np.nanmean(share) if result.problems[0] else np.nan,
            }
            | {
                field: getattr(result, array)[0]
                for field, array in (("estimate", "value"), ("low", "low"), ("high", "high"), ("problems", "problems"))
            }
        )
    return pd.DataFrame(parts)


def _proportion(measure: str, successes: int, trials: int, pair: tuple[str, str], confidence: float) -> pd.DataFrame:
    low, high = proportion_interval(successes, trials, confidence) if trials else (np.nan, np.nan)
    row = {"before": pair[0], "after": pair[1], "measure": measure, "start": np.nan, "end": np.nan}
    share = successes / trials if trials else np.nan
    return pd.DataFrame([row | {"estimate": share, "low": low, "high": high, "problems": trials}])


def lost_rows(more: pd.DataFrame, pair: tuple[str, str] = ("early", "late"), confidence: float = 0.95) -> pd.DataFrame:
    """Whether lost problems are solved by more samples of the late policy: measures lost_recovered, lost_format_rate.

    more: PROBLEM_BREADTH of the late policy on the lost problems alone, with the larger number of samples.
    lost_format_rate is the share of lost problems with at least one sample in the asked format: where it is low,
    format and access are confounded.
    """
    solved, shaped = int((more["correct"] > 0).sum()), int((more["format_ok"] > 0).sum())
    rows = [("lost_recovered", solved), ("lost_format_rate", shaped)]
    return pd.concat([_proportion(name, hits, len(more), pair, confidence) for name, hits in rows], ignore_index=True)


def zero_access(first: pd.DataFrame, second: pd.DataFrame, feasible: pd.DataFrame, kind: str = "think") -> pd.DataFrame:
    """Families that one set of samples never visits, and how often an independent set does.

    first, second: FORM_COUNTS of the same policy and problems from two independent sets of samples. feasible:
    breadth.feasible_forms of these problems. kind: `think` (the stated entrance), `opening` (the answer's) or `family`.
    Returns columns problem_id, form, again (samples in the second set), one row per expressible form that is missing
    in the first.
    """
    menu = feasible[(feasible["kind"] == kind) & feasible["expressible"]][["problem_id", "form"]]
    if menu.empty:
        raise UserError(f"no expressible forms of kind {kind!r}: zero access is not defined")

    def samples(counts: pd.DataFrame, name: str) -> pd.DataFrame:
        return counts[counts["kind"] == kind][["problem_id", "form", "samples"]].rename(columns={"samples": name})

    table = (
        menu.merge(samples(first, "seen"), how="left")
        .merge(samples(second, "again"), how="left")
        .fillna({"seen": 0, "again": 0})
    )
    missing = table[table["seen"] == 0][["problem_id", "form", "again"]]
    return missing.astype({"again": int}).sort_values(["problem_id", "form"], ignore_index=True)


def zero_access_rows(
    missing: pd.DataFrame, pair: tuple[str, str] = ("early", "late"), confidence: float = 0.95
) -> pd.DataFrame:
    """Measure missing_reappeared: share of the missing families that the second set of samples shows. missing: from
    zero_access."""
    return _proportion("missing_reappeared", int((missing["again"] > 0).sum()), len(missing), pair, confidence)


def access_bound(samples: int, confidence: float = 0.95) -> float:
    """Largest access probability that never being seen in `samples` samples still allows, one-sided Clopper–Pearson."""
    return upper_bound(0, samples, confidence)
