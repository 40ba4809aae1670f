"""measures/likelihood.py: numbers worked by hand, and what must hold of any likelihoods."""

import math

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from workflow_scripts.measures import likelihood
from workflow_scripts.measures.comparison import contrasts
from workflow_scripts.measures.likelihood import (
    MEASURES,
    attribution,
    estimands,
    position_values,
    ratios,
    segment_values,
)
from workflow_scripts.measures.long_values import values_of
from workflow_scripts.measures.statistics import Bootstrap
from workflow_scripts.records.errors import UserError
from workflow_scripts.records.schemas import LIKELIHOODS

ENTRIES = {"early": ["e"], "late": ["l"]}
PROBLEMS = ["p1", "p2"]


def rows(policy, costs_by_text):
    """LIKELIHOODS of one policy: (problem, continuation, menu, leaf) to costs in nats; an entrance has 3 tokens."""
    return pd.DataFrame(
        [
            (policy, problem, "4*", "", menu, leaf, text, 3, -np.array(costs, dtype=np.float32))
            for (problem, text, menu, leaf), costs in costs_by_text.items()
        ],
        columns=LIKELIHOODS.names,
    )


def worked():
    """Two problems; p1 has two menu continuations of 5 and 6 tokens, p2 one; p2 has another that is a leaf only."""
    a, b = ("p1", "t a", True, True), ("p1", "t b", True, False)
    c, d = ("p2", "t c", True, True), ("p2", "t d", False, True)
    early = {a: [0, 1, 2, 1, 0], b: [0, 1, 1, 1, 1, 1], c: [0, 2, 1, 0, 0], d: [9, 9, 9, 9, 9]}
    late = {a: [0, 2, 5, 1, 1], b: [0, 1, 5, 2, 1, 0], c: [0, 3, 3, 1, 0], d: [2, 1, 2, 1, 1]}
    return pd.concat([rows("e", early), rows("l", late)], ignore_index=True)


@pytest.fixture
def bootstrap():
    return Bootstrap.over(2, seed=1, draws=200)


def of(frame, policy, problem):
    chosen = frame[(frame["policy"] == policy) & (frame["problem_id"] == problem)]
    return chosen.set_index("measure")["value"]


def test_segments_by_hand():
    frame = segment_values(worked())
    assert set(frame["measure"]) == set(MEASURES)
    p1 = of(frame, "e", "p1")
    assert p1["nll_entrance"] == pytest.approx((3 / 3 + 2 / 3) / 2)
    assert p1["nll_execution"] == pytest.approx((1 / 2 + 3 / 3) / 2)
    assert p1["nll_gap"] == pytest.approx(5 / 6 - 3 / 4)
    assert p1["nll_entrance_bare"] == pytest.approx((1 / 2 + 1 / 2) / 2)
    assert p1["nll_execution_bare"] == pytest.approx((3 / 3 + 4 / 4) / 2)
    assert (p1["total_entrance"], p1["total_execution"]) == (2.5, 2)
    assert (p1["total_entrance_bare"], p1["total_execution_bare"]) == (1, 3.5)
    assert of(frame, "l", "p2")["nll_entrance"] == pytest.approx(2)


def test_solution_mass_by_hand():
    frame = segment_values(worked())
    assert of(frame, "e", "p1")["solution_mass"] == pytest.approx(math.exp(-4))
    late = math.exp(-7) + math.exp(-7)  # 3 + 3 + 1 and 2 + 1 + 2 + 1 + 1
    assert of(frame, "l", "p2")["solution_mass"] == pytest.approx(late)
    assert of(frame, "l", "p2")["log10_solution_mass"] == pytest.approx(math.log10(late))


