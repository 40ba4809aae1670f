"""The paper's claims as rows: what is measured, which way it should go, and what the paper found.

Rows say what would decide a claim before anything runs; measures/verdicts.py applies the rule to measured numbers.
"""

import math
from dataclasses import dataclass
from typing import Literal


@dataclass(frozen=True)
class Part:
    """One quantity and what is claimed of it.

    measure: its name in the frame of estimands. kind: `directional` (a sign is claimed) or `null` (within ± margin is
    claimed). before, after: the points of the line that are compared. words: the quantity in words, where it is no
    difference of the measure. line: the training line it is read on, where that is not the claim's.
    """

    measure: str
    kind: Literal["directional", "null"] = "directional"
    sign: Literal[-1, 1] = 1
    margin: float = math.nan
    before: str = "early"
    after: str = "late"
    words: str = ""
    line: str = ""

    def rule(self, confidence: float) -> str:
        """The decision rule in words."""
        quantity = self.words or f"{self.measure}({self.after}) − {self.measure}({self.before})"
        quantity += f" of line {self.line}" if self.line else ""
        interval = f"the {100 * confidence:g} % interval of {quantity}"
        if self.kind == "null":
            return f"confirmed if {interval} lies inside ±{self.margin:g}, refuted if wholly outside"
        side, other = ("above", "below") if self.sign > 0 else ("below", "above")
        return f"confirmed if {interval} lies {side} 0, refuted if wholly {other}"


@dataclass(frozen=True)
class Claim:
    """One row of the scorecard.

    line: the training line it is read on. computed_by: the workflow's rule that measures it. parts: all must hold; the
    first one's numbers stand in the row. beside: measures that the note reports without their deciding anything.
    remark: ends the note.
    """

    id: str
    statement: str
    paper: str
    line: str
    computed_by: str
    parts: tuple[Part, ...]
    beside: tuple[str, ...] = ()
    remark: str = ""
