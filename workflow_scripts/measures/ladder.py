"""The clamp ladder measured: how often a designated opening is completed, by what the policy is given of it.

Rates are over the continuations of a clamp; a problem's value is the mean over its openings and scaffolds; estimates
are means over problems (protocol, section 4.5, Table 3).
"""

from collections.abc import Collection, Mapping, Sequence

import numpy as np
import pandas as pd

from workflow_scripts.measures.comparison import contrasts, summary
from workflow_scripts.measures.long_values import values_of
from workflow_scripts.measures.statistics import Bootstrap
from workflow_scripts.records.errors import UserError

MEASURES = {
    "in_family": "share of continuations with a correct answer that opens as designated",
    "any_valid": "share of continuations with a correct answer",
    "adherence": "share of continuations whose answer opens as designated, correct or not",
    "chance": "share of all writings with this opening that reach the target",
    "excess": "designated completion less chance",
}
"""Measure and how it is computed."""

NEUTRAL, RETRY = "neutral", "retry"

POOLED = {"retry": RETRY, "retry_closed": RETRY}
"""Kinds of scaffold that are reported as one: the policy's own failed attempts, whoever closed them."""

_CLAMP = ["problem_id", "family", "scaffold", "scaffold_id", "rung"]
_NAME = ["scaffold", "rung", "measure"]


def completions(clamps: pd.DataFrame, scores: pd.DataFrame) -> pd.DataFrame:
    """Rates of every clamp under every policy.

    clamps: CLAMPS. scores: SCORES of one or more policies; joined on (problem_id, prefix), samples after other prefixes
    are left out. Returns columns policy, problem_id, family, scaffold, scaffold_id, rung, in_family, any_valid,
    adherence, chance, excess (MEASURES), n (continuations), sorted. Raises UserError, naming it, for a clamp that a
    policy has no samples of, and where clamps have different numbers of them.
    """
    after = scores.merge(clamps[["problem_id", "prefix"]].drop_duplicates(), on=["problem_id", "prefix"])
    kept = after[["policy", "problem_id", "prefix", "correct"]].assign(opening=after["answer_opening"].fillna(""))
    # One row per different outcome, so that clamps that share a prefix do not copy its samples
    outcomes = kept.groupby(list(kept.columns), sort=False).size().rename("n").reset_index()
    policies = pd.DataFrame({"policy": sorted(scores["policy"].unique())})
    rows = policies.merge(clamps, how="cross").merge(outcomes, on=["policy", "problem_id", "prefix"], how="left")
    missing = rows["n"].isna()
    if missing.any():
        row = rows[missing].iloc[0]
        raise UserError(f"{row['policy']} has no samples of {row['problem_id']} after {row['prefix']!r}")
    match = rows["opening"] == rows["family"]
    correct = rows["correct"].astype(bool)
    hits = {"in_family": match & correct, "any_valid": correct, "adherence": match}
    rows = rows.assign(**{name: hit * rows["n"] for name, hit in hits.items()})
    key = ["policy", *_CLAMP]
    rates = rows.groupby(key, sort=True)[[*hits, "n"]].sum().reset_index()
    if rates["n"].nunique() > 1:
        raise UserError(f"clamps need one number of continuations, there are {rates['n'].min()} to {rates['n'].max()}")
    rates[list(hits)] = rates[list(hits)].div(rates["n"], axis=0)
    rates = rates.merge(clamps[[*_CLAMP, "chance"]], on=_CLAMP, validate="many_to_one")
    rates["excess"] = rates["in_family"] - rates["chance"]
    return rates.sort_values(key, ignore_index=True)[[*key, *MEASURES, "n"]].astype({"n": int})


def problem_rates(rates: pd.DataFrame, excluded: Collection[str] = ()) -> pd.DataFrame:
    """Each problem's mean over its openings and scaffolds: columns policy, problem_id, scaffold, rung, measure, value.

    rates: from `completions`. excluded: kinds of scaffold that the leak screen failed, left out before others are
    POOLED.
    """
    kept = rates[~rates["scaffold"].isin(list(excluded))]
    kept = kept.assign(scaffold=kept["scaffold"].replace(POOLED))
    means = kept.groupby(["policy", "problem_id", "scaffold", "rung"])[list(MEASURES)].mean()
    return means.rename_axis(columns="measure").stack().rename("value").reset_index()


