"""Where along a solver-built continuation its likelihood is lost: entrance or execution, token by token, and over all.

Continuations are those of records.schemas.LIKELIHOODS: one stands for each opening of a problem's expressible menu
(`menu`), one for each expressible paper leaf (`leaf`). All costs are negative log-probabilities in nats at temperature
1, the end token included. Mean over a problem's continuations first, then over problems.

The entrance is what comes up to and with the operator of the first step, the lead-in word `try` among it; `_bare`
measures end it before the operator. (The paper's PPO numbers leave the operator out, its GRPO numbers have it in.)
"""

from collections.abc import Mapping, Sequence

import numpy as np
import pandas as pd

from workflow_scripts.measures.comparison import contrasts
from workflow_scripts.measures.long_values import values_of
from workflow_scripts.measures.statistics import Bootstrap
from workflow_scripts.records.errors import UserError

SEGMENTS = ("entrance", "execution", "entrance_bare", "execution_bare")
MEASURES = (
    *(f"nll_{segment}" for segment in SEGMENTS),  # nats per token
    "nll_gap",  # entrance − execution, nats per token
    "nll_gap_bare",
    *(f"total_{segment}" for segment in SEGMENTS),  # nats
    "solution_mass",  # probability
    "log10_solution_mass",
)
"""Values of a policy on a problem. solution_mass: the chance to say one of the `leaf` continuations word for word, a
lower bound of the chance to go straight to a solution, since one of a leaf's writings is scored."""

OPERATOR, OPERAND = -1, -2
"""Positions relative to what follows the entrance: 0 is the second operand, -3 the last word before the operand."""

_KEY = ["problem_id", "continuation"]
_PAIR = ("early", "late")


def _costs(frame: pd.DataFrame) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Negative log-probability of every token of every row, its row, and its place relative to the entrance's end."""
    lengths = frame["log_probs"].map(len).to_numpy()
    entrance = frame["entrance"].to_numpy()
    if ((entrance < 2) | (entrance >= lengths)).any():
        row = frame[(entrance < 2) | (entrance >= lengths)].iloc[0]
        raise UserError(
            f"{row['policy']}, {row['problem_id']}: an entrance of {row['entrance']} tokens leaves nothing before its "
            f"operator or after it in {row['continuation']!r}"
        )
    costs = -np.concatenate([*frame["log_probs"], []]).astype(float)
    rows = np.repeat(np.arange(len(frame)), lengths)
    place = np.arange(len(costs)) - np.repeat(np.cumsum(lengths) - lengths + entrance, lengths)
    return costs, rows, place


def _compared(frame: pd.DataFrame, flag: str) -> pd.DataFrame:
    """Rows with `flag`; UserError unless every policy has the same continuations, each once."""
    frame = frame[frame[flag]].sort_values(["policy", *_KEY], ignore_index=True)
    first = None
    for policy, rows in frame.groupby("policy"):
        keys = pd.MultiIndex.from_frame(rows[_KEY])
        if first is None:
            first = policy, keys
        if keys.has_duplicates or not keys.equals(first[1]):
            odd = keys[keys.duplicated()].append(keys.symmetric_difference(first[1]))[0]
            raise UserError(
                f"{policy} and {first[0]} do not hold the same continuations, each once; see {odd[1]!r} of {odd[0]}"
            )
    return frame


def segment_values(frame: pd.DataFrame) -> pd.DataFrame:
    """MEASURES of every policy and problem: columns policy, problem_id, measure, value.

    frame: LIKELIHOODS of one or more policies. Raises UserError, naming them, where policies hold other continuations.
    """
    menu = _compared(frame, "menu")
    costs, rows, place = _costs(menu)
    columns = menu[["policy", "problem_id"]].copy()
    for suffix, end in (("", 0), ("_bare", OPERATOR)):
        for name, inside in ((f"entrance{suffix}", place < end), (f"execution{suffix}", place >= end)):
            total = np.bincount(rows, weights=costs * inside, minlength=len(menu))
            columns[f"nll_{name}"] = total / np.bincount(rows, weights=inside, minlength=len(menu))
            columns[f"total_{name}"] = total
        columns[f"nll_gap{suffix}"] = columns[f"nll_entrance{suffix}"] - columns[f"nll_execution{suffix}"]
    wide = columns.groupby(["policy", "problem_id"]).mean()
    leaves = _compared(frame, "leaf")
    costs, rows, _ = _costs(leaves)
    leaves["said"] = -np.bincount(rows, weights=costs, minlength=len(leaves))
    mass = leaves.groupby(["policy", "problem_id"])["said"].agg(np.logaddexp.reduce)
    wide = wide.join(mass.rename("mass"), how="outer")
    wide["solution_mass"], wide["log10_solution_mass"] = np.exp(wide["mass"]), wide["mass"] / np.log(10)
    long = wide[list(MEASURES)].rename_axis(columns="measure").stack().rename("value").reset_index()
    return long.sort_values(["policy", "problem_id", "measure"], ignore_index=True)


def position_values(frame: pd.DataFrame) -> pd.DataFrame:
    """Cost by position: columns policy, problem_id, position (0 follows the entrance), value (nats), continuations.

    frame: as in segment_values; menu continuations count. A problem's value at a position is the mean over those of
    its continuations that reach it.
    """
    menu = _compared(frame, "menu")
    costs, rows, place = _costs(menu)
    tokens = menu[["policy", "problem_id"]].iloc[rows].assign(position=place, value=costs)
    by_position = tokens.groupby(["policy", "problem_id", "position"])["value"].agg(["mean", "size"])
    return by_position.rename(columns={"mean": "value", "size": "continuations"}).reset_index()


