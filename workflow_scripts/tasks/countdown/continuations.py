"""Solver-built texts to be scored: one for every entrance of a problem's menu, one for every leaf of its solutions."""

import pandas as pd

from workflow_scripts.tasks.countdown import expressions
from workflow_scripts.tasks.countdown.text import solution_completion
from workflow_scripts.tasks.countdown.writings import canonical, written

ENTRANCE_WORDS = 3
"""`try 4 *`: the words up to and with the operator of the first step."""

COLUMNS = ["problem_id", "opening", "paper_form", "menu", "leaf", "continuation", "entrance"]


def continuations(solutions: pd.DataFrame, openings: pd.DataFrame) -> pd.DataFrame:
    """Every text that is scored, once: columns COLUMNS, by problem and text.

    solutions: SOLUTIONS, openings: OPENINGS, both of the problems wanted; what cannot be said is left out.
    menu: the text stands for its opening (it writes the opening's witness). leaf: it stands for its paper leaf.
    entrance: ENTRANCE_WORDS.
    """
    rows = []
    for row in openings[openings["expressible"]].itertuples():
        rows.append([row.problem_id, *_named(expressions.parse(row.witness)), True, False])
    for row in solutions[solutions["expressible"]].itertuples():
        # Not the rendering itself: in a product that is 0 its order may pass through numbers that cannot be said.
        writing = written(canonical(expressions.parse(row.rendering))[1])
        rows.append([row.problem_id, *_named(writing), False, True])
    frame = pd.DataFrame(rows, columns=["problem_id", "opening", "paper_form", "continuation", "menu", "leaf"])
    keys = ["problem_id", "continuation", "opening", "paper_form"]
    return frame.groupby(keys, as_index=False)[["menu", "leaf"]].any().assign(entrance=ENTRANCE_WORDS)[COLUMNS]


def _named(writing: expressions.Expression) -> tuple[str, str, str]:
    """Opening, paper form and text of one writing."""
    text = solution_completion(expressions.render(writing))
    return expressions.opening(writing), expressions.paper_form(writing), text
