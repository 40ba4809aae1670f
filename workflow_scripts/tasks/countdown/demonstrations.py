"""Solver-built demonstrations of a problem: k solutions, spread over its openings or drawn uniformly, as laptop text.

The paper's multi-solution data (reference protocol, section 8.3) with three differences. What is dealt out are the
openings that a policy sees, not the paper's string families. The text opens with the opening that it stands for; the
public code commutes operands at random afterwards and so loses it. The k demonstrations of a problem are a beginning of
its 2k, so that a dose–response adds demonstrations and never exchanges them.
"""

from collections.abc import Iterable, Sequence
from typing import NamedTuple

from workflow_scripts.records.errors import UserError, closest
from workflow_scripts.records.seeds import generator
from workflow_scripts.tasks.countdown.expressions import parse, render
from workflow_scripts.tasks.countdown.problems import problem_id
from workflow_scripts.tasks.countdown.solution_sets import SolutionSet
from workflow_scripts.tasks.countdown.solver import solve_many
from workflow_scripts.tasks.countdown.text import solution_completion
from workflow_scripts.tasks.countdown.writings import Node, canonical, said_and_openings, written

CHOICES = ("diverse", "uniform")
"""How the solutions to demonstrate are chosen; see `demonstrations`."""

_BATCH = 512


class Demonstration(NamedTuple):
    """One solution shown. opening: of its first step, `4*`. paper_form: its leaf. completion: text, no end token."""

    problem_id: str
    opening: str
    paper_form: str
    completion: str


def demonstrations(
    solved: SolutionSet, most: int, *, choice: str = "diverse", seed: int | str = 0
) -> list[Demonstration]:
    """Up to `most` demonstrations of one problem, each of another paper leaf, in the order in which they are dealt.

    Only expressible writings are shown; where there are fewer than `most` expressible solutions, all of them.
    choice: `diverse`, round robin over the expressible openings, those with most solutions first, then alphabetically;
    an opening's solutions in the order of their paper forms, and a solution shown under one opening is passed over
    under the others. `uniform`, solutions drawn without replacement, each under one of its openings drawn uniformly;
    seed: of this draw.
    Raises UserError for another choice, or for `most` below 1.
    """
    if choice not in CHOICES:
        raise UserError(f"choice is {choice!r}{closest(choice, list(CHOICES))}; choose one of {', '.join(CHOICES)}")
    if most < 1:
        raise UserError(f"{most} demonstrations a problem cannot be chosen; ask for at least 1")
    leaves = {s.paper_form: canonical(parse(s.rendering))[1] for s in solved.solutions if s.expressible}
    # Sorted, for both choices go through it in this order
    openings = {form: _expressible_openings(leaf) for form, leaf in sorted(leaves.items())}
    dealt = _round_robin(openings, most) if choice == "diverse" else _drawn(openings, most, solved.problem_id, seed)
    return [
        Demonstration(solved.problem_id, opening, form, solution_completion(render(written(leaves[form], opening))))
        for opening, form in dealt
    ]


def of_problems(
    problems: Iterable[tuple[Sequence[int], int]], most: int, *, choice: str = "diverse", seed: int | str = 0
) -> list[Demonstration]:
    """`demonstrations` of each (numbers, target) pair, in the order given.

    Each problem's draw depends on its id and the seed alone. Raises UserError, naming them, where problems have no
    solution that the text can say.
    """
    asked = list(problems)
    found: list[Demonstration] = []
    empty: list[str] = []
    for start in range(0, len(asked), _BATCH):
        for solved in solve_many(asked[start : start + _BATCH]):
            shown = demonstrations(solved, most, choice=choice, seed=seed)
            found += shown
            if not shown:
                empty.append(problem_id(solved.numbers, solved.target))
    if empty:
        named = ", ".join(empty[:20]) + (" …" if len(empty) > 20 else "")
        raise UserError(
            f"{len(empty)} problem(s) have no solution that the text can say, so none to demonstrate: {named}. "
            "Leave them out of the problem file"
        )
    return found


def _expressible_openings(leaf: Node) -> list[str]:
    return sorted(opening for opening, sayable in said_and_openings(leaf)[1].items() if sayable)


def _round_robin(openings: dict[str, list[str]], most: int) -> list[tuple[str, str]]:
    """(opening, paper form) pairs; openings: of each paper form, both sorted."""
    waiting: dict[str, list[str]] = {}
    for form, its_own in openings.items():
        for opening in its_own:
            waiting.setdefault(opening, []).append(form)
    order = sorted(waiting, key=lambda opening: (-len(waiting[opening]), opening))
    shown: dict[str, str] = {}
    while order and len(shown) < most:
        for opening in list(order):
            form = next((form for form in waiting[opening] if form not in shown), None)
            if form is None:
                order.remove(opening)
            elif len(shown) < most:
                shown[form] = opening
    return [(opening, form) for form, opening in shown.items()]


def _drawn(openings: dict[str, list[str]], most: int, problem: str, seed: int | str) -> list[tuple[str, str]]:
    """As `_round_robin`, drawn: one order of all solutions and one opening for each, whatever `most` is."""
    forms = [form for form, its_own in openings.items() if its_own]
    rng = generator("demonstrations", seed, problem)
    order = rng.permutation(len(forms)).tolist()
    picks = rng.random(len(forms)).tolist()
    chosen = [(forms[place], pick) for place, pick in zip(order, picks)][:most]
    return [(openings[form][int(pick * len(openings[form]))], form) for form, pick in chosen]
