"""measures/branches.py: the golden tree of {4, 5, 7, 9} → 24, masses laid over it, what a crowded tree leaves out."""

import pandas as pd
import pytest

from workflow_scripts.measures.branches import branches, policy_masses, shown_openings, shown_solutions
from workflow_scripts.records.errors import UserError
from workflow_scripts.tasks.countdown.solver import solve

GOLDEN = {
    "4*": "4 * 7 + 5 - 9, 4 * 7 - 9 + 5, 4 * 7 - (9 - 5), 4 * 7 + (5 - 9), 4 * 9 - 5 - 7, 4 * 9 - 7 - 5, "
    "4 * 9 - (5 + 7), 5 - (9 - 4 * 7)",
    "4-": "9 - (4 - 7) * 5",
    "5-": "4 * 7 + (5 - 9)",
    "7*": "4 * 7 + 5 - 9, 4 * 7 - 9 + 5, 4 * 7 - (9 - 5), 4 * 7 + (5 - 9), 5 - (9 - 4 * 7)",
    "7-": "(7 - 4) * 5 + 9",
    "9*": "4 * 9 - 5 - 7, 4 * 9 - 7 - 5, 4 * 9 - (5 + 7)",
    "9-": "(9 - 5) * 7 - 4",
}
"""Opening to the solutions that some writing begins with it, found by hand."""


@pytest.fixture(scope="module")
def tree():
    return branches(solve((4, 5, 7, 9), 24))


def masses(**probabilities):
    """One policy `early`; the menu's other openings have none."""
    cells = dict.fromkeys([*GOLDEN, "outside"], 0.0) | {name.strip("_"): p for name, p in probabilities.items()}
    return pd.DataFrame({"policy": "early", "opening": list(cells), "probability": list(cells.values())})


def test_every_opening_leads_to_the_solutions_that_can_begin_so(tree):
    found = {opening: set(part["rendering"]) for opening, part in tree.groupby("opening")}
    assert found == {opening: set(text.split(", ")) for opening, text in GOLDEN.items()}
    assert len(tree) == 20


def test_counts_of_the_published_example(tree):
    leaves = tree.drop_duplicates("paper_form")
    assert (len(leaves), leaves["formula_form"].nunique(), leaves["paper_family"].nunique()) == (11, 4, 4)
    assert leaves["paper_family"].value_counts().to_dict() == {"4*": 7, "9-": 2, "5-": 1, "7-": 1}
    assert leaves.groupby("formula").size().to_dict() == {1: 5, 2: 3, 3: 2, 4: 1}
    assert (leaves["family_solutions"] == leaves["paper_family"].map({"4*": 7, "9-": 2, "5-": 1, "7-": 1})).all()
    assert set(leaves.loc[~leaves["solution_expressible"], "rendering"]) == {
        "4 * 7 + (5 - 9)",
        "5 - (9 - 4 * 7)",
        "9 - (4 - 7) * 5",
    }


def test_a_family_need_not_be_an_opening_of_its_own_solution(tree):
    leading = tree[tree["leads"]].groupby("opening").size().to_dict()
    assert leading == {"4*": 7, "7-": 1, "9-": 1}
    assert set(tree["paper_form"]) - set(tree.loc[tree["leads"], "paper_form"]) == {"(5-(9-(4*7)))", "(9-((4-7)*5))"}


@pytest.mark.parametrize(
    ("numbers", "target"), [((6, 6, 6, 6), 24), ((1, 2, 3, 4), 24), ((7, 7, 8, 4), 24), ((1, 2, 3, 4, 5), 37)]
)
def test_edges_agree_with_the_solvers_counts(numbers, target):
    solved = solve(numbers, target)
    tree = branches(solved)
    assert tree.groupby("opening").size().to_dict() == {row.opening: row.solutions for row in solved.openings}
    sayable = tree.groupby("opening")["expressible"].any().to_dict()
    assert sayable == {row.opening: row.expressible for row in solved.openings}
    assert set(tree["paper_form"]) == {row.paper_form for row in solved.solutions}


def test_equal_numbers_share_an_opening():
    tree = branches(solve((6, 6, 6, 6), 24))
    assert tree[["opening", "formula"]].drop_duplicates().to_numpy().tolist() == [["6*", 1], ["6+", 2]]
    assert len(tree) == 3


@pytest.mark.parametrize(
    ("numbers", "target", "words"), [((1, 1), 50, "1, 1 reaches 50"), ((24,), 24, "24 is its own solution")]
)
def test_nothing_to_draw_is_named(numbers, target, words):
    with pytest.raises(UserError, match=words):
        branches(solve(numbers, target))


def test_masses_stand_beside_their_opening_and_the_rest_is_outside():
    given = masses(**{"4*": 0.6, "7-": 0.1, "5+": 0.25, "outside": 0.05})  # no solution opens with 5+
    tree = branches(solve((4, 5, 7, 9), 24), given)
    by_opening = tree.drop_duplicates("opening").set_index("opening")["mass early"]
    assert by_opening["4*"] == 0.6 and by_opening["7-"] == 0.1 and by_opening["9*"] == 0
    assert by_opening["outside"] == pytest.approx(0.3)
    assert tree.iloc[-1]["opening"] == "outside" and tree.iloc[-1].drop(["opening", "mass early"]).isna().all()
    assert "valid early" not in tree


