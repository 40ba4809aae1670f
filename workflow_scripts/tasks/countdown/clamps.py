"""The clamp ladder: what the policy is given of a designated opening before it goes on by itself.

A rung is text in the policy's own words after `<think>` (wording.py). The small policy has 120 words, none of them for
intentions, so a plan is what it can read: a generic plan names the operations of a solution without their numbers, a
misleading plan is an entrance that leads nowhere; in English both are sentences. Every text is made from the problem,
its solver menu and its scaffolds alone, so that a rung has the same bytes at every checkpoint (protocol, section 4.5).
"""

from collections.abc import Collection, Sequence
from typing import NamedTuple

import pandas as pd

from workflow_scripts.records.errors import UserError
from workflow_scripts.records.schemas import CLAMPS
from workflow_scripts.tasks.countdown.chance import chances
from workflow_scripts.tasks.countdown.english import Step, operand
from workflow_scripts.tasks.countdown.text import spaced
from workflow_scripts.tasks.countdown.wording import LAPTOP, Wording

RUNGS = (
    "nothing",
    "first_number",
    "entrance",
    "first_calculation",
    "generic_plan",
    "misleading_plan",
    "wrong_value",
)

NEUTRAL = "neutral"

_OPERATORS = "*+-/"
_KEY = ["problem_id", "family", "scaffold", "scaffold_id", "rung"]


class Problem(NamedTuple):
    """A problem with its menu. menu: OPENINGS rows by opening, inexpressible ones included. forms: texts of its
    solutions, spaced as the policy writes them."""

    problem_id: str
    numbers: list[int]
    target: int
    menu: dict[str, tuple]
    forms: frozenset[str]

    def witness(self, family: str) -> str:
        """Expression that opens so; UserError for a family that is not in the expressible menu."""
        entry = self.menu.get(family)
        if entry is None or not entry.expressible:
            names = [name for name, row in self.menu.items() if row.expressible]
            raise UserError(f"{family!r} is not in the menu of {self.problem_id}: it has {', '.join(names) or 'none'}")
        return entry.witness


def problems_of(
    problems: pd.DataFrame, openings: pd.DataFrame, solutions: pd.DataFrame | None = None
) -> dict[str, Problem]:
    """PROBLEMS joined with OPENINGS (and the renderings of SOLUTIONS) by problem_id, in that order.

    Raises UserError, naming it, for a problem of the other frames that is not among `problems`.
    """
    menus: dict[str, dict[str, tuple]] = {name: {} for name in sorted(problems["problem_id"])}
    forms: dict[str, set[str]] = {name: set() for name in menus}
    known = set(menus)
    for what, frame in (("openings", openings), ("solutions", solutions)):
        stray = set() if frame is None else set(frame["problem_id"]) - known
        if stray:
            raise UserError(f"the {what} have a problem {min(stray)} that is not among the {len(known)} problems")
    for row in openings.sort_values(["problem_id", "opening"]).itertuples(index=False):
        menus[row.problem_id][row.opening] = row
        forms[row.problem_id].add(spaced(row.witness))
    if solutions is not None:
        for name, rendering in zip(solutions["problem_id"], solutions["rendering"]):
            forms[name].add(spaced(rendering))
    asked = {row.problem_id: ([int(n) for n in row.numbers], int(row.target)) for row in problems.itertuples()}
    return {name: Problem(name, *asked[name], menu, frozenset(forms[name])) for name, menu in menus.items()}


def rung_text(
    rung: str,
    witness: str,
    *,
    numbers: Sequence[int],
    target: int,
    menu: Collection[str],
    words: Wording = LAPTOP,
) -> str | None:
    """What a rung says of the opening of `witness`, an expression that the wording can say.

    With 4 * 7 + 5 - 9 for 24: nothing ``; first_number `try 4`; entrance `try 4 *`; first_calculation `try 4 * 7 = 28`;
    wrong_value `try 4 * 7 = 29`, one too many, or too few where that cannot be said or is the target; generic_plan
    `* + - .`, the witness's operators in a fixed order; misleading_plan `try 4 +`, the first entrance in sorted order
    that no solution has. In English `Let me try: 4 *` and so on; plans: see wording.py.
    menu: openings of all solutions, expressible or not. None where every entrance opens a solution: no plan misleads
    there, so that the rung is left out. Raises UserError for another rung.
    """
    if rung not in RUNGS:
        raise UserError(f"there is no rung {rung!r}: use {', '.join(RUNGS)}")
    if rung == "nothing":
        return ""
    if rung == "generic_plan":
        return words.generic_plan(witness)
    if rung == "misleading_plan":
        dead = sorted({f"{n}{operator}" for n in numbers for operator in _OPERATORS} - set(menu))
        return words.misleading_plan(dead[0]) if dead else None
    step = words.steps(witness)[0]
    if rung == "first_number":
        return f"{words.lead} {operand(step.first)}"
    if rung == "entrance":
        return words.entrance(f"{operand(step.first)}{step.operator}")
    if rung == "wrong_value":
        step = Step(*step[:3], words.near_miss(step.value, target))
    return words.attempt([step])


