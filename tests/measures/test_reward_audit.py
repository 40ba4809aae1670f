"""measures/reward_audit.py: closeness to the truth, means, violations; and the real audit of every reward."""

from typing import NamedTuple

import numpy as np
import pandas as pd
import pytest

from workflow_scripts.measures.reward_audit import RULES, audit, broken_rules, means, violations
from workflow_scripts.records.errors import UserError
from workflow_scripts.tasks.scicode.problems import Check, Problem
from workflow_scripts.tasks.scicode.rewards import REWARDS, rewards_of
from workflow_scripts.tasks.scicode.rewards.judge_kinds import FIELDS
from workflow_scripts.tasks.scicode.sandbox import Sandbox
from workflow_scripts.tasks.scicode.trivial import TRIVIAL
from workflow_scripts.tasks.scicode.verdicts import LAYERS

WRONG, BROKEN, FURTHER = RULES


def rows(*given):
    """policy, problem, layers passed, share of checks, score."""
    frame = pd.DataFrame(given, columns=["policy", "problem_id", "layers", "share", "reward:r"])
    for place, layer in enumerate(LAYERS):
        frame[layer] = frame["layers"] > place
    return frame.assign(group="empty", family="f", closeness=frame["layers"] + frame["share"] / 2)


@pytest.mark.parametrize(
    ("given", "expected"),
    [
        # a right answer is paid less
        ([("a", "p", 6, 1, 0.5), ("b", "p", 4, 0, 0.6)], [(WRONG, "b", "a", 1, 1.0, 0.1)]),
        # as much is no violation
        ([("a", "p", 6, 1, 0.5), ("b", "p", 4, 0, 0.5)], []),
        # what does not parse above what runs
        ([("a", "p", 4, 0, 0.1), ("b", "p", 1, 0, 0.3)], [(BROKEN, "b", "a", 1, 1.0, 0.2)]),
        # fewer checks above more
        ([("a", "p", 5, 0.5, 0.1), ("b", "p", 5, 0, 0.3)], [(FURTHER, "b", "a", 1, 1.0, 0.2)]),
        # other problems are not compared
        ([("a", "p", 6, 1, 0.5), ("b", "q", 4, 0, 0.6)], []),
        # on one of two problems
        (
            [("a", "p", 6, 1, 0.5), ("b", "p", 4, 0, 0.6), ("a", "q", 6, 1, 0.5), ("b", "q", 4, 0, 0.1)],
            [(WRONG, "b", "a", 2, 0.5, 0.1)],
        ),
        # an answer without a score breaks nothing
        ([("a", "p", 6, 1, 0.5), ("b", "p", 4, 0, np.nan)], []),
    ],
)
def test_violations(given, expected):
    found = violations(rows(*given))
    columns = ["rule", "paid", "above", "problems", "share", "gap"]
    assert [tuple(row) for row in found[columns].round(12).itertuples(index=False)] == expected
    counts = broken_rules(found, ["r", "other"]).set_index("reward")
    assert counts.loc["r", list(RULES)].sum() == len(expected) and counts.loc["other", "worst"] == ""
    assert counts.loc["r", "worst"] == (f"b above a by {expected[0][-1]:.2f}" if expected else "")


def test_means_are_over_problems_and_of_each_family():
    audited = rows(("a", "p", 6, 1, 1.0), ("a", "q", 4, 0, 0.5), ("b", "p", 0, 0, 0.0), ("b", "q", 0, 0, np.nan))
    audited["family"] = ["f", "g", "f", "g"]
    found = means(audited).set_index(["policy", "family"])
    assert list(found.index) == [(policy, family) for policy in "ab" for family in ("all", "f", "g")]
    assert list(found["score"].fillna(-1)) == [0.75, 1.0, 0.5, 0.0, 0.0, -1]
    assert list(found["truth"]) == [0.5, 1, 0, 0, 0, 0] and list(found["runs"]) == [1, 1, 1, 0, 0, 0]
    assert list(found["problems"]) == [2, 1, 1, 2, 1, 1]


def problem(name, family, reference, *checks):
    return Problem(name, family, "t", f"Compute {family} for 3 and 7.", "", reference, checks)


PROBLEMS = [
    problem("n1", "energy", "def answer():\n    m, v = 3, 7\n    return m * v**2 / 2", Check("numeric", "73.5")),
    problem("n2", "energy", "def answer():\n    m, v = 7, 3\n    return m * v**2 / 2", Check("numeric", "31.5")),
    problem("s1", "levels", "def answer():\n    return [3 * n + 7 for n in (0, 1, 2)]", Check("sequence", "[7,10,13]")),
    problem("e1", "labels", "def answer():\n    return {n for n in range(7) if n % 3 == 1}",
            Check("set", '{"$set":[1,4]}')),
    problem(
        "f1", "response", "def answer(x):\n    return 3 * x + 7 if x > 0 else 0",
        Check("numeric", "10", "[1]"), Check("numeric", "0", "[-1]"),
    ),
]  # fmt: skip


