"""The ladder's rates by hand, and estimates of a policy whose rates are known."""

import numpy as np
import pandas as pd
import pytest

from workflow_scripts.measures import ladder
from workflow_scripts.measures.statistics import Bootstrap
from workflow_scripts.records.errors import UserError
from workflow_scripts.records.schemas import CLAMPS

END = {"early": ["e1"], "late": ["l1"]}


def clamps(*rows):
    return pd.DataFrame(list(rows), columns=CLAMPS.names)


def scores(policy, samples):
    """samples: (problem_id, prefix) to a list of (correct, answer's opening or None)."""
    rows = [
        (policy, problem, prefix, sample, correct, opening)
        for (problem, prefix), outcomes in samples.items()
        for sample, (correct, opening) in enumerate(outcomes)
    ]
    return pd.DataFrame(rows, columns=["policy", "problem_id", "prefix", "sample", "correct", "answer_opening"])


def test_rates_by_hand():
    given = clamps(
        ("p", "4*", "neutral", 0, "nothing", "", 0.25),
        ("p", "7*", "neutral", 0, "nothing", "", 0.5),  # shares its samples with the first
        ("p", "4*", "neutral", 0, "entrance", "try 4 *", 0.25),
    )
    said = scores(
        "l1",
        {
            ("p", ""): [(True, "4*"), (True, "7*"), (True, "9-"), (False, None)],
            ("p", "try 4 *"): [(True, "4*"), (True, "4*"), (False, "4*"), (True, "7*")],
            ("p", "try 9"): [(True, "9-")],  # of another set of clamps
        },
    )
    rates = ladder.completions(given, said)
    columns = ["family", "rung", "in_family", "any_valid", "adherence", "chance", "excess", "n"]
    assert rates[columns].to_numpy().tolist() == [
        ["4*", "entrance", 0.5, 0.75, 0.75, 0.25, 0.25, 4],
        ["4*", "nothing", 0.25, 0.75, 0.25, 0.25, 0.0, 4],
        ["7*", "nothing", 0.25, 0.75, 0.25, 0.5, -0.25, 4],
    ]
    means = ladder.problem_rates(rates).set_index(["rung", "measure"])["value"]
    assert means["nothing", "in_family"] == 0.25
    assert means["nothing", "chance"] == 0.375
    assert means["nothing", "excess"] == -0.125


def test_own_attempts_are_pooled_and_the_excluded_left_out():
    given = clamps(
        ("p", "4*", "retry", 0, "entrance", "a", 0.0),
        ("p", "4*", "retry_closed", 0, "entrance", "b", 0.0),
        ("p", "4*", "retry_closed", 1, "entrance", "c", 0.0),
        ("p", "4*", "run_cut", 0, "before_answer", "d", 0.0),
    )
    hit, miss = (True, "4*"), (False, "4*")
    said = {("p", "a"): [hit], ("p", "b"): [miss], ("p", "c"): [miss], ("p", "d"): [hit]}
    rates = ladder.completions(given, scores("l1", said))

    def completed(*excluded):
        frame = ladder.problem_rates(rates, excluded)
        chosen = frame[frame["measure"] == "in_family"]
        return dict(zip(chosen["scaffold"], chosen["value"]))

    assert completed() == {"retry": pytest.approx(1 / 3), "run_cut": 1.0}
    assert completed("run_cut", "retry") == {"retry": 0.0}
    assert completed("retry_closed", "run_cut") == {"retry": 1.0}


@pytest.mark.parametrize(
    ("said", "message"),
    [
        ({("p", "try 4 *"): [(True, "4*")]}, "l1 has no samples of p after 'try 9 -'"),
        (
            {("p", "try 4 *"): [(True, "4*")], ("p", "try 9 -"): [(True, "9-")] * 2},
            "one number of continuations, there are 1 to 2",
        ),
    ],
)
def test_refusals(said, message):
    given = clamps(
        ("p", "4*", "neutral", 0, "entrance", "try 4 *", 0.0), ("p", "9-", "neutral", 0, "entrance", "try 9 -", 0.0)
    )
    with pytest.raises(UserError, match=message):
        ladder.completions(given, scores("l1", said))


TRUTH = {
    # (policy, scaffold, rung): probability of a correct answer that opens as designated; the rest is shared out
    ("e1", "neutral", "nothing"): 0.10,
    ("e1", "neutral", "first_number"): 0.15,
    ("e1", "neutral", "entrance"): 0.40,
    ("e1", "retry_closed", "entrance"): 0.30,
    ("l1", "neutral", "nothing"): 0.05,
    ("l1", "neutral", "first_number"): 0.10,
    ("l1", "neutral", "entrance"): 0.60,
    ("l1", "retry_closed", "entrance"): 0.25,
}
CHANCE = 0.08
OTHER = 0.1  # probability of a correct answer with another opening
STRAY = 0.2  # of an answer with the designated opening that is wrong