def _rows(
    problem: Problem,
    family: str,
    scaffold: tuple[str, int, str],
    rungs: Sequence[str],
    chance: float,
    words: Wording,
) -> list:
    kind, number, text = scaffold
    told = words.holds_answer(text, problem.target, problem.forms)
    if told:
        raise UserError(f"{kind} scaffold {number} of {problem.problem_id} holds the answer ({told!r}): {text!r}")
    witness = problem.witness(family)
    rows = []
    for rung in rungs:
        given = rung_text(rung, witness, numbers=problem.numbers, target=problem.target, menu=problem.menu, words=words)
        if given is not None:
            prefix = f"{text} {given}".strip()
            rows.append((problem.problem_id, family, kind, number, rung, prefix, chance))
    return rows


def clamp_frame(rows: Sequence[tuple]) -> pd.DataFrame:
    """CLAMPS rows in their order in files. Raises UserError, naming it, for a clamp given twice."""
    frame = pd.DataFrame(list(rows), columns=CLAMPS.names).astype({"scaffold_id": "int64", "chance": "float64"})
    twice = frame.duplicated(_KEY)
    if twice.any():
        raise UserError(f"a clamp is given twice: {', '.join(map(str, frame.loc[twice, _KEY].iloc[0]))}")
    order = frame["rung"].map({rung: at for at, rung in enumerate(RUNGS)}).fillna(len(RUNGS))
    return frame.assign(order=order).sort_values([*_KEY[:-1], "order", "rung"], ignore_index=True)[CLAMPS.names]


def menu_clamps(
    problems: pd.DataFrame,
    openings: pd.DataFrame,
    cells: pd.DataFrame | None = None,
    *,
    words: Wording = LAPTOP,
) -> pd.DataFrame:
    """CLAMPS that give the minimal entrance of every expressible opening, without a scaffold.

    problems, openings: PROBLEMS and their OPENINGS. cells: columns problem_id, family, where only these are wanted.
    Raises UserError for a cell that is not in the expressible menu.
    """
    known = problems_of(problems, openings)
    if cells is None:
        chosen = openings[openings["expressible"]][["problem_id", "opening"]].to_numpy().tolist()
    else:
        chosen = cells[["problem_id", "family"]].drop_duplicates().to_numpy().tolist()
    return clamp_frame(_clamps(known, [(*cell, (NEUTRAL, 0, "")) for cell in chosen], ["entrance"], words))


def _clamps(known: dict[str, Problem], cells: Sequence[tuple], rungs: Sequence[str], words: Wording) -> list:
    rows, shares = [], {}
    for name, family, scaffold in cells:
        if name not in known:
            raise UserError(f"the clamp of {family} is for {name!r}, which is not one of the {len(known)} problems")
        problem = known[name]
        problem.witness(family)  # refuses what is not in the menu before anything is counted
        if name not in shares:
            shares[name] = chances(problem.numbers, problem.target)
        rows += _rows(problem, family, scaffold, rungs, shares[name][family], words)
    return rows


def largest_openings(openings: pd.DataFrame, families: int = 2) -> pd.DataFrame:
    """Each problem's expressible openings with the most solutions, ties alphabetical: columns problem_id, family."""
    menu = openings[openings["expressible"]].sort_values(
        ["problem_id", "solutions", "opening"], ascending=[True, False, True]
    )
    chosen = menu.groupby("problem_id", sort=False).head(families)
    return chosen[["problem_id", "opening"]].rename(columns={"opening": "family"}).reset_index(drop=True)


def ladder_clamps(
    problems: pd.DataFrame,
    openings: pd.DataFrame,
    scaffolds: pd.DataFrame,
    solutions: pd.DataFrame | None = None,
    *,
    families: int = 2,
    rungs: Sequence[str] = RUNGS,
    words: Wording = LAPTOP,
) -> pd.DataFrame:
    """CLAMPS of every rung for the largest openings of each problem, without a scaffold and behind each of its own.

    scaffolds: columns problem_id, family, scaffold, scaffold_id, text (scaffolds.retry_scaffolds). solutions: SOLUTIONS
    whose renderings no scaffold may hold. families: openings per problem.
    Raises UserError, by name, for a scaffold that holds the answer or that is meant for a family not in the menu.
    """
    known = problems_of(problems, openings, solutions)
    cells = largest_openings(openings, families)
    chosen = [(name, family, (NEUTRAL, 0, "")) for name, family in cells.to_numpy().tolist()]
    for row in scaffolds.itertuples(index=False):
        if row.problem_id not in known:
            raise UserError(f"a {row.scaffold} scaffold is for {row.problem_id!r}, which is not one of the problems")
        known[row.problem_id].witness(row.family)
    own = cells.merge(scaffolds, on=["problem_id", "family"])
    chosen += [(r.problem_id, r.family, (r.scaffold, int(r.scaffold_id), r.text)) for r in own.itertuples(index=False)]
    return clamp_frame(_clamps(known, chosen, rungs, words))
