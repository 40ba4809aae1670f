"""The scorecard as a page: every claim with the paper's value, ours, the verdict, and the rule that computed it."""

import math
import os
import re

import pandas as pd

from workflow_scripts.measures.verdicts import COLUMNS
from workflow_scripts.records.errors import UserError
from workflow_scripts.records.files import write_text

_VERDICTS = ("confirmed", "refuted", "inconclusive", "not run")


def _cell(text: object) -> str:
    """Text that stays in one cell of a Markdown table."""
    return str(text).replace("|", "\\|").replace("\n", " ")


def _minus(text: str) -> str:
    """The text with true minus signs before numbers."""
    return re.sub(r"(?<![\w.)])-(?=\d)", "−", text)


def _number(value: float) -> str:
    return _minus(f"{value:.3f}")


def _measured(claim: pd.Series) -> str:
    if math.isnan(claim["measured"]):
        return "–"
    return f"{_number(claim['measured'])} [{_number(claim['low'])}, {_number(claim['high'])}]"


def tally(claims: pd.DataFrame) -> str:
    """How many claims got each verdict, in words: `3 confirmed, 0 refuted, 1 inconclusive, 4 not run`."""
    counts = claims["verdict"].value_counts()
    return ", ".join(f"{counts.get(verdict, 0)} {verdict}" for verdict in _VERDICTS)


def markdown(claims: pd.DataFrame, *, confidence: float = 0.95) -> str:
    """claims.csv as GitHub Markdown: a row per claim, then how each verdict came about.

    claims: verdicts.evaluate. Raises UserError where a column of it is missing.
    """
    missing = [name for name in COLUMNS if name not in claims]
    if missing:
        raise UserError(f"the scorecard needs the column(s) {', '.join(missing)} of the claims")
    lines = [
        "**Scorecard. The paper's claims, measured here**",
        "",
        f"{len(claims)} claims: {tally(claims)}.",
        "",
        f"| id | claim | the paper | measured [{100 * confidence:g} % interval] | verdict |",
        "|---|---|---|---:|---|",
    ]
    for _, claim in claims.iterrows():
        cells = [claim["id"], claim["statement"], claim["paper"], _measured(claim), f"**{claim['verdict']}**"]
        lines.append("| " + " | ".join(map(_cell, cells)) + " |")
    lines += [
        "",
        "Measured is the first quantity of the claim's rule. Intervals are bootstrapped over problems, paired where "
        "two policies are compared; those of proportions are exact binomial, one-sided where none or all succeed. "
        "Rules were fixed before the run.",
        "",
        "**How each verdict came about**",
        "",
    ]
    for _, claim in claims.iterrows():
        lines.append(
            f"* **{claim['id']}, {claim['verdict']}.** Rule: {claim['rule']}. "
            f"Here: {_minus(claim['note'])}. Computed by `{claim['computed_by']}`."
        )
    return "\n".join(lines) + "\n"


def write(claims: pd.DataFrame, path: str | os.PathLike, *, confidence: float = 0.95) -> None:
    """Writes the page to `path`. Arguments as in `markdown`."""
    write_text(path, markdown(claims, confidence=confidence))
