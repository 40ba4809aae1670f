"""What policies make of the menus of word problems: of all first calculations that lead to the answer, which are used.

Other maths benchmarks have no menu; here it is known, so that narrowing can be told from dropping what leads nowhere.
"""

from collections.abc import Mapping

import numpy as np
import pandas as pd

from workflow_scripts.measures.first_calculations import long
from workflow_scripts.tasks.maths.first_calculation import order_free
from workflow_scripts.tasks.maths.words import menu

MEASURES: Mapping[str, str] = {
    "on_menu": "share of samples, of those with a calculation, whose first one opens a route to the answer",
    "menu_coverage": "share of the menu's first calculations that a correct sample began with",
    "menu_visited": "share of the menu's first calculations that any sample began with",
    "off_menu_correct": "share of samples that are right though their first calculation opens no route",
}
"""Measure and how it is computed; 4 * 3 and 3 * 4 are one first calculation."""

_KEY = ["policy", "benchmark", "problem_id"]


def menu_values(scores: pd.DataFrame, problems: pd.DataFrame) -> pd.DataFrame:
    """MEASURES of every policy and problem: columns policy, benchmark, problem_id, measure, value.

    scores: MATHS_SCORES. problems: WORD_PROBLEMS; rows of `scores` on other problems are left out. The coverages are
    those of the samples at hand: compare policies with equally many. on_menu is NaN where no sample has a calculation.
    """
    menus = {
        row.problem_id: {order_free(opening.label) for opening in menu(row.family, row.numbers)}
        for row in problems.itertuples()
    }
    chosen = scores[scores["problem_id"].isin(menus)]
    labels = chosen["first_calculation"]
    free = labels.map({label: order_free(label) for label in labels.dropna().unique()})
    on_menu = np.array([label in menus[problem] for problem, label in zip(chosen["problem_id"], free)], dtype=bool)
    correct = chosen["correct"].to_numpy(dtype=bool)
    table = chosen[_KEY].assign(
        some=free.notna(), on=on_menu, off_menu_correct=correct & ~on_menu, visited=free.where(on_menu),
        covered=free.where(on_menu & correct),
    )  # fmt: skip
    groups = table.groupby(_KEY, sort=True)
    wide = groups.agg(some=("some", "sum"), on=("on", "sum"), off_menu_correct=("off_menu_correct", "mean"))
    size = wide.index.get_level_values("problem_id").map({problem: len(found) for problem, found in menus.items()})
    wide["on_menu"] = np.where(wide["some"] > 0, wide["on"] / wide["some"].clip(lower=1), np.nan)
    wide["menu_coverage"] = groups["covered"].nunique() / size
    wide["menu_visited"] = groups["visited"].nunique() / size
    return long(wide[list(MEASURES)])
