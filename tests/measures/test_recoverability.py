"""measures/recoverability.py: which families are lost, and how well they are completed when clamped."""

import numpy as np
import pandas as pd
import pytest

from workflow_scripts.measures.recoverability import (
    curves,
    evaluation_groups,
    family_completions,
    group_rows,
    tail_cells,
    tail_rows,
)
from workflow_scripts.measures.statistics import Bootstrap
from workflow_scripts.records.errors import UserError
from workflow_scripts.records.schemas import CLAMPS, OPENINGS

LINE = {"name": "toy", "steps": [10, 20], "early": 10, "late": 20, "seeds": [1], "policies": {"10": ["a"], "20": ["b"]}}
ENTRIES = {"early": ["a"], "late": ["b"]}


def _openings(menus):
    """menus: problem to {opening: expressible}."""
    rows = [(p, o, 1, ok, "") for p, menu in menus.items() for o, ok in menu.items()]
    return pd.DataFrame(rows, columns=OPENINGS.names)


def _seen(*openings):
    return pd.DataFrame({"problem_id": "p", "think_opening": [*openings, None]})


def test_groups_by_hand():
    clamps = pd.DataFrame({"problem_id": "p", "family": ["4+", "3+", "2+", "1+"], "scaffold": "neutral"})
    clamps = clamps.assign(rung="entrance")
    early, late = _seen("1+", "2+", "3+", "9*", "2+"), _seen("1+", "4+")
    found = evaluation_groups(early, late, _seen("4+", "3+"), clamps)
    # 3+ shows in a further half, 4+ was never early, 9* opens no solution.
    assert found.to_numpy().tolist() == [["p", "1+", "kept"], ["p", "2+", "extinct"]]
    with pytest.raises(UserError, match="further samples"):
        evaluation_groups(early, late, late.iloc[:0], clamps)


def _masses(decoded):
    return pd.DataFrame([(p, o, d) for (p, o), d in decoded.items()], columns=["problem_id", "opening", "decoded"])


@pytest.fixture
def pool():
    """Ten problems of three openings: late decoding can open the first only; early decoding the second too, in the
    first four problems."""
    names = [f"p{i}" for i in range(10)]
    menu = _openings({p: dict.fromkeys(["1+", "2+", "3+"], True) | {"4+": False} for p in names})
    late = _masses({(p, o): float(o == "1+") for p in names for o in ("1+", "2+", "3+", "4+")})
    early = _masses({(p, o): float(o < ("3+" if p < "p4" else "2+")) for p in names for o in ("1+", "2+", "3+", "4+")})
    return early, late, menu


def test_every_zero_access_cell(pool):
    found = tail_cells(*pool, cells=100, seed=1)
    assert len(found) == 20
    assert set(found["opening"]) == {"2+", "3+"}
    extinct = found[found["group"] == "extinct"]
    assert extinct[["problem_id", "opening"]].to_numpy().tolist() == [[f"p{i}", "2+"] for i in range(4)]


@pytest.mark.parametrize(
    ("cells", "deep", "extinct"), [(6, 3, 3), (8, 4, 4), (12, 8, 4), (7, 3, 4), (1, 0, 1), (0, 0, 0)]
)
def test_choice_is_stratified(pool, cells, deep, extinct):
    found = tail_cells(*pool, cells=cells, seed=1)
    assert ((found["group"] == "deep").sum(), (found["group"] == "extinct").sum()) == (deep, extinct)
    assert found.equals(found.sort_values(["problem_id", "opening"], ignore_index=True))


def test_choice_is_keyed_by_the_seed(pool):
    shuffled = [frame.sample(frac=1, random_state=2) for frame in pool]
    pd.testing.assert_frame_equal(tail_cells(*pool, cells=6, seed=1), tail_cells(*shuffled, cells=6, seed=1))
    assert len({tuple(map(tuple, tail_cells(*pool, cells=6, seed=s).to_numpy())) for s in range(5)}) > 1


def test_tail_cell_without_mass_is_named(pool):
    early, late, menu = pool
    with pytest.raises(UserError, match=r"entrance 3\+ of problem p9"):
        tail_cells(early, late[(late["problem_id"] != "p9") | (late["opening"] != "3+")], menu, cells=6, seed=1)


def _study(rates, *, samples=16, seed=0):
    """CLAMPS, SCORES and groups of families. rates: group to {policy: completion}; thirty problems a group."""
    stream, clamps, scores, groups = np.random.default_rng(seed), [], [], []
    for number, (group, by_policy) in enumerate(rates.items()):
        for p in range(30):
            problem, prefix = f"p{number}_{p:02}", "try 1 +"
            clamps.append((problem, "1+", "neutral", 0, "entrance", prefix, 0.05))
            groups.append((problem, "1+", group))
            for policy, rate in by_policy.items():
                hits = stream.random(samples) < rate
                said = pd.DataFrame({"correct": hits, "answer_opening": "1+"})
                scores.append(said.assign(policy=policy, problem_id=problem, prefix=prefix))
    problems = sorted(row[0] for row in groups)
    frame = pd.DataFrame(groups, columns=["problem_id", "opening", "group"])
    return pd.DataFrame(clamps, columns=CLAMPS.names), pd.concat(scores, ignore_index=True), frame, problems


