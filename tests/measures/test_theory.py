"""measures/theory.py and survival.py: what the gradient at the entrance foretells."""

from itertools import permutations

import numpy as np
import pandas as pd
import pytest
from scipy.stats import spearmanr

from workflow_scripts.measures.access import CELLS
from workflow_scripts.measures.statistics import Bootstrap
from workflow_scripts.measures.survival import survival_rows
from workflow_scripts.measures.theory import FLOOR, agreement, binned_outcomes, segments, theory_rows
from workflow_scripts.records.errors import UserError

LINE = {
    "name": "toy",
    "steps": [10, 20],
    "early": 10,
    "late": 20,
    "seeds": [1],
    "policies": {"10": ["t10"], "20": ["t20"]},
}
POLICIES = ("base", "t10", "t20")


def _cells(policy, problem, q, mu):
    """q, mu: of the menu; the rest of the mass is outside and solves nothing."""
    rows = [(policy, problem, f"{n}+", v, v, m, m, 16) for n, (v, m) in enumerate(zip(q, mu))]
    rest = max(1 - float(np.sum(q)), 0.0)
    return pd.DataFrame([*rows, (policy, problem, "outside", rest, rest, 0.0, np.nan, 0)], columns=CELLS.names)


def _trained(update, problems=40, menu=4, seed=0):
    """Cells of three policies whose entrance logits change by update(q, mu, stream) from one to the next."""
    stream, parts = np.random.default_rng(seed), []
    for p in range(problems):
        logits, mu = stream.normal(size=menu + 1), stream.random(menu)
        for policy in POLICIES:
            q = np.exp(logits) / np.exp(logits).sum()
            parts.append(_cells(policy, f"p{p:02}", q[:menu], mu))
            logits = logits + update(q, np.append(mu, 0.0), stream)
    return pd.concat(parts, ignore_index=True), [f"p{p:02}" for p in range(problems)]


def _whole(rows):
    return rows[rows["after"] == "last"].set_index("measure")


def test_predictors_by_hand():
    frame = pd.concat(
        [
            _cells("base", "p", [0.5, 0.2, 0.1], [0.4, 0.6, 0.0]),
            _cells("t10", "p", [0.5, 0.4, 0.05], [0.4, 0.6, 0.0]),
            _cells("t20", "p", [0.5, 0.4, 0.0], [0.4, 0.6, 0.0]),
        ]
    )
    found = segments(frame, LINE)
    first = found[found["after"] == 10]
    # mean μ = .5·.4 + .2·.6 = .32; q(μ − mean) = .04, .056, −.032, whose mean is .064/3.
    np.testing.assert_allclose(first["gradient"], np.array([0.04, 0.056, -0.032]) - 0.064 / 3)
    np.testing.assert_allclose(first["advantage"], np.array([0.4, 0.6, 0.0]) - 1 / 3, atol=1e-12)
    np.testing.assert_allclose(first["outcome"], [0, np.log(2), -np.log(2)], atol=1e-12)
    # A family that is gone counts as FLOOR.
    last = found[(found["after"] == 20)]["outcome"].to_numpy()
    np.testing.assert_allclose(last[0] - last[2], np.log(0.05 / FLOOR))


def test_agreement_by_hand():
    found = pd.DataFrame({"gradient": [3.0, 1.0, -4.0], "advantage": 0.0, "access": [-2.0, 1.0, 1.0]})
    found["outcome"] = [1.0, -3.0, 2.0]
    found = found.assign(policy="t10", problem_id="p", before=0, after=10)
    values = agreement(found).set_index("measure")["value"]
    assert values["rank_gradient"] == pytest.approx(spearmanr([3, 1, -4], [1, -3, 2])[0])
    assert values["rank_access"] == pytest.approx(spearmanr([-2, 1, 1], [1, -3, 2])[0])
    assert "rank_advantage" not in values and "sign_advantage" not in values  # constant: nothing to rank
    assert values["sign_gradient"] == pytest.approx(1 / 3)
    for name in ("gradient", "access"):
        x, y = np.sign(found[name]), np.sign(found["outcome"])
        chance = np.mean([np.mean(x.to_numpy() == np.array(order)) for order in permutations(y)])
        assert values[f"sign_{name}_chance"] == pytest.approx(chance)


def test_policy_that_follows_the_gradient_is_ranked_fully():
    frame, problems = _trained(lambda q, mu, _: 3 * q * (mu - (q * mu).sum()))
    found = segments(frame, LINE)
    table = _whole(theory_rows(found, LINE, problems, Bootstrap.over(len(problems), seed=1, draws=200)))
    assert table.loc["rank_gradient", ["estimate", "low"]].tolist() == pytest.approx([1, 1])
    assert table.loc["sign_gradient", "estimate"] == pytest.approx(1)
    assert table.loc["pooled_gradient", "estimate"] == pytest.approx(1, abs=1e-6)
    assert table.loc["rank_access", "estimate"] < 0.9
    assert table.loc["gradient_beyond_sharpening", "low"] > 0.5


def test_policy_that_only_sharpens():
    """Access ranks it fully; what the gradient shares with the outcome is gone once sharpening is allowed for."""
    frame, problems = _trained(lambda q, mu, _: 0.5 * np.log(q))
    found = segments(frame, LINE)
    np.testing.assert_allclose(found["sharpening"], found["outcome"], atol=1e-9)
    bootstrap = Bootstrap.over(40, seed=1, draws=300)
    table = _whole(theory_rows(found, LINE, problems, bootstrap))
    assert table.loc["rank_access", "estimate"] == pytest.approx(1)
    assert table.loc["pooled_gradient", "low"] > 0
    frame, problems = _trained(lambda q, mu, stream: 0.5 * np.log(q) + stream.normal(size=len(q), scale=0.5))
    table = _whole(theory_rows(segments(frame, LINE), LINE, problems, bootstrap))
    assert table.loc["pooled_gradient", "low"] > 0
    beyond = table.loc["gradient_beyond_sharpening"]
    assert beyond["low"] < 0 < beyond["high"]


