"""What an intervention does to breadth and precision, and at what price: numbers per problem, paired with a baseline.

Samples may have been given a prefix or an order of the numbers of their own; what they found counts alike.
"""

from collections.abc import Mapping, Sequence

import pandas as pd

from workflow_scripts.measures.breadth import breadth
from workflow_scripts.measures.comparison import contrasts, measures
from workflow_scripts.measures.long_values import values_of
from workflow_scripts.measures.statistics import Bootstrap
from workflow_scripts.records.errors import UserError

OUTCOMES = {
    "coverage_paper": "coverage_paper",
    "coverage_formula": "coverage_formula",
    "families": "opening_coverage",
    "pass@1": "pass@1",
}
"""Outcome, and the measure of measures/comparison.py that it is. `families`: share of a problem's openings that a
correct answer has."""


def outcomes(
    scores: pd.DataFrame, solutions: pd.DataFrame, openings: pd.DataFrame, *, solution_set: str = "expressible"
) -> pd.DataFrame:
    """Outcomes of every setting and problem: columns policy (the setting), problem_id, measure, value.

    scores: SCORES of any number of settings. solutions, openings: SOLUTIONS and OPENINGS. Measures: those of OUTCOMES,
    `samples` of the problem, and `tokens`: all that were generated for it, the prefixes left out. A problem with
    nothing expressible has no coverage and no row for it.
    """
    wanted = {name: measures([1], solution_set)[measure] for name, measure in OUTCOMES.items()}
    parts = []
    for policy, samples in scores.groupby("policy", sort=True):
        # every sample counts alike, whatever it was given: under clamps several may bear one number
        free = samples.assign(prefix="", sample=samples.groupby("problem_id").cumcount())
        frame = breadth(free, solutions, openings)[0]
        values = {name: measure.values(frame) for name, measure in wanted.items()}
        values["samples"] = frame["samples"].to_numpy(dtype=float)
        values["tokens"] = samples.groupby("problem_id")["tokens"].sum().loc[frame["problem_id"]].to_numpy(dtype=float)
        wide = pd.DataFrame(values, index=frame["problem_id"]).reset_index()
        parts.append(wide.melt("problem_id", var_name="measure", value_name="value").assign(policy=policy))
    table = pd.concat(parts, ignore_index=True).dropna(subset="value")
    return table.sort_values(["policy", "problem_id", "measure"], ignore_index=True)[
        ["policy", "problem_id", "measure", "value"]
    ]


def within_budget(
    scores: pd.DataFrame, budget: Mapping[str, int], *, spent: Mapping[str, int] | None = None
) -> tuple[pd.DataFrame, pd.DataFrame]:
    """The samples that a problem's token budget pays for, and what is left of it.

    scores: SCORES of one setting, whose samples are taken in the order of their numbers until the next one would
    exceed the budget; the first is always allowed. budget: tokens that the baseline generated for each problem.
    spent: tokens gone before the first sample (a proposer's samples), none where a problem is missing.
    Returns the kept rows, and columns problem_id, budget, spent, used, remaining (below 0 where the first sample alone
    exceeds it), samples.
    Raises UserError for a problem without a budget, and for several settings.
    """
    if scores["policy"].nunique() > 1:
        raise UserError("a token budget is spent by one setting at a time; these scores hold several")
    strangers = sorted(set(scores["problem_id"]) - set(budget))
    if strangers:
        raise UserError(f"problem {strangers[0]} has no token budget: the baseline did not sample it")
    ordered = scores.sort_values(["problem_id", "sample"], ignore_index=True)
    groups = ordered.groupby("problem_id", sort=False)
    limit = ordered["problem_id"].map(dict(budget))
    before = ordered["problem_id"].map(dict(spent or {})).fillna(0).astype(int)
    # running totals only grow, so that what is kept is a first part of each problem's samples
    kept = ordered[(before + groups["tokens"].cumsum() <= limit) | (groups.cumcount() == 0)].reset_index(drop=True)
    used = kept.groupby("problem_id")["tokens"].agg(["sum", "size"])
    account = pd.DataFrame({"problem_id": used.index, "budget": [int(budget[name]) for name in used.index]})
    account["spent"] = [int((spent or {}).get(name, 0)) for name in used.index]
    account["used"], samples = used["sum"].to_numpy(dtype=int), used["size"].to_numpy(dtype=int)
    account["remaining"] = account["budget"] - account["spent"] - account["used"]
    return kept, account.assign(samples=samples)


def tokens_of(scores: pd.DataFrame, first: int | None = None) -> dict[str, int]:
    """Tokens generated for each problem, prefixes left out: of all samples or of the `first` ones by number."""
    if first is not None:
        scores = scores[scores["sample"] < scores["sample"].min() + first]
    return scores.groupby("problem_id")["tokens"].sum().astype(int).to_dict()


def over_seeds(tables: Sequence[pd.DataFrame]) -> pd.DataFrame:
    """Means over training seeds of every setting, problem and measure, from each seed's `outcomes`; sorted."""
    whole = pd.concat(tables, ignore_index=True)
    return whole.groupby(["policy", "problem_id", "measure"], as_index=False)["value"].mean()


def paired(
    table: pd.DataFrame,
    problems: Sequence[str],
    baseline: Sequence[str],
    settings: Mapping[str, Sequence[str]],
    *,
    seed: int,
    draws: int,
    confidence: float = 0.95,
) -> pd.DataFrame:
    """Each setting minus the baseline, problem by problem: the columns of comparison.contrasts, before = `baseline`.

    table: from `outcomes`. problems: those that are compared, all of the set. baseline: its policies, one per training
    seed. settings: name to policies, one per training seed and in the same order.
    Raises UserError for a policy that the table lacks.
    """
    entries = {"baseline": list(baseline)} | {name: list(policies) for name, policies in settings.items()}
    known = set(table["policy"])
    missing = [policy for policies in entries.values() for policy in policies if policy not in known]
    if missing:
        raise UserError(f"there are no outcomes of {missing[0]!r} to compare")
    values = values_of(table, problems)
    seeds = max(len(policies) for policies in entries.values())
    bootstrap = Bootstrap.over(len(problems), seed=seed, draws=draws, confidence=confidence, seeds_per_line=seeds)
    return contrasts(values, bootstrap, entries, [("baseline", name) for name in settings])


def partner_curve(differences: pd.DataFrame, steps: Mapping[str, int], changes: Mapping[str, str]) -> pd.DataFrame:
    """From which kept step on a partner helps: columns intervention, step, measure, start, end, estimate, low, high,
    problems; rows by intervention, measure and step.

    differences: from `paired`. steps, changes: of each setting, its partner's training step and its intervention.
    """
    rows = differences[differences["after"].isin(steps)]
    rows = rows.assign(step=rows["after"].map(dict(steps)), intervention=rows["after"].map(dict(changes)))
    columns = ["intervention", "step", "measure", "start", "end", "estimate", "low", "high", "problems"]
    return rows.sort_values(["intervention", "measure", "step"], ignore_index=True)[columns]


def share_kept(differences: pd.DataFrame, proposed: str, solver: str, measure: str = "coverage_paper") -> float:
    """How much of the solver-based gain a solver-free proposer keeps: ratio of the two gains; NaN unless the solver's
    is above 0. differences: from `paired`; proposed, solver: names of settings."""
    gains = differences[differences["measure"] == measure].set_index("after")["estimate"]
    return float(gains[proposed] / gains[solver]) if gains[solver] > 0 else float("nan")
