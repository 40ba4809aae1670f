"""Why samples pass or fail, in one list of words for every task: computed from scores, sample by sample.

Scores of scientific coding are told apart by their layers, those of Countdown and mathematics by the names of their
statuses, and so are the samples that verl recorded.
"""

from collections.abc import Sequence
from pathlib import Path

import pandas as pd

from workflow_scripts.measures import run_files
from workflow_scripts.measures.run_samples import right_of
from workflow_scripts.records.errors import UserError

BUCKETS = {
    "pass clean": "right, in the asked format, no word of thinking",
    "pass with thinking": "right, in the asked format, with thoughts before the answer",
    "pass off format": "right, not in the asked format",
    "wrong value": "well-formed, of the right type, not the answer",
    "wrong type": "runs and returns another type than asked",
    "runtime": "fails while it is computed: an error, the limit of memory or output, a division by zero",
    "timeout": "uses up its time",
    "syntax": "cannot be read as a program, an expression or a number",
    "no answer": "there is no answer, or no function `answer`",
    "format": "answer tags or fences are broken, so that the answer cannot be told",
    "other": "a limit of the reader, undecided, or a reason that has no place above",
}
"""Bucket and what is in it; every sample is in one."""

_FAILURES: dict[str, Sequence[str]] = {
    "wrong value": (
        "WRONG", "WRONG_VALUE", "WRONG_RIGHT_SIDE", "FOREIGN_NUMBER", "REPEATED_NUMBER", "UNUSED_NUMBER",
        "WRONG_FEASIBILITY", "BAD_NO_SOLUTION",
    ),
    "wrong type": ("WRONG_TYPE",),
    "runtime": ("DIVISION_BY_ZERO", "ERROR", "MEMORY", "OUTPUT", "KILLED"),
    "timeout": ("TIMEOUT",),
    "syntax": (
        "SYNTAX", "LATEX", "FOREIGN_DIGIT", "THOUSANDS_SEPARATOR", "WORD", "DECIMAL_LITERAL", "FOREIGN_OPERATOR",
        "FOREIGN_CHARACTER", "LEADING_ZERO", "IMPLICIT_PRODUCT", "MISSING_OPERATOR", "SIGNED_LITERAL", "UNBALANCED",
        "MISSING_OPERAND", "MULTIPLE_EQUALS", "MALFORMED_EQUATION",
    ),
    "no answer": ("NO_ANSWER", "NO_CODE", "EMPTY", "UNCLOSED_THINK"),
    "format": (
        "REPEATED_THINK", "UNCLOSED_ANSWER", "UNOPENED_ANSWER", "NESTED_ANSWER", "MULTIPLE_ANSWERS", "ANSWER_IN_THINK",
        "NO_FEASIBILITY",
    ),
    "other": ("TOO_LONG", "TOO_DEEP", "TOO_LARGE", "UNSUPPORTED", "UNDECIDED"),
}  # fmt: skip
STATUSES = {status: bucket for bucket, statuses in _FAILURES.items() for status in statuses}
"""Status, as tables spell it, to its bucket; one that is not here is `other`."""

_LAYERS = ("extracted", "parses", "defines", "runs", "typed")
_FALLEN = {
    "extracted": "no answer",
    "parses": "syntax",
    "defines": "no answer",
    "runs": "runtime",
    "typed": "wrong type",
}


def bucket_of(scores: pd.DataFrame, texts: pd.Series | None = None) -> pd.Series:
    """Each sample's bucket, a name of BUCKETS, with the index of `scores`.

    scores: SCICODE_SCORES, MATHS_SCORES, SCORES, or verl's records with their verdicts; needed are status, correct and
    format_ok. texts: the completions, in the order of `scores`; without them a pass has thoughts where a first step was
    read in the think part (`think_opening`), and none where nothing tells. Raises UserError for a lacking column.
    """
    for column in ("status", "correct", "format_ok"):
        if column not in scores:
            raise UserError(f"failure buckets need scores with a column {column!r}; these have {', '.join(scores)}")
    statuses = scores["status"].astype(str).str.upper()
    found = statuses.map(STATUSES).fillna("other")
    if set(_LAYERS) <= set(scores):
        found = _by_layers(scores, found)
    right, formed = scores["correct"].astype(bool), scores["format_ok"].astype(bool)
    found = found.mask(right & ~formed, "pass off format")
    return found.mask(right & formed, _thoughtful(scores, texts).map({True: "pass with thinking", False: "pass clean"}))


def _by_layers(scores: pd.DataFrame, named: pd.Series) -> pd.Series:
    """The first layer that does not hold says it, unless the status knows better (a timeout, a broken fence)."""
    fallen = pd.Series("wrong value", index=scores.index)
    for layer in reversed(_LAYERS):
        fallen = fallen.mask(~scores[layer].astype(bool), _FALLEN[layer])
    better = named.isin(["timeout", "format"]) | scores["status"].astype(str).str.upper().isin(_FAILURES["other"])
    return fallen.mask(better, named)


def _thoughtful(scores: pd.DataFrame, texts: pd.Series | None) -> pd.Series:
    if texts is not None:
        thoughts = texts.astype(str).str.partition("</think>")
        said = thoughts[0].str.replace("<think>", "", regex=False).str.strip().ne("")
        return (said & thoughts[1].ne("")).set_axis(scores.index)
    if "think_opening" in scores:
        return scores["think_opening"].fillna("").ne("")
    return pd.Series(False, index=scores.index)


def shares(scores: pd.DataFrame, by: Sequence[str] = ("policy",), texts: pd.Series | None = None) -> pd.DataFrame:
    """Columns `by`, bucket, count, share: every bucket of every group, in the order of BUCKETS; shares sum to 1.

    Arguments as in `bucket_of`; by: columns that part the samples, such as policy and set. Raises UserError for one
    that the scores lack, and for no scores at all.
    """
    lacking = [column for column in by if column not in scores]
    if lacking or scores.empty:
        raise UserError(f"failure buckets by {lacking[0]!r}: no such column" if lacking else "there are no scores")
    kinds = pd.Categorical(bucket_of(scores, texts), categories=list(BUCKETS))
    keyed = scores[list(by)].assign(bucket=kinds)
    counts = keyed.groupby([*by, "bucket"], observed=False, sort=True).size().rename("count").reset_index()
    totals = counts.groupby(list(by))["count"].transform("sum")
    counts["bucket"] = counts["bucket"].astype(str)
    counts["share"] = counts["count"] / totals
    return counts[totals > 0].reset_index(drop=True)


def recorded_scores(folder: Path, name: str = "") -> pd.DataFrame:
    """The samples of a state folder of verl with their verdicts, as scores: policy (the run), step, status, correct,
    format_ok, completion, and the layers where verl recorded them. No rows where it recorded none, or no statuses.

    name: of the run, by default run_files.run_name. Raises UserError as run_files.entries.
    """
    samples = [entry for file in run_files.recorded(folder) for entry in run_files.entries(file)]
    rows = [
        {
            "policy": name or run_files.run_name(folder),
            "step": sample["step"],
            "status": sample["status"],
            "correct": right_of(sample),
            "format_ok": bool(sample.get("format_ok")),
            "completion": str(sample.get("output", "")),
            **{layer: bool(sample[layer]) for layer in _LAYERS if layer in sample},
        }
        for sample in samples
        if isinstance(sample.get("status"), str)
    ]
    return pd.DataFrame(
        rows, columns=None if rows else ["policy", "step", "status", "correct", "format_ok", "completion"]
    )
