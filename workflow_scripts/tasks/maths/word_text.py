r"""What the small policy reads and writes of word problems: one token per word, number 0-100, operator and tag.

    ann buys 4 pens at 3 each and 2 cups at 5 each . how much is it in all ? <think>               the prompt
    4 * 3 = 12 , 2 * 5 = 10 , 12 + 10 = 22 </think> the answer is \boxed{ 22 }                    a completion

The base learns from random texts: arithmetic right, but the plan often wrong, and the answer marked, unmarked, another
number than the one found, or missing, so that being right and being well formatted come apart.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import chain
from typing import NamedTuple

from workflow_scripts.records.errors import UserError
from workflow_scripts.records.seeds import generator
from workflow_scripts.tasks.maths.word_families import (
    FAMILIES,
    NAMES,
    THINGS,
    UNSEEN_NAMES,
    UNSEEN_THINGS,
)
from workflow_scripts.tasks.maths.words import (
    LARGEST,
    SEEN_LARGEST,
    Route,
    Step,
    WordProblem,
    drawn_problem,
    routes,
    step,
)

TAGS = ("<pad>", "<unk>", "<eos>", "<think>", "</think>", r"\boxed{", "}")
SIGNS = ("+", "-", "*", "/", "=")
REFUSAL = "i do not know"

_TEMPLATES = [template for family in FAMILIES for template in (*family.wordings, family.unseen)]
_QUESTION_WORDS = sorted(
    {word for template in _TEMPLATES for word in template.split() if not word.startswith("{")}
    | {*NAMES, *THINGS, *UNSEEN_NAMES, *UNSEEN_THINGS, "the", "answer", "is", *REFUSAL.split()}
)
VOCABULARY: list[str] = [*TAGS, *SIGNS, *_QUESTION_WORDS, *map(str, range(LARGEST + 1))]
"""Every word of the texts, in the order of its token ids."""

ENDINGS: dict[str, Callable[[int | None], str]] = {
    "boxed": lambda value: rf"</think> the answer is \boxed{{ {value} }}",
    "plain": lambda value: f"</think> the answer is {value}",
    "none": lambda value: "</think>",
    "refusal": lambda value: f"</think> {REFUSAL}",
}
"""How a completion can end, given the value that it states."""

_OPERATORS = "+-*/"
_PATIENCE = 2000


class Habits(NamedTuple):
    """How the random texts of pre-training are made; shares in [0, 1].

    right: texts whose plan is a route of the problem. begun: whose first calculation is one's, but not the rest.
    swapped: sums and products written the other way round. wide, unseen: problems with larger numbers, with the wording
    of the shifted set. boxed, plain, refusal: endings; what is left has none. astray: stated answers (boxed or plain)
    that aren't the value found.
    """

    right: float = 0.40
    begun: float = 0.20
    swapped: float = 0.15
    wide: float = 0.35
    unseen: float = 0.35
    boxed: float = 0.45
    plain: float = 0.38
    refusal: float = 0.07
    astray: float = 0.2


def think_prompt(question: str) -> str:
    """The question as the policy reads it; the chat template gives the same."""
    return f"{question} <think>"


def steps_text(route: Iterable[Step]) -> str:
    """`4 * 3 = 12 , 12 + 5 = 17`."""
    return " , ".join(f"{taken.label} = {taken.result}" for taken in route)


def route_completion(route: Route, ending: str = "boxed") -> str:
    """The completion that works a problem out by `route` and ends as ENDINGS says. UserError for another ending."""
    if ending not in ENDINGS or ending == "refusal":
        raise UserError(f"a worked-out answer cannot end {ending!r}; choose boxed, plain or none")
    return f"{steps_text(route)} {ENDINGS[ending](route[-1].result)}"


def random_texts(
    *seed_parts: int | str,
    count: int,
    excluded: Iterable[tuple[tuple[int, ...], int]] = (),
    habits: Habits | None = None,
) -> list[tuple[str, str]]:
    """Pre-training texts: [(prompt with ` <think>`, completion without end token)].

    seed_parts: identity of the random stream. excluded: keys of problems that no text may ask.
    Raises UserError where such texts are not found.
    """
    excluded, habits = set(excluded), habits or Habits()
    draws = chain.from_iterable(_blocks("word texts", *seed_parts))
    texts: list[tuple[str, str]] = []
    idle = 0
    while len(texts) < count:
        family = FAMILIES[int(next(draws) * len(FAMILIES))]
        problem = drawn_problem(family, draws, wide=next(draws) < habits.wide, unseen=next(draws) < habits.unseen)
        if problem is None or problem.key in excluded:
            idle += 1
            if idle > _PATIENCE:
                raise UserError("found no more texts that touch no excluded problem; exclude fewer")
            continue
        idle = 0
        texts.append((think_prompt(problem.question), said(problem, draws, habits)))
    return texts


def _blocks(*parts: int | str) -> Iterator[list[float]]:
    rng = generator(*parts)
    while True:
        yield rng.random(1024).tolist()


def said(problem: WordProblem, draws: Iterator[float], habits: Habits) -> str:
    """A random completion of one problem. draws: uniform in [0, 1)."""
    plan, ending = next(draws), next(draws)
    if ending < habits.refusal:
        return ENDINGS["refusal"](None)
    taken = _plan(problem, draws, plan, habits)
    taken = [_swapped(one, next(draws) < habits.swapped) for one in taken]
    value = taken[-1].result
    if next(draws) < habits.astray:
        others = [*problem.numbers, *(one.result for one in taken[:-1])]
        value = others[int(next(draws) * len(others))]
    ending -= habits.refusal
    name = "boxed" if ending < habits.boxed else "plain" if ending < habits.boxed + habits.plain else "none"
    return f"{steps_text(taken)} {ENDINGS[name](value)}"


def _plan(problem: WordProblem, draws: Iterator[float], plan: float, habits: Habits) -> Sequence[Step]:
    """The steps of one text: a route, a route's first step and then any, or any."""
    pool = list(problem.numbers)
    if len(pool) == 2 and next(draws) < 0.7:
        pool.append(2 if next(draws) < 0.5 else pool[int(next(draws) * 2)])
    if plan < habits.right + habits.begun:
        known = routes(problem.family, problem.numbers)
        route = known[int(next(draws) * len(known))]
        if plan < habits.right:
            return route
        begun = route[0]
        for used in (begun.left, begun.right):
            if used in pool:
                pool.remove(used)
        return [begun, *_wandering([*pool, begun.result], draws)] if pool else [begun]
    if len(pool) > 2 and next(draws) < 0.3:
        pool.pop(int(next(draws) * len(pool)))
    return _wandering(pool, draws)


