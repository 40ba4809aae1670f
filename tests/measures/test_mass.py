"""measures/mass.py against counts by hand."""

import numpy as np
import pandas as pd
import pytest

from workflow_scripts.measures import breadth, mass
from workflow_scripts.records.errors import UserError


def scores(policy, think):
    """Samples of problem p and q that state these entrances; none is correct."""
    rows = [(problem, i, opening) for problem, openings in think.items() for i, opening in enumerate(openings)]
    frame = pd.DataFrame(rows, columns=["problem_id", "sample", "think_opening"])
    return frame.assign(
        policy=policy,
        prefix="",
        status="WRONG_VALUE",
        correct=False,
        format_ok=True,
        extracted=None,
        paper_form=None,
        formula_form=None,
        paper_family=None,
        answer_opening=None,
        tokens=9,
        finish_reason="stop",
    )


SOLUTIONS = pd.DataFrame(
    [("p", "l1", "f1", "4*", True), ("q", "l2", "f2", "1+", True)],
    columns=["problem_id", "paper_form", "formula_form", "paper_family", "expressible"],
)
OPENINGS = pd.DataFrame(
    [("p", "4*", True), ("p", "7*", True), ("p", "9-", False), ("q", "1+", True)],
    columns=["problem_id", "opening", "expressible"],
)


@pytest.fixture
def tables():
    broad = {"p": ["4*", "4*", "7*", "9-"], "q": ["8*", None, "8*", "8*"]}
    narrow = {"p": ["7*", "7*", "7*", "4*"], "q": ["1+", "1+", "1+", "1+"]}
    found = [breadth.breadth(scores(name, t), SOLUTIONS, OPENINGS) for name, t in (("base", broad), ("late", narrow))]
    return tuple(pd.concat(parts, ignore_index=True) for parts in zip(*found))


def test_first_others_and_elsewhere(tables):
    values = mass.mass_values(*tables)
    assert (values.policies, values.problems, values.samples) == (["base", "late"], ["p", "q"], 4)
    expected = [[[0.5, 0.25, 0.25], [0, 0, 1]], [[0.75, 0.25, 0], [1, 0, 0]]]
    np.testing.assert_allclose(values.array, expected)
    np.testing.assert_allclose(values.array.sum(axis=-1), 1)


def test_the_full_menu_counts_what_cannot_be_expressed(tables):
    values = mass.mass_values(*tables, "full")
    np.testing.assert_allclose(values.of(["base"])[0, 0], [0.5, 0.5, 0])


def test_missing_counts_are_named(tables):
    frame, counts = tables
    with pytest.raises(UserError, match="late"):
        mass.mass_values(frame, counts[counts["policy"] == "base"])
