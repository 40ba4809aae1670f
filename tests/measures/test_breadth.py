"""measures/breadth.py: numbers worked by hand, and against a plain count in Python."""

from math import log

import numpy as np
import pandas as pd
import pytest

from workflow_scripts.measures.breadth import FORM_COUNTS, PROBLEM_BREADTH, breadth, status_counts
from workflow_scripts.records import manifests, tables
from workflow_scripts.records.errors import UserError

BY_HAND = {
    "samples": 4,
    "correct": 2,
    "format_ok": 3,
    "truncated": 1,
    "think_stated": 4,
    "answer_stated": 3,
    "off_menu_think": 1,
    "off_menu_answer": 1,
    "off_support": 0,
    "mean_tokens": 15.0,
    "size_paper": 3,
    "size_paper_expressible": 2,
    "size_formula": 2,
    "size_formula_expressible": 1,
    "size_family": 2,
    "size_family_expressible": 1,
    "size_opening": 3,
    "size_opening_expressible": 2,
    "size_think": 3,
    "size_think_expressible": 2,
    "found_paper": 2,
    "found_paper_expressible": 1,
    "found_formula": 2,
    "found_formula_expressible": 1,
    "found_family": 2,
    "found_family_expressible": 1,
    "found_opening": 2,
    "found_opening_expressible": 1,
    "found_think": 1,
    "found_think_expressible": 1,
    "visited_family": 2,
    "visited_family_expressible": 1,
    "visited_opening": 2,
    "visited_opening_expressible": 1,
    "visited_think": 2,
    "visited_think_expressible": 2,
    "singletons_paper": 2,
    "singletons_formula": 2,
    "entropy_think": 1.5 * log(2),  # 2, 1, 1 of 4
    "entropy_answer": log(3),
    "entropy_think_correct": 0.0,
    "entropy_answer_correct": log(2),
}


@pytest.mark.parametrize("name", [n for n in PROBLEM_BREADTH.names if n not in ("policy", "problem_id")])
def test_by_hand(hand_made, name):
    problems, _ = breadth(*hand_made)
    assert len(problems) == 1
    assert problems[name].iloc[0] == pytest.approx(BY_HAND[name])


def test_counts_by_hand(hand_made):
    _, counts = breadth(*hand_made)
    rows = {
        tuple(row)
        for row in counts[["kind", "form", "samples", "correct", "feasible", "expressible"]].itertuples(index=False)
    }
    assert rows == {
        ("paper", "P1", 1, 1, True, True),
        ("paper", "P3", 1, 1, True, False),
        ("formula", "F1", 1, 1, True, True),
        ("formula", "F2", 1, 1, True, False),
        ("family", "4*", 1, 1, True, True),
        ("family", "5+", 2, 1, True, False),
        ("opening", "4*", 1, 1, True, True),
        ("opening", "5+", 1, 1, True, False),
        ("opening", "9-", 1, 0, False, False),
        ("think", "4*", 2, 2, True, True),
        ("think", "7*", 1, 0, True, True),
        ("think", "9-", 1, 0, False, False),
    }


def test_against_a_plain_count(made_up):
    scores, solutions, openings = made_up("p", 3)
    problems, _ = breadth(scores, solutions, openings)
    for row in problems.itertuples():
        of = scores[scores["problem_id"] == row.problem_id]
        listed = solutions[solutions["problem_id"] == row.problem_id]
        right = of[of["correct"]]
        writable = listed[listed["expressible"]]
        assert row.correct == len(right)
        assert row.found_paper == len(set(right["paper_form"]) & set(listed["paper_form"]))
        assert row.found_formula_expressible == len(set(right["formula_form"]) & set(writable["formula_form"]))
        assert row.found_family_expressible == len(set(right["paper_family"]) & set(writable["paper_family"]))
        assert row.visited_family == len(set(of["paper_family"]) & set(listed["paper_family"]))
        assert row.singletons_paper == (right["paper_form"].value_counts() == 1).sum()
        shares = of["think_opening"].value_counts(normalize=True)
        assert row.entropy_think == pytest.approx(-(shares * np.log(shares)).sum())
        menu = set(openings[openings["problem_id"] == row.problem_id]["opening"])
        assert row.off_menu_think == (of["think_opening"].notna() & ~of["think_opening"].isin(menu)).sum()


def test_order_of_rows_does_not_matter(made_up):
    scores, solutions, openings = made_up("p", 4)
    first = breadth(scores, solutions, openings)
    again = breadth(scores.sample(frac=1, random_state=1), solutions[::-1], openings[::-1])
    for left, right in zip(first, again, strict=True):
        pd.testing.assert_frame_equal(left, right)


