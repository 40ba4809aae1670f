"""The decision rule: from intervals to `confirmed`, `refuted`, `inconclusive` or `not run`, one row per claim."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import replace

import pandas as pd

from workflow_scripts.measures.claims import Claim, Part
from workflow_scripts.measures.paper_claims import CLAIMS
from workflow_scripts.records.errors import UserError

CONFIRMED, REFUTED, INCONCLUSIVE, NOT_RUN = "confirmed", "refuted", "inconclusive", "not run"

COLUMNS = ("id", "statement", "paper", "measured", "low", "high", "verdict", "rule", "computed_by", "note")
"""Of claims.csv."""

ESTIMANDS = ("line", "before", "after", "measure", "start", "end", "estimate", "low", "high", "problems")
"""Columns of the frame that `evaluate` reads: those of comparison.contrasts, and the line."""


def verdict(kind: str, low: float, high: float, *, sign: int = 1, margin: float = math.nan) -> str:
    """Decision on one quantity from its interval.

    directional: confirmed when the interval lies beyond 0 on the side of `sign`, refuted when wholly on the other.
    null: confirmed when it lies inside ± margin, refuted when wholly outside. Otherwise, and without an interval (NaN),
    inconclusive. Raises ValueError for another kind or sign, and for a null claim without a margin above 0.
    """
    if kind == "directional":
        if sign not in (-1, 1):
            raise ValueError(f"sign must be 1 or -1, not {sign}")
        low, high = (low, high) if sign > 0 else (-high, -low)
        return CONFIRMED if low > 0 else REFUTED if high < 0 else INCONCLUSIVE
    if kind != "null":
        raise ValueError(f"kind must be directional or null, not {kind!r}")
    if not margin > 0:
        raise ValueError("a null claim needs a margin above 0")
    if -margin < low and high < margin:
        return CONFIRMED
    return REFUTED if low > margin or high < -margin else INCONCLUSIVE


def combined(verdicts: Sequence[str]) -> str:
    """Of a claim with several parts: refuted when one is; else not run when one was not; confirmed when all are."""
    for found in (REFUTED, NOT_RUN):
        if found in verdicts:
            return found
    return CONFIRMED if all(found == CONFIRMED for found in verdicts) else INCONCLUSIVE


def evaluate(
    estimands: pd.DataFrame,
    *,
    claims: Sequence[Claim] = CLAIMS,
    margins: Mapping[str, float] | None = None,
    confidence: float = 0.95,
    points: Mapping[str, str] | None = None,
) -> pd.DataFrame:
    """claims.csv: one row per claim, columns COLUMNS.

    estimands: frame with columns ESTIMANDS; `before` and `after` say `base`, `early` or `late`; start and end are NaN
    where the estimate is no difference of two numbers. margins: claim id to margin, in place of the default ones of
    null claims. confidence: of the intervals given, for the wording. points: per line, what early and late were, for
    the note (`step 25 → step 300`). Raises UserError for a margin of a claim that has none, and where a quantity has
    several rows.
    """
    margins, points = dict(margins or {}), points or {}
    unknown = set(margins) - {claim.id for claim in claims if any(part.kind == "null" for part in claim.parts)}
    if unknown:
        raise UserError(f"margins are given for claim(s) that have none: {', '.join(sorted(unknown))}")
    rows = [_evaluated(claim, estimands, margins.get(claim.id), confidence, points) for claim in claims]
    return pd.DataFrame(rows, columns=list(COLUMNS))


def _evaluated(
    claim: Claim, estimands: pd.DataFrame, margin: float | None, confidence: float, points: Mapping[str, str]
) -> dict[str, object]:
    parts = [
        part if part.kind == "directional" or margin is None else replace(part, margin=margin) for part in claim.parts
    ]
    rows = [_row(estimands, part.line or claim.line, part.measure, part.before, part.after) for part in parts]
    verdicts = [
        NOT_RUN if row is None else verdict(part.kind, row["low"], row["high"], sign=part.sign, margin=part.margin)
        for part, row in zip(parts, rows, strict=True)
    ]
    first = {"estimate": math.nan, "low": math.nan, "high": math.nan} if rows[0] is None else rows[0]
    notes = [
        f"{f'{part.line} ' if part.line else ''}{_in_words(row)}: {found}"
        for part, row, found in zip(parts, rows, verdicts, strict=True)
        if row is not None
    ]
    for measure in claim.beside:
        row = _row(estimands, claim.line, measure, parts[0].before, parts[0].after)
        notes += [f"beside it {_in_words(row)}"] if row is not None and row["problems"] else []
    if notes:
        notes = [
            *([points[claim.line]] if claim.line in points else []),
            *notes,
            *([claim.remark] if claim.remark else []),
        ]
    return {
        "id": claim.id,
        "statement": claim.statement,
        "paper": claim.paper,
        "measured": first["estimate"],
        "low": first["low"],
        "high": first["high"],
        "verdict": combined(verdicts),
        "rule": _rule(parts, confidence),
        "computed_by": claim.computed_by,
        "note": "; ".join(notes) if notes else f"not measured in this study (line {claim.line})",
    }


def _row(estimands: pd.DataFrame, line: str, measure: str, before: str, after: str) -> pd.Series | None:
    wanted = {"line": line, "measure": measure, "before": before, "after": after}
    chosen = estimands
    for column, value in wanted.items():
        chosen = chosen[chosen[column] == value]
    if len(chosen) > 1:
        raise UserError(f"{len(chosen)} rows measure {measure} from {before} to {after} on line {line}; one is needed")
    # A row without a number says that there was nothing to measure it on.
    return chosen.iloc[0] if len(chosen) and not math.isnan(chosen["estimate"].iloc[0]) else None


def _rule(parts: Sequence[Part], confidence: float) -> str:
    rules = [part.rule(confidence) for part in parts]
    if len(rules) == 1:
        return rules[0]
    numbered = "; ".join(f"({i}) {rule}" for i, rule in enumerate(rules, 1))
    return f"confirmed if all of these are, refuted if one is: {numbered}"


def _in_words(row: pd.Series) -> str:
    if math.isnan(row["start"]):
        return f"{row['measure']} {row['estimate']:.3f} [{row['low']:.3f}, {row['high']:.3f}] of {row['problems']:g}"
    relative = f", {100 * row['estimate'] / row['start']:+.0f} %" if row["start"] else ""
    ends = f"{row['start']:.3f} → {row['end']:.3f}{relative}; {row['problems']:g} problems"
    return f"{row['measure']} {row['estimate']:+.3f} [{row['low']:+.3f}, {row['high']:+.3f}] ({ends})"
