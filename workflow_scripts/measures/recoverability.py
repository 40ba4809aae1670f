"""Families that training lost: how well a policy still goes on when it is put at their entrance.

Two kinds. Extinct families of the evaluation set: some early sample opened so, and no late one, in the main set and in
both further halves. Zero-access cells of the tail pool: menu entries that late decoding cannot open at all; `deep`
where early decoding could not either, `extinct` where it could.
"""

from collections.abc import Mapping, Sequence

import numpy as np
import pandas as pd

from workflow_scripts.measures.comparison import summary
from workflow_scripts.measures.ladder import completions
from workflow_scripts.measures.pairs import ROWS, pair_rows, seed_values, statistic_row
from workflow_scripts.measures.points import BASE, entries_of
from workflow_scripts.measures.statistics import Bootstrap
from workflow_scripts.records.errors import UserError
from workflow_scripts.records.seeds import generator

GROUPS = ("extinct", "kept", "deep")
"""Of families. kept: early and late samples open so."""

_CELL = ["problem_id", "opening"]


def evaluation_groups(
    early: pd.DataFrame, late: pd.DataFrame, further: pd.DataFrame, clamps: pd.DataFrame
) -> pd.DataFrame:
    """Extinct and kept families: columns problem_id, opening, group, sorted.

    early, late, further: SCORES of free samples of one early and one late policy of the same seed, and of the late
    one's further samples (both halves); problem_id and think_opening are read. clamps: CLAMPS with an entrance for
    every menu entry of the set. Families that no early sample opens, or that only the further samples of the late
    policy show, are in no group. Raises UserError without further samples: what one set misses may be chance.
    """
    if further.empty:
        raise UserError(
            "extinct families need further samples of the late policy; one set alone may miss some by chance"
        )
    entrances = clamps[(clamps["rung"] == "entrance") & (clamps["scaffold"] == "neutral")]
    menu = entrances.rename(columns={"family": "opening"})[_CELL].sort_values(_CELL, ignore_index=True)
    before, after, again = (
        pd.MultiIndex.from_frame(menu).isin(pd.MultiIndex.from_frame(scores[["problem_id", "think_opening"]].dropna()))
        for scores in (early, late, further)
    )
    group = np.select([before & after, before & ~after & ~again], ["kept", "extinct"], "")
    return menu.assign(group=group)[group != ""].reset_index(drop=True)


def tail_cells(
    masses_early: pd.DataFrame, masses_late: pd.DataFrame, openings: pd.DataFrame, *, cells: int, seed: int
) -> pd.DataFrame:
    """Zero-access cells of the tail pool to clamp: columns problem_id, opening, group (`deep`, `extinct`), sorted.

    masses_early, masses_late: MASSES of the tail pool by one early and one late policy. openings: OPENINGS of the
    pool. cells: most that are taken, half of each group, more of one where the other has fewer. seed: of the study,
    which keys the choice. Raises UserError where a menu entry has no mass at one of the ends.
    """
    menu = openings.loc[openings["expressible"], _CELL].sort_values(_CELL, ignore_index=True)
    decoded = []
    for masses in (masses_early, masses_late):
        found = menu.merge(masses[[*_CELL, "decoded"]], on=_CELL, how="left", validate="one_to_one")["decoded"]
        if found.isna().any():
            row = menu[found.isna()].iloc[0]
            raise UserError(f"there is no mass of entrance {row['opening']} of problem {row['problem_id']}")
        decoded.append(found.to_numpy())
    closed = decoded[1] == 0
    pools = [
        menu[closed & (decoded[0] == 0)].assign(group="deep"),
        menu[closed & (decoded[0] > 0)].assign(group="extinct"),
    ]
    half = cells // 2
    wanted = max(half, cells - len(pools[1]))
    chosen = []
    for pool, most in zip(pools, (wanted, cells - min(wanted, len(pools[0])))):
        stream = generator("tail cells", pool["group"].iloc[0] if len(pool) else "", seed)
        places = stream.choice(len(pool), min(most, len(pool)), replace=False) if len(pool) else []
        chosen.append(pool.iloc[places])
    return pd.concat(chosen).sort_values(_CELL, ignore_index=True)


def family_completions(groups: pd.DataFrame, clamps: pd.DataFrame, scores: pd.DataFrame) -> pd.DataFrame:
    """Completion of every family and policy: columns seed, policy, problem_id, opening, group, chance, n, any_valid,
    in_family.

    groups: from evaluation_groups or tail_cells; with several training seeds a column `seed` (0, 1, …) says whose
    families they are. clamps: CLAMPS, whose neutral entrances are used. scores: SCORES of their rollouts. Raises
    UserError for a family without a clamp, and as ladder.completions does.
    """
    groups = groups if "seed" in groups else groups.assign(seed=0)
    entrances = clamps[(clamps["rung"] == "entrance") & (clamps["scaffold"] == "neutral")]
    cells = entrances.rename(columns={"family": "opening"})[_CELL]
    lost = groups[~pd.MultiIndex.from_frame(groups[_CELL]).isin(pd.MultiIndex.from_frame(cells))]
    if len(lost):
        row = lost.iloc[0]
        raise UserError(f"family {row['opening']} of problem {row['problem_id']} has no clamp at its entrance")
    wanted = pd.MultiIndex.from_frame(cells).isin(pd.MultiIndex.from_frame(groups[_CELL]))
    rates = completions(entrances[wanted], scores).rename(columns={"family": "opening"})
    columns = ["seed", "policy", *_CELL, "group", "chance", "n", "any_valid", "in_family"]
    return groups.merge(rates, on=_CELL)[columns].sort_values(columns[:4], ignore_index=True)


