"""measures/access_changes.py and pairs.py: what changes in access and execution between two points of a line."""

import numpy as np
import pandas as pd
import pytest
from access_study import free_rows, synthetic

from workflow_scripts.measures import access, access_changes
from workflow_scripts.measures.comparison import summary
from workflow_scripts.measures.long_values import values_of
from workflow_scripts.measures.pairs import pair_rows, paired, seed_values
from workflow_scripts.measures.statistics import Bootstrap
from workflow_scripts.records.errors import UserError


@pytest.fixture(scope="module")
def study():
    return synthetic({"a": (1.0, 0.3), "b": (0.3, 0.6)})


ENTRIES = {"early": ["a"], "late": ["b"]}


def test_known_policy_is_recovered(study):
    """Every estimate of the sampled tables has the truth in its interval."""
    truth, problems, tables = study
    frame = access.cells(**tables)
    bootstrap = Bootstrap.over(len(problems), seed=1, draws=1000)
    found = summary(values_of(access.problem_measures(frame, tables["free"]), problems), bootstrap)
    inside = truth[truth["opening"] != "outside"]
    for policy in ("a", "b"):
        table = found[found["entry"] == policy].set_index("measure")
        solve = (truth["decoded"] * truth["any_valid"]).groupby([truth["policy"], truth["problem_id"]]).sum()[policy]
        execution = inside[inside["policy"] == policy].groupby("problem_id")["any_valid"].mean()
        shares = inside[inside["policy"] == policy].set_index("problem_id")["probability"]
        shares = shares / shares.groupby(level=0).sum()
        entropy = (-shares * np.log(shares)).groupby(level=0).sum()
        for name, value in (
            ("solve_predicted", solve.mean()),
            ("solve_sampled", solve.mean()),
            ("solve_gap", 0.0),
            ("execution_any_valid", execution.mean()),
            ("execution_in_family", execution.mean()),
        ):
            assert table.loc[name, "low"] <= value <= table.loc[name, "high"], (policy, name)
        assert table.loc["menu_entropy", "estimate"] == pytest.approx(entropy.mean())  # q is exact, and so is this


def test_changes_of_a_known_pair(study):
    truth, problems, tables = study
    bootstrap = Bootstrap.over(len(problems), seed=1, draws=500)
    frame = access.cells(**tables)
    rows = access_changes.change_rows(frame, tables["free"], problems, bootstrap, ENTRIES).set_index("measure")
    true = paired(truth, ["a"], ["b"])
    true = true[true["opening"] != "outside"]
    gain = (true["any_valid_after"] - true["any_valid_before"]).groupby(true["problem_id"]).mean().mean()
    assert rows.loc["execution_any_valid", "low"] <= gain <= rows.loc["execution_any_valid", "high"]
    assert rows.loc["execution_in_family", "estimate"] == pytest.approx(
        rows.loc["execution_in_family", "end"] - rows.loc["execution_in_family", "start"]
    )
    both = access_changes.family_changes(frame, ENTRIES)
    means = both.groupby("problem_id")[["in_family_before", "in_family_after"]].mean().diff(axis=1).iloc[:, 1]
    q = (both["probability_after"] - both["probability_before"]).groupby(both["problem_id"]).mean()
    assert rows.loc["access_execution_correlation", "estimate"] == pytest.approx(np.corrcoef(q, means)[0, 1])
    rare = both[both["share_after"] < access_changes.RARE].groupby("problem_id")["in_family_after"].mean()
    assert rows.loc["execution_rare", "end"] == pytest.approx(rare.mean())
    assert rows.loc["execution_rare", "problems"] == len(rare)
    moved = (both["share_after"] - both["share_before"]).abs().groupby(both["problem_id"]).mean().mean()
    assert rows.loc["access_moved", "estimate"] == pytest.approx(moved)


