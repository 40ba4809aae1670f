"""The tree of one Countdown problem as a table, openings to solutions, with what policies put on each branch."""

import math
from collections.abc import Mapping, Sequence

import pandas as pd

from workflow_scripts.records.errors import UserError
from workflow_scripts.records.schemas import OUTSIDE
from workflow_scripts.tasks.countdown.expressions import parse
from workflow_scripts.tasks.countdown.solution_sets import SolutionSet
from workflow_scripts.tasks.countdown.writings import canonical, said_and_openings

_TOLERANCE = 1e-3
"""How far from 1 the probabilities of one policy may add up: they may have been printed with a few digits."""


def branches(solved: SolutionSet, masses: pd.DataFrame | None = None) -> pd.DataFrame:
    """One row per (opening, solution) pair where some writing of the solution has the opening.

    Columns: opening (`4*`), paper_form, rendering, paper_family, leads (the opening is the solution's paper family;
    a paper family need not be an opening of its own solution), formula (class under the formula equivalence, 1 for
    the largest), formula_form, expressible (some expressible writing of the solution opens so), solution_expressible,
    opening_expressible, opening_solutions and family_solutions (how many solutions the opening and the family have).
    Sorted by opening, then paper form.

    masses: columns policy, opening, probability and, if known, valid; see `policy_masses`. Adds columns `mass LABEL`
    and `valid LABEL` of each policy, in their order, and a last row `outside` that has nothing else: 1 less the mass
    of the openings of the menu.
    Raises UserError, naming the problem, where it has no solution or its only one is a bare number, and for masses
    that lack an opening or `outside`, repeat one, are no probabilities or do not add up to 1.
    """
    if not solved.openings:
        numbers = ", ".join(map(str, solved.numbers))
        if solved.solutions:
            raise UserError(f"{numbers} is its own solution: there is no first step to draw")
        raise UserError(f"no expression over {numbers} reaches {solved.target}: try another target or other numbers")
    ranks, families = _formula_ranks(solved), solved.families
    menu = {row.opening: row for row in solved.openings}
    rows = []
    for leaf in solved.solutions:
        _, openings = said_and_openings(canonical(parse(leaf.paper_form))[1])
        for opening, expressible in openings.items():
            rows.append(
                {
                    "opening": opening,
                    "paper_form": leaf.paper_form,
                    "rendering": leaf.rendering,
                    "paper_family": leaf.paper_family,
                    "leads": opening == leaf.paper_family,
                    "formula": ranks[leaf.formula_form],
                    "formula_form": leaf.formula_form,
                    "expressible": expressible,
                    "solution_expressible": leaf.expressible,
                    "opening_expressible": menu[opening].expressible,
                    "opening_solutions": menu[opening].solutions,
                    "family_solutions": families[leaf.paper_family],
                }
            )
    frame = pd.DataFrame(rows).sort_values(["opening", "paper_form"], ignore_index=True)
    return frame if masses is None else _with_masses(frame, masses)


def _formula_ranks(solved: SolutionSet) -> dict[str, int]:
    """1 for the formula with most solutions; ties by the first paper form."""
    sizes: dict[str, int] = {}
    for leaf in solved.solutions:  # ordered by paper form
        sizes[leaf.formula_form] = sizes.get(leaf.formula_form, 0) + 1
    return {form: rank for rank, form in enumerate(sorted(sizes, key=lambda form: -sizes[form]), start=1)}


def _with_masses(frame: pd.DataFrame, masses: pd.DataFrame) -> pd.DataFrame:
    missing = {"policy", "opening", "probability"} - set(masses.columns)
    if missing:
        raise UserError(f"masses need the column {min(missing)!r}")
    if masses.empty:
        raise UserError("the table of masses is empty: give no masses for the bare tree")
    twice = masses.duplicated(["policy", "opening"])
    if twice.any():
        row = masses[twice].iloc[0]
        raise UserError(f"the mass of {row['opening']} under {row['policy']} is given twice")
    menu = list(frame["opening"].unique())
    columns = {}
    for policy in masses["policy"].unique():
        rows = masses[masses["policy"] == policy].set_index("opening")
        columns[f"mass {policy}"] = _cells(policy, rows["probability"], menu)
        if "valid" in masses.columns and rows["valid"].notna().any():
            columns[f"valid {policy}"] = _valid(policy, rows["valid"], menu)
    outside = pd.DataFrame([{"opening": OUTSIDE}])
    whole = pd.concat([frame.astype(object), outside], ignore_index=True)
    return whole.assign(**{name: whole["opening"].map(cells) for name, cells in columns.items()})


def _cells(policy: str, probability: pd.Series, menu: Sequence[str]) -> dict[str, float]:
    for opening in (*menu, OUTSIDE):
        if opening not in probability.index:
            raise UserError(f"masses of {policy} lack {opening}; they have {', '.join(probability.index)}")
    for opening, value in probability.items():
        if not 0 <= value <= 1:
            raise UserError(f"the mass of {opening} under {policy} is {value}, not a probability")
    total = math.fsum(probability)
    if abs(total - 1) > _TOLERANCE:
        raise UserError(f"the masses of {policy} add up to {total:.6g}, not 1")
    cells = {opening: float(probability[opening]) for opening in menu}
    # The table may also have pairs of number and operator that open no solution
    rest = [float(value) for opening, value in probability.items() if opening not in cells]
    return cells | {OUTSIDE: math.fsum(rest)}