def test_contrasts_and_ratio_by_hand(bootstrap):
    frame, _ = estimands(worked(), PROBLEMS, bootstrap, ENTRIES)
    found = frame.set_index("measure")
    entrance = ((7 / 3 + 6 / 3) / 2 - 5 / 6 + 2 - 1) / 2  # p1, then p2
    execution = ((2 / 2 + 3 / 3) / 2 - 3 / 4 + 1 / 2 - 0) / 2
    assert found.loc["nll_entrance", "estimate"] == pytest.approx(entrance)
    assert found.loc["nll_gap", "estimate"] == pytest.approx(entrance - execution)
    assert found.loc["nll_ratio", "estimate"] == pytest.approx(entrance / execution)
    assert found.loc["nll_ratio", ["start", "end"]].tolist() == pytest.approx([execution, entrance])
    # resamples are (p1, p1), (p2, p2) and both: the interval spans the problems' own ratios
    assert found.loc["nll_ratio", "low"] == pytest.approx(2)
    assert found.loc["nll_ratio", "high"] == pytest.approx((4 / 3) / (1 / 4))
    assert (found["problems"] == 2).all()


def test_positions_and_leads_by_hand(bootstrap):
    positions = position_values(worked())
    p1 = positions[(positions["policy"] == "l") & (positions["problem_id"] == "p1")].set_index("position")
    assert p1["value"].to_dict() == {-3: 0, -2: 1.5, -1: 5, 0: 1.5, 1: 1, 2: 0}
    assert p1["continuations"].to_dict() == {-3: 2, -2: 2, -1: 2, 0: 2, 1: 2, 2: 1}
    table, leads = attribution(positions, PROBLEMS, bootstrap, ENTRIES)
    assert list(table["position"]) == [-3, -2, -1, 0, 1, 2]
    assert list(table["continuations"]) == [3, 3, 3, 3, 3, 1]
    changes = table.set_index("position")["estimate"]
    assert changes.to_dict() == pytest.approx({-3: 0, -2: 0.75, -1: 2.75, 0: 0.75, 1: 0.25, 2: -1})
    assert table.set_index("position")["problems"].to_dict() == {-3: 2, -2: 2, -1: 2, 0: 2, 1: 2, 2: 1}
    leads = leads.set_index("measure")
    assert leads.loc["operand_lead", ["start", "end", "estimate"]].tolist() == pytest.approx([2.75, 0.75, -2])
    assert leads.loc["entrance_lead", ["start", "end", "estimate"]].tolist() == pytest.approx([0.75, 2.75, 2])
    # p1 alone: operand +0.5, operator +3.5; p2 alone: +1 and +2
    assert leads.loc["operand_lead", ["low", "high"]].tolist() == pytest.approx([-3, -1])


def test_the_largest_other_position_is_looked_up_in_each_resample(bootstrap):
    """Position 0 leads on p1 and position 1 on p2, by 4 over the operand each; on average both by less."""
    flat = {("p1", "t", True, True): [0, 0, 0, 0, 0], ("p2", "t", True, True): [0, 0, 0, 0, 0]}
    late = {("p1", "t", True, True): [0, 1, 0, 5, 1], ("p2", "t", True, True): [0, 1, 0, 1, 5]}
    positions = position_values(pd.concat([rows("e", flat), rows("l", late)]))
    _, leads = attribution(positions, PROBLEMS, bootstrap, ENTRIES)
    row = leads.iloc[0]
    assert (row["estimate"], row["low"], row["high"]) == pytest.approx((-2, -4, -2))


def test_ratio_of_nothing_has_no_interval(bootstrap):
    same = worked()
    same.loc[same["policy"] == "l", "log_probs"] = same.loc[same["policy"] == "e", "log_probs"].to_numpy()
    frame = ratios(segment_values(same), PROBLEMS, bootstrap, ENTRIES)
    assert frame["low"].isna().all() and frame["high"].isna().all()


def test_several_seeds_and_a_shared_base():
    """The change of two seeds is the mean of their changes, with the base as both seeds' start."""
    frame = worked().replace({"policy": {"e": "base", "l": "s1"}})
    second = frame[frame["policy"] == "s1"].assign(policy="s2")
    second["log_probs"] = second["log_probs"].map(lambda values: values - np.float32(1))
    bootstrap = Bootstrap.over(2, seed=1, draws=50, seeds_per_line=2)
    entries = {"base": ["base"], "late": ["s1", "s2"]}
    result, _ = estimands(pd.concat([frame, second]), PROBLEMS, bootstrap, entries, ("base", "late"))
    alone = Bootstrap.over(2, seed=1, draws=50)
    one, _ = estimands(frame, PROBLEMS, alone, {"base": ["base"], "late": ["s1"]}, ("base", "late"))
    found, single = (table.set_index("measure")["estimate"] for table in (result, one))
    assert found["nll_entrance"] == pytest.approx(single["nll_entrance"] + 0.5)
    assert found["nll_gap"] == pytest.approx(single["nll_gap"])


