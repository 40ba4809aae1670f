"""Ten kinds of short scientific problem: numbers, wordings, right programs, and a second way to the answer.

A program is a tuple of lines, the body of `answer`; words stand between blanks, `>` at the start of a line indents it
further, letters in braces stand for the problem's numbers. `value` works the answer out apart from the programs.
"""

from collections.abc import Callable
from typing import Any, NamedTuple

Body = tuple[str, ...]


class ShortFamily(NamedTuple):
    """A kind of problem.

    kind: of its check (problems.KINDS). ranges: smallest and largest value of each letter. wordings: of training and
    evaluation; unseen: of the official-style set. bodies: right programs, the reference first. value: the answer, from
    the letters' values. quantity: words for comments and prose.
    """

    name: str
    topic: str
    kind: str
    ranges: dict[str, tuple[int, int]]
    wordings: tuple[str, ...]
    unseen: str
    bodies: tuple[Body, ...]
    value: Callable[..., Any]
    quantity: str


def _kinetic(m: int, v: int) -> float:
    return 0.5 * m * v * v


def _gas(n: int, t: int, v: int) -> float:
    return (t / v) * (8.0 * n)


def _lens(a: int, b: int) -> float:
    return 1.0 / (1.0 / a + 1.0 / b)


def _gap(d: int, g: int) -> int:
    # Of the matrix [[d, 2 g], [2 g, -d]] / 2: (difference of eigenvalues)² = trace² - 4 determinant
    trace, four_determinants = d - d, d * -d - (2 * g) * (2 * g)
    return trace * trace - four_determinants


def _partition(a: int, b: int, w: int) -> int:
    return sum([1] * a + [w] * b)


def _degeneracy(n: int, s: int) -> int:
    states = [(i, j) for i in range(n + 1) for j in range(n + 1 - i)]
    return s * len(states)


