"""Tables about programs that hold one number a cell: leakage, a judge against execution, what answers look like."""

import math
from collections.abc import Sequence

import pandas as pd

from workflow_scripts.figures.tables import Column, Table
from workflow_scripts.tasks.scicode.leakage import ALL, POLICIES

_LEAKAGE = (
    Column("problems", "problems", 0),
    Column("distinct", "distinct"),
    Column("content_in_training", "content in training"),
    Column("parameters_in_training", "parameters in training"),
    Column("prompt_overlap", "8-word overlap"),
    Column("commonest", "commonest answer"),
    Column("empty", "empty answer"),
    *(Column(policy, policy) for policy in POLICIES),
)
_LEAKAGE_NOTES = (
    "Shares of a set's problems; a problem is told by its task without wrappers and its checks, or by its family and "
    "parameters. 8-word overlap: mean share of a prompt's runs of eight words that some training prompt holds, which "
    "wordings of one family share by design.",
    "Commonest answer: share of problems with the commonest answer of their family in the set; where a family has few "
    "problems it cannot be small. Right of it: shares that are answered rightly without reading the question; "
    "`commonest value` is that of the family in training; `number of the prompt` is its first one, as it is. "
    "Empty answer: share of problems all of whose right values are empty.",
)
_CALIBRATION = (
    Column("samples", "samples", 0),
    Column("right", "right by execution"),
    Column("score_right", "judge, of right samples"),
    Column("score_wrong", "judge, of wrong samples"),
    Column("concordance", "concordance"),
    Column("brier", "Brier score"),
)
_CALIBRATION_NOTES = (
    "Samples that the judge scored, a few of every problem; its score as a share of the largest that the reward pays.",
    "Concordance: chance that a right sample scores above a wrong one, ties counted half. Brier score: mean squared "
    "difference between score and execution (1 right, 0 wrong). Without right, or without wrong, samples there is no "
    "concordance.",
)
_OUTPUTS = (
    Column("completions", "answers", 0),
    Column("mean_characters", "characters, mean", 0),
    Column("p50_characters", "median", 0),
    Column("p90_characters", "90 %", 0),
    Column("max_characters", "longest", 0),
    Column("thinking", "think aloud"),
    Column("fenced", "fenced"),
    Column("unclosed", "block not closed"),
    Column("extracted", "program found"),
    Column("parses", "parses"),
    Column("defines", "defines answer"),
)
_OUTPUTS_NOTES = (
    "Shares of the answers, one a problem. Programs are parsed and never run: only the benchmark's own server can tell "
    "whether they are right; scicode/submissions/ holds the files that it takes.",
)


def leakage_table(found: pd.DataFrame) -> Table:
    """The rows of all families of a set. found: columns of tasks.scicode.leakage.COLUMNS."""
    return _table("Leakage and shortcuts", found[found["family"] == ALL], ["set"], _LEAKAGE, _LEAKAGE_NOTES)


def calibration_table(found: pd.DataFrame) -> Table:
    """A row per judged reward, policy and set. found: of measures.reward_truth.calibrations."""
    keys = ["reward", "policy", "set"]
    return _table("A judge's scores against execution", found, keys, _CALIBRATION, _CALIBRATION_NOTES)


def outputs_table(found: pd.DataFrame) -> Table:
    """A row per policy and wrapping. found: of tasks.scicode.critpt.output_statistics, by these two."""
    keys = ["policy", "wrapping"]
    return _table("What answers to the CritPt problems look like", found, keys, _OUTPUTS, _OUTPUTS_NOTES)


def _table(
    title: str, frame: pd.DataFrame, keys: Sequence[str], columns: Sequence[Column], notes: Sequence[str]
) -> Table:
    """A row for each of the frame, called by its keys."""
    rows, cells = [], []
    for _, row in frame.iterrows():
        entry = ", ".join(str(row[key]) for key in keys)
        rows.append((entry, entry))
        cells += [
            {"entry": entry, "measure": column.name, "estimate": row[column.name], "low": math.nan, "high": math.nan}
            for column in columns
        ]
    return Table(title, rows, columns, pd.DataFrame(cells), notes, corner=", ".join(keys))