def _wandering(pool: list[int], draws: Iterator[float]) -> list[Step]:
    """Calculations with two of what is at hand, until one number is left."""
    taken = []
    most = SEEN_LARGEST if max(pool) <= SEEN_LARGEST else LARGEST
    while len(pool) > 1:
        left = pool.pop(int(next(draws) * len(pool)))
        right = pool.pop(int(next(draws) * len(pool)))
        could = [one for sign in _OPERATORS if (one := step(left, sign, right)) and one.result <= most]
        # Left < right with a sum that cannot be said: the difference the other way round always can
        one = could[int(next(draws) * len(could))] if could else step(max(left, right), "-", min(left, right))
        taken.append(one)
        pool.append(one.result)
    return taken


def _swapped(one: Step, swap: bool) -> Step:
    return one._replace(left=one.right, right=one.left) if swap and one.operator in "+*" else one


def demonstrations(
    problems: Sequence[WordProblem], most: int, *, seed: int | str, boxed: float = 0.5
) -> list[tuple[str, str]]:
    """Worked-out answers to learn from: (problem_id, completion), up to `most` routes a problem.

    The routes shown have different first calculations as long as there are such, in a drawn order; the first k of 2k
    are the k. boxed: share that mark their answer; the rest leave it unmarked, so that supervision teaches to be right
    more than to be well formatted. Raises UserError for `most` below 1.
    """
    if most < 1:
        raise UserError(f"{most} demonstrations a problem cannot be chosen; ask for at least 1")
    shown = []
    for problem in problems:
        rng = generator("word demonstrations", seed, problem.problem_id)
        known = routes(problem.family, problem.numbers)
        waiting: dict[str, list[Route]] = {}
        for place in rng.permutation(len(known)).tolist():
            waiting.setdefault(known[place][0].label, []).append(known[place])
        rounds = max(map(len, waiting.values()))
        dealt = [options[turn] for turn in range(rounds) for options in waiting.values() if turn < len(options)][:most]
        marks = rng.random(len(known)).tolist()
        shown += [
            (problem.problem_id, route_completion(route, "boxed" if mark < boxed else "plain"))
            for route, mark in zip(dealt, marks)
        ]
    return shown