costs = st.lists(st.floats(0, 30, width=32), min_size=4, max_size=9)


@given(st.lists(costs, min_size=1, max_size=5))
@settings(max_examples=20)
def test_segments_add_up_to_the_whole(many):
    frame = rows("e", {("p1", f"t {at}", True, True): one for at, one in enumerate(many)})
    values = of(segment_values(frame), "e", "p1")
    whole = np.mean([np.sum(one) for one in many])
    for suffix in ("", "_bare"):
        assert values[f"total_entrance{suffix}"] + values[f"total_execution{suffix}"] == pytest.approx(whole)
        gap = values[f"nll_entrance{suffix}"] - values[f"nll_execution{suffix}"]
        assert values[f"nll_gap{suffix}"] == pytest.approx(gap)
    by_position = position_values(frame)
    assert (by_position["value"] * by_position["continuations"]).sum() == pytest.approx(whole * len(many))
    assert 0 < values["solution_mass"] <= len(many)


def test_known_changes_lie_in_their_intervals():
    """40 problems, each with noise of its own around a loss of 3 nats at the operator and 0.5 everywhere else."""
    stream = np.random.default_rng(5)
    early, late = {}, {}
    problems = [f"p{at:02d}" for at in range(40)]
    for problem in problems:
        for text in range(3):
            key, start = (problem, f"t {text}", True, True), stream.gamma(1, 1, 8)
            loss = stream.normal([0.5, 0.5, 3, 0.5, 0.5, 0.5, 0.5, 0.5], 0.4)
            early[key], late[key] = start, start + loss
    frame = pd.concat([rows("e", early), rows("l", late)])
    table, by_position = estimands(frame, problems, Bootstrap.over(40, seed=2, draws=500), ENTRIES)
    found = table.set_index("measure")
    truths = {
        "nll_entrance": 4 / 3,
        "nll_execution": 0.5,
        "nll_gap": 5 / 6,
        "nll_ratio": 8 / 3,
        "nll_gap_bare": 0.5 - 5.5 / 6,
    }
    for measure, truth in truths.items():
        assert found.loc[measure, "low"] < truth < found.loc[measure, "high"], measure
    assert found.loc["operand_lead", "high"] < -2 and found.loc["entrance_lead", "low"] > 2
    inside = by_position["low"].to_numpy() < [0.5, 0.5, 3, 0.5, 0.5, 0.5, 0.5, 0.5]
    assert inside.mean() > 0.8


@pytest.mark.parametrize(
    ("spoil", "match"),
    [
        (lambda f: f.iloc[:-2], "l and e do not hold the same continuations.*'t c' of p2"),
        (lambda f: pd.concat([f, f.iloc[[0]]]), "each once; see 't a' of p1"),
        (lambda f: f.assign(entrance=1), "e, p1: an entrance of 1 tokens"),
        (lambda f: f.assign(entrance=6), "an entrance of 6 tokens.*'t a'"),
    ],
)
def test_bad_frames_are_named(spoil, match):
    with pytest.raises(UserError, match=match):
        segment_values(spoil(worked()))


def test_missing_policies_and_stray_problems_are_named(bootstrap):
    with pytest.raises(UserError, match="no likelihoods of l2"):
        estimands(worked(), PROBLEMS, bootstrap, {"early": ["e"], "late": ["l2"]})
    with pytest.raises(UserError, match="p2 is not one of"):
        estimands(worked(), ["p1"], bootstrap, ENTRIES)


def test_entries_of_every_checkpoint_can_be_summarised(bootstrap):
    values = values_of(segment_values(worked()), PROBLEMS)
    table = contrasts(values, bootstrap, {"a": ["e"], "b": ["l"]}, [("a", "b"), ("b", "a")])
    forth, back = table[table["before"] == "a"], table[table["before"] == "b"]
    assert forth["estimate"].to_numpy() == pytest.approx(-back["estimate"].to_numpy())
    assert likelihood.OPERATOR == likelihood.OPERAND + 1
