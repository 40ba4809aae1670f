"""What the small policy reads and writes: one token per number 0-100, operator, bracket and tag, joined by spaces.

    4 5 7 9 -> 24 <think>                                                                   the prompt
    try 4 * 7 = 28 , 28 - 9 = 19 , 19 + 5 = 24 </think> <answer> 4 * 7 - 9 + 5 </answer>    a completion

Steps stand in the order in which the answer, read from left to right with its brackets, carries them out, so that the
first step of the think part and the opening of the answer agree. An attempt that failed may come first (`try … no .`).
"""

from collections.abc import Iterable, Sequence
from functools import cache

import numpy as np

from workflow_scripts.records.errors import UserError
from workflow_scripts.records.seeds import generator
from workflow_scripts.tasks.countdown.grammar import Expression, parse

LARGEST = 100
"""Largest number that has a token; intermediate values of a text are whole and in 0…LARGEST."""

LEAD = "try"
"""What stands before the first step of an attempt."""

TARGETS = (5, 99)
"""Smallest and largest target of the laptop task."""

NUMBERS = (1, 10)
"""Smallest and largest given number of the laptop task."""

TAGS = ["<pad>", "<unk>", "<eos>", "<think>", "</think>", "<answer>", "</answer>"]
SIGNS = ["->", "try", "no", ".", ",", "=", "(", ")", "+", "-", "*", "/"]
VOCABULARY: list[str] = [*TAGS, *SIGNS, *map(str, range(LARGEST + 1))]
"""Every word of the laptop text, in the order of its token ids."""

_OPERATORS = "+-*/"
_PRECEDENCE = {"+": 1, "-": 1, "*": 2, "/": 2}

_PATIENCE = 1000
"""Rounds in a row without an acceptable text after which there is none."""

Shape = tuple["Shape", "Shape"] | None
"""An ordered binary tree without its labels; None is a number."""


def prompt(numbers: Iterable[int], target: int) -> str:
    """The user's message, `4 5 7 9 -> 24`; the chat template puts ` <think>` behind it."""
    return f"{' '.join(map(str, numbers))} -> {target}"


def think_prompt(numbers: Iterable[int], target: int) -> str:
    """The message as the policy reads it, `4 5 7 9 -> 24 <think>`."""
    return f"{prompt(numbers, target)} <think>"


def spaced(expression: str) -> str:
    """An expression in the policy's words: every token set off by one space, `4*(5+7)` → `4 * ( 5 + 7 )`."""
    for sign in "()+-*/":
        expression = expression.replace(sign, f" {sign} ")
    return " ".join(expression.split())


def solution_completion(expression: str) -> str:
    """The completion that reaches an expressible expression: its steps, then the expression with its own brackets.

    expression: text of the strict grammar, for example a solution's `rendering` or an opening's `witness`.
    Raises UserError where a value on the way is not whole or not in 0…100 (not expressible), Rejected where it does
    not parse.
    """
    steps: list[str] = []

    def walk(node: Expression) -> int:
        if isinstance(node, int):
            value = node
        else:
            operator, left, right = node
            a, b = walk(left), walk(right)
            value = _whole(a, operator, b)
            steps.append(f"{a} {operator} {b} = {value}")
        if value is None or not 0 <= value <= LARGEST:
            raise UserError(f"{expression!r} passes through a value that the text cannot say (whole, 0 to {LARGEST})")
        return value

    walk(parse(expression))
    return f"try {' , '.join(steps)} </think> <answer> {spaced(expression)} </answer>"


def _whole(a: int, operator: str, b: int) -> int | None:
    if operator == "/":
        return a // b if b and a % b == 0 else None
    return a + b if operator == "+" else a - b if operator == "-" else a * b


@cache
def _templates(size: int, shape: int, operators: str) -> tuple[str, str]:
    """Format strings of one tree: its steps (left, right, result of each) and its expression (numbers as written)."""
    pending = iter(operators)

    def walk(node) -> tuple[str, int]:
        if node is None:
            return "%d", 3
        (left, left_rank), (right, right_rank) = walk(node[0]), walk(node[1])
        operator = next(pending)
        rank = _PRECEDENCE[operator]
        # A right operand of equal rank keeps its brackets even under + and *: else another step would come first.
        left = f"( {left} )" if left_rank < rank else left
        right = f"( {right} )" if right_rank <= rank else right
        return f"{left} {operator} {right}", rank

    expression = walk(_shapes(size)[0][shape])[0]
    return "try " + " , ".join(f"%d {operator} %d = %d" for operator in operators), expression


@cache
def _shapes(size: int) -> tuple[tuple[Shape, ...], tuple[float, ...]]:
    """All shapes over `size` numbers and the chance that merging random pairs builds each (any root split alike)."""
    if size == 1:
        return (None,), (1.0,)
    shapes, chances = [], []
    for cut in range(1, size):
        for left, left_chance in zip(*_shapes(cut)):
            for right, right_chance in zip(*_shapes(size - cut)):
                shapes.append((left, right))
                chances.append(left_chance * right_chance / (size - 1))
    return tuple(shapes), tuple(chances)


