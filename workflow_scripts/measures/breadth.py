"""From scored samples to breadth: what each policy found of each problem's solutions, families and openings.

`breadth` reduces one policy's samples to two small tables, counts of each form and one row per problem; every measure
of a study is computed from these (measures/comparison.py, curves.py, retention.py), so that 48,000 rows are read once
per policy.
"""

import numpy as np
import pandas as pd
import pyarrow as pa

from workflow_scripts.measures import estimators
from workflow_scripts.records.errors import UserError

KINDS = {
    "paper": "paper_form",
    "formula": "formula_form",
    "family": "paper_family",
    "opening": "answer_opening",
    "think": "think_opening",
}
"""What is counted, and the column of SCORES it is read from. `opening` is the answer's, `think` that of the think
part."""

SOLUTION_KINDS = ("paper", "formula")
"""Kinds that name a whole solution; they are counted over correct samples only. The others name a first step."""


def _schema(columns: dict[str, pa.DataType], missing: tuple[str, ...] = ()) -> pa.Schema:
    return pa.schema([pa.field(name, kind, nullable=name in missing) for name, kind in columns.items()])


FORM_COUNTS = _schema(
    {
        "policy": pa.string(),
        "problem_id": pa.string(),
        "kind": pa.string(),
        "form": pa.string(),
        "samples": pa.int64(),  # samples with this form (correct ones only for the kinds that name a solution)
        "correct": pa.int64(),  # correct samples with this form
        "feasible": pa.bool_(),  # among the problem's solutions, families or openings
        "expressible": pa.bool_(),  # among those that the text can express
    }
)
"""One row per form that occurred, of each problem and kind. Forms that never occurred have no row."""

_SETS = ("", "_expressible")
_ENTROPIES = ("entropy_think", "entropy_answer", "entropy_think_correct", "entropy_answer_correct")
_TALLIES = (
    "samples",
    "correct",
    "format_ok",
    "truncated",
    "think_stated",
    "answer_stated",
    "off_menu_think",
    "off_menu_answer",
)

PROBLEM_BREADTH = _schema(
    {
        "policy": pa.string(),
        "problem_id": pa.string(),
        **{name: pa.int64() for name in _TALLIES},
        "off_support": pa.int64(),  # correct samples whose paper form the solver does not list
        "mean_tokens": pa.float64(),
        **{f"size_{kind}{part}": pa.int64() for kind in KINDS for part in _SETS},
        **{f"found_{kind}{part}": pa.int64() for kind in KINDS for part in _SETS},
        **{f"visited_{kind}{part}": pa.int64() for kind in KINDS if kind not in SOLUTION_KINDS for part in _SETS},
        **{f"singletons_{kind}": pa.int64() for kind in SOLUTION_KINDS},
        **{name: pa.float64() for name in _ENTROPIES},
    },
    missing=_ENTROPIES,
)
"""One row per problem of a policy.

size_*: how many the problem has (all; expressible ones). found_*: how many of them a correct sample has. visited_*:
how many any sample has. singletons_*: forms that exactly one correct sample has. entropy_*: nats over the openings
stated in the think part or the answer, of all samples or the correct ones; null where none states an opening.
off_menu_*: samples whose stated opening starts no solution. truncated: no end token.
"""


def feasible_forms(solutions: pd.DataFrame, openings: pd.DataFrame) -> pd.DataFrame:
    """Every solution, family and opening of each problem: columns problem_id, kind, form, expressible.

    solutions, openings: SOLUTIONS and OPENINGS. `opening` and `think` share the menu. A formula or family is
    expressible when one of its leaves is.
    """
    parts = []
    for kind, column in KINDS.items():
        table, name = (solutions, column) if column in solutions else (openings, "opening")
        forms = table.groupby(["problem_id", name], as_index=False, sort=True)["expressible"].any()
        parts.append(forms.rename(columns={name: "form"}).assign(kind=kind))
    return pd.concat(parts, ignore_index=True)[["problem_id", "kind", "form", "expressible"]]


def _checked(scores: pd.DataFrame, solutions: pd.DataFrame) -> str:
    """The policy's name; UserError unless the samples are free ones of one policy, each once, of solved problems."""
    policies = scores["policy"].unique()
    if len(policies) != 1:
        raise UserError(
            f"breadth is measured one policy at a time; these scores hold {len(policies)}: {sorted(policies)[:5]}"
        )
    policy = policies[0]
    if (scores["prefix"] != "").any():
        raise UserError(f"scores of {policy} hold clamped samples (prefix not empty); breadth is measured on free ones")
    if scores.duplicated(["problem_id", "sample"]).any():
        row = scores[scores.duplicated(["problem_id", "sample"])].iloc[0]
        raise UserError(f"scores of {policy} hold sample {row['sample']} of problem {row['problem_id']} twice")
    unsolved = sorted(set(scores["problem_id"].unique()) - set(solutions["problem_id"].unique()))
    if unsolved:
        raise UserError(
            f"{len(unsolved)} problem(s) of {policy} have no solutions listed, so no coverage; first {unsolved[0]}"
        )
    return policy


def _count(problem: np.ndarray, forms: pd.Series, correct: np.ndarray, chosen: np.ndarray) -> pd.DataFrame:
    """Samples and correct samples per (problem code, form), over the chosen rows."""
    codes, names = pd.factorize(forms)
    chosen = chosen & (codes >= 0)
    pairs = problem[chosen] * max(len(names), 1) + codes[chosen]
    unique, where = np.unique(pairs, return_inverse=True)
    return pd.DataFrame(
        {
            "problem": unique // max(len(names), 1),
            "form": np.asarray(names, dtype=object)[unique % max(len(names), 1)],
            "samples": np.bincount(where, minlength=len(unique)),
            "correct": np.bincount(where[correct[chosen]], minlength=len(unique)),
        }
    )


