"""Solver-built texts to be scored: one for every entrance of a problem's menu, one for every leaf of its solutions."""

from collections.abc import Sequence

import pandas as pd

from workflow_scripts.records.errors import UserError
from workflow_scripts.tasks.countdown import expressions
from workflow_scripts.tasks.countdown.wording import LAPTOP, Wording
from workflow_scripts.tasks.countdown.writings import canonical, written

ENTRANCE_WORDS = 3
"""`try 4 *`: the words up to and with the operator of the first step."""

COLUMNS = ["problem_id", "opening", "paper_form", "menu", "leaf", "continuation", "entrance"]


def continuations(solutions: pd.DataFrame, openings: pd.DataFrame, words: Wording = LAPTOP) -> pd.DataFrame:
    """Every text that is scored, once: columns COLUMNS, by problem and text.

    solutions: SOLUTIONS, openings: OPENINGS, both of the problems wanted; what is not marked expressible is left out.
    menu: the text stands for its opening (it writes the opening's witness). leaf: it stands for its paper leaf.
    entrance: ENTRANCE_WORDS of the laptop text; else characters up to and with the operator of the first step, which
    `entrance_tokens` turns into tokens.
    """
    rows = []
    for row in openings[openings["expressible"]].itertuples():
        rows.append([row.problem_id, *_named(expressions.parse(row.witness), words), True, False])
    for row in solutions[solutions["expressible"]].itertuples():
        # Not the rendering itself: in a product that is 0 its order may pass through numbers that cannot be said.
        writing = written(canonical(expressions.parse(row.rendering))[1])
        rows.append([row.problem_id, *_named(writing, words), False, True])
    frame = pd.DataFrame(rows, columns=["problem_id", "opening", "paper_form", "continuation", "menu", "leaf"])
    keys = ["problem_id", "continuation", "opening", "paper_form"]
    texts = frame.groupby(keys, as_index=False)[["menu", "leaf"]].any()
    ends = [ENTRANCE_WORDS if words.words else len(words.entrance(opening)) for opening in texts["opening"]]
    return texts.assign(entrance=pd.Series(ends, dtype="int64"))[COLUMNS]


def entrance_tokens(spans: Sequence[tuple[int, int]], characters: int) -> tuple[int, bool]:
    """(Tokens of an entrance, whether its last token holds more than the entrance).

    spans: (start, end) characters of each token of a continuation, in order. characters: where the entrance ends, its
    operator included. A token that straddles the end counts to the entrance, since the operator is said with it.
    Raises UserError where no token begins before that end.
    """
    inside = [end for start, end in spans if start < characters and end > start]
    if not inside:
        raise UserError(f"no token of {len(spans)} lies within the entrance, the first {characters} characters")
    return sum(start < characters for start, _ in spans), max(inside) > characters


def _named(writing: expressions.Expression, words: Wording) -> tuple[str, str, str]:
    """Opening, paper form and text of one writing."""
    text = words.solution_completion(expressions.render(writing))
    return expressions.opening(writing), expressions.paper_form(writing), text
