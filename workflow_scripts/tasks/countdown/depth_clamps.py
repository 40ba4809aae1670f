"""Clamps along one solution of each four-number problem: nothing, one, two or all three of its operations given.

    depth0
    depth1  try 4 * 7 = 28 ,
    depth2  try 4 * 7 = 28 , 28 - 9 = 19 ,
    depth3  try 4 * 7 = 28 , 28 - 9 = 19 , 19 + 5 = 24 </think> <answer>

Depth is the index of the last operation that is given, so that only the answer is left to write at depth 3.
"""

from collections import Counter
from collections.abc import Sequence

import pandas as pd

from workflow_scripts.records.errors import UserError
from workflow_scripts.records.schemas import CLAMPS
from workflow_scripts.tasks.countdown.chance import chance
from workflow_scripts.tasks.countdown.solver import solve_many
from workflow_scripts.tasks.countdown.wording import LAPTOP, Wording

SCAFFOLD = "solution"
"""Kind of these clamps' scaffold."""

NUMBERS = 4
"""Given numbers of a problem of the depth set."""

DEPTHS = tuple(range(NUMBERS))
"""Operations given."""


def rung_of(depth: int) -> str:
    """Name of the rung that gives `depth` operations."""
    return f"depth{depth}"


def depth_clamps(problems: pd.DataFrame, openings: pd.DataFrame, words: Wording = LAPTOP) -> pd.DataFrame:
    """CLAMPS of every depth along the witness of each problem's largest opening.

    problems: PROBLEMS rows of four-number problems. openings: their OPENINGS rows. The opening is the expressible one
    with most solutions, the alphabetically first of equals; chance is that of the opening at every depth. Problems
    without an expressible solution are left out: the text cannot state their steps. So are, in English, openings whose
    witness passes through fractions or negative numbers, since what is left then is no problem of whole numbers.
    Raises UserError, naming the problem, where it has not four numbers or no row in `openings`.
    """
    _check(problems, openings)
    known = openings[openings["expressible"] & openings["problem_id"].isin(problems["problem_id"])]
    if not words.words:
        known = known[[_whole(words, witness) for witness in known["witness"]]]
    chosen = known.sort_values(["problem_id", "solutions", "opening"], ascending=[True, False, True]).drop_duplicates(
        "problem_id"
    )
    given = dict(zip(problems["problem_id"], zip(problems["numbers"], problems["target"])))
    rows = []
    for problem_id, opening, witness in zip(chosen["problem_id"], chosen["opening"], chosen["witness"]):
        share = chance(list(map(int, given[problem_id][0])), int(given[problem_id][1]), opening)
        for depth, prefix in enumerate(_prefixes(witness, words)):
            rows.append((problem_id, opening, SCAFFOLD, 0, rung_of(depth), prefix, share))
    return pd.DataFrame(rows, columns=CLAMPS.names)


def _check(problems: pd.DataFrame, openings: pd.DataFrame) -> None:
    for problem_id, numbers in zip(problems["problem_id"], problems["numbers"]):
        if len(numbers) != NUMBERS:
            raise UserError(f"problem {problem_id} has {len(numbers)} numbers; depth is studied on {NUMBERS}")
    missing = sorted(set(problems["problem_id"]) - set(openings["problem_id"]))
    if missing:
        raise UserError(f"problem {missing[0]} has no row in the table of openings; solve the same set of problems")


def _whole(words: Wording, witness: str) -> bool:
    return all(step.value >= 0 and step.value.denominator == 1 for step in words.steps(witness))


def _prefixes(witness: str, words: Wording) -> list[str]:
    """Given text at each depth, of the solver-built continuation of a witness."""
    steps = words.steps(witness)
    partial = [words.attempt(steps[:depth]) + words.comma.rstrip() for depth in range(1, len(steps))]
    return ["", *partial, (words.attempt(steps) + words.handover).rstrip()]


def next_menus(
    problems: pd.DataFrame, clamps: pd.DataFrame, *, words: Wording = LAPTOP, solution_set: str = "expressible"
) -> pd.DataFrame:
    """What can be done next where at least one operation is left: one row per clamp of depth 0, 1 and 2.

    problems, clamps: PROBLEMS and CLAMPS as in `depth_clamps`. Returns columns problem_id, rung, prefix, operands (list
    of the distinct values left, ascending) and feasible (list of the openings, `28-`), sorted by problem and rung.
    Feasible: the solver's expressible openings over the values left, results of earlier steps among them; under the
    solution_set `full` all of its openings. At depth 0 this is the study's menu; later, with three or two values left,
    exactly the steps after which the target can still be reached (in whole values of 0…100). Raises UserError where a
    step uses a value that is not left.
    """
    numbers, targets = (dict(zip(problems["problem_id"], problems[column])) for column in ("numbers", "target"))
    open_rungs = [rung_of(depth) for depth in DEPTHS[:-1]]
    chosen = clamps[(clamps["scaffold"] == SCAFFOLD) & clamps["rung"].isin(open_rungs)]
    chosen = chosen.sort_values(["problem_id", "rung"])
    left = []
    for problem_id, prefix in zip(chosen["problem_id"], chosen["prefix"]):
        if problem_id not in numbers:
            raise UserError(f"problem {problem_id} of the clamps is not in the problem set")
        left.append(remaining_values(numbers[problem_id], prefix, words))
    solved = solve_many(zip(left, (int(targets[problem_id]) for problem_id in chosen["problem_id"])))
    return pd.DataFrame(
        {
            "problem_id": chosen["problem_id"].to_numpy(),
            "rung": chosen["rung"].to_numpy(),
            "prefix": chosen["prefix"].to_numpy(),
            "operands": [sorted(set(values)) for values in left],
            "feasible": [
                [entry.opening for entry in found.openings if entry.expressible or solution_set == "full"]
                for found in solved
            ],
        }
    )


def remaining_values(numbers: Sequence[int], prefix: str, words: Wording = LAPTOP) -> list[int]:
    """Values left after the steps of a prefix `try 4 * 7 = 28 , 28 - 9 = 19 ,`, ascending; all numbers for ''.

    Raises UserError where a step is no step or uses a value that is not left.
    """
    values = Counter(map(int, numbers))
    given = prefix.removeprefix(f"{words.lead} ").removesuffix(words.comma.rstrip())
    for step in given.split(words.comma) if prefix else []:
        parts = step.split()
        if len(parts) != 5 or parts[3] != "=" or not all(parts[at].isdecimal() for at in (0, 2, 4)):
            raise UserError(f"{step!r} in the prefix {prefix!r} is no step `a + b = c`")
        for part in (parts[0], parts[2]):
            if not values[int(part)]:
                raise UserError(f"the prefix {prefix!r} uses {part}, which is not left of {sorted(numbers)}")
            values[int(part)] -= 1
        values[int(parts[4])] += 1
    return sorted(values.elements())