def _minimum(a: int, b: int) -> int:
    # The parabola's vertex is at a / 2: its nearest grid point on the left, or the end of the grid
    x = min(a // 2, b)
    return x * x - a * x


def _recurrence(x: int, b: int, c: int, k: int) -> int:
    return x if k == 0 else _recurrence(b * x + c, b, c, k - 1)


def _harmonics(f: int, k: int) -> list[int]:
    found = [f]
    while len(found) < k:
        found.append(found[-1] + f)
    return found


def _projections(j: int, h: int) -> list[int]:
    upper = [h * m for m in range(1, j + 1)]
    return [-m for m in reversed(upper)] + [0] + upper


SHORT_FAMILIES: tuple[ShortFamily, ...] = (
    ShortFamily(
        "kinetic", "mechanics", "numeric", {"m": (1, 20), "v": (2, 20)},
        ("mass {m} kg and speed {v} . kinetic energy ?", "kinetic energy of {m} kg at speed {v} ?"),
        "a body of {m} kg moves at speed {v} . its kinetic energy is wanted",
        (("return {m} * {v} ** 2 / 2",), ("return {m} * {v} * {v} / 2",)),
        _kinetic, "kinetic energy",
    ),
    ShortFamily(
        "gas", "thermodynamics", "numeric", {"n": (1, 9), "t": (10, 60), "v": (2, 9)},
        ("{n} mol at {t} K in volume {v} . pressure ?", "pressure of {n} mol in volume {v} at {t} K ?"),
        "a gas of {n} mol fills volume {v} at {t} K . its pressure is wanted",
        (("return {n} * 8 * {t} / {v}",), ("return 8 * {t} * {n} / {v}",)),
        _gas, "pressure",
    ),
    ShortFamily(
        "lens", "optics", "numeric", {"a": (2, 40), "b": (2, 40)},
        ("object at {a} and image at {b} . focal length ?", "focal length for object at {a} and image at {b} ?"),
        "a lens puts the image at {b} for an object at {a} . its focal length is wanted",
        (("return {a} * {b} / ( {a} + {b} )",), ("return 1 / ( 1 / {a} + 1 / {b} )",)),
        _lens, "focal length",
    ),
    ShortFamily(
        "gap", "quantum mechanics", "numeric", {"d": (1, 20), "g": (1, 12)},
        ("two levels of detuning {d} and coupling {g} . squared gap ?",
         "squared gap for coupling {g} and detuning {d} ?"),
        "two levels have detuning {d} and are mixed by coupling {g} . their squared gap is wanted",
        (("return {d} ** 2 + 4 * {g} ** 2",), ("return {d} * {d} + 4 * {g} * {g}",)),
        _gap, "squared gap",
    ),
    ShortFamily(
        "partition", "statistical mechanics", "numeric", {"a": (1, 20), "b": (1, 20), "w": (2, 9)},
        ("{a} ground states and {b} states of weight {w} . partition sum ?",
         "partition sum of {b} states of weight {w} and {a} ground states ?"),
        "a system has {b} states of weight {w} over {a} ground states . its partition sum is wanted",
        (("return {a} + {b} * {w}",), ("return {w} * {b} + {a}",)),
        _partition, "partition sum",
    ),
    ShortFamily(
        "degeneracy", "quantum mechanics", "numeric", {"n": (1, 20), "s": (2, 9)},
        ("oscillator level {n} with {s} spin states . degeneracy ?", "degeneracy of level {n} with {s} spin states ?"),
        "an oscillator of {s} spin states is in level {n} . its degeneracy is wanted",
        (("return {s} * ( {n} + 1 ) * ( {n} + 2 ) // 2",), ("return {s} * sum ( range ( {n} + 2 ) )",)),
        _degeneracy, "degeneracy",
    ),
    ShortFamily(
        "minimum", "numerical methods", "numeric", {"a": (2, 20), "b": (3, 20)},
        ("potential x * x - {a} * x on the grid 0 to {b} . lowest value ?",
         "lowest value of x * x - {a} * x on the grid 0 to {b} ?"),
        "a potential x * x - {a} * x is known on the grid 0 to {b} . its lowest value is wanted",
        (("return min ( x * x - {a} * x for x in range ( {b} + 1 ) )",),
         ("y = [ x * x - {a} * x for x in range ( {b} + 1 ) ]", "return min ( y )")),
        _minimum, "lowest value",
    ),
    ShortFamily(
        "recurrence", "dynamics", "numeric", {"x": (1, 9), "b": (2, 5), "c": (1, 9), "k": (2, 5)},
        ("x starts at {x} and goes to {b} * x + {c} . x after {k} steps ?",
         "x after {k} steps of {b} * x + {c} from {x} ?"),
        "a population x of {x} goes to {b} * x + {c} each year . it is wanted after {k} steps",
        (("x = {x}", "for i in range ( {k} ) :", "> x = {b} * x + {c}", "return x"),
         ("return {b} ** {k} * {x} + {c} * sum ( {b} ** i for i in range ( {k} ) )",)),
        _recurrence, "last value",
    ),
    ShortFamily(
        "harmonics", "waves", "sequence", {"f": (2, 30), "k": (2, 8)},
        ("string of frequency {f} . list the first {k} harmonics ?",
         "list the first {k} harmonics of frequency {f} ?"),
        "a string sounds at frequency {f} . a list of its first {k} harmonics is wanted",
        (("return [ {f} * i for i in range ( 1 , {k} + 1 ) ]",),
         ("return list ( range ( {f} , {f} * {k} + 1 , {f} ) )",)),
        _harmonics, "harmonics",
    ),
    ShortFamily(
        "projections", "quantum mechanics", "sequence", {"j": (1, 12), "h": (2, 12)},
        ("spin {j} in units of {h} . list the projections ?", "list the projections of spin {j} in units of {h} ?"),
        "a spin {j} is measured in units of {h} . a list of its projections is wanted",
        (("return [ {h} * m for m in range ( - {j} , {j} + 1 ) ]",),
         ("return list ( range ( - {h} * {j} , {h} * {j} + 1 , {h} ) )",)),
        _projections, "projections",
    ),
)  # fmt: skip

BY_NAME = {family.name: family for family in SHORT_FAMILIES}

DISTRACTORS = (
    "the room is at {p} K and the clock shows {q} .",
    "an older run had {p} counts in {q} hours .",
    "the cable is {p} long and the table {q} wide .",
    "note that {p} of {q} sensors are off .",
)
"""Sentences of official-style problems that have nothing to do with what is asked; {p}, {q}: decoy numbers."""