def _valid(policy: str, valid: pd.Series, menu: Sequence[str]) -> dict[str, float]:
    for opening, value in valid.dropna().items():
        if not 0 <= value <= 1:
            raise UserError(f"the valid share of {opening} under {policy} is {value}, not a share")
    known = valid.fillna(0.0)
    cells = {opening: float(known.get(opening, 0.0)) for opening in menu}
    return cells | {OUTSIDE: math.fsum(value for opening, value in known.items() if opening not in cells)}


def shown_openings(frame: pd.DataFrame, most: int) -> tuple[list[str], list[str]]:
    """(Openings to draw, those left out) of `branches`: where there are more than `most`, those with most mass under
    any policy and then most solutions, leaving one of the `most` places for a mention of the rest."""
    masses = [name for name in frame.columns if name.startswith("mass ")]
    menu = frame[frame["opening"] != OUTSIDE].drop_duplicates("opening").set_index("opening")
    weight = menu[masses].max(axis=1) if masses else pd.Series(0.0, index=menu.index)
    order = sorted(menu.index, key=lambda name: (-weight[name], -menu["opening_solutions"][name], name))
    if len(order) <= most:
        return order, []
    return order[: most - 1], order[most - 1 :]


def shown_solutions(frame: pd.DataFrame, most: int) -> pd.DataFrame:
    """The rows of solutions to draw, at most `most` (4 or more), grouped by paper family, the largest family first.

    Columns paper_family, paper_form, rendering, formula, solution_expressible and rest: 0 for a solution; otherwise
    the row has no paper form and stands for so many further solutions of its family, or, as the last row and without
    a family, of further families. Families share the places evenly; each shows as many different formulas as it can,
    expressible solutions first.
    """
    columns = ["paper_family", "paper_form", "rendering", "formula", "solution_expressible"]
    leaves = frame[frame["opening"] != OUTSIDE].drop_duplicates("paper_form")[columns]
    sizes = leaves.groupby("paper_family").size()
    order = sorted(sizes.index, key=lambda family: (-sizes[family], family))
    drawn = order if len(order) <= most // 2 else order[: most // 2 - 1]
    places = {family: min(sizes[family], 2) for family in drawn}
    free = most - sum(places.values()) - (len(drawn) < len(order))
    while free and (wanting := [family for family in drawn if places[family] < sizes[family]]):
        for family in wanting[:free]:
            places[family] += 1
        free -= len(wanting[:free])
    rows = []
    for family in drawn:
        kept = places[family] if places[family] == sizes[family] else places[family] - 1
        rows += _chosen(leaves[leaves["paper_family"] == family], kept)
        if kept < sizes[family]:
            rows.append({"paper_family": family, "rest": sizes[family] - kept})
    if len(drawn) < len(order):
        rows.append({"paper_family": "", "rest": sum(sizes[family] for family in order[len(drawn) :])})
    return pd.DataFrame(rows, columns=[*columns, "rest"])


def _chosen(leaves: pd.DataFrame, count: int) -> list[dict]:
    """`count` rows of one family, formulas taken in turn, ordered for reading: by formula, the expressible first."""
    rows = leaves.to_dict("records")
    rows.sort(
        key=lambda row: (row["formula"], not row["solution_expressible"], len(row["rendering"]), row["rendering"])
    )
    seen: dict[int, int] = {}
    turns = []
    for row in rows:
        turns.append(seen.get(row["formula"], 0))
        seen[row["formula"]] = turns[-1] + 1
    first = sorted(sorted(range(len(rows)), key=lambda at: (turns[at], at))[:count])
    return [rows[at] | {"rest": 0} for at in first]


def policy_masses(
    masses: pd.DataFrame,
    problem_id: str,
    points: Mapping[str, Sequence[str]],
    *,
    column: str = "decoded",
    scores: pd.DataFrame | None = None,
) -> pd.DataFrame:
    """What `branches` takes as masses, from the records: columns policy (label), opening, probability and, with
    scores, valid.

    masses: MASSES. points: label to the policies behind it, several where a line has several seeds: their mean.
    column: `decoded` (the study's sampling) or `probability` (temperature 1). scores: SCORES of free samples (those
    with a prefix are left out). valid is the share of all samples that open so in their think part and are right,
    whichever step the final answer begins with; it varies around mass times success rate under `decoded`.
    Raises UserError for a policy without masses, or without samples, of the problem.
    """
    tables = []
    for label, policies in points.items():
        parts = []
        for policy in policies:
            part = masses[(masses["policy"] == policy) & (masses["problem_id"] == problem_id)]
            if part.empty:
                raise UserError(f"there are no opening masses of {policy} on problem {problem_id}")
            part = part.set_index("opening")[[column]].rename(columns={column: "probability"})
            parts.append(part if scores is None else _sampled(part, scores, policy, problem_id))
        mean = pd.concat(parts).groupby(level="opening", sort=True).mean()
        tables.append(mean.reset_index().assign(policy=label))
    whole = pd.concat(tables, ignore_index=True)
    return whole[["policy", "opening", "probability", *(["valid"] if scores is not None else [])]]


def _sampled(part: pd.DataFrame, scores: pd.DataFrame, policy: str, problem_id: str) -> pd.DataFrame:
    free = scores[(scores["policy"] == policy) & (scores["problem_id"] == problem_id) & (scores["prefix"] == "")]
    if free.empty:
        raise UserError(f"there are no free samples of {policy} on problem {problem_id}")
    right = free[free["correct"]]
    opened = right["think_opening"].where(right["think_opening"].isin(part.index), OUTSIDE)
    shares = opened.value_counts() / len(free)
    return part.assign(valid=shares.reindex(part.index, fill_value=0.0))