def test_binned_changes_hold_every_family(study):
    _, problems, tables = study
    both = access_changes.family_changes(access.cells(**tables), ENTRIES)
    bootstrap = Bootstrap.over(len(problems), seed=1, draws=100)
    rows = access_changes.binned_rows(both, problems, ["b"], bootstrap)
    assert rows["families"].sum() == len(both)
    assert rows["access"].is_monotonic_increasing
    top = both[both["access"] >= access_changes.BINS[-1]].groupby("problem_id")["execution"].mean().mean()
    assert rows["estimate"].iloc[-1] == pytest.approx(top)


def test_execution_that_follows_access_correlates_fully():
    rows = [
        (policy, problem, opening, q, q, m, m, 16)
        for policy, cells in (("a", [(0.2, 0.5), (0.6, 0.5)]), ("b", [(0.5, 0.8), (0.3, 0.2)]))
        for problem in ("p", "q")
        for opening, (q, m) in zip(("1+", "2+"), cells)
    ]
    outside = [(policy, problem, "outside", 0.2, 0.2, 0, np.nan, 0) for policy in "ab" for problem in "pq"]
    frame = pd.DataFrame(rows + outside, columns=access.CELLS.names)
    free = pd.concat([free_rows(policy, problem, {"1+": (1, 0)}) for policy in "ab" for problem in "pq"])
    found = access_changes.change_rows(frame, free, ["p", "q"], Bootstrap.over(2, seed=1, draws=50), ENTRIES)
    assert found.set_index("measure").loc["access_execution_within", "estimate"] == pytest.approx(1)


def test_order_of_rows_does_not_matter(study):
    _, problems, tables = study
    shuffled = {name: frame.sample(frac=1, random_state=3) for name, frame in tables.items()}
    one, other = access.cells(**tables), access.cells(**shuffled)
    pd.testing.assert_frame_equal(one, other)
    bootstrap = Bootstrap.over(len(problems), seed=1, draws=100)
    rows = [
        access_changes.change_rows(frame, part["free"], problems, bootstrap, ENTRIES)
        for frame, part in ((one, tables), (other, shuffled))
    ]
    pd.testing.assert_frame_equal(*rows)


def test_several_seeds_are_pooled(study):
    _, problems, tables = study
    frame = access.cells(**tables)
    twice = pd.concat([frame, frame[frame["policy"] == "b"].assign(policy="c")])
    free = pd.concat([tables["free"], tables["free"][tables["free"]["policy"] == "b"].assign(policy="c")])
    one = Bootstrap.over(len(problems), seed=1, draws=200)
    two = Bootstrap.over(len(problems), seed=1, draws=200, seeds_per_line=2)
    rows = access_changes.change_rows(frame, free, problems, one, ENTRIES)
    same = access_changes.change_rows(twice, free, problems, two, {"early": ["a"], "late": ["b", "c"]})
    np.testing.assert_allclose(same["estimate"], rows["estimate"])
    np.testing.assert_allclose(same["low"], rows["low"])


def test_pairs_that_do_not_fit_are_refused(study):
    frame = access.cells(**study[2])
    with pytest.raises(UserError, match="no access cells of z"):
        paired(frame, ["a"], ["z"])
    with pytest.raises(UserError, match=r"a and b differ in their cells"):
        paired(frame.drop(frame[frame["policy"] == "b"].index[0]), ["a"], ["b"])


def test_a_seed_without_values_counts_for_nothing():
    frame = pd.DataFrame({"policy": "s0", "problem_id": ["p", "q"], "measure": "m", "value": [1.0, 2.0]})
    values = seed_values(frame, ["p", "q"], ["s1", "s0"])
    assert np.isnan(values.array[0]).all()
    bootstrap = Bootstrap.over(2, seed=1, draws=50, seeds_per_line=2)
    row = pair_rows(frame, ["p", "q"], ["s1", "s0"], bootstrap, ("early", "late")).iloc[0]
    assert (row["estimate"], row["problems"]) == (1.5, 2)
    assert pair_rows(frame.iloc[:0], ["p", "q"], ["s1", "s0"], bootstrap, ("early", "late")).empty
