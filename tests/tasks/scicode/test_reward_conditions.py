"""tasks/scicode/rewards/conditions.py: the language of weights and conditions."""

import pytest
from reward_cases import block, evidence

from workflow_scripts.records.errors import UserError
from workflow_scripts.tasks.scicode.rewards.conditions import condition, measure

RUNS = evidence(block("def answer():\n    return [1, 2, 4]"), "typed", passed=2, total=4)


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("executes", 1),
        ("passed_share", 0.5),
        ("not executes", 0),
        ("not correct", 1),
        ("characters > 5", 1),
        ("characters > 5000", 0),
        ("not characters > 5000", 1),
        ("passed_share >= 0.5", 1),
        ("passed_share < 0.5", 0),
        ("executes and not correct", 1),
        ("correct or executes and typed", 1),
        ("correct and executes or not typed", 0),
        ("passed_share if executes", 0.5),
        ("passed_share if correct", 0),
        ("passed_share if correct or typed", 0.5),
    ],
)
def test_values(text, value):
    assert measure(text, "here").of(RUNS) == value


def test_a_condition_on_a_share_is_whether_there_is_any():
    assert condition("passed_share", "here").of(RUNS) == 1


def test_terms_that_are_read_are_known():
    assert measure("passed_share if executes and not correct", "here").terms == ("passed_share", "executes", "correct")


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("excutes", "here: there is no term 'excutes' (did you mean 'executes'?)"),
        ("executes and", "here: 'executes and' is not a condition"),
        ("phrases >= many", "here: 'phrases >= many' is not a condition"),
        ("not not executes", "is not a condition"),
        ("__import__('os')", "is not a condition"),
        ("not executes if correct", "needs a single term before `if`"),
        ("", "a condition is a text"),
    ],
)
def test_what_is_no_condition_is_named(text, message):
    with pytest.raises(UserError) as caught:
        measure(text, "here")
    assert message in str(caught.value)
