"""A reward: weighted terms, summed in groups, joined with a base, less penalties, under caps.

`specifications` says how one is written down.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass

from workflow_scripts.tasks.scicode.rewards.conditions import Measure
from workflow_scripts.tasks.scicode.rewards.evidence import Evidence

Weighed = tuple[tuple[Measure, float], ...]


@dataclass(frozen=True)
class Sum:
    """Weighted measures and further sums, cut at `most`."""

    weights: Weighed
    groups: "tuple[Sum, ...]" = ()
    most: float = math.inf

    def of(self, evidence: Evidence) -> float:
        weighed = math.fsum(weight * measure.of(evidence) for measure, weight in self.weights)
        return min(weighed + math.fsum(group.of(evidence) for group in self.groups), self.most)


@dataclass(frozen=True)
class Part:
    """One way of scoring. base: a sum, or another reward's score. highest: the higher of base and own sum counts, not
    both together. caps: conditions and maxima."""

    base: Callable[[Evidence], float] | None
    own: Sum
    highest: bool
    bonus: Sum
    penalties: Sum
    caps: Weighed

    def of(self, evidence: Evidence) -> float:
        own = self.own.of(evidence)
        base = self.base(evidence) if self.base else 0.0
        score = max(base, own) if self.highest else base + own
        score += self.bonus.of(evidence) - self.penalties.of(evidence)
        # Rounded, so that 0.45 + 0.02 is 0.47 and equal scores are equal.
        return round(min([score, *(most for holds, most in self.caps if holds.of(evidence))]), 12)


@dataclass(frozen=True)
class Composition:
    """A reward. judge: the kind of judge it needs, '' for none. accept: score that it takes for right."""

    name: str
    right: Part
    wrong: Part
    rejects: Weighed = ()
    judge: str = ""
    largest: float = 1.0
    accept: float = 1.0

    @property
    def needs_judge(self) -> bool:
        return bool(self.judge)

    def rejected(self, evidence: Evidence) -> float | None:
        """The score of a completion that no judge needs to see; None for any other."""
        return next((score for holds, score in self.rejects if holds.of(evidence)), None)

    def score(self, evidence: Evidence) -> float | None:
        """In [0, largest]; None where the judge that it needs said nothing: an outage is no score. Ask again, or drop
        the completion."""
        refused = self.rejected(evidence)
        if refused is not None:
            return refused
        if self.judge and (evidence.judgement is None or evidence.judgement.kind != self.judge):
            return None
        # A judged reward has one part: it never sees the verdict.
        part = self.right if not self.judge and evidence.verdict.correct else self.wrong
        return min(max(part.of(evidence), 0.0), self.largest)
