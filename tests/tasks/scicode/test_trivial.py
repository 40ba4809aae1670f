"""tasks/scicode/trivial.py: answers without science, near misses, and right ones in many shapes."""

import ast
from dataclasses import replace

import pytest
from reward_cases import PROBLEM

from workflow_scripts.tasks.scicode.near_misses import python_text
from workflow_scripts.tasks.scicode.problems import Check, Problem
from workflow_scripts.tasks.scicode.trivial import TRIVIAL, answers, commonest
from workflow_scripts.tasks.scicode.values import decode, encode


def problem(value, kind="exact", *, name="p", family="f", args="[]", reference="def answer():\n    return 1"):
    return Problem(name, family, "t", "Take 12 ions and 3.5 eV.", "", reference, (Check(kind, encode(value), args),))


def written(policy, asked, common="0"):
    return TRIVIAL[policy].write(asked, common)


@pytest.mark.parametrize(
    "value",
    [
        None,
        True,
        0,
        -3,
        0.1,
        1e300,
        "a'b\n",
        2j,
        [],
        [1, [2, "x"]],
        (),
        (1,),
        (1, 2),
        {3, 1},
        set(),
        {"a": [1]},
        10**30,
    ],
)
def test_values_as_source(value):
    assert ast.literal_eval(python_text(decode(encode(value)))) == value


def test_what_has_no_literal():
    from workflow_scripts.tasks.scicode.values import Expression

    assert python_text(Expression(("Symbol", "x"))) is None
    assert python_text([1, Expression(("pi",))]) is None
    assert python_text(float("nan")) == "float('nan')" and python_text([float("inf")]) == "[float('inf')]"


@pytest.mark.parametrize(
    ("policy", "value", "returned"),
    [
        ("scaled by 1.01", 200, "202.0"),
        ("scaled by 1.01", 0, "0.01"),
        ("scaled by 1.01", [100, 0], "[101.0, 0.01]"),
        ("scaled by 1.01", ["a"], None),
        ("scaled by 1.01", True, None),
        ("off by one", 6, "7"),
        ("off by one", [1, 2], "[1, 3]"),
        ("off by one", (1,), "(2,)"),
        ("off by one", "word", None),
        ("one item changed", [1, 2], "[2, 2]"),
        ("one item changed", ["a", "b"], "['ax', 'b']"),
        ("one item changed", {5}, "{6}"),
        ("one item changed", [], None),
        ("one item changed", 5, None),
        ("reversed", [1, 2, 3], "[3, 2, 1]"),
        ("reversed", (1, 2), "(2, 1)"),
        ("reversed", [1, 1], None),
        ("right constant", {"a": 1}, "{'a': 1}"),
    ],
)
def test_near_misses(policy, value, returned):
    expected = None if returned is None else f"```python\ndef answer():\n    return {returned}\n```"
    assert written(policy, problem(value)) == expected


def test_near_misses_of_functions_wrap_the_reference():
    asked = problem(2.5, "numeric", args="[1]", reference="def answer(x):\n    return 2.5 * x")
    text = written("scaled by 1.01", asked)
    assert "def computed(x):" in text and "return computed(*given) * 1.01" in text and text.count("def answer(") == 1
    assert written("right constant", asked) is None
    assert "def answer(*given):" in written("return 0", asked)
    assert written("off by one", problem([1], "sequence", args="[1]")) is None


def test_the_prompt_s_first_number():
    assert written("number of the prompt", problem(1)) == "```python\ndef answer():\n    return 12\n```"
    bare = Problem("p", "f", "t", "No number, x2.", "", "def answer(): pass", problem(1).checks)
    assert written("number of the prompt", bare) is None
    dotted = Problem("p", "f", "t", "At 3.50 eV, H2O.", "", "def answer(): pass", problem(1).checks)
    assert "return 3.50\n" in written("number of the prompt", dotted)
    zeros = Problem("p", "f", "t", "Run 007", "", "def answer(): pass", problem(1).checks)
    assert "return 7\n" in written("number of the prompt", zeros)


def test_commonest_values():
    asked = [problem(value, name=str(place)) for place, value in enumerate([3, 5, 5, 3, 2])]
    asked.append(problem([], name="x", family="g"))
    assert commonest(asked) == {"f": "3", "g": "[]"}
    # Without a 3 of its own, the first problem's family has 5 twice and 3 once; the last has both twice.
    found = {a.problem.problem_id: a.completion for a in answers(asked) if a.policy == "commonest value"}
    assert found == {name: written("return 0", asked[0]).replace("0", value) for name, value in zip("01234", "53353")}


def test_every_policy_answers_a_problem_with_a_list_and_each_in_its_way():
    other = replace(PROBLEM, problem_id="p0")
    found = [answer for answer in answers([PROBLEM, other]) if answer.problem is PROBLEM]
    assert [answer.policy for answer in found] == list(TRIVIAL)
    # The reference is a constant, and that of the other problem; the rest all differ.
    assert len({answer.completion for answer in found}) == len(TRIVIAL) - 2
    assert {policy.group for policy in TRIVIAL.values()} == {"right", "near", "empty"}


@pytest.mark.parametrize("name", TRIVIAL)
def test_programs_parse_where_they_should(name):
    text = written(name, PROBLEM, "[1,2,3]")
    blocks = text.split("```python\n")[1:]
    fails = []
    for piece in blocks:
        try:
            ast.parse(piece.split("```")[0])
        except SyntaxError:
            fails.append(piece)
    assert bool(fails) == (name == "syntax error")
    assert bool(blocks) != (name in ("prose", "stated in prose", "echo", "nothing"))