def attribution(
    positions: pd.DataFrame,
    problems: Sequence[str],
    bootstrap: Bootstrap,
    entries: Mapping[str, Sequence[str]],
    pair: tuple[str, str] = _PAIR,
) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Which token loses most: cost by position at both ends, and by how much one place leads over the others.

    positions: from position_values. problems: all of the set. entries: point to policies, one per seed.
    Returns (comparison.contrasts with columns position and continuations for measure; two rows as of contrasts).
    operand_lead (C10): change at the entrance operand minus the largest change at any other position; entrance_lead:
    largest change within the entrance minus the largest after it. `start` and `end` are the two changes, and what is
    largest is looked up anew in each resample. Only positions that all problems with a value have are compared: the
    others' means are over other problems.
    """
    compared = [policy for end in pair for policy in entries[end]]
    positions = positions[positions["policy"].isin(compared)]
    long = positions.assign(measure=positions["position"].map(lambda at: f"{at:+04d}"))
    values = values_of(long[["policy", "problem_id", "measure", "value"]], problems)
    rows = contrasts(values, bootstrap, entries, [pair])
    rows.insert(2, "position", rows.pop("measure").astype(int))
    counts = positions[positions["policy"] == compared[0]].groupby("position")["continuations"].sum()
    rows["continuations"] = rows["position"].map(counts).fillna(0).astype(int)
    rows = rows.sort_values("position", ignore_index=True)
    full = sorted(rows.loc[rows["problems"] == rows["problems"].max(), "position"])
    places = [values.measures.index(f"{at:+04d}") for at in full]
    change = (values.of(entries[pair[1]]) - values.of(entries[pair[0]]))[..., places]
    full, resampled, mean = np.array(full), bootstrap.means(change), bootstrap.estimate(change).value[None]
    leads = []
    for name, leading in (("operand_lead", full == OPERAND), ("entrance_lead", full <= OPERATOR)):
        low, high = bootstrap.interval((resampled[:, leading].max(1) - resampled[:, ~leading].max(1))[:, None])
        end, start = mean[:, leading].max(), mean[:, ~leading].max()
        lead = {"before": pair[0], "after": pair[1], "measure": name, "start": start, "end": end}
        lead |= {"estimate": end - start, "low": low[0], "high": high[0]}
        leads.append(lead | {"problems": int(rows["problems"].max())})
    return rows, pd.DataFrame(leads)


def ratios(
    segments: pd.DataFrame,
    problems: Sequence[str],
    bootstrap: Bootstrap,
    entries: Mapping[str, Sequence[str]],
    pair: tuple[str, str] = _PAIR,
) -> pd.DataFrame:
    """Change at the entrance over change in execution: rows as of contrasts, measures nll_ratio and nll_ratio_bare.

    segments: from segment_values. `start` and `end` are the changes of execution and of entrance. Without an interval
    (NaN) where the change of execution may be 0, since a ratio then has none.
    """
    values = values_of(segments, problems)
    rows = []
    for suffix in ("", "_bare"):
        places = [values.measures.index(f"nll_{segment}{suffix}") for segment in ("entrance", "execution")]
        change = (values.of(entries[pair[1]]) - values.of(entries[pair[0]]))[..., places]
        whole, resampled = bootstrap.estimate(change), bootstrap.means(change)
        with np.errstate(invalid="ignore", divide="ignore"):
            estimate, drawn = whole.value[0] / whole.value[1], resampled[:, 0] / resampled[:, 1]
        never_0 = not whole.low[1] <= 0 <= whole.high[1]
        low, high = bootstrap.interval(drawn[:, None]) if never_0 else ([np.nan], [np.nan])
        ends = {"start": whole.value[1], "end": whole.value[0], "estimate": estimate}
        row = {"before": pair[0], "after": pair[1], "measure": f"nll_ratio{suffix}", **ends}
        rows.append(row | {"low": low[0], "high": high[0], "problems": int(whole.problems[0])})
    return pd.DataFrame(rows)


def estimands(
    frame: pd.DataFrame,
    problems: Sequence[str],
    bootstrap: Bootstrap,
    entries: Mapping[str, Sequence[str]],
    pair: tuple[str, str] = _PAIR,
) -> tuple[pd.DataFrame, pd.DataFrame]:
    """(Rows as of contrasts: MEASURES, nll_ratio*, the leads; and attribution's rows by position) of one line.

    frame: LIKELIHOODS of (at least) the pair's policies. problems: all of the set. entries: points of the line.
    """
    compared = [policy for end in pair for policy in entries[end]]
    missing = [policy for policy in compared if policy not in set(frame["policy"])]
    if missing:
        raise UserError(f"there are no likelihoods of {missing[0]}")
    frame = frame[frame["policy"].isin(compared)]
    segments = segment_values(frame)
    by_position, leads = attribution(position_values(frame), problems, bootstrap, entries, pair)
    rows = contrasts(values_of(segments, problems), bootstrap, entries, [pair])
    return pd.concat(
        [rows, ratios(segments, problems, bootstrap, entries, pair), leads], ignore_index=True
    ), by_position
