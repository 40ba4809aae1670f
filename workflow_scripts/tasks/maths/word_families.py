"""A dozen kinds of word problem: numbers, wordings, and every way of working them out.

A family declares its question and all formulas that are equal for whatever numbers it draws. A formula is a tree; the
orders in which its operations can be carried out are its routes, so that `a*b + c*d` has two and can be opened by
either product. Where `(a+b)*c = a*c + b*c`, or `t - x - y` in any order, the formulas differ and so do the openings.
"""

from typing import NamedTuple

Tree = str | int | tuple[str, "Tree", "Tree"]
"""A letter (one of the family's numbers), a constant, or (operator, left, right)."""

NAMES = ("ann", "tom", "sam", "eva")
THINGS = ("pens", "cups", "books", "cards")
UNSEEN_NAMES = ("ben", "kim", "lea")
UNSEEN_THINGS = ("coins", "eggs")


class Family(NamedTuple):
    """A kind of problem.

    ranges: smallest and largest value of each letter, in the order in which the question says them. wide: the same for
    larger numbers. formulas: all equal. wordings: question templates with {a}, {b} … for letters, {X}, {Y}, {Z} for
    different names, {O}, {P} for different things. unseen: a wording that no training problem has.
    """

    name: str
    ranges: dict[str, tuple[int, int]]
    wide: dict[str, tuple[int, int]]
    formulas: tuple[Tree, ...]
    wordings: tuple[str, ...]
    unseen: str


def _sums(first: Tree, second: Tree, third: Tree) -> tuple[Tree, ...]:
    """Three things added up, any two of them first."""
    return (
        ("+", ("+", first, second), third),
        ("+", ("+", second, third), first),
        ("+", ("+", first, third), second),
    )


