"""measures/depth.py: hand-worked rates, slopes and menus; a made-up policy whose interaction is known."""

import math

import numpy as np
import pandas as pd
import pytest

from workflow_scripts.measures import depth
from workflow_scripts.measures.statistics import Bootstrap
from workflow_scripts.records.errors import UserError
from workflow_scripts.records.schemas import CLAMPS

ENDS = {"early": ["a"], "late": ["b"]}


def clamp_rows(problems, depths=range(4)):
    rows = [(p, "4*", "solution", 0, f"depth{d}", f"d{d}" if d else "", 0.1) for p in problems for d in depths]
    return pd.DataFrame(rows, columns=CLAMPS.names)


def made_up(rates, *, problems=60, samples=16, seed=0):
    """(SCORES columns, clamps) of policies with valid rate rates[policy][d] at depth d, plus a problem's own part."""
    stream, rows = np.random.default_rng(seed), []
    names = [f"p{p:03}" for p in range(problems)]
    for policy, by_depth in rates.items():
        for name, own in zip(names, stream.uniform(-0.1, 0.1, problems)):
            for d, rate in enumerate(by_depth):
                hits = stream.random(samples) < rate + own
                rows += [(policy, name, f"d{d}" if d else "", k, bool(hit)) for k, hit in enumerate(hits)]
    columns = ["policy", "problem_id", "prefix", "sample", "correct"]
    return pd.DataFrame(rows, columns=columns), clamp_rows(names)


def completions_of(values):
    """Completions from {policy: {problem: [valid at depth 0, 1, …]}}."""
    rows = [
        (policy, problem, d, 4, valid)
        for policy, problems in values.items()
        for problem, valids in problems.items()
        for d, valid in enumerate(valids)
    ]
    return pd.DataFrame(rows, columns=["policy", "problem_id", "depth", "samples", "valid"])


def test_completion_is_the_valid_share_of_a_clamp():
    rows = [("a", "p", "", 0, True), ("a", "p", "", 1, False), ("a", "p", "d1", 0, True), ("a", "p", "else", 0, True)]
    scores = pd.DataFrame(rows, columns=["policy", "problem_id", "prefix", "sample", "correct"])
    frame = depth.completion(scores, clamp_rows(["p"], range(2)))
    assert frame.values.tolist() == [["a", "p", 0, 2, 0.5], ["a", "p", 1, 1, 1.0]]
    with pytest.raises(UserError, match="policy a has no scores of problem p at depth 2"):
        depth.completion(scores, clamp_rows(["p"], range(3)))


def test_other_rungs_are_refused():
    with pytest.raises(UserError, match="'entrance' is no depth rung"):
        depth.depth_of(pd.Series(["depth1", "entrance"]))


def test_interaction_by_hand():
    # Slopes over 1…3: (.2, .4, .6) → .2 and (.0, .4, .8) → .4 early; (.6, .6, .6) → 0 and (.4, .6, .8) → .2 late.
    frame = completions_of(
        {
            "a": {"p": [0.2, 0.2, 0.4, 0.6], "q": [0.4, 0.0, 0.4, 0.8]},
            "b": {"p": [0.6, 0.6, 0.6, 0.6], "q": [0.0, 0.4, 0.6, 0.8]},
        }
    )
    rows = depth.interaction_rows(frame, ENDS).set_index("measure")
    first = rows.loc["depth_interaction"]
    assert first[["start", "end", "estimate"]].tolist() == pytest.approx([0.3, 0.1, -0.2])
    # Both problems' slopes change by −.2 alike: the errors, clustered by problem, leave the interval no width.
    assert (first["low"], first["high"]) == pytest.approx((-0.2, -0.2))
    # Over 0…3: slopes .14 and .16 early, 0 and .26 late.
    assert rows.loc["depth_interaction_from_zero", ["start", "end"]].tolist() == pytest.approx([0.15, 0.13])
    assert set(rows["problems"]) == {2}


def test_interaction_is_the_change_of_the_mean_slope():
    scores, clamps = made_up({"a": [0.2, 0.3, 0.5, 0.8], "b": [0.4, 0.5, 0.6, 0.7]})
    completions = depth.completion(scores, clamps)
    fitted = depth.interaction_rows(completions, ENDS)
    names = clamps["problem_id"].unique()
    resampled = depth.depth_rows(
        depth.depth_values(completions, None, names), Bootstrap.over(len(names), seed=1, draws=2000), ENDS
    )
    slopes = resampled[resampled["measure"].isin(["depth_slope", "depth_slope_from_zero"])]
    for column in ("start", "end", "estimate"):
        np.testing.assert_allclose(fitted[column], slopes[column])
    np.testing.assert_allclose(fitted["high"] - fitted["low"], slopes["high"] - slopes["low"], rtol=0.15)


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("gamma", [-0.1, 0.0, 0.05])
def test_known_interaction_lies_in_its_interval(gamma, seed):
    early = [0.2 + 0.15 * d for d in range(4)]
    late = [0.3 + (0.15 + gamma) * d for d in range(4)]
    scores, clamps = made_up({"a": early, "b": late}, seed=seed)
    rows = depth.interaction_rows(depth.completion(scores, clamps), ENDS, confidence=0.99)
    assert ((rows["low"] < gamma) & (gamma < rows["high"])).all()
    assert (rows["high"] - rows["low"] < 0.12).all()