def test_random_changes_agree_by_chance_only():
    frame, problems = _trained(lambda q, mu, stream: stream.normal(size=len(q)), problems=80)
    found = segments(frame, LINE)
    rows = theory_rows(found, LINE, problems, Bootstrap.over(80, seed=1, draws=500))
    table = _whole(rows)
    for name in ("rank_gradient", "rank_advantage", "pooled_gradient"):
        assert table.loc[name, "low"] < 0 < table.loc[name, "high"], name
    signs, chance = table.loc["sign_gradient"], table.loc["sign_gradient_chance", "estimate"]
    assert signs["low"] < chance < signs["high"]
    # The pooled correlation is Spearman's over all entrances.
    assert table.loc["pooled_gradient", "estimate"] == pytest.approx(spearmanr(found["gradient"], found["outcome"])[0])
    assert sorted(rows["after"].unique()) == ["last", "toy step 10", "toy step 20"]
    of_problem = agreement(found).query("measure == 'rank_gradient'").groupby("problem_id")["value"].mean()
    assert table.loc["rank_gradient", "estimate"] == pytest.approx(of_problem.mean())


def test_binned_outcomes_rise_with_a_true_predictor():
    frame, problems = _trained(lambda q, mu, _: 3 * q * (mu - (q * mu).sum()))
    bins = binned_outcomes(segments(frame, LINE), LINE, problems, Bootstrap.over(40, seed=1, draws=100), bins=4)
    gradient = bins[bins["predictor"] == "gradient"]
    assert gradient["bin"].tolist() == [1, 2, 3, 4]
    assert gradient["estimate"].is_monotonic_increasing and gradient["predicted"].is_monotonic_increasing


def test_small_menus_are_left_out():
    frame, problems = _trained(lambda q, mu, _: 0 * q, menu=2)
    found = segments(frame, LINE)
    assert found.empty
    bootstrap = Bootstrap.over(len(problems), seed=1, draws=20)
    assert theory_rows(found, LINE, problems, bootstrap).empty
    assert binned_outcomes(found, LINE, problems, bootstrap).empty


def test_missing_checkpoint_is_named():
    frame, _ = _trained(lambda q, mu, _: 0 * q)
    with pytest.raises(UserError, match="t20"):
        segments(frame[frame["policy"] != "t20"], LINE)


def test_several_seeds():
    frame, problems = _trained(lambda q, mu, _: 3 * q * (mu - (q * mu).sum()))
    copies = [frame[frame["policy"] == p].assign(policy=f"{p}b") for p in ("t10", "t20")]
    line = LINE | {"seeds": [1, 2], "policies": {"10": ["t10", "t10b"], "20": ["t20", "t20b"]}}
    found = segments(pd.concat([frame, *copies]), line)
    two = Bootstrap.over(40, seed=1, draws=100, seeds_per_line=2)
    one = theory_rows(segments(frame, LINE), LINE, problems, Bootstrap.over(40, seed=1, draws=100))
    both = theory_rows(found, line, problems, two)
    np.testing.assert_allclose(both["estimate"], one["estimate"], atol=1e-9)


def test_survival_against_brute_force():
    stream = np.random.default_rng(3)
    problems = [f"p{p:02}" for p in range(20)]
    parts = []
    for problem in problems:
        q, mu = stream.dirichlet([0.5] * 5)[:4], stream.random(4)
        parts += [_cells("a", problem, q, mu), _cells("b", problem, q * (stream.random(4) < q * mu + 0.3), mu)]
    frame = pd.concat(parts)
    entries = {"early": ["a"], "late": ["b"]}
    bootstrap = Bootstrap.over(20, seed=1, draws=300)
    rows = survival_rows(frame, problems, bootstrap, entries, group=8, alive=0.01).set_index("measure")
    menu = frame[frame["opening"] != "outside"]
    both = menu[menu["policy"] == "a"].merge(menu[menu["policy"] == "b"], on=["problem_id", "opening"])
    both = both[both["probability_x"] >= 0.01]
    lived = both["probability_y"] >= 0.01
    score = both["probability_x"] * both["any_valid_x"]

    def auc(weight):
        above = np.sign(score[lived].to_numpy()[:, None] - score[~lived].to_numpy()[None, :]) / 2 + 0.5
        pairs = weight[lived].to_numpy()[:, None] * weight[~lived].to_numpy()[None, :]
        return (above * pairs).sum() / pairs.sum()

    assert rows.loc["survival_auc_group", "estimate"] == pytest.approx(auc(pd.Series(1.0, both.index)))
    draws = [
        auc(both["problem_id"].map(dict(zip(problems, weights))).astype(float))
        for weights in bootstrap.problem_weights[:300]
    ]
    low, high = np.quantile(draws, [0.025, 0.975])
    assert rows.loc["survival_auc_group", ["low", "high"]].tolist() == pytest.approx([low, high])
    formula = (1 - (1 - score) ** 8).groupby(both["problem_id"]).mean().mean()
    share = lived.astype(float).groupby(both["problem_id"]).mean().mean()
    assert rows.loc["survival_group", ["start", "end"]].tolist() == pytest.approx([formula, share])
