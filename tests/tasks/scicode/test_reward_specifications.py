"""tasks/scicode/rewards/specifications.py: rewards from the config, and errors that name keys."""

import pytest
from reward_cases import block, evidence

from workflow_scripts.records.errors import UserError
from workflow_scripts.tasks.scicode.rewards import REWARDS, SPECIFICATIONS, composition, rewards_of

WRONG = evidence(block("def answer():\n    return []"), "runs")
RIGHT = evidence(block("def answer():\n    return [1, 2, 3]"), "correct")
BROKEN = evidence(block("def answer(:"), "extracted")


@pytest.mark.parametrize(
    ("spec", "wrong", "right"),
    [
        ({"terms": {"executes": 0.4, "correct": 0.6}}, 0.4, 1.0),
        ({"terms": {"executes": 0.4, "correct": 0.9}}, 0.4, 1.0),  # cut at largest
        ({"terms": {"executes": 0.4, "correct": 0.9}, "largest": 2}, 0.4, 1.3),
        ({"base": {"executes": 0.3}, "terms": {"compiles": 0.2}}, 0.5, 0.5),
        ({"base": {"executes": 0.3}, "terms": {"compiles": 0.2}, "combine": "max"}, 0.3, 0.3),
        ({"terms": {"executes": 0.3}, "groups": {"f": {"terms": {"fence": 0.3, "typed": 0.3}, "most": 0.4}}}, 0.6, 0.7),
        (
            {
                "groups": {
                    "a": {"groups": {"b": {"terms": {"fence": 1}, "most": 0.5}}, "terms": {"typed": 1}, "most": 0.9}
                }
            },
            0.5, 0.9,
        ),
        ({"base": {"executes": 0.3}, "combine": "max", "bonus": {"compiles": 0.2}}, 0.5, 0.5),
        ({"terms": {"executes": 0.5}, "penalties": {"p": {"terms": {"not correct": 0.8}, "most": 0.2}}}, 0.3, 0.5),
        ({"terms": {"executes": 0.5}, "penalties": {"p": {"terms": {"not correct": 0.8}}}}, 0.0, 0.5),  # not below 0
        ({"terms": {"executes": 0.5}, "caps": {"not correct": 0.1, "executes": 0.2}}, 0.1, 0.2),
        ({"right": {"terms": {"always": 1}}, "wrong": {"base": "execution", "caps": {"always": 0.3}}}, 0.3, 1.0),
        ({"base": "execution", "bonus": {"compiles": 0.02}}, 0.47, 1.0),
        ({"terms": {"correct": 1}, "rejects": {"characters < 5": 0.9, "characters < 5000": 0.7}}, 0.7, 0.7),
        ("strict", 0.0, 1.0),
    ],
)  # fmt: skip
def test_scores(spec, wrong, right):
    reward = composition(spec)
    assert (reward.score(WRONG), reward.score(RIGHT)) == (wrong, right)


def test_what_else_a_reward_says():
    plain = composition({"terms": {"correct": 2}, "largest": 2})
    assert (plain.largest, plain.accept, plain.needs_judge, plain.name) == (2, 2, False, "reward")
    judged = REWARDS["final_answer_judge"]
    assert (judged.judge, judged.accept, judged.needs_judge) == ("final_answer", 0.78, True)


def test_rewards_of_a_config_by_name_and_by_terms():
    found = rewards_of({"plain": "execution", "mine": {"base": "compact", "caps": {"not correct": 0.2}}})
    assert {name: reward.name for name, reward in found.items()} == {"plain": "plain", "mine": "mine"}
    assert [reward.score(WRONG) for reward in found.values()] == [0.45, 0.2]
    assert found["plain"].score(BROKEN) == REWARDS["execution"].score(BROKEN)


@pytest.mark.parametrize("name", SPECIFICATIONS)
def test_every_reward_can_stand_in_a_config(name):
    again = composition(SPECIFICATIONS[name], name=name)
    assert again.score(WRONG) == REWARDS[name].score(WRONG)
    assert again.needs_judge == REWARDS[name].needs_judge


@pytest.mark.parametrize(
    ("spec", "message"),
    [
        ("excution", "r: there is no reward 'excution' (did you mean 'execution'?)"),
        (3, "r: a mapping is needed, not 3"),
        ({}, "r: pays nothing"),
        ({"caps": {"always": 1}}, "r: pays nothing"),
        ({"term": {"executes": 1}}, "r: there is no key 'term' (did you mean 'terms'?)"),
        ({"right": {"terms": {"always": 1}}}, "r: right and wrong go together"),
        ({"right": {"terms": {"always": 1}}, "wrong": {"terms": {"always": 0}}, "caps": {}}, "no key 'caps'"),
        ({"right": {"terms": {"always": 1}}, "wrong": {"terms": {"allways": 0}}}, "r.wrong.terms: there is no term"),
        ({"terms": {"executes": "much"}}, "r.terms.executes: a number of 0 or more is needed, not 'much'"),
        ({"terms": {"executes": -1}}, "r.terms.executes: a number of 0 or more"),
        ({"terms": {"executes": True}}, "r.terms.executes: a number of 0 or more"),
        ({"terms": {"executes": float("nan")}}, "r.terms.executes: a number of 0 or more"),
        ({"terms": {1: 1}}, "r.terms: 1 is not the name of a term"),
        ({"terms": {"executes": 1}, "groups": {"g": {"weights": {}}}}, "r.groups.g: there is no key 'weights'"),
        ({"terms": {"executes": 1}, "groups": {"g": 1}}, "r.groups.g: a mapping is needed"),
        ({"terms": {"executes": 1}, "combine": "product"}, "r.combine: is 'product'"),
        ({"terms": {"executes": 1}, "caps": {"phrases": "few"}}, "r.caps.phrases: a number"),
        ({"terms": {"executes": 1}, "largest": 0}, "r.largest: must be above 0"),
        ({"base": "nothing"}, "r.base: there is no reward 'nothing'"),
        ({"base": "semantic_judge"}, "r.base: semantic_judge needs a judge and cannot be a base"),
        ({"terms": {"judged_semantic": 1}}, "judged_semantic needs `judge: semantic`, the reward has no judge"),
        ({"judge": "generic", "terms": {"judged_semantic": 1}}, "the reward has generic"),
        ({"judge": "nobody", "terms": {"correct": 1}}, "r.judge: there is no judge 'nobody'"),
        ({"judge": "generic", "right": {"terms": {"always": 1}}}, "does not look at the verdict"),
        (
            {"judge": "generic", "terms": {"always": 1}, "rejects": {"fatal": 0}},
            "r.rejects: conditions on what a judge",
        ),
    ],
)
def test_what_is_wrong_is_named(spec, message):
    with pytest.raises(UserError) as caught:
        composition(spec, name="r")
    assert message in str(caught.value)
