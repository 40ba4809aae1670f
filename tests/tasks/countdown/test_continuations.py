"""tasks/countdown/continuations.py: the texts that are scored."""

import pandas as pd
import pytest

from workflow_scripts.tasks.countdown.continuations import COLUMNS, continuations
from workflow_scripts.tasks.countdown.judging import judge_completion
from workflow_scripts.tasks.countdown.solver import solve


def tables(numbers, target):
    found = solve(numbers, target)
    name = "_".join(map(str, sorted(numbers))) + f"-{target}"
    solutions = pd.DataFrame(found.solutions).assign(problem_id=name)
    return pd.DataFrame(found.openings).assign(problem_id=name), solutions


@pytest.mark.parametrize(("numbers", "target"), [((4, 5, 7, 9), 24), ((6, 6, 6, 6), 24), ((2, 6, 7), 56)])
def test_one_text_for_each_entrance_and_each_leaf(numbers, target):
    openings, solutions = tables(numbers, target)
    frame = continuations(solutions, openings)
    sayable = openings[openings["expressible"]]
    assert sorted(frame.loc[frame["menu"], "opening"]) == sorted(sayable["opening"])
    leaves = solutions.loc[solutions["expressible"], "paper_form"]
    assert sorted(frame.loc[frame["leaf"], "paper_form"]) == sorted(leaves)
    assert not frame.duplicated("continuation").any()
    for row in frame.itertuples():
        verdict = judge_completion(row.continuation, numbers, target)
        assert verdict.accept
        assert (verdict.think_opening, verdict.answer_opening, verdict.paper_form) == (
            row.opening,
            row.opening,
            row.paper_form,
        )
        assert row.continuation.startswith(f"try {row.opening[:-1]} {row.opening[-1]} ")


def test_the_paper_example():
    frame = continuations(*reversed(tables((4, 5, 7, 9), 24)))
    text = "try 4 * 7 = 28 , 28 - 9 = 19 , 19 + 5 = 24 </think> <answer> 4 * 7 - 9 + 5 </answer>"
    assert text in set(frame["continuation"])


def test_nothing_that_can_be_said_gives_no_text():
    openings, solutions = tables((1, 5, 5, 5), 24)  # 5 * (5 - 1 / 5) alone
    frame = continuations(solutions, openings)
    assert frame.empty and list(frame) == COLUMNS