def form_counts(scores: pd.DataFrame, feasible: pd.DataFrame) -> pd.DataFrame:
    """FORM_COUNTS of one policy, sorted by problem, kind and form.

    scores: SCORES of one policy. feasible: from feasible_forms.
    """
    problem, problem_ids = pd.factorize(scores["problem_id"], sort=True)
    correct = scores["correct"].to_numpy(dtype=bool)
    everything = np.ones(len(scores), dtype=bool)
    parts = [
        _count(problem, scores[column], correct, correct if kind in SOLUTION_KINDS else everything).assign(kind=kind)
        for kind, column in KINDS.items()
    ]
    counts = pd.concat(parts, ignore_index=True)
    counts["problem_id"] = np.asarray(problem_ids, dtype=object)[counts.pop("problem")]
    counts = counts.merge(feasible.assign(feasible=True), on=["problem_id", "kind", "form"], how="left")
    for flag in ("feasible", "expressible"):
        counts[flag] = counts[flag].eq(True)
    counts["policy"] = scores["policy"].iloc[0]
    return counts.sort_values(["problem_id", "kind", "form"], ignore_index=True)[FORM_COUNTS.names]


def breadth(scores: pd.DataFrame, solutions: pd.DataFrame, openings: pd.DataFrame) -> tuple[pd.DataFrame, pd.DataFrame]:
    """PROBLEM_BREADTH and FORM_COUNTS of one policy.

    scores: SCORES of one policy, free samples. solutions, openings: SOLUTIONS and OPENINGS of (at least) its problems.
    Coverage counts an answer's own canonical form, so that a reordered or rebracketed answer is credited to its family.
    Raises UserError for several policies, clamped or repeated samples, and problems without solutions.
    """
    _checked(scores, solutions)
    scored = set(scores["problem_id"].unique())
    feasible = feasible_forms(
        solutions[solutions["problem_id"].isin(scored)], openings[openings["problem_id"].isin(scored)]
    )
    counts = form_counts(scores, feasible)
    return _per_problem(scores, counts, feasible), counts


def _per_problem(scores: pd.DataFrame, counts: pd.DataFrame, feasible: pd.DataFrame) -> pd.DataFrame:
    group, problem_ids = pd.factorize(scores["problem_id"], sort=True)
    size = len(problem_ids)
    index = pd.Index(problem_ids)

    def tally(rows: np.ndarray | pd.Series) -> np.ndarray:
        return np.bincount(group[np.asarray(rows, dtype=bool)], minlength=size)

    problem_of_count, problem_of_form = (index.get_indexer(table["problem_id"]) for table in (counts, feasible))

    def occurred(rows: np.ndarray, weights: np.ndarray | None = None) -> np.ndarray:
        weights = None if weights is None else weights[rows]
        return np.bincount(problem_of_count[rows], weights=weights, minlength=size).astype(np.int64)

    kind, samples, correct = (counts[name].to_numpy() for name in ("kind", "samples", "correct"))
    inside = {"": counts["feasible"].to_numpy(), "_expressible": counts["expressible"].to_numpy()}
    available = {"": np.ones(len(feasible), dtype=bool), "_expressible": feasible["expressible"].to_numpy(dtype=bool)}
    columns = {
        "samples": np.bincount(group, minlength=size),
        "correct": tally(scores["correct"]),
        "format_ok": tally(scores["format_ok"]),
        "truncated": tally(scores["finish_reason"] == "length"),
        "think_stated": tally(scores["think_opening"].notna()),
        "answer_stated": tally(scores["answer_opening"].notna()),
        "off_menu_think": occurred((kind == "think") & ~inside[""], samples),
        "off_menu_answer": occurred((kind == "opening") & ~inside[""], samples),
        "off_support": occurred((kind == "paper") & ~inside[""], samples),
        "mean_tokens": np.bincount(group, weights=scores["tokens"], minlength=size)
        / np.bincount(group, minlength=size),
    }
    for name in KINDS:
        of_kind, among = kind == name, (feasible["kind"] == name).to_numpy()
        for part in _SETS:
            columns[f"size_{name}{part}"] = np.bincount(problem_of_form[among & available[part]], minlength=size)
            columns[f"found_{name}{part}"] = occurred(of_kind & inside[part] & (correct > 0))
            if name not in SOLUTION_KINDS:
                columns[f"visited_{name}{part}"] = occurred(of_kind & inside[part])
    for name in SOLUTION_KINDS:
        columns[f"singletons_{name}"] = occurred((kind == name) & (correct == 1))
    for place, name in (("think", "think"), ("answer", "opening")):
        rows = kind == name
        for suffix, weights in (("", samples), ("_correct", correct)):
            columns[f"entropy_{place}{suffix}"] = estimators.entropies(
                counts=weights[rows], groups=problem_of_count[rows], size=size
            )
    frame = pd.DataFrame({"problem_id": np.asarray(problem_ids, dtype=object), **columns})
    frame.insert(0, "policy", scores["policy"].iloc[0])
    return frame[PROBLEM_BREADTH.names]


def status_counts(scores: pd.DataFrame) -> pd.DataFrame:
    """Why samples failed: columns policy, status, samples, share (of the policy's samples), most frequent first."""
    counts = scores.groupby(["policy", "status"], as_index=False).size().rename(columns={"size": "samples"})
    counts["share"] = counts["samples"] / counts.groupby("policy")["samples"].transform("sum")
    return counts.sort_values(["policy", "samples", "status"], ascending=[True, False, True], ignore_index=True)