@pytest.fixture(scope="module")
def known():
    """(ids, rates) of two policies with the TRUTH on 60 problems, two openings each; the last 20 lack scaffolds."""
    rng = np.random.default_rng(1729)
    ids = [f"p{i:02d}" for i in range(60)]
    rows, samples = [], {"e1": {}, "l1": {}}
    for (policy, scaffold, rung), hit in TRUTH.items():
        for place, name in enumerate(ids):
            for family in ("4*", "7*"):
                if scaffold != "neutral" and place >= 40:
                    continue
                prefix = f"{scaffold} {rung} {family}"
                if policy == "e1":
                    rows.append((name, family, scaffold, 0, rung, prefix, CHANCE))
                draws = rng.choice(4, size=16, p=[hit, OTHER, STRAY, 1 - hit - OTHER - STRAY])
                outcome = [(True, family), (True, "1+"), (False, family), (False, None)]
                samples[policy][name, prefix] = [outcome[draw] for draw in draws]
    both = pd.concat([scores(policy, said) for policy, said in samples.items()])
    return ids, ladder.completions(clamps(*rows), both)


@pytest.fixture(scope="module")
def bootstrap():
    # Some forty intervals must all hold the truth, which 95 % ones would not.
    return Bootstrap.over(60, seed=7, draws=4000, confidence=0.999)


def test_every_estimate_holds_the_truth(known, bootstrap):
    ids, rates = known
    found = ladder.ladder_summary(rates, ids, bootstrap, END).set_index(["entry", "scaffold", "rung", "measure"])
    for (policy, scaffold, rung), hit in TRUTH.items():
        entry = {"e1": "early", "l1": "late"}[policy]
        expected = {"in_family": hit, "any_valid": hit + OTHER, "adherence": hit + STRAY, "excess": hit - CHANCE}
        for measure, value in expected.items():
            row = found.loc[entry, ladder.POOLED.get(scaffold, scaffold), rung, measure]
            assert row["low"] <= value <= row["high"], (entry, scaffold, rung, measure)
            assert row["high"] - row["low"] < 0.25
            assert row["problems"] == (60 if scaffold == "neutral" else 40)
    assert found.loc["late", "neutral", "entrance", "chance"]["estimate"] == pytest.approx(CHANCE)


def test_contrasts_hold_the_truth(known, bootstrap):
    ids, rates = known
    found = ladder.ladder_contrasts(rates, ids, bootstrap, END).set_index("measure")
    expected = {
        "in_family_neutral_entrance": (0.40, 0.60),
        "in_family_neutral_nothing": (0.10, 0.05),
        "any_valid_retry_entrance": (0.40, 0.35),
        "entrance_over_nothing": (0.05, 0.60),
        "entrance_over_first_number": (0.10, 0.60),
        "splice_excess": (CHANCE, 0.25),
    }
    for measure, (start, end) in expected.items():
        row = found.loc[measure]
        assert row["low"] <= end - start <= row["high"], measure
        assert row["estimate"] == pytest.approx(row["end"] - row["start"])
        assert (row["before"], row["after"]) == ("early", "late")
    assert found.loc["splice_excess", "problems"] == 40
    assert found.loc["splice_excess", "start"] == pytest.approx(CHANCE)
    assert not [name for name in found.index if name.startswith("chance")]


def test_splices_are_paired_with_their_own_chance():
    """Excess by hand: two problems, 1/2 and 1 completed where chance is .25 and .75."""
    given = clamps(
        ("p", "4*", "retry", 0, "entrance", "a", 0.25),
        ("q", "4*", "retry_closed", 0, "entrance", "b", 0.75),
        ("r", "4*", "neutral", 0, "entrance", "c", 0.5),
    )
    hit, miss = (True, "4*"), (False, None)
    said = {("p", "a"): [hit, miss], ("q", "b"): [hit, hit], ("r", "c"): [miss, miss]}
    both = pd.concat([scores(policy, said) for policy in ("e1", "l1")])
    rates, ids = ladder.completions(given, both), ["p", "q", "r"]
    boot = Bootstrap.over(3, seed=1, draws=200)
    row = ladder.ladder_contrasts(rates, ids, boot, END).set_index("measure").loc["splice_excess"]
    assert (row["start"], row["end"], row["estimate"], row["problems"]) == (0.5, 0.75, 0.25, 2)
    # Without what the screen failed there is nothing to tell, which is said, not invented.
    empty = ladder.ladder_contrasts(rates, ids, boot, END, ["retry", "retry_closed"]).set_index("measure")
    assert np.isnan(empty.loc["splice_excess", "estimate"])
    assert empty.loc["splice_excess", "problems"] == 0


def test_seeds_of_a_line_go_together(known):
    ids, rates = known
    second = rates.assign(policy=rates["policy"].str.replace("1", "2"))
    boot = Bootstrap.over(60, seed=7, draws=200, seeds_per_line=2)
    ends = {"early": ["e1", "e2"], "late": ["l1", "l2"]}
    found = ladder.ladder_contrasts(pd.concat([rates, second]), ids, boot, ends).set_index("measure")
    alone = ladder.ladder_contrasts(rates, ids, Bootstrap.over(60, seed=7, draws=200), END).set_index("measure")
    np.testing.assert_allclose(found["estimate"], alone.loc[found.index, "estimate"])