def _means(found: pd.DataFrame, entries: Mapping[str, Sequence[str]]) -> tuple[pd.DataFrame, list[str]]:
    """Means over the families of each entry, seed (`seed 0`, …), problem and group, and the names of the seeds."""
    known = set(found["policy"])
    count = max([len(policies) for policies in entries.values()])
    parts = []
    for name, policies in entries.items():
        missing = sorted(set(policies) - known)
        if missing and len(found):
            raise UserError(f"there are no clamped rollouts of {', '.join(missing)}")
        for seed, policy in enumerate(list(policies) * (count if len(policies) == 1 else 1)):
            rows = found[(found["policy"] == policy) & (found["seed"] == seed)]
            parts.append(rows.assign(entry=name, seed=f"seed {seed}"))
    key = ["entry", "seed", "problem_id", "group"]
    means = pd.concat(parts, ignore_index=True).groupby(key)[["in_family", "any_valid", "chance"]].mean()
    return means.reset_index(), [f"seed {seed}" for seed in range(count)]


def curves(found: pd.DataFrame, problems: Sequence[str], bootstrap: Bootstrap, line: Mapping) -> pd.DataFrame:
    """Completion of each group along training: columns step, entry, group, measure (in_family, any_valid, chance),
    estimate, low, high, problems, families.

    found: from `family_completions` of all policies of the line; the base is shown where it was clamped too (step 0).
    problems: all of the set (evaluation or tail), which decide the resamples. families: clamped in the group, over
    all seeds. Means within problems first. A group without families has no rows.
    """
    entries = entries_of(line)
    if BASE not in set(found["policy"]):
        del entries[BASE]
    means, seeds = _means(found, entries)
    step_of = dict(zip(entries_of(line), (0, *line["steps"])))
    names = {name: [f"{name}, {seed}" for seed in seeds] for name in entries}
    families = found.drop_duplicates(["seed", *_CELL]).groupby("group").size()
    parts = []
    for group, rows in means.assign(policy=means["entry"] + ", " + means["seed"]).groupby("group"):
        long = rows.melt(["policy", "problem_id"], ["in_family", "any_valid", "chance"], "measure")
        values = seed_values(long, problems, [policy for policies in names.values() for policy in policies])
        table = summary(values, bootstrap, names)
        parts.append(table.assign(group=group, step=table["entry"].map(step_of), families=int(families[group])))
    columns = ["step", "entry", "group", "measure", "estimate", "low", "high", "problems", "families"]
    return pd.concat(parts, ignore_index=True)[columns] if parts else pd.DataFrame(columns=columns)


def group_rows(
    found: pd.DataFrame,
    problems: Sequence[str],
    bootstrap: Bootstrap,
    entries: Mapping[str, Sequence[str]],
    pair: tuple[str, str] = ("early", "late"),
    *,
    prefix: str = "",
) -> pd.DataFrame:
    """Completion of each group at both ends, and over chance at the last: rows as comparison.contrasts gives.

    found: from `family_completions`. Measures, of each group of families with `prefix` before its name:
    `<group>_completion` (in family), `<group>_completion_any_valid`, changes over the same families; `<group>_excess`:
    in-family completion at the last end (`end`) − the path-enumeration reference (`start`).
    """
    means, seeds = _means(found, {end: entries[end] for end in pair})
    ends = [means[means["entry"] == end].drop(columns="entry") for end in pair]
    both = ends[0].merge(ends[1], on=["seed", "problem_id", "group"], suffixes=("_before", "_after"))
    parts = []
    for start, end, suffix in (
        ("in_family_before", "in_family_after", "completion"),
        ("any_valid_before", "any_valid_after", "completion_any_valid"),
        ("chance_after", "in_family_after", "excess"),
    ):
        rows = both[["problem_id"]].assign(policy=both["seed"], measure=prefix + both["group"] + f"_{suffix}")
        parts.append(rows.assign(start=both[start], end=both[end], value=both[end] - both[start]))
    return pair_rows(pd.concat(parts, ignore_index=True), problems, seeds, bootstrap, pair)


def tail_rows(
    found: pd.DataFrame,
    problems: Sequence[str],
    bootstrap: Bootstrap,
    entries: Mapping[str, Sequence[str]],
    pair: tuple[str, str] = ("early", "late"),
) -> pd.DataFrame:
    """The tail pool: rows as comparison.contrasts gives.

    found: from `family_completions` of tail_cells. problems: the whole pool. Measures tail_completion, tail_excess (all
    zero-access cells as one group, as in `group_rows`), tail_deep_* and tail_extinct_* (each group); tail_gap, deep
    (`end`) − extinct (`start`), in family, at the last end; tail_gap_excess, the same of completion − chance. The
    groups lie in different problems, so that their means share resamples without being paired.
    """
    rows = [
        group_rows(found.assign(group="tail"), problems, bootstrap, entries, pair),
        group_rows(found, problems, bootstrap, entries, pair, prefix="tail_"),
    ]
    means, seeds = _means(found, {pair[1]: entries[pair[1]]})
    if set(means["group"]) >= {"deep", "extinct"}:
        means["excess"] = means["in_family"] - means["chance"]
        for value, name in (("in_family", "tail_gap"), ("excess", "tail_gap_excess")):
            long = means.rename(columns={"seed": "policy", "group": "measure", value: "value"})
            values = seed_values(long, problems, seeds)
            array = values.array[..., [values.measures.index(group) for group in ("extinct", "deep")]]
            gap = statistic_row(name, array, lambda m: m[..., 1] - m[..., 0], bootstrap, pair)
            start, end = bootstrap.estimate(array).value
            rows.append(gap.assign(start=start, end=end, problems=int((~np.isnan(array)).any(axis=(0, 2)).sum())))
    return pd.concat([part for part in rows if len(part)] or [pd.DataFrame(columns=list(ROWS))], ignore_index=True)