def _named(frame: pd.DataFrame) -> pd.DataFrame:
    """measure becomes scaffold/rung/measure, one name for the bootstrap."""
    return frame.assign(measure=frame["scaffold"] + "/" + frame["rung"] + "/" + frame["measure"])


def _split(frame: pd.DataFrame) -> pd.DataFrame:
    parts = frame["measure"].str.split("/", expand=True).set_axis(_NAME, axis=1)
    return pd.concat([frame.drop(columns="measure"), parts], axis=1)


def ladder_summary(
    rates: pd.DataFrame,
    problems: Sequence[str],
    bootstrap: Bootstrap,
    entries: Mapping[str, Sequence[str]],
    excluded: Collection[str] = (),
) -> pd.DataFrame:
    """Means over problems: columns entry, scaffold, rung, measure, estimate, low, high, problems.

    rates: from `completions`, of all policies of `entries`. problems: all ids of the problem set, which decide the
    resamples. bootstrap: over them. entries: name to policies, one per seed. excluded: as in `problem_rates`.
    """
    values = values_of(_named(problem_rates(rates, excluded)), problems)
    found = _split(summary(values, bootstrap, entries))
    return found[["entry", *_NAME, "estimate", "low", "high", "problems"]]


def ladder_contrasts(
    rates: pd.DataFrame,
    problems: Sequence[str],
    bootstrap: Bootstrap,
    entries: Mapping[str, Sequence[str]],
    excluded: Collection[str] = (),
    pair: tuple[str, str] = ("early", "late"),
) -> pd.DataFrame:
    """Rows as of comparison.contrasts, each of problems that have a value at both ends.

    `<measure>_<scaffold>_<rung>`: change from early to late. The rest is within the late policy: entrance_over_nothing,
    entrance_over_first_number and first_number_over_nothing are designated completion given the higher rung (`end`)
    less that given the lower (`start`), without a scaffold; splice_excess is completion given the entrance behind an
    own failed attempt (`end`) less chance (`start`). Rows without any value (no such clamps, or all excluded) are NaN
    with problems 0.
    """
    long = problem_rates(rates, excluded)
    changes = contrasts(values_of(_named(long), problems), bootstrap, entries, [pair])
    names = _split(changes)
    changes["measure"] = names["measure"] + "_" + names["scaffold"] + "_" + names["rung"]
    # Chance has no early and late
    changes = changes[names["measure"] != "chance"].sort_values("measure", ignore_index=True)
    late = list(entries[pair[1]])
    within = [
        _within(long, problems, bootstrap, late, name, start, end)
        for name, start, end in (
            ("entrance_over_nothing", (NEUTRAL, "nothing", "in_family"), (NEUTRAL, "entrance", "in_family")),
            ("first_number_over_nothing", (NEUTRAL, "nothing", "in_family"), (NEUTRAL, "first_number", "in_family")),
            ("entrance_over_first_number", (NEUTRAL, "first_number", "in_family"), (NEUTRAL, "entrance", "in_family")),
            ("splice_excess", (RETRY, "entrance", "chance"), (RETRY, "entrance", "in_family")),
        )
    ]
    rows = pd.concat([changes, *within], ignore_index=True)
    return rows.assign(before=pair[0], after=pair[1])


def _within(long, problems, bootstrap, policies, name, start, end) -> pd.DataFrame:
    """One quantity less another under the same policies, as a row of comparison.contrasts."""
    sides, entries = [], {}
    for side, wanted in (("start", start), ("end", end)):
        meant = pd.concat([long[column] == value for column, value in zip(_NAME, wanted)], axis=1).all(axis=1)
        chosen = long[meant & long["policy"].isin(policies)]
        sides.append(chosen.assign(policy=side + " " + chosen["policy"], measure=name))
        entries[side] = [f"{side} {policy}" for policy in policies]
    frame = pd.concat(sides)
    if set(frame["policy"]) != {policy for side in entries.values() for policy in side}:
        numbers = dict.fromkeys(["start", "end", "estimate", "low", "high"], np.nan)
        return pd.DataFrame([{"before": "start", "after": "end", "measure": name} | numbers | {"problems": 0}])
    return contrasts(values_of(frame, problems), bootstrap, entries, [("start", "end")])