def _random_steps(rng: np.random.Generator, numbers: np.ndarray) -> tuple[np.ndarray, ...]:
    """One random ordered tree over each row of `numbers` (rows, n); each operator among those with a sayable result.

    Returns shapes (rows,), operators (rows, n-1) as indices of `+-*/`, values (rows, 3(n-1) + n): operands and result
    of each step, then the numbers as written; and whether the row could be finished (rows,).
    """
    rows, size = numbers.shape
    trees, chances = _shapes(size)
    shapes = rng.choice(len(trees), size=rows, p=chances)
    written = rng.permuted(numbers, axis=1)
    draws = rng.random((rows, size - 1))
    operators = np.zeros((rows, size - 1), dtype=np.int64)
    values = np.zeros((rows, 3 * (size - 1) + size), dtype=np.int64)
    values[:, 3 * (size - 1) :] = written
    finished = np.ones(rows, dtype=bool)
    for shape, tree in enumerate(trees):
        chosen = np.flatnonzero(shapes == shape)
        leaves, step = iter(written[chosen].T), iter(range(size - 1))

        def walk(node, chosen=chosen, leaves=leaves, step=step) -> np.ndarray:
            if node is None:
                return next(leaves)
            a, b = walk(node[0]), walk(node[1])
            at = next(step)
            divisor = np.maximum(b, 1)
            results = np.stack([a + b, a - b, a * b, a // divisor])
            sayable = (results >= 0) & (results <= LARGEST)
            sayable[3] &= (b > 0) & (a % divisor == 0)
            rank = np.floor(draws[chosen, at] * sayable.sum(axis=0))
            # the operator is number `rank` of the sayable ones
            picked = np.argmax(sayable & (np.cumsum(sayable, axis=0) - 1 == rank), axis=0)
            result = results[picked, np.arange(len(chosen))]
            finished[chosen] &= sayable.any(axis=0)
            operators[chosen, at] = picked
            values[chosen, 3 * at : 3 * at + 3] = np.stack([a, b, result], axis=1)
            return np.clip(result, 0, LARGEST)

        walk(tree)
    return shapes, operators, values, finished


def _written(size: int, drawn: tuple[np.ndarray, ...]) -> list[tuple[str, str, int]]:
    """(steps, expression, result) texts of drawn trees."""
    shapes, operators, values, _ = drawn
    cut = 3 * (size - 1)
    texts = []
    for shape, codes, row in zip(shapes.tolist(), operators.tolist(), values.tolist()):
        steps, expression = _templates(size, shape, "".join([_OPERATORS[code] for code in codes]))
        texts.append((steps % tuple(row[:cut]), expression % tuple(row[cut:]), row[cut - 1]))
    return texts


def traces(
    *seed_parts: int | str,
    count: int,
    excluded: Iterable[tuple[tuple[int, ...], int]] = (),
    sizes: Sequence[int] = (3, 4),
    values: Sequence[int] = NUMBERS,
    targets: Sequence[int] = TARGETS,
    stated: float = 0.30,
    failed: float = 0.25,
) -> list[tuple[str, str]]:
    """Random pretraining texts: numbers and operators drawn, arithmetic right, the target met only in some.

    seed_parts: identity of the random stream.  count: texts wanted.
    excluded: problem keys (sorted numbers, target) that no text may touch, be it by its stated target or by a value
    that one of its attempts reaches.
    sizes: how many numbers, uniform among these. values: smallest and largest number, uniform between.
    targets: smallest and largest target.
    stated: share whose stated target is the result (else it is uniform in `targets`).
    failed: share that begins with one failed attempt.
    Returns [(prompt with ` <think>`, completion without end token)].
    Raises UserError where such texts are not found.
    """
    rng = generator("traces", *seed_parts)
    excluded = set(excluded)
    chosen = rng.choice(np.array(sizes), size=count)
    meets = rng.random(count) < stated
    fails = rng.random(count) < failed
    texts: list[tuple[str, str]] = [("", "")] * count
    for size in sorted(set(sizes)):
        pending, idle = np.flatnonzero(chosen == size), 0
        while len(pending):
            numbers = rng.integers(values[0], values[1] + 1, size=(len(pending), size))
            drawn = rng.integers(targets[0], targets[1] + 1, size=len(pending))
            final, first = _random_steps(rng, numbers), _random_steps(rng, numbers)
            finished = final[3] & first[3]
            rows = zip(
                pending.tolist(),
                numbers.tolist(),
                drawn.tolist(),
                finished.tolist(),
                _written(size, final),
                _written(size, first),
            )
            again = []
            for index, given, target, whole, (steps, answer, result), (try_steps, _, try_result) in rows:
                if meets[index]:
                    target = result
                reached = {target, result, try_result} if fails[index] else {target, result}
                fit = whole and targets[0] <= target <= targets[1] and not (fails[index] and try_result == target)
                key = tuple(sorted(given))
                if not fit or (excluded and any((key, value) in excluded for value in reached)):
                    again.append(index)
                    continue
                before = f"{try_steps} no . " if fails[index] else ""
                texts[index] = (think_prompt(given, target), f"{before}{steps} </think> <answer> {answer} </answer>")
            idle = idle + 1 if len(again) == len(pending) else 0
            if idle > _PATIENCE:
                raise UserError(f"found no texts with {size} numbers in {values} and targets in {targets}; widen them")
            pending = np.array(again, dtype=np.int64)
    return texts