def test_known_rates_are_recovered():
    rates = {"extinct": {"base": 0.1, "a": 0.3, "b": 0.5}, "kept": {"base": 0.2, "a": 0.4, "b": 0.7}}
    clamps, scores, groups, problems = _study(rates)
    found = family_completions(groups, clamps, scores)
    # Nine intervals are looked at together, so each is wide enough for all to hold.
    bootstrap = Bootstrap.over(len(problems), seed=1, draws=1000, confidence=1 - 0.05 / 9)
    table = curves(found, problems, bootstrap, LINE).set_index(["group", "step", "measure"])
    for group, by_policy in rates.items():
        for step, policy in ((0, "base"), (10, "a"), (20, "b")):
            row = table.loc[(group, step, "in_family")]
            assert row["low"] <= by_policy[policy] <= row["high"], (group, step)
            assert (row["problems"], row["families"]) == (30, 30)
            assert table.loc[(group, step, "chance"), "estimate"] == pytest.approx(0.05)
    rows = group_rows(found, problems, bootstrap, ENTRIES).set_index("measure")
    for measure, value in (("extinct_completion", 0.2), ("extinct_excess", 0.45), ("kept_completion", 0.3)):
        assert rows.loc[measure, "low"] <= value <= rows.loc[measure, "high"], measure
        assert rows.loc[measure, "estimate"] == pytest.approx(rows.loc[measure, "end"] - rows.loc[measure, "start"])
    assert rows.loc["extinct_excess", "start"] == pytest.approx(0.05)


def test_base_is_shown_only_where_it_was_clamped():
    clamps, scores, groups, problems = _study({"kept": {"a": 0.4, "b": 0.7}})
    table = curves(family_completions(groups, clamps, scores), problems, Bootstrap.over(30, seed=1, draws=50), LINE)
    assert sorted(table["step"].unique()) == [10, 20]


def test_tail_gap_is_of_two_groups():
    clamps, scores, groups, problems = _study({"deep": {"a": 0.1, "b": 0.1}, "extinct": {"a": 0.3, "b": 0.4}})
    found = family_completions(groups, clamps, scores)
    rows = tail_rows(found, problems, Bootstrap.over(60, seed=1, draws=1000), ENTRIES).set_index("measure")
    gap = rows.loc["tail_gap"]
    assert gap["low"] <= -0.3 <= gap["high"] < 0
    assert gap["estimate"] == pytest.approx(gap["end"] - gap["start"])
    assert gap["end"] == pytest.approx(rows.loc["tail_deep_completion", "end"])
    assert gap["problems"] == 60
    assert rows.loc["tail_gap_excess", "estimate"] == pytest.approx(gap["estimate"])  # one chance for all
    assert rows.loc["tail_completion", "end"] == pytest.approx((gap["start"] + gap["end"]) / 2)


def test_one_group_has_no_gap():
    clamps, scores, groups, problems = _study({"deep": {"a": 0.1, "b": 0.1}})
    rows = tail_rows(
        family_completions(groups, clamps, scores), problems, Bootstrap.over(30, seed=1, draws=50), ENTRIES
    )
    assert {"tail_completion", "tail_deep_completion"} <= set(rows["measure"])
    assert "tail_gap" not in set(rows["measure"])


def test_nothing_lost_gives_no_rows():
    clamps, scores, groups, problems = _study({"kept": {"a": 0.4, "b": 0.7}})
    found = family_completions(groups.iloc[:0], clamps, scores)
    bootstrap = Bootstrap.over(30, seed=1, draws=50)
    assert group_rows(found, problems, bootstrap, ENTRIES).empty
    assert tail_rows(found, problems, bootstrap, ENTRIES).empty
    assert curves(found, problems, bootstrap, LINE).empty


def test_families_belong_to_their_seed():
    """Each seed's policy is asked for the families that this seed lost."""
    clamps, scores, groups, problems = _study({"extinct": {"a": 0.0, "b": 1.0, "c": 0.5}})
    groups = groups.assign(seed=[0] * 15 + [1] * 15)
    found = family_completions(groups, clamps, scores)
    bootstrap = Bootstrap.over(30, seed=1, draws=200, seeds_per_line=2)
    rows = group_rows(found, problems, bootstrap, {"early": ["a", "a"], "late": ["b", "c"]}).set_index("measure")
    of_c = found[(found["policy"] == "c") & (found["seed"] == 1)]["in_family"].mean()
    assert rows.loc["extinct_completion", "end"] == pytest.approx((1 + of_c) / 2)


def test_missing_clamps_and_policies_are_named():
    clamps, scores, groups, problems = _study({"kept": {"a": 0.4, "b": 0.7}})
    with pytest.raises(UserError, match=r"family 1\+ of problem p0_00 has no clamp"):
        family_completions(groups, clamps.iloc[1:], scores)
    found = family_completions(groups, clamps, scores)
    bootstrap = Bootstrap.over(30, seed=1, draws=50)
    with pytest.raises(UserError, match="z"):
        group_rows(found, problems, bootstrap, {"early": ["a"], "late": ["z"]})