def test_interaction_without_problems_to_cluster_or_depths_to_compare():
    one = completions_of({"a": {"p": [0.0, 0.2, 0.4, 0.6]}, "b": {"p": [0.6, 0.6, 0.6, 0.6]}})
    rows = depth.interaction_rows(one, ENDS)
    assert rows["estimate"].tolist() == pytest.approx([-0.2, -0.2])
    assert rows[["low", "high"]].isna().all(axis=None)
    assert depth.interaction_rows(one[one["depth"] == 1], ENDS)["estimate"].isna().all()
    with pytest.raises(UserError, match="no depth completions of c"):
        depth.interaction_rows(one, ENDS | {"late": ["c"]})


def test_next_masses():
    menus = pd.DataFrame({"problem_id": ["p"], "rung": ["depth2"], "operands": [[3, 8]], "feasible": [["8+", "3+"]]})
    probability = np.array([[0.1, 0.2, 0, 0], [0.3, 0, 0, 0]])
    decoded = np.array([[0, 0.25, 0, 0], [0.75, 0, 0, 0]])
    frame = depth.next_masses("a", menus, [(probability, decoded)]).set_index("opening")
    assert list(frame.index) == ["3+", "3-", "3*", "3/", "8+", "8-", "8*", "8/", "outside"]
    assert frame.index[frame["feasible"]].tolist() == ["3+", "8+"]
    assert frame.loc["outside", ["probability", "decoded"]].tolist() == pytest.approx([0.4, 0.0])
    assert frame.loc["3-", ["probability", "decoded"]].tolist() == [0.2, 0.25]


def mass_rows(*rows):
    names = ["policy", "problem_id", "rung", "opening", "feasible", "probability", "decoded"]
    return pd.DataFrame(rows, columns=names)


def test_access_by_hand():
    frame = depth.access(
        mass_rows(
            ("a", "p", "depth0", "4*", True, 0.3, 0.6),
            ("a", "p", "depth0", "7*", True, 0.1, 0.0),
            ("a", "p", "depth0", "9-", False, 0.5, 0.4),
            ("a", "p", "depth2", "28-", True, 0.5, 0.0),
            ("a", "p", "depth2", "outside", False, 0.5, 1.0),
        )
    )
    found = frame.set_index("measure")["value"].to_dict()
    entropy = -0.75 * math.log(0.75) - 0.25 * math.log(0.25)
    expected = {
        "depth_access_1": 0.4,
        "depth_entropy_1": entropy,
        "depth_top1_1": 0.75,
        "depth_evenness_1": entropy / math.log(2),
        "depth_access_decoded_1": 0.6,
        "depth_entropy_decoded_1": 0.0,
        "depth_top1_decoded_1": 1.0,
        "depth_evenness_decoded_1": 0.0,
        "depth_access_3": 0.5,
        "depth_entropy_3": 0.0,
        "depth_top1_3": 1.0,  # one opening has no evenness
        "depth_access_decoded_3": 0.0,  # and no mass no shape
    }
    assert found == pytest.approx(expected)


def test_access_needs_a_menu():
    with pytest.raises(UserError, match="problem p has no feasible opening at depth1 for a"):
        depth.access(mass_rows(("a", "p", "depth1", "4*", False, 1.0, 1.0)))


def test_operations_table():
    completions = completions_of({"a": {"p": [0.0, 0.5], "q": [0.5, 0.5]}, "b": {"p": [1.0, 1.0], "q": [0.5, 0.0]}})
    masses = mass_rows(
        *[(policy, p, "depth0", "4*", True, 0.5, share) for policy, share in (("a", 0.25), ("b", 1.0)) for p in "pq"]
    )
    values = depth.depth_values(completions, masses, ["p", "q", "r"])
    table = depth.operations_table(values, Bootstrap.over(3, seed=1, draws=200), ENDS)
    assert list(table.columns) == ["end", "at", "measure", "estimate", "low", "high", "problems"]
    means = table.set_index(["end", "measure", "at"])["estimate"]
    assert means["late", "completion", 0] == 0.75
    assert means["early", "access_decoded", 1] == 0.25
    assert means["early", "access", 1] == 0.5
    assert not table["measure"].str.contains("slope").any()
    assert set(table["problems"]) == {2}
    assert "evenness" not in set(table["measure"])  # no evenness with one opening
