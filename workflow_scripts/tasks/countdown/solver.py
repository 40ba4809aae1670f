"""All solutions of a Countdown problem over exact rationals: leaves, formulas, paper families, the menu of openings.

S(x) of the paper (section 3): every expression that uses each number once and equals the target; negative and
fractional intermediate values are allowed. Each solution and opening also says whether the laptop text can express it.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from numbers import Integral

from workflow_scripts.records.errors import UserError
from workflow_scripts.tasks.countdown.enumeration import MOST_NUMBERS, Hit, TooLarge, compiled, find, pattern_of
from workflow_scripts.tasks.countdown.expressions import MODULUS, Expression, residue
from workflow_scripts.tasks.countdown.problems import Key, key, problem_id
from workflow_scripts.tasks.countdown.solution_sets import SolutionSet

MOST_SOLUTIONS = 100_000
"""Paper leaves of one problem: six small numbers can have 50,000."""

_BATCH = {5: 8, 6: 1}
"""Problems solved at a time, by how many numbers they have, where 128 would take too much memory."""


def solve(numbers: Iterable[int], target: int) -> SolutionSet:
    """All solutions of one problem. See `solve_many`."""
    return solve_many([(numbers, target)])[0]


def solve_many(
    problems: Iterable[tuple[Iterable[int], int]], *, most_solutions: int = MOST_SOLUTIONS
) -> list[SolutionSet]:
    """All solutions of each (numbers, target) pair, in the order given.

    numbers: one to six integers, none negative, repeats allowed, in any order. In batches four numbers take
    0.05 ms a problem, five 5 ms, six 0.2 s and 0.1 GB; each solution adds about 20 µs, and small numbers have tens of
    them at four, tens of thousands at six.
    Raises UserError for other numbers, TooLarge (a UserError) for more than six numbers, six that need more than 64-bit
    arithmetic, or more than `most_solutions` paper leaves in a problem.
    """
    wanted = [_checked(numbers, target) for numbers, target in problems]
    groups: dict[tuple[int, ...], list[Key]] = {}
    for problem in dict.fromkeys(key(*problem) for problem in wanted):
        groups.setdefault(pattern_of(problem[0]), []).append(problem)
    solved: dict[Key, SolutionSet] = {}
    for pattern, group in groups.items():
        size = _BATCH.get(sum(pattern), 128)
        for start in range(0, len(group), size):
            batch = group[start : start + size]
            for problem, expressions in zip(batch, _expressions(pattern, batch, most_solutions)):
                solved[problem] = SolutionSet.of(*problem, expressions)
    return [replace(solved[key(numbers, target)], numbers=numbers) for numbers, target in wanted]


def _checked(numbers: Iterable[int], target: int) -> tuple[tuple[int, ...], int]:
    numbers = tuple(numbers)
    if not numbers or not all(isinstance(v, Integral) and not isinstance(v, bool) for v in (*numbers, target)):
        raise UserError(f"numbers and target must be integers, not {list(numbers)!r} and {target!r}")
    numbers, target = tuple(map(int, numbers)), int(target)
    if min(numbers) < 0:
        raise UserError(f"numbers must not be negative: {list(numbers)}")
    if len(numbers) > MOST_NUMBERS:
        raise TooLarge(f"{problem_id(numbers, target)}: the solver takes at most {MOST_NUMBERS} numbers")
    return numbers, target


def _expressions(pattern: tuple[int, ...], batch: Sequence[Key], most: int) -> Iterator[list[Expression]]:
    """For each problem of a batch of one pattern, one expression per paper leaf."""
    distinct = [tuple(sorted(set(numbers))) for numbers, _ in batch]
    hits: list[list[Hit]] = [[] for _ in batch]
    for block in find(pattern, distinct, [target for _, target in batch]):
        for hit in block:
            hits[hit.problem].append(hit)
            if len(hits[hit.problem]) > most:
                raise TooLarge(f"{problem_id(*batch[hit.problem])} has more than {most} solutions")
    trees = compiled(pattern)
    for values, found in zip(distinct, hits):
        built: dict[int, Expression] = dict(enumerate(values))
        pairs = [(hit, trees.expression(hit.left, built), trees.expression(hit.right, built)) for hit in found]
        yield [(hit.operator, left, right) if hit.operator else left for hit, left, right in pairs]


def formula_count(count: int) -> int:
    """Number of different rational functions of `count` variables, each used once: 1, 6, 68, 1170, … (OEIS A140606).

    Counted as distinct values modulo the fingerprint prime, one pseudo-random residue per variable.
    """
    if not 1 <= count <= MOST_NUMBERS:
        raise TooLarge(f"formula_count takes 1 to {MOST_NUMBERS} variables, not {count}")
    values: dict[int, set[int]] = {1 << at: {residue(at + 2)} for at in range(count)}
    for mask in range(1, 1 << count):
        reached = values.setdefault(mask, set())
        part = (mask - 1) & mask
        while part:
            rest = mask ^ part
            for b in values[rest]:
                inverse = pow(b, -1, MODULUS) if b else None
                for a in values[part]:
                    reached.add((a - b) % MODULUS)
                    if inverse is not None:
                        reached.add(a * inverse % MODULUS)
                    if part < rest:
                        reached.add((a + b) % MODULUS)
                        reached.add(a * b % MODULUS)
            part = (part - 1) & mask
    return len(values[(1 << count) - 1])