@pytest.mark.parametrize(
    ("spoil", "words"),
    [
        (lambda frame: frame[frame["opening"] != "9*"], r"masses of early lack 9\*"),
        (lambda frame: frame[frame["opening"] != "outside"], "masses of early lack outside"),
        (lambda frame: frame.assign(probability=frame["probability"] * 0.9), "add up to 0.9, not 1"),
        (lambda frame: frame.assign(probability=-frame["probability"]), r"mass of 4\* under early is -1.0"),
        (lambda frame: frame.assign(probability=float("nan")), "not a probability"),
        (lambda frame: pd.concat([frame, frame[:1]]), r"mass of 4\* under early is given twice"),
        (lambda frame: frame.drop(columns="policy"), "column 'policy'"),
        (lambda frame: frame[:0], "table of masses is empty"),
        (lambda frame: frame.assign(valid=1.5), r"valid share of 4\* under early is 1.5"),
    ],
)
def test_bad_masses_are_named(spoil, words):
    with pytest.raises(UserError, match=words):
        branches(solve((4, 5, 7, 9), 24), spoil(masses(**{"4*": 1.0})))


def records():
    cells = [("a", "4*", 0.5, 0.7), ("a", "7-", 0.25, 0.2), ("a", "outside", 0.25, 0.1)]
    cells += [("b", "4*", 0.1, 0.3), ("b", "7-", 0.8, 0.7), ("b", "outside", 0.1, 0.0)]
    return pd.DataFrame(cells, columns=["policy", "opening", "probability", "decoded"]).assign(problem_id="x")


def test_policy_masses_are_means_over_the_policies_of_a_label():
    found = policy_masses(records(), "x", {"early": ["a"], "late": ["a", "b"]}).set_index(["policy", "opening"])
    assert found["probability"].to_dict() == pytest.approx(
        {
            ("early", "4*"): 0.7,
            ("early", "7-"): 0.2,
            ("early", "outside"): 0.1,
            ("late", "4*"): 0.5,
            ("late", "7-"): 0.45,
            ("late", "outside"): 0.05,
        }
    )
    at_one = policy_masses(records(), "x", {"early": ["a"]}, column="probability")
    assert at_one["probability"].tolist() == [0.5, 0.25, 0.25]


def test_valid_share_counts_right_samples_by_how_they_open():
    scores = pd.DataFrame(
        [
            ("", True, "4*"),
            ("", True, "4*"),
            ("", False, "4*"),
            ("", True, None),  # right without a step: outside
            ("", True, "9/"),  # opens no solution, yet comes to one after a failed attempt
            ("", False, "7-"),
            ("", False, None),
            ("", False, "4*"),
            ("try 7 -", True, "7-"),  # clamped: no free sample
        ],
        columns=["prefix", "correct", "think_opening"],
    ).assign(policy="a", problem_id="x")
    found = policy_masses(records(), "x", {"early": ["a"]}, scores=scores)
    assert found.set_index("opening")["valid"].to_dict() == {"4*": 2 / 8, "7-": 0, "outside": 2 / 8}


def test_policies_without_records_are_named():
    with pytest.raises(UserError, match="no opening masses of c on problem x"):
        policy_masses(records(), "x", {"early": ["c"]})
    scores = pd.DataFrame(columns=["policy", "problem_id", "prefix", "correct", "think_opening"])
    with pytest.raises(UserError, match="no free samples of a on problem x"):
        policy_masses(records(), "x", {"early": ["a"]}, scores=scores)


def test_openings_left_out_are_the_smallest(tree):
    assert shown_openings(tree, 7) == (["4*", "7*", "9*", "4-", "5-", "7-", "9-"], [])
    assert shown_openings(tree, 4) == (["4*", "7*", "9*"], ["4-", "5-", "7-", "9-"])
    weighed = branches(solve((4, 5, 7, 9), 24), masses(**{"7-": 0.9, "4*": 0.1}))
    assert shown_openings(weighed, 3) == (["7-", "4*"], ["7*", "9*", "4-", "5-", "9-"])


@pytest.mark.parametrize("most", [4, 5, 6, 7, 8, 10, 11, 40])
def test_solutions_left_out_are_counted(tree, most):
    shown = shown_solutions(tree, most)
    drawn = shown["paper_form"].notna()
    assert len(shown) <= most
    assert drawn.sum() + shown["rest"].sum() == 11
    assert (shown["rest"] > 0).tolist() == (~drawn).tolist()
    assert not shown["paper_form"].dropna().duplicated().any()
    assert len(shown) == min(most, 11) or most < 8  # places are left only where whole families do not fit


def test_a_cut_family_still_shows_its_formulas(tree):
    shown = shown_solutions(tree, 8)
    largest = shown[shown["paper_family"] == "4*"]
    assert largest["formula"].dropna().tolist() == [1, 1, 2] and largest["rest"].tolist() == [0, 0, 0, 4]
    assert largest["rendering"].iloc[0] == "4 * 7 + 5 - 9"
    assert shown["paper_family"].unique().tolist() == ["4*", "9-", "5-", "7-"]


def test_families_that_do_not_fit_are_counted_together(tree):
    shown = shown_solutions(tree, 4)
    assert shown.iloc[-1]["paper_family"] == "" and shown.iloc[-1]["rest"] == 4


def test_a_crowded_tree_is_cut_to_size():
    tree = branches(solve((1, 2, 3, 4, 5), 24))
    shown = shown_solutions(tree, 42)
    assert len(shown) == 42 and shown["rest"].sum() + shown["paper_form"].notna().sum() == 273