def test_solutions_of_other_problems_do_not_matter(hand_made, made_up):
    scores, solutions, openings = hand_made
    _, more_solutions, more_openings = made_up("p", 1)
    both = breadth(scores, pd.concat([solutions, more_solutions]), pd.concat([openings, more_openings]))
    pd.testing.assert_frame_equal(both[0], breadth(*hand_made)[0])


def test_a_correct_sample_off_the_list_is_counted_and_covers_nothing(hand_made):
    scores, solutions, openings = hand_made
    scores.loc[0, "paper_form"] = "(-P1)"
    row = breadth(scores, solutions, openings)[0].iloc[0]
    assert (row["off_support"], row["correct"], row["found_paper"], row["singletons_paper"]) == (1, 2, 1, 2)


def test_a_policy_that_says_nothing(hand_made, score_rows):
    _, solutions, openings = hand_made
    row = breadth(score_rows({"status": "NO_ANSWER"}, {"status": "NO_ANSWER"}), solutions, openings)[0].iloc[0]
    assert (row["correct"], row["found_paper"], row["visited_think"]) == (0, 0, 0)
    assert np.isnan(row["entropy_think"])


def test_tables_survive_the_disk(made_up, tmp_path):
    written = breadth(*made_up("p", 5))
    for frame, schema, name in zip(written, (PROBLEM_BREADTH, FORM_COUNTS), ("problems", "forms"), strict=True):
        path = tmp_path / f"{name}.parquet"
        tables.write_table(frame, path, schema)
        manifests.write([path], [], {})
        back = tables.read_table(path, schema)
        pd.testing.assert_frame_equal(back, frame, check_dtype=False)


def test_missing_entropy_survives_the_disk(hand_made, score_rows, tmp_path):
    _, solutions, openings = hand_made
    frame, _ = breadth(score_rows({}), solutions, openings)
    tables.write_table(frame, tmp_path / "b.parquet", PROBLEM_BREADTH)
    manifests.write([tmp_path / "b.parquet"], [], {})
    assert np.isnan(tables.read_table(tmp_path / "b.parquet", PROBLEM_BREADTH)["entropy_think"].iloc[0])


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"policy": ["a", "b", "a", "b"]}, "one policy at a time"),
        ({"prefix": ["", "4 *", "", ""]}, "clamped"),
        ({"sample": [0, 1, 1, 2]}, "sample 1 of problem 1_2-3 twice"),
        ({"problem_id": ["1_2-3", "1_2-3", "9_9-1", "1_2-3"]}, "first 9_9-1"),
    ],
)
def test_unsuitable_scores_are_refused(hand_made, change, message):
    scores, solutions, openings = hand_made
    with pytest.raises(UserError, match=message):
        breadth(scores.assign(**change), solutions, openings)


def test_status_counts(hand_made):
    counts = status_counts(hand_made[0])
    assert counts["status"].tolist() == ["OK", "NO_ANSWER", "WRONG_VALUE"]
    assert counts["share"].tolist() == [0.5, 0.25, 0.25]


def test_with_the_solver_and_the_judge(score_rows):
    """A policy that answers every listed solution, as the solver writes it, covers everything under both
    equivalences."""
    from workflow_scripts.tasks.countdown.judging import judge_completion
    from workflow_scripts.tasks.countdown.solver import solve

    found = solve((4, 5, 7, 9), 24)
    solutions, openings = (
        pd.DataFrame(rows).assign(problem_id="4_5_7_9-24") for rows in (found.solutions, found.openings)
    )
    kept = ("format_ok", "extracted", "paper_form", "formula_form", "paper_family", "answer_opening", "think_opening")
    rows = []
    for text in solutions["rendering"]:
        verdict = judge_completion(f"try 4 * 7 = 28 </think> <answer> {text} </answer>", (4, 5, 7, 9), 24)
        rows.append(
            {"problem_id": "4_5_7_9-24", "correct": verdict.accept} | {name: getattr(verdict, name) for name in kept}
        )
    row = breadth(score_rows(*rows), solutions, openings)[0].iloc[0]
    assert row["correct"] == row["found_paper"] == row["size_paper"] == 11
    assert row["found_formula"] == row["size_formula"] == 4
    assert row["found_family"] == row["size_family"] == 4
    assert (row["off_support"], row["off_menu_answer"], row["off_menu_think"]) == (0, 0, 0)
    assert (row["found_think"], row["entropy_think"]) == (1, 0)
