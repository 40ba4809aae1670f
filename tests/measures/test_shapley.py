"""measures/shapley.py: the split of a change in solve probability into access and execution."""

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from workflow_scripts.measures.access import CELLS
from workflow_scripts.measures.pairs import paired
from workflow_scripts.measures.shapley import SHARES, shapley_rows, split
from workflow_scripts.measures.statistics import Bootstrap

ENTRIES = {"early": ["a"], "late": ["b"]}


def _cells(policy, problem, q, mu, samples=16):
    openings = [*(f"{n}+" for n in range(len(q) - 1)), "outside"]
    rows = [(policy, problem, o, q_b, q_b, m, m, samples) for o, q_b, m in zip(openings, q, mu)]
    return pd.DataFrame(rows, columns=CELLS.names)


def _unpaired(both):
    """The cells that a paired frame was made of."""
    ends = []
    for policy, end in (("a", "before"), ("b", "after")):
        columns = {f"{name}_{end}": name for name in CELLS.names[3:]}
        ends.append(both.rename(columns=columns)[CELLS.names[1:]].assign(policy=policy))
    return pd.concat(ends, ignore_index=True)


@pytest.fixture
def by_hand():
    return pd.concat(
        [
            _cells("a", "p", [0.5, 0.3, 0.2], [0.4, 0.2, 0.1]),
            _cells("b", "p", [0.8, 0.1, 0.1], [0.6, 0.5, 0.0]),
        ]
    )


def test_split_by_hand(by_hand):
    """Access ½(.3·1.0 − .2·.7 − .1·.1) = .075; execution ½(.2·1.3 + .3·.4 − .1·.3) = .175; .53 − .28 in all."""
    row = split(paired(by_hand, ["a"], ["b"])).iloc[0]
    assert row[["start", "end", "access", "execution"]].tolist() == pytest.approx([0.28, 0.53, 0.075, 0.175])


def test_rows_by_hand(by_hand):
    rows = shapley_rows(by_hand, ["p"], Bootstrap.over(1, seed=1, draws=20), ENTRIES).set_index("measure")
    assert rows.loc["shapley_access", "estimate"] == pytest.approx(0.075)
    assert rows.loc["shapley_execution", "estimate"] == pytest.approx(0.175)
    assert rows.loc["shapley_execution_lead", "estimate"] == pytest.approx(0.1)
    assert rows.loc["shapley_total", ["start", "end", "estimate"]].tolist() == pytest.approx([0.28, 0.53, 0.25])
    assert rows.loc[list(SHARES), "estimate"].tolist() == pytest.approx([0.3, 0.7])


def test_shares_are_of_the_mean_change(by_hand):
    """Ratio of means, not mean of ratios: a problem that hardly changes weighs little."""
    still = pd.concat([_cells("a", "q", [0.5, 0.5], [0.4, 0.2]), _cells("b", "q", [0.5, 0.5], [0.4, 0.202])])
    rows = shapley_rows(
        pd.concat([by_hand, still]), ["p", "q"], Bootstrap.over(2, seed=1, draws=200), ENTRIES
    ).set_index("measure")
    assert rows.loc["shapley_access_share", "estimate"] == pytest.approx(0.075 / 0.251)
    assert rows.loc["shapley_access_share", "low"] == pytest.approx(0)  # the resample of q alone
    assert rows.loc["shapley_access_share", "problems"] == 2


@pytest.mark.parametrize(
    ("q1", "mu1", "access", "execution"),
    [([0.6, 0.4], [0.5, 0.1], 0, 0.06 - 0.04), ([0.9, 0.1], [0.4, 0.2], 0.3 * 0.4 - 0.3 * 0.2, 0)],
)
def test_one_factor_alone(q1, mu1, access, execution):
    frame = pd.concat([_cells("a", "p", [0.6, 0.4], [0.4, 0.2]), _cells("b", "p", q1, mu1)])
    row = split(paired(frame, ["a"], ["b"])).iloc[0]
    assert row[["access", "execution"]].tolist() == pytest.approx([access, execution])


def test_unvisited_outside_can_be_carried():
    frame = pd.concat([_cells("a", "p", [0.5, 0.5], [0.4, 0.2]), _cells("b", "p", [1.0, 0.0], [0.4, 0.0], samples=0)])
    both = paired(frame, ["a"], ["b"])
    assert split(both).iloc[0][["access", "execution"]].tolist() == pytest.approx([0.15, -0.05])
    assert split(both, carry=True).iloc[0][["access", "execution"]].tolist() == pytest.approx([0.1, 0.0])


unit = st.floats(0, 1)


@settings(max_examples=25)
@given(st.lists(st.tuples(unit, unit, unit, unit), min_size=2, max_size=6))
def test_parts_add_up(cells):
    q0, q1, mu0, mu1 = np.array(cells).T
    both = paired(pd.concat([_cells("a", "p", q0, mu0), _cells("b", "p", q1, mu1)]), ["a"], ["b"])
    for carry in (False, True):
        row = split(both, carry=carry).iloc[0]
        assert row["access"] + row["execution"] == pytest.approx((q1 * mu1).sum() - (q0 * mu0).sum(), abs=1e-12)
    swapped = split(paired(_unpaired(both), ["b"], ["a"])).iloc[0]
    assert swapped["access"] == pytest.approx(-split(both).iloc[0]["access"], abs=1e-12)


def test_sampled_execution_gives_the_true_split():
    """μ from 16 draws each: the truth lies in every interval."""
    stream = np.random.default_rng(5)
    true, sampled, problems = [], [], [f"p{i:02}" for i in range(60)]
    for policy, (peak, skill) in {"a": (1, 0.3), "b": (0.4, 0.6)}.items():
        for problem in problems:
            q, mu = stream.dirichlet([peak] * 4), stream.beta(4 * skill, 4 * (1 - skill), 4)
            true.append(_cells(policy, problem, q, mu))
            sampled.append(_cells(policy, problem, q, stream.binomial(16, mu) / 16))
    bootstrap = Bootstrap.over(60, seed=1, draws=1000)
    truth, found = (
        shapley_rows(pd.concat(frames), problems, bootstrap, ENTRIES).set_index("measure") for frames in (true, sampled)
    )
    assert ((found["low"] <= truth["estimate"]) & (truth["estimate"] <= found["high"])).all()
    two = {"early": ["a"], "late": ["b", "c"]}
    copied = pd.concat([*sampled, *(f.assign(policy="c") for f in sampled if f["policy"].iloc[0] == "b")])
    seeds = Bootstrap.over(60, seed=1, draws=1000, seeds_per_line=2)
    again = shapley_rows(copied, problems, seeds, two).set_index("measure")
    np.testing.assert_allclose(again["estimate"], found["estimate"])
