"""The shape of a text, whatever it says: length, fences, and how much of it repeats. All in time linear in the text."""

from collections import Counter
from typing import NamedTuple

FENCE = "```"
PHRASE = 8
"""Words of a phrase."""
SHORTEST_LINE = 12
"""Characters from which on a line that stands more than once counts as repeated."""


class Shape(NamedTuple):
    """characters: of the text. fences: marks of a fence, two a closed block. repeat_ratio: share of the text's phrases
    that stood before, in [0, 1), 0 for fewer than PHRASE words. phrases, lines: how often the commonest phrase, and the
    commonest line of at least SHORTEST_LINE characters, stands there (0 where there is none)."""

    characters: int
    fences: int
    repeat_ratio: float
    phrases: int
    lines: int


def shape_of(text: str) -> Shape:
    """The shape of a completion. Words are what stands between white space; lines are compared without their indent."""
    words = text.split()
    phrases = Counter(zip(*(words[start:] for start in range(PHRASE)), strict=False))
    lines = Counter(bare for line in text.splitlines() if len(bare := line.strip()) >= SHORTEST_LINE)
    total = sum(phrases.values())
    return Shape(
        characters=len(text),
        fences=text.count(FENCE),
        repeat_ratio=1 - len(phrases) / total if total else 0.0,
        phrases=max(phrases.values(), default=0),
        lines=max(lines.values(), default=0),
    )