FAMILIES: tuple[Family, ...] = (
    Family(
        "shopping",
        {"a": (2, 9), "b": (2, 9), "c": (2, 9), "d": (2, 9)},
        {"a": (4, 10), "b": (4, 10), "c": (3, 9), "d": (3, 9)},
        (("+", ("*", "a", "b"), ("*", "c", "d")),),
        (
            "{X} buys {a} {O} at {b} each and {c} {P} at {d} each . how much is it in all ?",
            "{a} {O} at {b} each and {c} {P} at {d} each are how much in all ?",
        ),
        "how much is it in all for {a} {O} at {b} each and {c} {P} at {d} each ?",
    ),
    Family(
        "groups",
        {"a": (2, 9), "b": (2, 9), "c": (2, 9)},
        {"a": (4, 10), "b": (4, 10), "c": (4, 9)},
        (("*", ("+", "a", "b"), "c"), ("+", ("*", "a", "c"), ("*", "b", "c"))),
        (
            "{a} boys and {b} girls get {c} {O} each . how many {O} in all ?",
            "{X} has {a} bags and {Y} has {b} bags of {c} {O} each . how many {O} in all ?",
        ),
        "how many {O} in all if {X} gives {a} boys and {b} girls {c} each ?",
    ),
    Family(
        "left",
        {"a": (15, 60), "b": (2, 30), "c": (2, 30)},
        {"a": (61, 100), "b": (10, 40), "c": (10, 40)},
        (("-", ("-", "a", "b"), "c"), ("-", ("-", "a", "c"), "b"), ("-", "a", ("+", "b", "c"))),
        (
            "{X} has {a} {O} , gives {b} to {Y} and {c} to {Z} . how many {O} are left ?",
            "of {a} {O} {X} gets {b} and {Y} gets {c} . how many {O} are left ?",
        ),
        "how many of {a} {O} are left if {X} gets {b} and {Y} gets {c} ?",
    ),
    Family(
        "together",
        {"a": (3, 30), "b": (3, 30), "c": (3, 30)},
        {"a": (12, 40), "b": (12, 40), "c": (10, 35)},
        _sums("a", "b", "c"),
        (
            "{X} has {a} {O} , {Y} has {b} and {Z} has {c} . how many {O} in all ?",
            "{X} buys {a} {O} , then {b} , then {c} more . how many {O} in all ?",
        ),
        "how many {O} in all if {X} has {a} , {Y} {b} and {Z} {c} ?",
    ),
    Family(
        "sharing",
        {"a": (2, 9), "b": (2, 9), "c": (2, 6)},
        {"a": (5, 12), "b": (6, 12), "c": (2, 9)},
        (
            ("/", ("*", "a", "b"), "c"),
            ("*", "a", ("/", "b", "c")),
            ("*", ("/", "a", "c"), "b"),
            ("/", "a", ("/", "c", "b")),
            ("/", "b", ("/", "c", "a")),
        ),
        (
            "{a} bags of {b} {O} are shared by {c} boys . how many {O} each ?",
            "{c} girls get {a} bags of {b} {O} . how many {O} each ?",
        ),
        "how many {O} each if {a} bags of {b} are shared by {c} girls ?",
    ),
    Family(
        "rates",
        {"a": (4, 15), "b": (2, 10), "c": (2, 8)},
        {"a": (8, 24), "b": (2, 9), "c": (4, 8)},
        (("*", ("-", "a", "b"), "c"), ("-", ("*", "a", "c"), ("*", "b", "c"))),
        (
            "{X} makes {a} {O} a day and {Y} makes {b} a day . how many more has {X} in {c} days ?",
            "each day {X} gets {a} {O} and gives {b} to {Y} . how many {O} are left in {c} days ?",
        ),
        "how many more {O} has {X} than {Y} in {c} days if {X} makes {a} and {Y} {b} a day ?",
    ),
    Family(
        "perimeter",
        {"a": (3, 22), "b": (2, 10)},
        {"a": (16, 34), "b": (8, 18)},
        (
            ("*", ("+", "a", "b"), 2),
            ("+", ("*", "a", 2), ("*", "b", 2)),
            ("+", ("+", "a", "a"), ("+", "b", "b")),
            ("+", ("+", ("+", "a", "b"), "a"), "b"),
        ),
        (
            "a garden is {a} long and {b} wide . how long is the way around ?",
            "the way around a garden {a} long and {b} wide is how long ?",
        ),
        "how long is the way around if a garden is {b} wide and {a} long ?",
    ),
    Family(
        "change",
        {"a": (20, 60), "b": (2, 7), "c": (2, 7), "d": (2, 15)},
        {"a": (61, 100), "b": (3, 8), "c": (3, 8), "d": (5, 25)},
        (
            ("-", ("-", "a", ("*", "b", "c")), "d"),
            ("-", ("-", "a", "d"), ("*", "b", "c")),
            ("-", "a", ("+", ("*", "b", "c"), "d")),
        ),
        (
            "{X} has {a} , buys {b} {O} at {c} each and a bag for {d} . how much is left ?",
            "{X} gets {b} {O} at {c} each and a bag for {d} from {a} . how much is left ?",
        ),
        "how much is left of {a} if {X} buys a bag for {d} and {b} {O} at {c} each ?",
    ),
    Family(
        "ages",
        {"a": (4, 22), "b": (2, 16)},
        {"a": (20, 40), "b": (8, 25)},
        (("+", "a", ("+", "a", "b")), ("+", ("+", "a", "a"), "b"), ("+", ("*", "a", 2), "b")),
        (
            "{X} is {a} years old . {Y} is {b} years older . how old are {X} and {Y} in all ?",
            "{X} has {a} {O} and {Y} has {b} more than {X} . how many {O} in all ?",
        ),
        "how many {O} in all if {Y} has {b} more than {X} and {X} has {a} ?",
    ),
    Family(
        "exchange",
        {"a": (8, 50), "b": (2, 30), "c": (2, 30)},
        {"a": (35, 80), "b": (8, 35), "c": (8, 35)},
        (
            ("+", ("-", "a", "b"), "c"),
            ("-", ("+", "a", "c"), "b"),
            ("+", "a", ("-", "c", "b")),
            ("-", "a", ("-", "b", "c")),
            ("-", "c", ("-", "b", "a")),
        ),
        (
            "{X} has {a} {O} , gives {b} to {Y} and gets {c} from {Z} . how many {O} has {X} then ?",
            "{X} has {a} {O} , gets {c} more and gives {b} to {Y} . how many {O} are left ?",
        ),
        "how many {O} has {X} then if {X} has {a} , gets {c} from {Y} and gives {b} to {Z} ?",
    ),
    Family(
        "boxes",
        {"a": (2, 10), "b": (2, 10), "c": (2, 10)},
        {"a": (3, 8), "b": (3, 8), "c": (2, 8)},
        (
            ("*", ("*", "a", "b"), "c"),
            ("*", ("*", "b", "c"), "a"),
            ("*", ("*", "a", "c"), "b"),
        ),
        (
            "{X} has {a} bags with {b} rows of {c} {O} . how many {O} in all ?",
            "{a} girls get {b} bags each with {c} {O} in each . how many {O} in all ?",
        ),
        "how many {O} in all are in {b} rows of {c} in each of {a} bags ?",
    ),
    Family(
        "net",
        {"a": (3, 8), "b": (3, 8), "c": (2, 6), "d": (2, 6)},
        {"a": (7, 10), "b": (7, 10), "c": (2, 7), "d": (2, 7)},
        (("-", ("*", "a", "b"), ("*", "c", "d")),),
        (
            "{X} has {a} bags of {b} {O} and gives {c} bags of {d} to {Y} . how many {O} are left ?",
            "{X} makes {a} {O} a day in {b} days and gives {c} a day in {d} days . how many {O} are left ?",
        ),
        "how many {O} are left if {X} gives {c} bags of {d} from {a} bags of {b} ?",
    ),
)
"""In the order in which balanced sets go through them."""

BY_NAME = {family.name: family for family in FAMILIES}
