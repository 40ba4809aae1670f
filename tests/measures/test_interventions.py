import numpy as np
import pandas as pd
import pytest

from workflow_scripts.measures.interventions import (
    outcomes,
    paired,
    partner_curve,
    share_kept,
    tokens_of,
    within_budget,
)
from workflow_scripts.records.errors import UserError


def value(table, policy, measure, problem="1_2-3"):
    rows = table[(table["policy"] == policy) & (table["measure"] == measure) & (table["problem_id"] == problem)]
    assert len(rows) == 1
    return rows["value"].iloc[0]


def test_outcomes_by_hand(hand_made):
    scores, solutions, openings = hand_made
    table = outcomes(scores, solutions, openings)
    # found P1 (expressible) and P3 (not): 1 of 2 expressible leaves, 1 of 1 formula; openings 4* of {4*, 7*}
    wanted = {"coverage_paper": 1 / 2, "coverage_formula": 1, "families": 1 / 2, "pass@1": 1 / 2}
    for measure, number in (wanted | {"samples": 4, "tokens": 60}).items():
        assert value(table, "toy", measure) == number, measure
    full = outcomes(scores, solutions, openings, solution_set="full")
    assert value(full, "toy", "coverage_paper") == 2 / 3 and value(full, "toy", "families") == 2 / 3


def test_clamped_samples_count_alike(hand_made):
    scores, solutions, openings = hand_made
    clamped = scores.assign(policy="clamped", prefix=["try 4 *", "try 4 *", "", "try 7 *"], sample=[0, 1, 0, 0])
    table = outcomes(pd.concat([scores, clamped]), solutions, openings)
    own = table[table["policy"] == "clamped"].drop(columns="policy").reset_index(drop=True)
    assert own.equals(table[table["policy"] == "toy"].drop(columns="policy").reset_index(drop=True))


def test_a_problem_without_expressible_solutions_has_no_coverage(hand_made):
    scores, solutions, openings = hand_made
    table = outcomes(scores, solutions.assign(expressible=False), openings.assign(expressible=False))
    assert set(table["measure"]) == {"pass@1", "samples", "tokens"}


def spent(*tokens, problem="p", policy="a"):
    return pd.DataFrame({"policy": policy, "problem_id": problem, "sample": range(len(tokens)), "tokens": tokens})


@pytest.mark.parametrize(
    ("tokens", "budget", "before", "kept", "remaining"),
    [
        ([10, 10, 10], 30, 0, 3, 0),  # to the token
        ([10, 10, 10], 29, 0, 2, 9),
        ([10, 10, 10], 100, 0, 3, 70),
        ([10, 25, 5], 30, 0, 1, 20),  # in order: a later one that would fit is not taken
        ([40, 1], 30, 0, 1, -10),  # the first is always allowed
        ([10, 10, 10], 30, 15, 1, 5),
        ([10, 10, 10], 30, 30, 1, -10),
    ],
)
def test_budgets_match_to_the_token(tokens, budget, before, kept, remaining):
    rows, account = within_budget(spent(*tokens)[::-1], {"p": budget, "q": 1}, spent={"p": before})
    assert rows["sample"].tolist() == list(range(kept))
    used = sum(tokens[:kept])
    assert account.to_dict("records") == [
        {"problem_id": "p", "budget": budget, "spent": before, "used": used, "remaining": remaining, "samples": kept}
    ]


def test_no_budget_is_ever_exceeded_but_by_a_first_sample():
    rng = np.random.default_rng(0)
    frame = pd.concat([spent(*rng.integers(5, 40, 30).tolist(), problem=f"p{i}") for i in range(40)])
    budget = {f"p{i}": int(rng.integers(1, 900)) for i in range(40)}
    rows, account = within_budget(frame, budget)
    assert len(rows) == account["samples"].sum() and rows["tokens"].sum() == account["used"].sum()
    assert ((account["remaining"] >= 0) | (account["samples"] == 1)).all()
    for row in account.itertuples():
        mine = frame[frame["problem_id"] == row.problem_id]["tokens"].tolist()
        assert row.samples == 30 or row.used + mine[row.samples] > row.budget  # the next one would not have fitted


