"""measures/access.py: how likely every entrance is, and how well the policy goes on from it."""

import numpy as np
import pytest
from access_study import clamp_rows, free_rows, mass_rows

from workflow_scripts.measures import access
from workflow_scripts.records.errors import UserError


@pytest.fixture
def by_hand(score_rows):
    """One problem: menu 4* and 7-, a wrong first step 9/ and all else outside; four continuations of each clamp."""
    masses = mass_rows(
        "toy", "p", {"4*": (True, 0.5, 0.6), "7-": (True, 0.25, 0.2), "9/": (False, 0.1, 0.1)}, (0.15, 0.1)
    )
    said = [("4*", True, "4*"), ("4*", True, "5+"), ("4*", False, "4*"), ("4*", False, None)]
    said += [("7-", True, "7-")] + [("7-", False, "7-")] * 3
    scores = score_rows(
        *(
            {
                "problem_id": "p",
                "prefix": f"try {o[0]} {o[1]}",
                "correct": ok,
                "answer_opening": answer,
                "sample": i % 4,
            }
            for i, (o, ok, answer) in enumerate(said)
        )
    )
    free = free_rows("toy", "p", {"4*": (6, 3), "7-": (2, 0), "9/": (1, 1), "": (1, 0)})
    return masses, clamp_rows("p", ["4*", "7-"]), scores, free


def test_cells_by_hand(by_hand):
    frame = access.cells(*by_hand).set_index("opening")
    assert list(frame.index) == ["4*", "7-", "outside"]
    assert frame.loc["4*", list(access.CELLS.names[3:])].tolist() == [0.5, 0.6, 0.5, 0.25, 4]
    assert frame.loc["7-", ["any_valid", "in_family"]].tolist() == [0.25, 0.25]
    outside = frame.loc["outside"]
    assert outside[["probability", "decoded"]].tolist() == pytest.approx([0.25, 0.2])
    # Ten free samples, eight opened in the menu with three valid: one of the other two is valid.
    assert (outside["any_valid"], outside["samples"]) == (0.5, 2)
    assert np.isnan(outside["in_family"])


def test_measures_by_hand(by_hand):
    frame = access.cells(*by_hand)
    found = access.problem_measures(frame, by_hand[3]).set_index("measure")["value"]
    third = np.log(3) / 3 + 2 / 3 * np.log(1.5)
    expected = {
        "menu_mass": 0.75,
        "menu_entropy": third,
        "menu_evenness": third / np.log(2),
        "top1": 2 / 3,
        "gini": 1 / 6,
        "entropy_with_outside": 0.5 * np.log(2) + 0.5 * np.log(4),
        "top1_decoded": 0.75,
        "gini_decoded": 0.25,
        "execution_any_valid": 0.375,
        "execution_in_family": 0.25,
        "solve_predicted": 0.6 * 0.5 + 0.2 * 0.25 + 0.2 * 0.5,
        "solve_sampled": 0.4,
        "solve_gap": 0.05,
    }
    for name, value in expected.items():
        assert found[name] == pytest.approx(value), name


def test_outside_without_samples_solves_nothing(by_hand):
    masses, clamps, scores, free = by_hand
    outside = access.cells(masses, clamps, scores, free.iloc[:2]).set_index("opening").loc["outside"]
    assert (outside["any_valid"], outside["samples"]) == (0, 0)


def test_menu_without_mass_or_entries(by_hand):
    masses, clamps, scores, free = by_hand
    masses = masses.assign(decoded=[0.0, 0.0, 0.0, 1.0])
    found = access.problem_measures(access.cells(masses, clamps, scores, free), free)
    measures = set(found["measure"])
    assert {"menu_entropy", "menu_mass_decoded", "solve_predicted"} <= measures
    assert not {"menu_entropy_decoded", "top1_decoded", "gini_decoded"} & measures
    bare = access.cells(masses.assign(feasible=False), clamps, scores, free)
    assert list(bare["opening"]) == ["outside"]
    assert "menu_entropy" not in set(access.problem_measures(bare, free)["measure"])


@pytest.mark.parametrize(
    ("at", "change", "named"),
    [
        (0, lambda f: f.assign(probability=f["probability"] * 0.9), "add up"),
        (1, lambda f: f.iloc[:1], "entrance 7- of problem p"),
        (2, lambda f: f[f["prefix"] == "try 4 *"], "toy has no samples of p after 'try 7 -'"),
        (3, lambda f: f.assign(problem_id="q"), "no free samples of toy on problem p"),
    ],
)
def test_what_is_missing_is_named(by_hand, at, change, named):
    tables = list(by_hand)
    tables[at] = change(tables[at])
    with pytest.raises(UserError, match=named):
        access.cells(*tables)


def test_free_samples_are_counted_by_first_step(score_rows):
    rows = [("4*", True), ("4*", False), (None, True), ("4*", True)]
    free = access.free_counts(score_rows(*({"problem_id": "p", "think_opening": o, "correct": ok} for o, ok in rows)))
    assert free.to_numpy().tolist() == [["toy", "p", "", 1, 1], ["toy", "p", "4*", 3, 2]]
