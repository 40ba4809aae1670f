"""Countdown problems: identity, the seeded generator of the laptop task, splits, removal of overlaps and repeats.

Tables have the columns of records/schemas.py PROBLEMS. Readers of files are in problem_files.py.
"""

from bisect import bisect_right
from collections.abc import Collection, Iterable, Sequence
from functools import cache
from itertools import accumulate
from typing import TYPE_CHECKING

from workflow_scripts.records.errors import UserError
from workflow_scripts.records.seeds import generator
from workflow_scripts.tasks.countdown.text import LARGEST, NUMBERS, TARGETS

if TYPE_CHECKING:
    import pandas as pd

Key = tuple[tuple[int, ...], int]

_PATIENCE = 1000
"""Draws in a row without a new problem after which a set is declared impossible."""


def key(numbers: Iterable[int], target: int) -> Key:
    """Semantic key of a problem: (sorted numbers, target). Problems with equal keys are the same problem."""
    return tuple(sorted(map(int, numbers))), int(target)


def problem_id(numbers: Iterable[int], target: int) -> str:
    """The key as text, `4_5_7_9-24`."""
    ordered, target = key(numbers, target)
    return f"{'_'.join(map(str, ordered))}-{target}"


def keys(problems: "pd.DataFrame") -> list[Key]:
    """Semantic key of each row of a problem table."""
    return [key(numbers, target) for numbers, target in zip(problems["numbers"], problems["target"])]


def table(problems: Iterable[tuple[Sequence[int], int]], split: str) -> "pd.DataFrame":
    """PROBLEMS table of (numbers, target) pairs, in their order, all in one split."""
    import pandas as pd

    rows = [(problem_id(numbers, target), list(numbers), target, split) for numbers, target in problems]
    return pd.DataFrame(rows, columns=["problem_id", "numbers", "target", "split"])


@cache
def sayable_results(numbers: tuple[int, ...]) -> dict[int, int]:
    """How many expressions over all of `numbers` (sorted) reach each value through whole values in 0…100 only.

    Counts ordered writings: every bracketing, operand order and choice of operators; equal numbers are told apart.
    Cached: the laptop task has fewer than 1,000 multisets of numbers.
    """
    if len(numbers) == 1:
        return {numbers[0]: 1} if 0 <= numbers[0] <= LARGEST else {}
    reached: dict[int, int] = {}

    def add(value: int, ways: int) -> None:
        if value <= LARGEST:
            reached[value] = reached.get(value, 0) + ways

    for mask in range(1, 2 ** (len(numbers) - 1)):  # unordered splits: the last number is always on the right
        left = sayable_results(tuple(x for at, x in enumerate(numbers) if mask >> at & 1))
        right = sayable_results(tuple(x for at, x in enumerate(numbers) if not mask >> at & 1))
        for a, a_ways in left.items():
            for b, b_ways in right.items():
                ways = a_ways * b_ways
                add(a + b, 2 * ways)
                add(a * b, 2 * ways)
                for x, y in ((a, b), (b, a)):
                    if x >= y:
                        add(x - y, ways)
                    if y and x % y == 0:
                        add(x // y, ways)
    return reached


@cache
def _lottery(numbers: tuple[int, ...], low: int, high: int) -> tuple[list[int], list[int]]:
    """Possible targets in low…high, ascending, and how many writings reach that target or a smaller one."""
    results = [(value, ways) for value, ways in sorted(sayable_results(numbers).items()) if low <= value <= high]
    return [value for value, _ in results], list(accumulate(ways for _, ways in results))


def draw(
    *seed_parts: int | str,
    count: int,
    sizes: Sequence[int] = (3, 4),
    values: Sequence[int] = NUMBERS,
    targets: Sequence[int] = TARGETS,
    excluded: Collection[Key] = (),
) -> list[tuple[list[int], int]]:
    """Distinct problems of the laptop task: (numbers in prompt order, target).

    seed_parts: identity of the random stream; a longer set begins with the shorter one of the same stream.
    sizes: how many numbers, uniform among these. values: smallest and largest number, uniform between.
    targets: smallest and largest target. excluded: keys that must not appear.
    The target is the value of one expression drawn uniformly among the writings of these numbers whose values are all
    whole and in 0…100; targets that many expressions reach are thus drawn more often. Up to about 4,000 problems of the
    laptop task look alike; larger sets run out of those with three numbers (34,000 exist in all).
    Raises UserError where so many distinct problems are not found.
    """
    rng = generator("problems", *seed_parts)
    taken = set(excluded)
    problems: list[tuple[list[int], int]] = []
    misses = 0
    while len(problems) < count:
        numbers = rng.integers(values[0], values[1] + 1, size=sizes[rng.integers(len(sizes))]).tolist()
        reached, upto = _lottery(tuple(sorted(numbers)), *targets)
        problem = (numbers, reached[bisect_right(upto, rng.integers(upto[-1]))]) if reached else None
        if problem is None or key(*problem) in taken:
            misses += 1
            if misses > _PATIENCE:
                raise UserError(
                    f"found only {len(problems)} of {count} distinct problems with {' or '.join(map(str, sizes))} "
                    f"numbers ({len(taken) - len(problems)} are excluded); ask for fewer"
                )
            continue
        misses = 0
        taken.add(key(*problem))
        problems.append(problem)
    return problems


def with_splits(problems: "pd.DataFrame", calibration: int) -> "pd.DataFrame":
    """A copy whose first `calibration` rows are in split 'calibration' and whose others are in 'held_out'."""
    if not 0 <= calibration <= len(problems):
        raise UserError(f"cannot put {calibration} of {len(problems)} evaluation problems into the calibration split")
    names = ["calibration"] * calibration + ["held_out"] * (len(problems) - calibration)
    return problems.assign(split=names)


def remove_overlaps(problems: "pd.DataFrame", excluded: Collection[Key]) -> tuple["pd.DataFrame", int]:
    """The rows whose key is not in `excluded`, in order and renumbered, and how many rows were removed."""
    excluded = set(excluded)
    kept = problems[[row not in excluded for row in keys(problems)]].reset_index(drop=True)
    return kept, len(problems) - len(kept)


def remove_duplicates(problems: "pd.DataFrame") -> tuple["pd.DataFrame", int]:
    """The first row of each problem, in order and renumbered, and how many rows were removed."""
    kept = problems.drop_duplicates("problem_id").reset_index(drop=True)
    return kept, len(problems) - len(kept)
