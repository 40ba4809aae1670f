"""What each sample of a problem is given: plain, with its numbers in another order, or from a forced beginning on.

A table of requests has columns problem_id, text (the prompt), prefix (forced beginning of the completion) and sample.
Samples of one problem are numbered 0, 1, … so that a request can be compared with the plain one of the same number.
"""

from collections.abc import Callable, Sequence

import pandas as pd

from workflow_scripts.records.errors import UserError
from workflow_scripts.records.seeds import generator, key
from workflow_scripts.tasks.countdown.text import think_prompt
from workflow_scripts.tasks.countdown.wording import LAPTOP

COLUMNS = ["problem_id", "text", "prefix", "sample"]
OPERATORS = "+-*/"

Ask = Callable[[Sequence[int], int], str]
"""Prompt of (numbers, target) as a policy reads it."""

Prefix = Callable[[str], str]
"""Minimal entrance of an opening: `4*` → `try 4 *`."""


def plain_requests(problems: pd.DataFrame, samples: int | range, *, ask: Ask = think_prompt) -> pd.DataFrame:
    """Every sample is given the problem as it stands. problems: PROBLEMS. samples: how many, or their numbers."""
    numbers = range(samples) if isinstance(samples, int) else samples
    rows = [
        (row.problem_id, ask(list(row.numbers), row.target), "", sample)
        for row in problems.itertuples()
        for sample in numbers
    ]
    return pd.DataFrame(rows, columns=COLUMNS)


def reordered_requests(problems: pd.DataFrame, samples: int, *, seed: int, ask: Ask = think_prompt) -> pd.DataFrame:
    """Every sample reads the numbers in an order of its own: prompt diversification for a text without instructions.

    The paper asks in words for another method than the obvious one; the small policy's prompt has no words for that, so
    the prompt is varied where it can be. The order of a sample is a permutation keyed by (seed, problem, sample).
    """
    rows = []
    for row in problems.itertuples():
        for sample in range(samples):
            order = generator(seed, "order of the numbers", row.problem_id, sample).permutation(len(row.numbers))
            text = ask([row.numbers[place] for place in order], row.target)
            rows.append((row.problem_id, text, "", sample))
    return pd.DataFrame(rows, columns=COLUMNS)


def forced_operator_requests(
    problems: pd.DataFrame, openings: pd.DataFrame, *, ask: Ask = think_prompt, prefix_of: Prefix = LAPTOP.entrance
) -> pd.DataFrame:
    """The first operator of every sample replaced by another one; the sample goes on from there.

    openings: columns problem_id, sample, think_opening: the first step that a plain sample of the same number stated,
    which chose the operand. The three other operators are used in turn, in an order that starts at a place keyed by the
    problem, so that a problem's samples are split evenly over them. A sample that states no first step goes unforced.
    """
    texts = _texts(problems, ask)
    openings = openings[openings["problem_id"].isin(texts)].sort_values(["problem_id", "sample"])
    used: dict[tuple[str, str], int] = {}
    rows = []
    for row in openings.itertuples():
        prefix = ""
        if isinstance(row.think_opening, str):
            others = [sign for sign in OPERATORS if sign != row.think_opening[-1]]
            place = (row.problem_id, row.think_opening[-1])
            turn = used.setdefault(place, key("forced operator", *place) % len(others))
            used[place] = turn + 1
            prefix = prefix_of(row.think_opening[:-1] + others[turn % len(others)])
        rows.append((row.problem_id, texts[row.problem_id], prefix, row.sample))
    return pd.DataFrame(rows, columns=COLUMNS)


def allocated_requests(
    problems: pd.DataFrame,
    entrances: pd.DataFrame,
    samples: int,
    *,
    ask: Ask = think_prompt,
    prefix_of: Prefix = LAPTOP.entrance,
) -> pd.DataFrame:
    """A problem's samples dealt out evenly to its entrances, in turn, so that any first part of them is even too.

    entrances: columns problem_id, opening, in the order in which they are served: the solver's expressible menu or a
    proposal. A problem without entrances is sampled freely: there is nothing to spread over.
    """
    repeated = entrances.duplicated(["problem_id", "opening"])
    if repeated.any():
        row = entrances[repeated].iloc[0]
        raise UserError(f"the entrance {row['opening']} of problem {row['problem_id']} is given twice")
    texts = _texts(problems, ask)
    menus = entrances.groupby("problem_id", sort=False)["opening"].agg(list).to_dict()
    rows = []
    for problem_id, text in texts.items():
        menu = [prefix_of(opening) for opening in menus.get(problem_id, [])] or [""]
        rows += [(problem_id, text, menu[sample % len(menu)], sample) for sample in range(samples)]
    return pd.DataFrame(rows, columns=COLUMNS)


def solver_entrances(openings: pd.DataFrame) -> pd.DataFrame:
    """The expressible menu of each problem: columns problem_id, opening, sorted. openings: OPENINGS."""
    menu = openings[openings["expressible"]][["problem_id", "opening"]]
    return menu.sort_values(["problem_id", "opening"], ignore_index=True)


def seen_entrances(samples: pd.DataFrame, *, first: int, least: int = 1, most: int | None = None) -> pd.DataFrame:
    """Entrances that the first samples of a policy stated, without solver or verifier: most frequent first.

    samples: columns problem_id, sample, think_opening, of an early policy or a hot one. first: how many samples of a
    problem are looked at. least: samples that must have stated an entrance. most: entrances kept, all where null.
    Returns columns problem_id, opening, samples.
    """
    stated = samples[(samples["sample"] < samples["sample"].min() + first) & samples["think_opening"].notna()]
    return _ranked(stated.rename(columns={"think_opening": "opening"}), "sample", least, most)


def agreed_entrances(samples: pd.DataFrame, *, first: int, least: int = 2, most: int | None = None) -> pd.DataFrame:
    """Openings of answers that several samples agree on (self-consistency), without solver or verifier.

    samples: columns problem_id, sample, formula_form, answer_opening. Answers with one formula form are one cluster,
    however they are written and whatever they are worth; those of at least `least` of a problem's `first` samples
    count. `samples` of the result: the samples of its clusters that opened so; most frequent first.
    """
    looked = samples[(samples["sample"] < samples["sample"].min() + first) & samples["formula_form"].notna()]
    size = looked.groupby(["problem_id", "formula_form"])["sample"].transform("size")
    agreed = looked[(size >= least) & looked["answer_opening"].notna()]
    return _ranked(agreed.rename(columns={"answer_opening": "opening"}), "sample", 1, most)


def _ranked(rows: pd.DataFrame, column: str, least: int, most: int | None) -> pd.DataFrame:
    counts = rows.groupby(["problem_id", "opening"], as_index=False)[column].size().rename(columns={"size": "samples"})
    counts = counts[counts["samples"] >= least].sort_values(
        ["problem_id", "samples", "opening"], ascending=[True, False, True], ignore_index=True
    )
    if most is not None:
        counts = counts[counts.groupby("problem_id").cumcount() < most].reset_index(drop=True)
    return counts[["problem_id", "opening", "samples"]]


def _texts(problems: pd.DataFrame, ask: Ask) -> dict[str, str]:
    return {row.problem_id: ask(list(row.numbers), row.target) for row in problems.itertuples()}
