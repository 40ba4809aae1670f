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
    difference of the measure.
    """

    measure: str
    kind: Literal["directional", "null"] = "directional"
    sign: Literal[-1, 1] = 1
    margin: float = math.nan
    before: str = "early"
    after: str = "late"
    words: str = ""

    def rule(self, confidence: float) -> str:
        """The decision rule in words."""
        quantity = self.words or f"{self.measure}({self.after}) − {self.measure}({self.before})"
        interval = f"the {100 * confidence:g} % interval of {quantity}"
        if self.kind == "null":
            return f"confirmed if {interval} lies inside ±{self.margin:g}, refuted if wholly outside"
        side, other = ("above", "below") if self.sign > 0 else ("below", "above")
        return f"confirmed if {interval} lies {side} 0, refuted if wholly {other}"


@dataclass(frozen=True)
class Claim:
    """One row of the scorecard.

    line: the training line it is read on. parts: all must hold; the first one's numbers stand in the row. beside:
    measures that the note reports without their deciding anything. remark: ends the note.
    """

    id: str
    statement: str
    paper: str
    line: str
    parts: tuple[Part, ...]
    beside: tuple[str, ...] = ()
    remark: str = ""


CLAIMS = (
    Claim(
        "C01",
        "PPO raises precision and narrows breadth",
        "pass@1 base .001, step 50 .051, step 150 .323; Cov@320 .337 (50) → .111 (275), −67 %",
        "ppo",
        (Part("coverage_paper", sign=-1), Part("pass@1", sign=1)),
        ("coverage_formula",),
    ),
    Claim(
        "C02",
        "GRPO raises precision and narrows breadth",
        "pass@1 .121 → .429; Cov@320 .467 → .268, −43 %",
        "grpo",
        (Part("coverage_paper", sign=-1), Part("pass@1", sign=1)),
        ("coverage_formula",),
    ),
    Claim(
        "C03",
        "Answers use fewer entrance families",
        "GRPO family coverage .932 → .571",
        "grpo",
        (Part("family_coverage", sign=-1),),
        ("family_coverage_all", "opening_coverage", "opening_coverage_all"),
        "families of valid answers decide; _all counts invalid answers too, as the paper's code does",
    ),
    Claim(
        "C04",
        "Entrance entropy falls",
        "GRPO 1.585 → .760 nats",
        "grpo",
        (Part("entropy_think", sign=-1),),
        ("entropy_answer", "entropy_think_correct"),
    ),
    Claim(
        "C05",
        "Breadth falls on problems solved at both ends: it is no forgetting of hard problems",
        "58 such problems: coverage .564 → .286",
        "ppo",
        (Part("coverage_paper_survivors", sign=-1),),
        ("coverage_formula_survivors",),
    ),
    Claim(
        "C06",
        "Solutions turn over faster than problems",
        "31 % of early leaves seen late; 64 % of problems kept",
        "ppo",
        (Part("retention_gap", sign=-1, words="leaf retention − problem retention"),),
        (),
        "leaves cannot be kept more often than their problem is, so the size of the gap tells more than its sign",
    ),
    Claim(
        "C07",
        "Lost problems stay lost under more sampling",
        "33 problems, none recovered at 2,048 samples",
        "ppo",
        (Part("lost_recovered", kind="null", margin=0.1, words="the share of lost problems that more samples solve"),),
        ("lost_format_rate",),
        "exact binomial interval over problems: a bootstrap of zeros would have no width",
    ),
    Claim(
        "C08",
        "Zero access is real, not sampling noise",
        "336 of 337 missing families missing again in an independent 512-sample half; bound .0058",
        "ppo",
        (
            Part(
                "missing_reappeared",
                kind="null",
                margin=0.05,
                words="the share of missing entrances (openings of the think part) that an independent half shows",
            ),
        ),
        (),
        "exact binomial interval over entrances",
    ),
)
"""The claims about breadth."""
