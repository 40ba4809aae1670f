"""Countdown problems: identity, the seeded laptop generator, disjoint training and evaluation sets.

Tables have the columns of records/schemas.py PROBLEMS. Readers of files are in problem_files.py.
"""

from collections.abc import Collection, Iterable, Iterator, Sequence
from functools import cache
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
def sayable_results(numbers: tuple[int, ...]) -> tuple[int, ...]:
    """Values, ascending, that expressions over all of `numbers` (sorted) reach through whole values in 0…100 only.

    Cached: the laptop task has fewer than 1,000 multisets of numbers.
    """
    if len(numbers) == 1:
        return numbers if 0 <= numbers[0] <= LARGEST else ()
    reached: set[int] = set()
    for left, right in _bipartitions(numbers):
        for a in sayable_results(left):
            for b in sayable_results(right):
                high, low = (a, b) if a >= b else (b, a)
                reached.add(high - low)
                if a + b <= LARGEST:
                    reached.add(a + b)
                if a * b <= LARGEST:
                    reached.add(a * b)
                if low and high % low == 0:
                    reached.add(high // low)
                if not low and high:
                    reached.add(0)
    return tuple(sorted(reached))


def _bipartitions(numbers: tuple[int, ...]) -> Iterator[tuple[tuple[int, ...], tuple[int, ...]]]:
    """Unordered splits into two non-empty parts, repeats removed."""
    seen = set()
    for mask in range(1, 2 ** (len(numbers) - 1)):
        left = tuple(x for i, x in enumerate(numbers) if mask >> i & 1)
        right = tuple(x for i, x in enumerate(numbers) if not mask >> i & 1)
        if (left, right) not in seen:
            seen.add((left, right))
            yield left, right


def draw(
    *seed_parts: int | str, count: int, sizes: Sequence[int] = (3, 4), excluded: Collection[Key] = ()
) -> list[tuple[list[int], int]]:
    """Distinct problems of the laptop task: (numbers in prompt order, target).

    seed_parts: identity of the random stream; a longer set begins with the shorter one of the same stream.
    sizes: how many numbers, drawn uniformly among these; each number is uniform in 1…10.
    excluded: keys that must not appear.
    The target is uniform among those in 5…99 that an expression with whole intermediate values in 0…100 reaches.
    Raises UserError where so many distinct problems do not exist.
    """
    rng = generator("problems", *seed_parts)
    taken = set(excluded)
    problems: list[tuple[list[int], int]] = []
    misses = 0
    while len(problems) < count:
        numbers = rng.integers(NUMBERS[0], NUMBERS[1] + 1, size=sizes[rng.integers(len(sizes))]).tolist()
        targets = [value for value in sayable_results(tuple(sorted(numbers))) if TARGETS[0] <= value <= TARGETS[1]]
        problem = (numbers, targets[rng.integers(len(targets))]) if targets else None
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


def evaluation_set(seed: int | str, size: int = 150, calibration: int = 50) -> "pd.DataFrame":
    """Laptop evaluation problems in two splits: `calibration` rows first, the rest `held_out` (draws are independent).

    Raises UserError unless 0 <= calibration <= size.
    """
    drawn = table(draw("evaluation", seed, count=size), "held_out")
    return with_splits(drawn, calibration)


def with_splits(problems: "pd.DataFrame", calibration: int) -> "pd.DataFrame":
    """A copy whose first `calibration` rows are in split 'calibration' and whose others are in 'held_out'."""
    if not 0 <= calibration <= len(problems):
        raise UserError(f"cannot put {calibration} of {len(problems)} evaluation problems into the calibration split")
    names = ["calibration"] * calibration + ["held_out"] * (len(problems) - calibration)
    return problems.assign(split=names)


def training_set(seed: int | str, size: int, excluded: Collection[Key], split: str = "train") -> "pd.DataFrame":
    """Laptop training problems, distinct and disjoint by key from `excluded` (the keys of every evaluation set)."""
    return table(draw("training", seed, count=size, excluded=excluded), split)


def remove_overlaps(problems: "pd.DataFrame", excluded: Collection[Key]) -> tuple["pd.DataFrame", int]:
    """The rows whose key is not in `excluded`, in order and renumbered, and how many rows were removed."""
    excluded = set(excluded)
    kept = problems[[row not in excluded for row in keys(problems)]].reset_index(drop=True)
    return kept, len(problems) - len(kept)


def remove_duplicates(problems: "pd.DataFrame") -> tuple["pd.DataFrame", int]:
    """The first row of each problem, in order and renumbered, and how many rows were removed."""
    kept = problems.drop_duplicates("problem_id").reset_index(drop=True)
    return kept, len(problems) - len(kept)