@pytest.fixture(scope="module")
def audited():
    with Sandbox() as sandbox:
        return audit(PROBLEMS, REWARDS, sandbox)


def test_trivial_policies_are_what_they_are_called(audited):
    truth = audited.groupby("policy")["correct"].mean()
    assert set(audited["policy"]) == set(TRIVIAL)
    for name, policy in TRIVIAL.items():
        if policy.group == "right":
            assert truth[name] == 1, name
        else:
            assert truth[name] == 0, name
    runs = audited.groupby("policy")["runs"].mean()
    assert (runs[["return []", "return None", "orders to the judge", "docstring only"]] == 1).all()
    never = ["raises", "no answer()", "syntax error", "prose", "echo", "nothing", "stated in prose"]
    assert (runs[never] == 0).all()


FLOORS = {
    "execution": (0.45, 0.24, 0.05),
    "compact": (0.45, 0.08, 0.05),
    "bounded": (0.45, 0.08, 0.05),
    "clean": (0.47, 0.32, 0.19),
    "shaped": (0.52, 0.33, 0.19),
    "strict": (0, 0, 0),
}
"""Of `return []`, a syntax error and prose, as the reference's own code gave them."""


@pytest.mark.parametrize("reward", FLOORS)
def test_floors_of_the_reference_under_the_real_verdict(audited, reward):
    scores = audited.groupby("policy")[f"reward:{reward}"]
    found = [scores.get_group(policy).unique() for policy in ("return []", "syntax error", "prose")]
    assert [len(values) for values in found] == [1, 1, 1]
    assert [values[0] for values in found] == pytest.approx(FLOORS[reward])


BREAKS = {
    "strict": set(),
    "layers": set(),
    "intermediates": set(),
    "execution": {FURTHER},
    "compact": {BROKEN, FURTHER},
    "bounded": {WRONG, BROKEN, FURTHER},
    "clean": {WRONG, BROKEN, FURTHER},
    "shaped": {WRONG, BROKEN, FURTHER},
    "focused": {WRONG, BROKEN, FURTHER},
    "format": {WRONG, BROKEN, FURTHER},
    "length": {WRONG, FURTHER},
    "final_answer": {WRONG, BROKEN, FURTHER},
}
"""What the audit finds: the rewards that look at nothing but layers and checks break no rule, all others do."""


def test_which_rewards_break_which_rule(audited):
    found = violations(audited)
    broken = {name: set(found.loc[found["reward"] == name, "rule"]) for name in BREAKS}
    assert broken == BREAKS
    assert set(found["reward"]) <= set(BREAKS)  # what needs a judge is not there


@pytest.mark.parametrize(
    ("reward", "rule", "pairs"),
    [
        # text that says `def answer` is paid for it, whether it parses or not
        ("execution", FURTHER, {("syntax error", "no answer()")}),
        ("compact", BROKEN, {("syntax error", "repeated lines"), ("syntax error", "lambda")}),
    ],
)
def test_the_pairs_that_break_a_rule(audited, reward, rule, pairs):
    found = violations(audited)
    mine = found[(found["reward"] == reward) & (found["rule"] == rule)]
    assert set(zip(mine["paid"], mine["above"], strict=True)) == pairs


def test_right_answers_that_are_long_earn_less_than_an_empty_list(audited):
    found = violations(audited)
    mine = found[(found["above"] == "gold, commented") & (found["paid"] == "return []")].set_index("reward")["gap"]
    assert mine[["bounded", "clean", "shaped"]].to_dict() == pytest.approx(
        {"bounded": 0.33, "clean": 0.35, "shaped": 0.36}
    )
    assert "compact" not in mine and "execution" not in mine


class Reply(NamedTuple):
    value: object


def test_judged_rewards_need_a_judge_and_an_outage_stops_the_audit():
    seen = []

    def asked(requests, repeat):
        seen.extend(request["messages"][1]["content"] for request in requests)
        marks = {name: 1.0 if name == "reward" else 10.0 for name in FIELDS["generic"]} | {"fatal_error": False}
        return [Reply(marks)] * len(requests)

    def out(requests, repeat):
        return [Reply(None)] * len(requests)

    rewards = rewards_of({"judged": "generic_judge", "plain": "strict"})
    with Sandbox() as sandbox:
        without = audit(PROBLEMS[:1], rewards, sandbox)
        found = audit(PROBLEMS[:1], rewards, sandbox, asked).set_index("policy")["reward:judged"]
        with pytest.raises(UserError, match="an outage is no reward of 0"):
            audit(PROBLEMS[:1], rewards, sandbox, out)
    assert "reward:judged" not in without and "reward:plain" in without
    assert (found["return 1"], found["nothing"], found["prose"]) == (1.0, 0.0, 1.0)
    assert len(seen) == len(found) - 1  # "nothing" is rejected unseen