def test_budgets_name_what_is_wrong():
    with pytest.raises(UserError, match="problem p has no token budget"):
        within_budget(spent(1), {"q": 5})
    with pytest.raises(UserError, match="one setting at a time"):
        within_budget(pd.concat([spent(1), spent(1, policy="b")]), {"p": 5})


def test_tokens_of_all_and_of_the_first():
    frame = pd.concat([spent(1, 2, 4), spent(8, 16, 32, problem="q")])
    frame["sample"] += 7
    assert tokens_of(frame) == {"p": 7, "q": 56} and tokens_of(frame, 2) == {"p": 3, "q": 24}


def long_table(**policies):
    rows = [
        (policy, f"p{i}", measure, number)
        for policy, columns in policies.items()
        for measure, numbers in columns.items()
        for i, number in enumerate(numbers)
    ]
    return pd.DataFrame(rows, columns=["policy", "problem_id", "measure", "value"])


def test_paired_differences_by_hand():
    table = long_table(
        late={"coverage_paper": [0.0, 0.5, 0.5], "pass@1": [0.2, 0.4, 0.6]},
        hot={"coverage_paper": [0.5, 0.5, 1.0], "pass@1": [0.1, 0.3, 0.5]},
    )
    problems = ["p0", "p1", "p2"]
    frame = paired(table, problems, ["late"], {"hotter": ["hot"]}, seed=1, draws=500).set_index("measure")
    row = frame.loc["coverage_paper"]
    assert (row["before"], row["after"], row["problems"]) == ("baseline", "hotter", 3)
    assert (row["start"], row["end"], row["estimate"]) == pytest.approx((1 / 3, 2 / 3, 1 / 3))
    assert row["low"] == 0 and row["high"] == pytest.approx(0.5)
    # the same everywhere: paired by problem there is no uncertainty left
    assert frame.loc["pass@1", ["estimate", "low", "high"]].tolist() == pytest.approx([-0.1] * 3)
    again = paired(table.sample(frac=1, random_state=3), problems, ["late"], {"hotter": ["hot"]}, seed=1, draws=500)
    assert again.set_index("measure").equals(frame)


def test_training_seeds_go_by_pairs():
    table = long_table(
        l1={"pass@1": [0.1, 0.1]}, l2={"pass@1": [0.5, 0.5]}, h1={"pass@1": [0.2, 0.2]}, h2={"pass@1": [0.6, 0.6]}
    )
    frame = paired(table, ["p0", "p1"], ["l1", "l2"], {"hot": ["h1", "h2"]}, seed=1, draws=100)
    assert frame[["estimate", "low", "high"]].values.tolist() == [pytest.approx([0.1] * 3)]


def test_missing_policies_are_named():
    with pytest.raises(UserError, match="no outcomes of 'gone'"):
        paired(long_table(late={"pass@1": [0]}), ["p0"], ["late"], {"x": ["gone"]}, seed=1, draws=10)


def test_what_a_proposer_keeps_and_the_curve_over_partners():
    table = long_table(
        late={"coverage_paper": [0.1, 0.1]},
        solver={"coverage_paper": [0.5, 0.5]},
        early={"coverage_paper": [0.3, 0.1]},
        idle={"coverage_paper": [0.1, 0.1]},
    )
    names = {name: [name] for name in ("solver", "early", "idle")}
    differences = paired(table, ["p0", "p1"], ["late"], names, seed=1, draws=50)
    assert share_kept(differences, "early", "solver") == pytest.approx(0.25)
    assert np.isnan(share_kept(differences, "early", "idle"))
    curve = partner_curve(differences, {"solver": 50, "early": 25}, {"solver": "mixing", "early": "mixing"})
    assert curve["step"].tolist() == [25, 50] and curve["estimate"].tolist() == pytest.approx([0.1, 0.4])
